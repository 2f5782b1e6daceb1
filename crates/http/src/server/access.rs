//! The access log: one line about each answered request, made only if somebody reads it.
//!
//! Must never hold a signature: queries are cut before they get here.

use super::options::ServerOptions;
use super::render::Rendered;
use crate::message::RequestHead;
use hyper::header::USER_AGENT;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use zaffre_base::{Guid, Timestamp};

/// Where access lines go in the program's own log.
const LOG: &str = "access";
/// The longest name of a client that is kept.
const LONGEST_AGENT: usize = 512;

/// Takes one line; must not block.
pub type AccessLog = Arc<dyn Fn(Access) + Send + Sync>;

/// One answered request.
#[derive(Clone, Debug)]
pub struct Access {
    /// When it was answered, by the machine's clock.
    pub time: Timestamp,
    /// Who asked.
    pub peer: SocketAddr,
    /// Our id for it.
    pub id: Guid,
    /// `Blob`, `Queue`, …
    pub service: &'static str,
    /// What was asked, if that was found out.
    pub operation: Option<&'static str>,
    /// The verb.
    pub method: String,
    /// Path and query, without signatures.
    pub target: String,
    /// What the client calls itself.
    pub agent: Option<String>,
    /// The trace it belongs to: its `traceparent`.
    pub trace: Option<String>,
    /// The answer's status.
    pub status: u16,
    /// Bytes of the answer's body, where they are known beforehand.
    pub bytes: Option<u64>,
    /// From the end of the request's head to the beginning of the answer.
    pub took: Duration,
}

/// What of a request its line will say; nothing when nobody reads it.
#[derive(Default)]
pub(super) struct AccessLine(Option<Asked>);

struct Asked {
    id: Guid,
    peer: SocketAddr,
    method: String,
    target: String,
    agent: Option<String>,
    trace: Option<String>,
}

impl AccessLine {
    pub(super) fn of(head: &RequestHead, options: &ServerOptions) -> Self {
        if options.access.is_none() && !tracing::enabled!(target: LOG, tracing::Level::INFO) {
            return Self(None);
        }
        let mark = if head.raw_query.is_empty() { "" } else { "?" };
        let target = format!("{}{mark}{}", head.raw_path, head.loggable_query());
        let agent = head.headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        let agent = agent.map(|agent| agent.chars().take(LONGEST_AGENT).collect());
        let (id, peer, method) = (head.id, head.peer, head.method.to_string());
        let trace = head.headers.get("traceparent").and_then(|value| value.to_str().ok());
        let trace = trace.filter(|trace| trace.len() <= LONGEST_AGENT).map(str::to_owned);
        Self(Some(Asked { id, peer, method, target, agent, trace }))
    }

    pub(super) fn write(
        self,
        options: &ServerOptions,
        service: &'static str,
        operation: Option<&'static str>,
        rendered: &Rendered,
        started: Instant,
    ) {
        let Some(Asked { id, peer, method, target, agent, trace }) = self.0 else { return };
        let (status, took) = (rendered.status.as_u16(), started.elapsed());
        let ms = took.as_millis();
        tracing::info!(target: LOG, %peer, %id, status, ms, "{method} {target}");
        if let Some(log) = &options.access {
            let (time, bytes) = ((options.clock)(), rendered.length());
            log(Access {
                time,
                peer,
                id,
                service,
                operation,
                method,
                target,
                agent,
                trace,
                status,
                bytes,
                took,
            });
        }
    }
}
