//! Replies and errors as HTTP responses, with the headers every answer has.
//!
//! Must never show more of an error than its own text: causes go to the log.

use crate::error::ApiError;
use crate::message::{Reply, ReplyBody, ReplyParts, RequestHead};
use crate::versions;
use crate::xml::Writer;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SERVER};
use hyper::{Method, StatusCode};
use zaffre_base::limits::CLIENT_REQUEST_ID_BYTES;
use zaffre_base::{ApiVersion, Guid, Timestamp};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");
pub(crate) const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
const VERSION: HeaderName = HeaderName::from_static("x-ms-version");
const ERROR_CODE: HeaderName = HeaderName::from_static("x-ms-error-code");
/// The Server header of answers given before a service was reached.
const FRONT_SERVER: HeaderValue = HeaderValue::from_static("Microsoft-HTTPAPI/2.0");

/// An answer ready to be sent, but for what only the connection knows.
pub(super) struct Rendered {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) spelling: Vec<String>,
    pub(super) body: ReplyBody,
    /// The reason phrase, where it is not the status's own.
    pub(super) reason: Option<String>,
}

impl Rendered {
    /// Bytes of the body, where they are known beforehand.
    pub(super) fn length(&self) -> Option<u64> {
        match &self.body {
            ReplyBody::Open { .. } => None,
            body => Some(body_length(body)),
        }
    }
}

/// What of a request its answer repeats; taken before the request is given away.
pub(super) struct Echo {
    method: Method,
    version: Option<ApiVersion>,
    client_request_id: Option<HeaderValue>,
    id: Guid,
}

impl Echo {
    /// Of a request whose head made sense.
    #[cfg(test)]
    fn of(head: &RequestHead) -> Self {
        let mut echo = Self::of_parts(&head.method, &head.headers, head.id);
        echo.know(head);
        echo
    }

    /// Takes in what only a head that makes sense can say.
    pub(super) fn know(&mut self, head: &RequestHead) {
        self.version = versions::effective(head).ok();
    }

    /// Of a request whose head may make no sense.
    pub(super) fn of_parts(method: &Method, headers: &HeaderMap, id: Guid) -> Self {
        let sent = headers.get(CLIENT_REQUEST_ID).filter(|value| {
            let bytes = value.as_bytes();
            bytes.len() <= CLIENT_REQUEST_ID_BYTES && bytes.iter().all(|b| matches!(b, b' '..=b'~'))
        });
        let client_request_id = sent.cloned();
        Self { method: method.clone(), version: None, client_request_id, id }
    }
}

pub(super) fn reply(reply: Reply, echo: &Echo, server: &HeaderValue) -> Rendered {
    let version = reply.version;
    // Written beside the other values, in the memory that is there already.
    let reply = reply.with(REQUEST_ID, echo.id).with_some(VERSION, version);
    let ReplyParts { status, mut headers, spelling, mut body, .. } = reply.into_parts();
    common(&mut headers, echo, server);
    if may_have_body(&echo.method, status) {
        // hyper writes the true length.
        headers.remove(CONTENT_LENGTH);
    } else {
        if !headers.contains_key(CONTENT_LENGTH) && body_length(&body) > 0 {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body_length(&body)));
        }
        body = ReplyBody::Empty;
    }
    Rendered { status, headers, spelling, body, reason: None }
}

pub(super) fn error(
    error: &ApiError,
    echo: &Echo,
    server: &HeaderValue,
    now: Timestamp,
) -> Rendered {
    let mut headers = HeaderMap::new();
    let server = if error.authentication { &FRONT_SERVER } else { server };
    let version = error.version.or(echo.version).filter(|_| !error.authentication);
    common(&mut headers, echo, server);
    let said = [(REQUEST_ID, Some(echo.id.to_string())), (VERSION, version.map(|v| v.to_string()))];
    for (name, value) in said {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(name, value);
        }
    }
    headers.insert(ERROR_CODE, HeaderValue::from_static(error.code));
    for (name, value) in &error.headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        } else {
            tracing::warn!(name, "value cannot be sent in a header; left out");
        }
    }
    let mut body = ReplyBody::Empty;
    if may_have_body(&echo.method, error.status) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        body = ReplyBody::Full(document(error, echo.id, now).into());
    }
    let reason = Some(error.message.clone());
    Rendered { status: error.status, headers, spelling: Vec::new(), body, reason }
}

fn common(headers: &mut HeaderMap, echo: &Echo, server: &HeaderValue) {
    headers.insert(SERVER, server.clone());
    if let Some(id) = &echo.client_request_id {
        headers.insert(CLIENT_REQUEST_ID, id.clone());
    }
}

fn may_have_body(method: &Method, status: StatusCode) -> bool {
    *method != Method::HEAD
        && status != StatusCode::NOT_MODIFIED
        && status != StatusCode::NO_CONTENT
}

fn body_length(body: &ReplyBody) -> u64 {
    match body {
        // The length of an open one is known only in the end.
        ReplyBody::Empty | ReplyBody::Open { .. } => 0,
        ReplyBody::Full(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        ReplyBody::Stream { length, .. } => *length,
    }
}

pub(crate) fn document(error: &ApiError, id: Guid, now: Timestamp) -> Vec<u8> {
    let mut xml = Writer::default();
    xml.open("Error").element("Code", error.code);
    xml.element("Message", format!("{}\nRequestId:{id}\nTime:{}", error.message, now.iso7()));
    for (name, value) in &error.details {
        xml.element(name, value);
    }
    xml.close("Error");
    xml.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: HeaderValue = HeaderValue::from_static("Windows-Azure-Blob/1.0");

    fn text(rendered: &Rendered) -> String {
        match &rendered.body {
            ReplyBody::Full(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn error_documents() {
        let echo = Echo::of(&RequestHead::sample("PUT", "/a/c"));
        let refused = ApiError::invalid_header_value("x-ms-range", "<1>");
        let rendered = error(&refused, &echo, &SERVICE, Timestamp::from_unix_seconds(0));
        assert_eq!(
            text(&rendered),
            "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error>\
             <Code>InvalidHeaderValue</Code><Message>The value for one of the HTTP headers is not \
             in the correct format.\nRequestId:00000000-0000-0000-0000-000000000001\n\
             Time:1970-01-01T00:00:00.0000000Z</Message><HeaderName>x-ms-range</HeaderName>\
             <HeaderValue>&lt;1&gt;</HeaderValue></Error>"
        );
        assert_eq!(rendered.headers.get("x-ms-error-code"), Some(&refused.code.parse().expect("")));
    }

    #[test]
    fn no_body_for_head_and_304() {
        let now = Timestamp::default();
        for (method, refused) in
            [("HEAD", ApiError::invalid_uri()), ("GET", ApiError::not_modified())]
        {
            let echo = Echo::of(&RequestHead::sample(method, "/a/c"));
            assert_eq!(text(&error(&refused, &echo, &SERVICE, now)), "");
        }
    }

    #[test]
    fn authentication_failures_come_from_the_front() {
        let echo = Echo::of(&RequestHead::sample("GET", "/a/c"));
        let refused = ApiError { authentication: true, ..ApiError::invalid_uri() };
        let rendered = error(&refused, &echo, &SERVICE, Timestamp::default());
        assert_eq!(rendered.headers.get(SERVER), Some(&FRONT_SERVER));
        assert!(!rendered.headers.contains_key(VERSION));
    }

    #[test]
    fn only_clean_client_ids_are_echoed() {
        for (id, echoed) in [
            ("abc-1", true),
            (&*"x".repeat(1024), true),
            (&*"x".repeat(1025), false),
            ("a b", true),
            ("a\tb", false),
            ("é", false),
        ] {
            let mut head = RequestHead::sample("GET", "/a/c");
            let value = HeaderValue::from_bytes(id.as_bytes()).expect("a test's header");
            head.headers.insert(CLIENT_REQUEST_ID, value);
            let sent =
                reply(Reply::new(StatusCode::OK, ApiVersion::LATEST), &Echo::of(&head), &SERVICE);
            assert_eq!(sent.headers.contains_key(CLIENT_REQUEST_ID), echoed, "{id}");
        }
    }
}
