//! CORS. No service can store rules yet, so no preflight succeeds and no header is added.

use crate::codes;
use crate::error::ApiError;
use crate::message::RequestHead;

/// Answers an OPTIONS request: what is wrong with it, or that no rule matches.
pub fn preflight(head: &RequestHead) -> ApiError {
    let complete = ["origin", "access-control-request-method"]
        .iter()
        .all(|name| head.headers.contains_key(*name));
    if complete {
        return codes::CORS_PREFLIGHT_FAILURE.into();
    }
    ApiError::from(codes::INVALID_HEADER_VALUE).saying("A required CORS header is not present.")
}
