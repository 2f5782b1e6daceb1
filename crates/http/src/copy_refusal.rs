//! What copies refuse, as the client is told: one row per refusal.
//!
//! Must never decide anything, as in `refusal`.

use crate::codes::{self, Code};
use crate::error::ApiError;
use hyper::StatusCode;
use zaffre_domain::blob::copy::CopyRefusal as C;

/// The code of a refusal.
pub(crate) fn code(refusal: C) -> Code {
    match refusal {
        C::PendingCopyOperation => codes::PENDING_COPY_OPERATION,
        C::NoPendingCopyOperation => codes::NO_PENDING_COPY_OPERATION,
        C::CopyIdMismatch => codes::COPY_ID_MISMATCH,
        C::InfiniteLeaseDurationRequired => codes::INFINITE_LEASE_DURATION_REQUIRED,
        C::InvalidSourceBlobType => codes::INVALID_SOURCE_BLOB_TYPE,
        C::CopySourceTooLarge => codes::CANNOT_VERIFY_COPY_SOURCE,
        C::IncrementalCopySourceMustBeSnapshot => codes::INCREMENTAL_COPY_SOURCE_MUST_BE_SNAPSHOT,
        C::IncrementalCopyBlobMismatch => codes::INCREMENTAL_COPY_BLOB_MISMATCH,
        C::IncrementalCopyOfEarlierSnapshotNotAllowed => {
            codes::INCREMENTAL_COPY_OF_EARLIER_SNAPSHOT_NOT_ALLOWED
        }
        C::OperationNotAllowedOnIncrementalCopyBlob => {
            codes::OPERATION_NOT_ALLOWED_ON_INCREMENTAL_COPY_BLOB
        }
    }
}

/// What the error says beside its code.
pub(crate) fn describe(error: ApiError, refusal: C) -> ApiError {
    match refusal {
        C::CopySourceTooLarge => ApiError { status: StatusCode::CONFLICT, ..error }
            .saying("The source is larger than 256 MiB.".to_owned()),
        _ => error,
    }
}
