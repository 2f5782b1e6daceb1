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
use crate::message::{BodyError, BodyStream};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

/// Room that is made for a body before anything of it has come.
const FIRST_BYTES: usize = 64 * 1024;

/// Reads the body of a batch, which is small and has a limit.
pub async fn collect(mut body: BodyStream, announced: Option<u64>) -> Result<Bytes, ApiError> {
    if announced.is_some_and(|length| length > BATCH_BYTES) {
        return Err(ApiError::request_body_too_large(BATCH_BYTES));
    }
    let announced = announced.and_then(|length| usize::try_from(length).ok());
    let (mut only, mut whole) = (Bytes::new(), BytesMut::new());
    let mut left = BATCH_BYTES;
    while let Some(piece) = body.next().await {
        let piece = piece?;
        let too_large = BodyError::TooLarge { limit: BATCH_BYTES };
        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        left = left.checked_sub(length).ok_or(too_large)?;
        // Most bodies come in one piece, which is then what they are.
        if only.is_empty() && whole.is_empty() {
            only = piece;
            continue;
        }
        if whole.is_empty() {
            whole.reserve(announced.unwrap_or_default().min(FIRST_BYTES));
            whole.extend_from_slice(&only);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(if whole.is_empty() { only } else { whole.freeze() })
}
