//! How a failure of core becomes an answer: refusals by the shared table, the rest is ours.
//!
//! Must never show a client what broke inside; the log says it, once, here.

use zaffre_core::{Error, StoreError};
use zaffre_http::ApiError;

/// The answer to a failed operation.
pub(crate) fn api_error(error: &Error) -> ApiError {
    let cause = match error {
        Error::Refused(refusal) => return refusal.clone().into(),
        Error::Store(cause) => cause,
    };
    match cause {
        StoreError::Busy => ApiError::server_busy(),
        StoreError::Full { .. } => {
            tracing::warn!(%cause, "a write was refused");
            ApiError::no_space()
        }
        _ => {
            tracing::error!(alarm = "store", %cause, "the store failed; answered 500");
            ApiError::internal_error()
        }
    }
}
