//! A request after its head was read and decoded once, and the reply on its way out.
//!
//! Must never know a service. Both bodies are streams.

use crate::error::ApiError;
use bytes::Bytes;
use futures_core::Stream;
use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
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
    /// Headers as received.
    pub headers: HeaderMap,
    /// Value of the Host header, with port.
    pub host: String,
    /// The socket's other end; SAS `sip` looks at this and nothing else.
    pub peer: SocketAddr,
    /// Whether it came over TLS.
    pub secure: bool,
    /// Our id for this request (`x-ms-request-id`).
    pub id: Guid,
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

/// What goes back.
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// All headers but those the server adds itself (Date, Server, x-ms-request-id,
    /// x-ms-version, x-ms-client-request-id, Content-Length, Connection, keep-alive).
    pub headers: HeaderMap,
    /// The body.
    pub body: ReplyBody,
    /// The version to show in `x-ms-version`; `None` to omit it.
    pub version: Option<zaffre_base::ApiVersion>,
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
}

/// One REST service behind a listener.
pub trait Service: Send + Sync + 'static {
    /// `Blob`, `Queue`, … as in the readiness line.
    fn name(&self) -> &'static str;
    /// Handles one request. Errors are values; the server renders them.
    fn call(&self, request: Request)
    -> impl Future<Output = Result<Reply, ApiError>> + Send;
}
