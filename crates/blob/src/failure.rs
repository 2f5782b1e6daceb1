//! How a failure of core becomes an answer: refusals by the shared table, the rest is ours.
//!
//! Must never show a client what broke inside; the log says it, once, here.

use zaffre_core::Error;
use zaffre_http::ApiError;

/// The answer to a failed operation.
pub(crate) fn api_error(error: &Error) -> ApiError {
    match error {
        Error::Refused(refusal) => refusal.clone().into(),
        Error::Store(cause) => {
            tracing::error!(alarm = "store", %cause, "the store failed; answered 500");
            ApiError::internal_error()
        }
    }
}
