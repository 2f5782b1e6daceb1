//! How an operation fails.

use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::{StoreError, TransactError};

/// Why an operation did not happen.
#[derive(Clone, Debug)]
pub enum Error {
    /// The rules say no; nothing was changed.
    Refused(Refusal),
    /// The store failed; what that means for the outcome is in its variants.
    Store(StoreError),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "refused: {refusal:?}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<FileRefusal> for Error {
    fn from(refusal: FileRefusal) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<TransactError<Refusal>> for Error {
    fn from(error: TransactError<Refusal>) -> Self {
        match error {
            TransactError::Body(refusal) => Self::Refused(refusal),
            TransactError::Store(error) => Self::Store(error),
        }
    }
}
