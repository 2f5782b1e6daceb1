//! Between the wire's body stream and core's: the same bytes, with the frames taken off.
//!
//! Must never let a framed body that is wrong look complete: its stream ends in an error.

use crate::parse::put::Framing;
use futures_util::StreamExt;
use zaffre_core::blob::{ByteStream, StreamError};
use zaffre_http::structured::{self, FaultSlot};
use zaffre_http::{BodyError, BodyStream};

/// The content of a request body, and what was wrong with its frames if anything was.
pub fn content(body: BodyStream, framing: Framing) -> (ByteStream, FaultSlot) {
    let (body, fault) = match framing {
        Framing::Plain => (body, FaultSlot::default()),
        Framing::Structured { framed, content } => structured::content(body, framed, content),
    };
    (Box::pin(body.map(|piece| piece.map_err(|error| stream_error(&error)))), fault)
}

/// Stored bytes on their way out. A failure aborts the connection, so that a short answer never
/// looks whole; core has logged the cause.
pub fn reply(bytes: ByteStream) -> BodyStream {
    Box::pin(bytes.map(|piece| piece.map_err(|_| BodyError::Broken)))
}

fn stream_error(error: &BodyError) -> StreamError {
    match error {
        BodyError::Broken => StreamError::Broken,
        BodyError::TooLarge { limit } => StreamError::TooLarge { limit: *limit },
    }
}
