//! Batches: the `multipart/mixed` bodies that carry whole requests, taken apart in memory.
//!
//! Must never do I/O, and never decide what a part may ask for: a part becomes a request head like
//! any other and goes the way of every request.

mod boundary;
mod error;
mod headers;
mod part;
mod request;
mod response;

pub use boundary::Boundary;
pub use error::MultipartError;
pub use headers::PartHeaders;
pub use part::{Part, Parts};
pub use request::PartRequest;
pub use response::ResponseWriter;

use crate::error::ApiError;
use crate::limits::BATCH_BYTES;
use crate::message::BodyStream;
use crate::server::limited;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

/// Room that is made for a body before anything of it has come.
const FIRST_BYTES: usize = 64 * 1024;

/// Reads the body of a batch, which is small and has a limit.
pub async fn collect(body: BodyStream, announced: Option<u64>) -> Result<Bytes, ApiError> {
    if announced.is_some_and(|length| length > BATCH_BYTES) {
        return Err(ApiError::request_body_too_large(BATCH_BYTES));
    }
    let mut body = limited(body, BATCH_BYTES);
    let announced = announced.and_then(|length| usize::try_from(length).ok());
    let mut whole = BytesMut::with_capacity(announced.unwrap_or_default().min(FIRST_BYTES));
    while let Some(piece) = body.next().await {
        whole.extend_from_slice(&piece?);
    }
    Ok(whole.freeze())
}
