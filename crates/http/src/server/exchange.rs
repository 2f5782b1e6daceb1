//! One request from hyper to the service and its answer back.
//!
//! Must never know an operation. A handler's panic ends here: a 500 and an alarm.

use super::access::AccessLine;
use super::body::{Left, Leftover, OutBody, RequestBody};
use super::options::ServerOptions;
use super::render::{self, CLIENT_REQUEST_ID, Echo, Rendered};
use super::spelling;
use super::wire::Exchanges;
use crate::error::ApiError;
use crate::head::Origin;
use crate::limits::DRAIN_BYTES;
use crate::message::{Reply, Request, RequestHead, Service};
use crate::traffic::Answered;
use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, Version};
use std::fmt;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::time::Instant;
use zaffre_base::Guid;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// What all connections of a listener share.
pub(super) struct Door<S> {
    pub(super) service: Arc<S>,
    pub(super) options: ServerOptions,
    pub(super) server_header: HeaderValue,
    pub(super) keep_alive: HeaderValue,
    pub(super) ids: RequestIds,
    pub(super) panics: Arc<AtomicU64>,
    pub(super) stopping: AtomicBool,
}

/// One client's end of a connection.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) peer: SocketAddr,
    pub(super) secure: bool,
    pub(super) exchanges: Arc<Exchanges>,
}

/// Request ids: unique by a counter, and between runs by a random start.
pub(super) struct RequestIds {
    start: u128,
    count: AtomicU64,
}

impl RequestIds {
    pub(super) fn new(random: [u8; 16]) -> Self {
        Self { start: Guid::from_random(random).0, count: AtomicU64::new(0) }
    }

    fn next(&self) -> Guid {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        Guid(self.start.wrapping_add(u128::from(count) << 64))
    }
}

/// The connection ends without an answer: what a fault asked for.
#[derive(Debug)]
pub(super) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("reset by a fault")
    }
}

impl std::error::Error for Cut {}

/// Answers one request. Every request gets an answer, unless a fault is asked to take it away.
pub(super) async fn answer<S: Service>(
    door: Arc<Door<S>>,
    caller: Caller,
    request: hyper::Request<Incoming>,
) -> Result<Response<OutBody>, Cut> {
    let started = Instant::now();
    let notes = caller.exchanges.begin();
    let (parts, incoming) = request.into_parts();
    let origin = Origin { peer: caller.peer, secure: caller.secure, id: door.ids.next() };
    let mut echo = Echo::of_parts(&parts.method, &parts.headers, origin.id);
    if let Some(id) = parts.headers.get(CLIENT_REQUEST_ID) {
        let request = (id.as_bytes(), &parts.method, &parts.uri);
        door.options.traffic.notice(door.service.name(), request);
    }
    let mut close = asks_to_close(&parts.headers) || door.stopping.load(Ordering::Relaxed);
    let expects = parts.headers.contains_key(EXPECT);
    let announced = content_length(&parts.headers);
    let leftover = Leftover::default();
    let stall = door.options.timeouts.body_stall;
    let body = Box::pin(RequestBody::new(incoming, leftover.clone(), stall));
    let mut line = AccessLine::default();
    let encounter = door.options.faults.as_ref().map(|faults| faults.expect(door.service.name()));

    let result = match notes {
        // Whoever sends such a head may mean another request by what follows: never go on.
        None => Err(ApiError::invalid_input()),
        Some(notes) if notes.ambiguous => {
            Err(ApiError::invalid_header_value("Content-Length", "ambiguous"))
        }
        Some(notes) => {
            let names = notes.metadata_names;
            let (method, version) = (parts.method, parts.version);
            RequestHead::decode(method, &parts.uri, version, parts.headers, names, &origin)
        }
    };
    let refused_head = result.is_err();
    close |= refused_head;
    let result = match result {
        Ok(mut head) => {
            head.encounter.clone_from(&encounter);
            echo.know(&head);
            line = AccessLine::of(&head, &door.options);
            match door.options.admission.enter().await {
                Ok(_place) => call(&door, Request { head, content_length: announced, body }).await,
                Err(busy) => Err(busy),
            }
        }
        Err(error) => Err(error),
    };
    let result = match encounter {
        None => result,
        Some(encounter) => encounter.end(result).await.ok_or_else(|| {
            caller.exchanges.reset();
            Cut
        })?,
    };
    let operation = count(&door, &result, started);
    close |= settle(leftover.take(), expects, announced, &caller.exchanges);
    let rendered = render(&door, result, &echo);
    line.write(&door.options, door.service.name(), operation, &rendered, started);
    let keep = (parts.version == Version::HTTP_11 && !close).then_some(&door.keep_alive);
    Ok(finish(rendered, close, keep, caller.exchanges, door.panics.clone()).await)
}

async fn call<S: Service>(door: &Door<S>, request: Request) -> Result<Reply, ApiError> {
    let id = request.head.id;
    let called = AssertUnwindSafe(door.service.call(request)).catch_unwind().await;
    called.unwrap_or_else(|_| {
        door.panics.fetch_add(1, Ordering::Relaxed);
        tracing::error!(alarm = "panic", %id, "a handler panicked; answered 500");
        Err(ApiError::internal_error())
    })
}

/// Counts an answer; gives what was asked.
fn count<S: Service>(
    door: &Door<S>,
    result: &Result<Reply, ApiError>,
    started: Instant,
) -> Option<&'static str> {
    let (operation, status, code) = match result {
        Ok(reply) => (reply.operation, reply.status, reply.code),
        Err(error) => (error.operation, error.status, Some(error.code)),
    };
    let (service, status) = (door.service.name(), status.as_u16());
    let took = started.elapsed();
    door.options.traffic.count(&Answered { service, operation, status, code, took });
    operation
}

fn render<S>(door: &Door<S>, result: Result<Reply, ApiError>, echo: &Echo) -> Rendered {
    match result {
        Ok(reply) => render::reply(reply, echo, &door.server_header),
        Err(error) => render::error(&error, echo, &door.server_header, (door.options.clock)()),
    }
}

/// Deals with what the handler left unread; says whether the connection must close.
fn settle(left: Left, expects: bool, announced: Option<u64>, exchanges: &Arc<Exchanges>) -> bool {
    let rest = match left {
        Left::Nothing => return false,
        Left::Broken => {
            exchanges.leave_unread();
            return true;
        }
        Left::Rest(rest) => rest,
    };
    let long = announced.is_some_and(|length| length.saturating_sub(rest.read) > DRAIN_BYTES);
    // A client that waits for 100 Continue must not be told to go on for nothing.
    let waits = expects && !rest.asked;
    if long || waits {
        exchanges.leave_unread();
        return true;
    }
    // The reply does not wait for this: the client may read it before it has sent everything.
    tokio::spawn(rest.drain(exchanges.clone()));
    false
}

async fn finish(
    rendered: Rendered,
    close: bool,
    keep_alive: Option<&HeaderValue>,
    exchanges: Arc<Exchanges>,
    panics: Arc<AtomicU64>,
) -> Response<OutBody> {
    let Rendered { status, mut headers, spelling, body, reason } = rendered;
    if close {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    } else if let Some(value) = keep_alive {
        headers.insert(CONNECTION, HeaderValue::from_static("keep-alive"));
        headers.insert(KEEP_ALIVE, value.clone());
    }
    let mut response = Response::new(OutBody::new(body, exchanges, panics));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    if !spelling.is_empty() {
        *response.extensions_mut() = spelling::extensions(&spelling).await;
    }
    if let Some(phrase) = reason.and_then(|reason| ReasonPhrase::try_from(reason).ok()) {
        response.extensions_mut().insert(phrase);
    }
    response
}

fn asks_to_close(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|token| token.trim().eq_ignore_ascii_case("close"))
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
