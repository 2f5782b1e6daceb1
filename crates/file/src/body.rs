//! Between the wire's body stream and core's: the same bytes.
//!
//! Must never hold content whole.

use futures_util::StreamExt;
use zaffre_core::blob::{ByteStream, StreamError};
use zaffre_http::{BodyError, BodyStream};

/// The content of a request.
pub(crate) fn content(body: BodyStream) -> ByteStream {
    Box::pin(body.map(|piece| piece.map_err(|error| stream_error(&error))))
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
