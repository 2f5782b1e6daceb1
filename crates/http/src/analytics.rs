//! What a storage analytics log needs to know of a request and its answer.
//!
//! Must never take a secret along: signatures are cut from URLs, and no credential is kept.

use crate::error::ApiError;
use crate::message::{Reply, ReplyBody, RequestHead};
use hyper::header::{HeaderMap, HeaderName};
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_domain::service::log::{Authentication, Effect, LogEntry};

/// Headers that make a request conditional, as logs name them.
const CONDITIONS: [(&str, &str); 4] = [
    ("if-match", "If-Match"),
    ("if-none-match", "If-None-Match"),
    ("if-modified-since", "If-Modified-Since"),
    ("if-unmodified-since", "If-Unmodified-Since"),
];

/// A request as its log line shows it; taken before the request is given away.
pub struct Seen {
    authentication: Authentication,
    url: String,
    request_id: String,
    peer: String,
    head_bytes: u64,
    content_length: Option<u64>,
    request_md5: Option<String>,
    conditions: Option<String>,
    user_agent: Option<String>,
    referrer: Option<String>,
    client_request_id: Option<String>,
}

/// What the service found out about it.
pub struct Outcome<'a> {
    /// The operation's name.
    pub operation: &'static str,
    /// What it does.
    pub effect: Effect,
    /// Whose data.
    pub account: &'a str,
    /// `blob`, `queue` or `table`.
    pub service: &'static str,
    /// The path inside the account, decoded.
    pub path: &'a str,
    /// The version of the answer.
    pub version: Option<ApiVersion>,
    /// When it began.
    pub started: Timestamp,
    /// How long it took.
    pub milliseconds: u64,
}

impl Seen {
    /// Of this request.
    pub fn of(head: &RequestHead, content_length: Option<u64>) -> Self {
        let scheme = if head.secure { "https" } else { "http" };
        let mark = if head.raw_query.is_empty() { "" } else { "?" };
        let query = head.loggable_query();
        let text = |name: &str| text(&head.headers, name);
        let used = CONDITIONS
            .iter()
            .filter_map(|(name, shown)| text(name).map(|value| format!("{shown}={value}")));
        let used: Vec<String> = used.collect();
        Self {
            authentication: presented(head),
            url: format!("{scheme}://{}{}{mark}{query}", head.host, head.raw_path),
            request_id: head.id.to_string(),
            peer: head.peer.to_string(),
            head_bytes: bytes_of(&head.headers),
            content_length,
            request_md5: text("content-md5"),
            conditions: (!used.is_empty()).then(|| used.join("; ")),
            user_agent: text("user-agent"),
            referrer: text("referer"),
            client_request_id: text("x-ms-client-request-id"),
        }
    }

    /// The entry for the answer.
    pub fn entry(self, outcome: &Outcome<'_>, answer: &Result<Reply, ApiError>) -> LogEntry {
        let none = HeaderMap::new();
        let (status, headers, body) = match answer {
            Ok(reply) => (reply.status, &reply.headers, body_bytes(&reply.body)),
            Err(error) => (error.status, &none, 0),
        };
        let text = |name: &str| text(headers, name);
        LogEntry {
            started: outcome.started,
            operation: outcome.operation,
            effect: outcome.effect,
            status: status.as_u16(),
            milliseconds: outcome.milliseconds,
            authentication: self.authentication,
            account: outcome.account.to_owned(),
            service: outcome.service,
            url: self.url,
            object: format!("/{}/{}", outcome.account, outcome.path),
            request_id: self.request_id,
            peer: self.peer,
            version: outcome.version.map_or_else(String::new, |version| version.to_string()),
            sizes: [self.head_bytes, self.content_length.unwrap_or(0), bytes_of(headers), body],
            content_length: self.content_length,
            request_md5: self.request_md5,
            server_md5: text("content-md5"),
            etag: text("etag"),
            last_modified: text("last-modified").as_deref().and_then(Timestamp::parse_http),
            conditions: self.conditions,
            user_agent: self.user_agent,
            referrer: self.referrer,
            client_request_id: self.client_request_id,
        }
    }
}

/// The kind of credential a request came with, good or bad.
fn presented(head: &RequestHead) -> Authentication {
    match text(&head.headers, "authorization") {
        Some(value)
            if value.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer ")) =>
        {
            Authentication::Bearer
        }
        Some(_) => Authentication::Key,
        None if head.parameter("sig").is_some() => Authentication::Sas,
        None => Authentication::Anonymous,
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
}

/// About as many bytes as the headers take on the wire: name, colon, space, value, line end.
fn bytes_of(headers: &HeaderMap) -> u64 {
    const AROUND: usize = 4;
    let one = |(name, value): (&HeaderName, &hyper::header::HeaderValue)| {
        name.as_str().len() + value.len() + AROUND
    };
    u64::try_from(headers.iter().map(one).sum::<usize>()).unwrap_or(u64::MAX)
}

fn body_bytes(body: &ReplyBody) -> u64 {
    match body {
        ReplyBody::Empty | ReplyBody::Open { .. } => 0,
        ReplyBody::Full(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        ReplyBody::Stream { length, .. } => *length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header;
    use hyper::StatusCode;

    #[test]
    fn no_signature_is_logged() {
        let mut head = RequestHead::sample("GET", "/acct/c/b?sv=2020-02-10&sig=secret");
        head.headers.insert("if-match", "\"0x1\"".parse().expect("a header"));
        let seen = Seen::of(&head, None);
        let reply =
            Ok(Reply::new(StatusCode::OK, ApiVersion::LATEST).with(header!("etag"), "\"0x2\""));
        let outcome = Outcome {
            operation: "GetBlob",
            effect: Effect::Read,
            account: "acct",
            service: "blob",
            path: "c/b",
            version: None,
            started: Timestamp::default(),
            milliseconds: 3,
        };
        let entry = seen.entry(&outcome, &reply);
        assert_eq!(entry.url, "http://127.0.0.1:10000/acct/c/b?sv=2020-02-10&sig=...");
        assert_eq!(
            (entry.object.as_str(), entry.authentication),
            ("/acct/c/b", Authentication::Sas)
        );
        assert_eq!(entry.conditions.as_deref(), Some("If-Match=\"0x1\""));
        assert_eq!((entry.status, entry.etag.as_deref()), (200, Some("\"0x2\"")));
    }
}
