//! OpenTelemetry traces: a span for each request, sent as OTLP over HTTP in JSON, as the standard
//! environment variables ask.
//!
//! Must never hold a request up: spans wait in a bounded queue for a thread of their own, and are
//! dropped when nobody takes them.

use crate::failure::Failure;
use crate::terminal::warn;
use serde_json::{Value, json};
use std::env;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use zaffre_base::Timestamp;
use zaffre_http::server::{Access, AccessLog};

/// Spans that may wait.
const WAITING: usize = 8 * 1024;
/// Spans sent at once.
const BATCH: usize = 512;
/// How long a span waits for others.
const GATHER: Duration = Duration::from_secs(1);
/// How long the collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where spans go, and what is said with all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Target {
    authority: String,
    path: String,
    headers: Vec<(String, String)>,
    resource: Vec<(String, String)>,
}

/// Starts sending, if the environment asks for it.
pub(crate) fn open() -> Result<Option<AccessLog>, Failure> {
    let target = match Target::of(|name| env::var(name).ok()) {
        Ok(target) => target,
        Err(said) => {
            warn(&format!("no traces are sent: {said}"));
            None
        }
    };
    let Some(target) = target else { return Ok(None) };
    let (sender, spans) = sync_channel(WAITING);
    let named = std::thread::Builder::new().name("zaffre-traces".to_owned());
    let started = named.spawn(move || send_all(&spans, &target));
    started.map_err(|error| Failure::System { doing: "starting a thread", error })?;
    Ok(Some(Arc::new(move |access| {
        // A full queue means that the collector is too slow: what it cannot take is lost.
        let _ = sender.try_send(access);
    })))
}

impl Target {
    /// Reads the variables; an endpoint switches traces on.
    fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let off = set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let exporter = set("OTEL_TRACES_EXPORTER").unwrap_or_else(|| "otlp".to_owned());
        let sampler = set("OTEL_TRACES_SAMPLER").unwrap_or_default();
        if off || exporter == "none" || sampler.ends_with("always_off") {
            return Ok(None);
        }
        let general = set("OTEL_EXPORTER_OTLP_ENDPOINT");
        let general = general.map(|url| format!("{}/v1/traces", url.trim_end_matches('/')));
        let Some(url) = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or(general) else {
            return Ok(None);
        };
        if exporter != "otlp" {
            return Err(format!("the exporter {exporter} is not known, only otlp"));
        }
        let rest = url.strip_prefix("http://");
        let rest =
            rest.ok_or_else(|| format!("{url} is not an http URL; use a local collector"))?;
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let colon = authority.rfind(':').is_some_and(|at| !authority[at..].contains(']'));
        let authority = if colon { authority.to_owned() } else { format!("{authority}:80") };
        let headers = set("OTEL_EXPORTER_OTLP_TRACES_HEADERS");
        let headers = pairs(headers.or(set("OTEL_EXPORTER_OTLP_HEADERS")).as_deref());
        let mut resource = pairs(set("OTEL_RESOURCE_ATTRIBUTES").as_deref());
        if let Some(name) = set("OTEL_SERVICE_NAME") {
            resource.retain(|(key, _)| key != "service.name");
            resource.push(("service.name".to_owned(), name));
        } else if !resource.iter().any(|(key, _)| key == "service.name") {
            resource.push(("service.name".to_owned(), "zaffre".to_owned()));
        }
        Ok(Some(Self { authority, path: path.to_owned(), headers, resource }))
    }

    fn send(&self, spans: &[Value]) -> io::Result<()> {
        let attributes: Vec<Value> =
            self.resource.iter().map(|(key, value)| text(key, value)).collect();
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": attributes },
            "scopeSpans": [{
                "scope": { "name": "zaffre", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans,
            }],
        }]})
        .to_string();
        let mut tcp = TcpStream::connect(&self.authority)?;
        tcp.set_read_timeout(Some(PATIENCE))?;
        tcp.set_write_timeout(Some(PATIENCE))?;
        let mut head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n",
            self.path,
            self.authority,
            body.len()
        );
        for (name, value) in &self.headers {
            head.extend([name.as_str(), ": ", value, "\r\n"]);
        }
        tcp.write_all(format!("{head}\r\n{body}").as_bytes())?;
        let mut answer = String::new();
        tcp.take(1_000).read_to_string(&mut answer)?;
        let status = answer.split(' ').nth(1).unwrap_or_default();
        if status.starts_with('2') {
            Ok(())
        } else {
            Err(io::Error::other(format!("it answered {status}")))
        }
    }
}

/// `a=b,c=d`
fn pairs(text: Option<&str>) -> Vec<(String, String)> {
    let all = text.unwrap_or_default().split(',').filter_map(|pair| pair.split_once('='));
    let clean = |part: &str| part.trim().replace(['\r', '\n'], "");
    all.map(|(name, value)| (clean(name), clean(value)))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

fn send_all(spans: &Receiver<Access>, target: &Target) {
    let mut failing = false;
    while let Ok(first) = spans.recv() {
        let mut batch: Vec<Value> = span(&first).into_iter().collect();
        let until = Instant::now() + GATHER;
        while batch.len() < BATCH {
            match spans.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(next) => batch.extend(span(&next)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let sent = if batch.is_empty() { Ok(()) } else { target.send(&batch) };
        // Said once, not for every batch of a collector that is away.
        match &sent {
            Err(error) if !failing => {
                warn(&format!("traces cannot be sent to {}: {error}", target.authority));
            }
            _ => {}
        }
        failing = sent.is_err();
    }
}

/// The span of a request, unless its caller decided that it is not recorded.
fn span(access: &Access) -> Option<Value> {
    let (mut trace, mut id) = ([0; 16], [0; 8]);
    getrandom::fill(&mut trace).ok()?;
    getrandom::fill(&mut id).ok()?;
    let fresh = format!("{:032x}", u128::from_be_bytes(trace));
    let id = format!("{:016x}", u64::from_be_bytes(id));
    let parent = access.trace.as_deref().and_then(parse_parent);
    if parent.is_some_and(|(_, _, sampled)| !sampled) {
        return None;
    }
    let (trace, parent) = parent.map_or((fresh.as_str(), ""), |(trace, parent, _)| (trace, parent));
    let end = access.time.since(Timestamp::from_unix_seconds(0));
    let start = end.saturating_sub(access.took);
    let operation = access.operation.unwrap_or("Unknown");
    let mut attributes = vec![
        text("http.request.method", &access.method),
        text("url.path", access.target.split('?').next().unwrap_or_default()),
        number("http.response.status_code", u64::from(access.status)),
        text("client.address", &access.peer.ip().to_string()),
        text("zaffre.service", &access.service.to_ascii_lowercase()),
        text("zaffre.operation", operation),
        text("zaffre.request_id", &access.id.to_string()),
    ];
    attributes.extend(access.agent.as_deref().map(|agent| text("user_agent.original", agent)));
    attributes.extend(access.bytes.map(|bytes| number("http.response.body.size", bytes)));
    // 2 is what OTLP calls a server's span, and an error.
    let status = if access.status >= 500 { json!({ "code": 2 }) } else { json!({}) };
    Some(json!({
        "traceId": trace,
        "spanId": id,
        "parentSpanId": parent,
        "name": format!("{} {operation}", access.service),
        "kind": 2,
        "startTimeUnixNano": start.as_nanos().to_string(),
        "endTimeUnixNano": end.as_nanos().to_string(),
        "attributes": attributes,
        "status": status,
    }))
}

/// Trace, parent and whether it is recorded, of `00-<32 hex>-<16 hex>-<2 hex>`.
fn parse_parent(header: &str) -> Option<(&str, &str, bool)> {
    let hex = |part: &str, length: usize| {
        let digits = part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        part.len() == length && digits && (length == 2 || part.bytes().any(|b| b != b'0'))
    };
    let mut parts = header.split('-');
    let (version, trace, parent, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let fits = hex(version, 2) && version != "ff" && hex(trace, 32) && hex(parent, 16);
    let flags = u8::from_str_radix(flags, 16).ok()?;
    fits.then_some((trace, parent, flags & 1 == 1))
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        type Set = &'static [(&'static str, &'static str)];
        let cases: [(Set, Result<Option<&str>, ()>); 9] = [
            (&[], Ok(None)),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318")], Ok(Some("c:4318/v1/traces"))),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c/")], Ok(Some("c:80/v1/traces"))),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://[::1]/")], Ok(Some("[::1]:80/v1/traces"))),
            (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c:1/x")], Ok(Some("c:1/x"))),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c:4318")], Err(())),
            (
                &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"), ("OTEL_SDK_DISABLED", "true")],
                Ok(None),
            ),
            (
                &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"), ("OTEL_TRACES_EXPORTER", "none")],
                Ok(None),
            ),
            (
                &[
                    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"),
                    ("OTEL_TRACES_EXPORTER", "zipkin"),
                ],
                Err(()),
            ),
        ];
        for (set, want) in cases {
            let find =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            let got = Target::of(find).map_err(drop);
            let shown = got.map(|target| target.map(|t| format!("{}{}", t.authority, t.path)));
            assert_eq!(shown, want.map(|want| want.map(str::to_owned)), "{set:?}");
        }
    }

    #[test]
    fn parents() {
        let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        for (header, want) in [
            (format!("00-{trace}-{parent}-01"), Some(true)),
            (format!("00-{trace}-{parent}-00"), Some(false)),
            (format!("ff-{trace}-{parent}-01"), None),
            (format!("00-{}-{parent}-01", "0".repeat(32)), None),
            (format!("00-{trace}-{parent}"), None),
            (String::new(), None),
        ] {
            assert_eq!(parse_parent(&header).map(|found| found.2), want, "{header}");
        }
    }
}
