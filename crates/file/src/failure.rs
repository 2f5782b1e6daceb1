//! How a failure of core becomes an answer: refusals by the shared table, the store's here.
//!
//! Must never show a client what broke inside; the log says it, once, here.

use zaffre_core::{Error, StoreError};
use zaffre_http::{ApiError, codes};

/// The answer to a failed operation.
pub(crate) fn api_error(error: &Error) -> ApiError {
    match error {
        Error::Refused(refusal) => refusal.clone().into(),
        Error::Store(cause) => {
            match cause {
                StoreError::Busy | StoreError::Closed => tracing::warn!(%cause, "asked to retry"),
                _ => tracing::error!(alarm = "store", %cause, "the store failed"),
            }
            of_store(cause)
        }
    }
}

/// 503 where nothing was changed and a later try may succeed, 409 where only more space helps, 500
/// otherwise.
fn of_store(cause: &StoreError) -> ApiError {
    match cause {
        StoreError::Busy | StoreError::Closed => ApiError::server_busy(),
        StoreError::Full { .. } => ApiError::no_space(),
        // The write may have happened: the one code that says so.
        StoreError::Unknown => codes::OPERATION_TIMED_OUT.into(),
        StoreError::Io { .. }
        | StoreError::Poisoned
        | StoreError::Corrupt { .. }
        | StoreError::Limit(_) => ApiError::internal_error(),
    }
}
