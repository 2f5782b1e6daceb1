//! A request after its head was read and decoded once, and the reply on its way out.
//!
//! Must never know a service. Both bodies are streams.

use crate::error::ApiError;
use crate::faults::Encounter;
use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use std::fmt::Write;
use std::future::Future;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;
use zaffre_base::Guid;

/// Bytes in pieces.
pub type BodyStream = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>;

/// Why a body ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BodyError {
    /// The connection broke, stalled past its time limit, or the body was shorter than announced.
    Broken,
    /// More than the limit arrived.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
}

/// The decoded head of a request.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// The verb.
    pub method: Method,
    /// The path exactly as received (percent-encoded): what signatures are made over.
    pub raw_path: String,
    /// Query parameters, decoded once, in the order received, names as sent.
    /// `+` in a value is a space here; `raw_query` has the original.
    pub query: Vec<(String, String)>,
    /// The query string exactly as received, without `?`.
    pub raw_query: String,
    /// Headers as received; names in lower case.
    pub headers: HeaderMap,
    /// The names of the `x-ms-meta-` headers without that prefix, with the case the client gave
    /// them: Azure keeps it. Read metadata through `headers::metadata`, which puts both together.
    pub metadata_names: Vec<String>,
    /// Value of the Host header, with port.
    pub host: String,
    /// The socket's other end; SAS `sip` looks at this and nothing else.
    pub peer: SocketAddr,
    /// Whether it came over TLS.
    pub secure: bool,
    /// Our id for this request (`x-ms-request-id`).
    pub id: Guid,
    /// The faults it may meet, where there are test controls; see [`RequestHead::meet`].
    pub encounter: Option<Arc<Encounter>>,
}

/// A request with its body still on the wire.
pub struct Request {
    /// The decoded head.
    pub head: RequestHead,
    /// Content-Length if sent; `None` for chunked or absent.
    pub content_length: Option<u64>,
    /// The body.
    pub body: BodyStream,
}

/// What goes back. On the heap, because it goes from hand to hand as it is made.
pub struct Reply(Box<ReplyParts>);

/// What a reply consists of.
pub struct ReplyParts {
    /// The status.
    pub status: StatusCode,
    /// All headers but those the server adds itself (Date, Server, x-ms-request-id,
    /// x-ms-version, x-ms-client-request-id, Content-Length, Connection, keep-alive).
    pub headers: HeaderMap,
    /// Header names that must keep this spelling on the wire, such as `x-ms-meta-MyKey`.
    pub spelling: Vec<String>,
    /// The body.
    pub body: ReplyBody,
    /// The version to show in `x-ms-version`; `None` to omit it.
    pub version: Option<zaffre_base::ApiVersion>,
    /// What was asked, for those who count.
    pub operation: Option<&'static str>,
    /// The code of an error that was rendered already.
    pub code: Option<&'static str>,
    /// What the values of the headers are written to: one piece of memory for all of them.
    values: BytesMut,
}

impl Deref for Reply {
    type Target = ReplyParts;

    fn deref(&self) -> &ReplyParts {
        &self.0
    }
}

impl DerefMut for Reply {
    fn deref_mut(&mut self) -> &mut ReplyParts {
        &mut self.0
    }
}

/// The name of a header, checked and looked up when this is compiled.
#[macro_export]
macro_rules! header {
    ($name:literal) => {
        const { $crate::HeaderName::from_static($name) }
    };
}

/// Room for the headers of most answers, so that the map does not grow on the way.
const USUAL_HEADERS: usize = 24;
/// Room for the values of most answers' headers together.
const USUAL_VALUES: usize = 384;

impl Reply {
    /// A reply without body.
    pub fn new(status: StatusCode, version: zaffre_base::ApiVersion) -> Self {
        let (headers, spelling) = (HeaderMap::with_capacity(USUAL_HEADERS), Vec::new());
        Self(Box::new(ReplyParts {
            status,
            headers,
            spelling,
            body: ReplyBody::Empty,
            version: Some(version),
            operation: None,
            code: None,
            values: BytesMut::with_capacity(USUAL_VALUES),
        }))
    }

    /// Takes it apart.
    pub fn into_parts(self) -> ReplyParts {
        *self.0
    }

    /// Adds a header; [`header!`](crate::header) makes its name.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: impl std::fmt::Display) -> Self {
        let written = write!(self.values, "{value}");
        let text = self.values.split().freeze();
        if written.is_ok() {
            put(&mut self.headers, name, text);
        }
        self
    }

    /// Adds a header whose value is always the same.
    #[must_use]
    pub fn with_text(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    /// Adds a header whose value is there already, and may be that of another one.
    #[must_use]
    pub fn with_shared(mut self, name: HeaderName, value: Bytes) -> Self {
        put(&mut self.headers, name, value);
        self
    }

    /// Adds a header if there is a value.
    #[must_use]
    pub fn with_some(self, name: HeaderName, value: Option<impl std::fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds one `x-ms-meta-` header whose name keeps its case on the wire.
    #[must_use]
    pub fn with_metadata(mut self, name: &str, value: &str) -> Self {
        let spelled = format!("x-ms-meta-{name}");
        let Ok(lower) = HeaderName::from_bytes(spelled.as_bytes()) else {
            tracing::warn!(name, "metadata name cannot be a header name; not sent");
            return self;
        };
        put(&mut self.headers, lower, Bytes::copy_from_slice(value.as_bytes()));
        if spelled.bytes().any(|b| b.is_ascii_uppercase()) {
            self.spelling.push(spelled);
        }
        self
    }

    /// Sets a small body with its content type.
    #[must_use]
    pub fn with_body(self, content_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        let mut reply = self.with_text(CONTENT_TYPE, content_type);
        reply.body = ReplyBody::Full(bytes.into());
        reply
    }
}

/// Stored values were checked when they came in; one that cannot be a header value is left out
/// rather than allowed to break the reply.
fn put(headers: &mut HeaderMap, name: HeaderName, value: Bytes) {
    if let Ok(value) = HeaderValue::from_maybe_shared(value) {
        headers.insert(name, value);
    } else {
        tracing::warn!(%name, "value cannot be sent in a header; left out");
    }
}

/// The body of a reply.
pub enum ReplyBody {
    /// Nothing (`Content-Length: 0` unless the headers say otherwise, as for HEAD).
    Empty,
    /// Small and whole.
    Full(Bytes),
    /// Known length, in pieces; an error aborts the connection so that it never looks whole.
    Stream {
        /// Exact number of bytes.
        length: u64,
        /// The bytes.
        bytes: BodyStream,
    },
    /// As long as it turns out to be, in chunks; an error aborts the connection.
    Open {
        /// The bytes.
        bytes: BodyStream,
    },
}

/// Says on an answer what was asked.
pub fn name(answer: &mut Result<Reply, ApiError>, operation: Option<&'static str>) {
    match answer {
        Ok(reply) => reply.operation = operation,
        Err(error) => error.operation = operation,
    }
}

/// One REST service behind a listener.
pub trait Service: Send + Sync + 'static {
    /// `Blob`, `Queue`, … as in the readiness line.
    fn name(&self) -> &'static str;
    /// The `Server` header of its answers.
    fn server(&self) -> String {
        format!("Windows-Azure-{}/1.0 Microsoft-HTTPAPI/2.0", self.name())
    }
    /// Handles one request. Errors are values; the server renders them.
    fn call(&self, request: Request) -> impl Future<Output = Result<Reply, ApiError>> + Send;
}
