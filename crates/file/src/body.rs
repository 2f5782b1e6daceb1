//! Between the wire's body stream and core's: the same bytes.
//!
//! Must never hold content whole.

use crate::parse::file::Framing;
use futures_util::StreamExt;
use zaffre_core::blob::{ByteStream, StreamError};
use zaffre_http::structured::{self, FaultSlot};
use zaffre_http::{BodyError, BodyStream};

/// The content of a request.
pub(crate) fn content(body: BodyStream) -> ByteStream {
    Box::pin(body.map(|piece| piece.map_err(|error| stream_error(&error))))
}

/// The same with the frames taken off, and what was wrong with them if anything was.
pub(crate) fn framed(body: BodyStream, framing: Framing) -> (ByteStream, FaultSlot) {
    let (body, fault) = match framing {
        Framing::Plain => (body, FaultSlot::default()),
        Framing::Structured { framed, content } => structured::content(body, framed, content),
    };
    (content(body), fault)
}

/// Stored bytes on their way out. A failure aborts the connection, so that a short answer never
/// looks whole; core has logged the cause.
pub(crate) fn reply(bytes: ByteStream) -> BodyStream {
    Box::pin(bytes.map(|piece| piece.map_err(|_| BodyError::Broken)))
}

/// No bytes.
pub(crate) fn empty() -> BodyStream {
    Box::pin(futures_util::stream::empty())
}

fn stream_error(error: &BodyError) -> StreamError {
    match error {
        BodyError::Broken => StreamError::Broken,
        BodyError::TooLarge { limit } => StreamError::TooLarge { limit: *limit },
    }
}
