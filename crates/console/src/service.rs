//! The service behind the console's listener: which page was asked for.
//!
//! Must never answer a path that is not in its table.

use crate::controls::Controls;
use crate::metrics;
use hyper::{Method, StatusCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zaffre_base::ApiVersion;
use zaffre_core::Core;
use zaffre_http::faults::Faults;
use zaffre_http::traffic::Traffic;
use zaffre_http::{Alarms, ApiError, Reply, Request, Service, header};
use zaffre_store::disk::MeasuredDisk;

/// What there is at the root.
const INDEX: &str = "zaffre\n\n/metrics  counts and times, for Prometheus\n/healthz  whether the \
                     process is alive\n/readyz   whether it serves\n";

/// What the console looks at.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The services' core.
    pub core: Core,
    /// The disk, as it is measured.
    pub disk: MeasuredDisk,
    /// What the services answered.
    pub traffic: Arc<Traffic>,
    /// What went wrong in them.
    pub alarms: Alarms,
    /// Whether all services listen.
    pub ready: Arc<AtomicBool>,
    /// Version and build, as labels.
    pub build: &'static [(&'static str, &'static str)],
}

/// The console.
#[derive(Debug)]
pub struct Console {
    watched: Watched,
    controls: Option<Controls>,
}

impl Console {
    /// A console that shows what is watched. `faults` switches the test controls on.
    pub fn new(watched: Watched, faults: Option<Faults>) -> Self {
        let controls = faults.map(|faults| Controls { core: watched.core.clone(), faults });
        Self { watched, controls }
    }

    async fn answer(&self, request: Request) -> Reply {
        let head = &request.head;
        let reads = head.method == Method::GET || head.method == Method::HEAD;
        match head.raw_path.as_str() {
            path if path.starts_with("/test/") => match &self.controls {
                Some(controls) => controls.answer(request).await,
                None => plain(
                    StatusCode::NOT_FOUND,
                    "The test controls are off; start the server with --test-controls.\n",
                ),
            },
            "/" | "/metrics" | "/healthz" | "/readyz" if !reads => {
                plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET is served here.\n")
                    .with_text(header!("allow"), "GET, HEAD")
            }
            "/" => plain(StatusCode::OK, INDEX),
            "/metrics" => metrics::reply(&self.watched).await,
            "/healthz" => self.health(true),
            "/readyz" => self.health(self.watched.ready.load(Ordering::Relaxed)),
            _ => plain(StatusCode::NOT_FOUND, "There is nothing here.\n"),
        }
    }

    /// A store whose sync failed acknowledges nothing until it is restarted.
    fn health(&self, ready: bool) -> Reply {
        if self.watched.core.store().is_poisoned() {
            let said = "A sync of the disk failed; the server must be restarted.\n";
            return plain(StatusCode::SERVICE_UNAVAILABLE, said);
        }
        if ready {
            plain(StatusCode::OK, "ok\n")
        } else {
            plain(StatusCode::SERVICE_UNAVAILABLE, "Not serving.\n")
        }
    }
}

/// A page of text.
pub(crate) fn plain(status: StatusCode, text: impl Into<bytes::Bytes>) -> Reply {
    let mut reply = Reply::new(status, ApiVersion::LATEST)
        .with_body("text/plain; charset=utf-8", text)
        .with_text(header!("cache-control"), "no-store");
    reply.version = None;
    reply
}

impl Service for Console {
    fn name(&self) -> &'static str {
        "Console"
    }

    fn server(&self) -> String {
        "zaffre".to_owned()
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        Ok(self.answer(request).await)
    }
}
