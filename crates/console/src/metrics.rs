//! `/metrics`: everything that is counted, as Prometheus reads it.
//!
//! Must never hold up those who count; what looks at the disk does so on another thread.

use crate::conflicts;
use crate::service::{Watched, plain};
use crate::text::Page;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use zaffre_http::Reply;
use zaffre_http::traffic::Traffic;
use zaffre_store::disk::FileKind;

const TYPE: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
/// Times are counted in microseconds and shown in seconds.
const SECONDS: u32 = 1_000_000;

/// The page.
pub(crate) async fn reply(watched: &Watched) -> Reply {
    let disk = watched.disk.clone();
    let sizes = tokio::task::spawn_blocking(move || {
        FileKind::ALL.map(|kind| (kind, disk.occupied(kind).ok()))
    });
    let sizes = sizes.await.unwrap_or(FileKind::ALL.map(|kind| (kind, None)));
    let mut page = Page::default();
    process(&mut page, watched);
    requests(&mut page, &watched.traffic);
    errors(&mut page, &watched.traffic);
    store(&mut page, watched, &sizes);
    let mut reply = plain(StatusCode::OK, page.finish());
    reply.headers.insert(CONTENT_TYPE, TYPE);
    reply
}

fn process(page: &mut Page, watched: &Watched) {
    page.family("zaffre_build_info", "gauge", "Always 1; the labels say what runs.");
    page.value("zaffre_build_info", watched.build, 1);
    page.family("zaffre_uptime_seconds", "gauge", "Seconds since the store was opened.");
    let up = watched.core.store().clock.monotonic().as_secs();
    page.value("zaffre_uptime_seconds", &[], up);
    page.family("zaffre_ready", "gauge", "1 when all services listen.");
    page.value("zaffre_ready", &[], u64::from(watched.ready.load(Ordering::Relaxed)));
    page.family("zaffre_connections", "gauge", "Connections open now.");
    page.value("zaffre_connections", &[], watched.traffic.connections());
    page.family("zaffre_file_handles", "gauge", "Files held open over SMB.");
    let handles = u64::try_from(watched.core.opens().count()).unwrap_or(u64::MAX);
    page.value("zaffre_file_handles", &[], handles);
    let name = "zaffre_leases_held";
    page.family(name, "gauge", "Leases held now that were taken or renewed since the start.");
    for (on, count) in watched.core.leases().count(watched.core.store().clock.now()) {
        page.value(name, &[("on", on)], count);
    }
    page.family("zaffre_panics_total", "counter", "Handlers that panicked: bugs.");
    page.value("zaffre_panics_total", &[], watched.alarms.panics.load(Ordering::Relaxed));
}

fn requests(page: &mut Page, traffic: &Traffic) {
    let name = "zaffre_requests_total";
    page.family(name, "counter", "Answers by service, operation and status.");
    let mut answers: Vec<_> = traffic.answers().collect();
    answers.sort_unstable();
    for (service, operation, status, count) in answers {
        let (service, status) = (service.to_ascii_lowercase(), status.to_string());
        let labels = [("service", &*service), ("operation", operation), ("status", &*status)];
        page.value(name, &labels, count);
    }
    let name = "zaffre_request_duration_seconds";
    let help = "From the end of a request's head to the beginning of its answer.";
    page.family(name, "histogram", help);
    let mut times: Vec<_> = traffic.times().map(|(s, o, times)| (s, o, times.read())).collect();
    times.sort_unstable_by_key(|(service, operation, _)| (*service, *operation));
    for (service, operation, counted) in times {
        let service = service.to_ascii_lowercase();
        let labels = [("service", &*service), ("operation", operation)];
        page.histogram(name, &labels, &counted, SECONDS);
    }
}

fn errors(page: &mut Page, traffic: &Traffic) {
    let name = "zaffre_errors_total";
    page.family(name, "counter", "Errors by service, code and status.");
    let mut codes: Vec<_> = traffic.codes().collect();
    codes.sort_unstable();
    let mut conflicts: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for (service, code, status, count) in codes {
        let service = service.to_ascii_lowercase();
        let shown = status.to_string();
        page.value(name, &[("service", &service), ("code", code), ("status", &shown)], count);
        if let Some(kind) = conflicts::kind(code, status) {
            *conflicts.entry((service, kind)).or_default() += count;
        }
    }
    let name = "zaffre_conflicts_total";
    page.family(name, "counter", "Answers that mean that two clients met, by kind.");
    for ((service, kind), count) in &conflicts {
        page.value(name, &[("service", service), ("kind", kind)], *count);
    }
    let name = "zaffre_retries_total";
    page.family(name, "counter", "Requests that their client had sent before, by their id.");
    let mut retries: Vec<_> = traffic.retries().collect();
    retries.sort_unstable();
    for (service, count) in retries {
        page.value(name, &[("service", &service.to_ascii_lowercase())], count);
    }
}

fn store(page: &mut Page, watched: &Watched, sizes: &[(FileKind, Option<u64>); 3]) {
    let store = watched.core.store();
    page.family("zaffre_store_failed", "gauge", "1 after a failed sync: restart the server.");
    page.value("zaffre_store_failed", &[], u64::from(store.is_poisoned()));
    let name = "zaffre_commit_batch_transactions";
    page.family(name, "histogram", "Transactions that were made durable together.");
    page.histogram(name, &[], &store.batches().read(), 1);
    let name = "zaffre_sync_duration_seconds";
    page.family(name, "histogram", "How long the disk took to make a file durable.");
    for kind in FileKind::ALL {
        let counted = watched.disk.syncs(kind).read();
        page.histogram(name, &[("file", kind.name())], &counted, SECONDS);
    }
    let name = "zaffre_store_bytes";
    page.family(name, "gauge", "Bytes that the data folder's files occupy.");
    for (kind, bytes) in sizes {
        if let Some(bytes) = bytes {
            page.value(name, &[("file", kind.name())], *bytes);
        }
    }
}
