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
            let answer = of_store(cause);
            match cause {
                StoreError::Busy | StoreError::Closed => tracing::warn!(%cause, "asked to retry"),
                _ => tracing::error!(alarm = "store", %cause, "the store failed"),
            }
            answer
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

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_domain::Refusal;

    #[test]
    fn rows() {
        let disk = std::io::Error::other("broken");
        let secret = StoreError::corrupt("row of somebody's blob");
        for (error, want) in [
            (Error::Refused(Refusal::BlobNotFound), (404, "BlobNotFound")),
            (Error::Store(StoreError::Busy), (503, "ServerBusy")),
            (Error::Store(StoreError::Closed), (503, "ServerBusy")),
            (
                Error::Store(StoreError::Full { doing: "writing" }),
                (409, "MemoryExtentStoreAtSizeLimit"),
            ),
            (Error::Store(StoreError::Unknown), (500, "OperationTimedOut")),
            (Error::Store(StoreError::Poisoned), (500, "InternalError")),
            (Error::Store(StoreError::io("reading", disk)), (500, "InternalError")),
            (Error::Store(secret), (500, "InternalError")),
        ] {
            let answer = api_error(&error);
            assert_eq!((answer.status.as_u16(), answer.code), want, "{error:?}");
            assert!(!answer.message.contains("somebody"), "{}", answer.message);
        }
    }
}
