//! What the File service refuses, as the client is told: one row per refusal.
//!
//! Must never decide anything, as in `refusal`.

use crate::codes::{self, Code};
use crate::error::ApiError;
use crate::file_codes;
use zaffre_base::limits::FILE_BYTES;
use zaffre_domain::fs::FileRefusal as F;

/// The code of a refusal.
pub(crate) fn code(refusal: F) -> Code {
    match refusal {
        F::ShareNotFound => file_codes::SHARE_NOT_FOUND,
        F::ShareAlreadyExists => file_codes::SHARE_ALREADY_EXISTS,
        F::ShareBeingDeleted => file_codes::SHARE_BEING_DELETED,
        F::ShareHasSnapshots => file_codes::SHARE_HAS_SNAPSHOTS,
        F::ShareSnapshotNotFound => file_codes::SHARE_SNAPSHOT_NOT_FOUND,
        F::ShareSnapshotCountExceeded => file_codes::SHARE_SNAPSHOT_COUNT_EXCEEDED,
        F::ShareSnapshotInProgress => file_codes::SHARE_SNAPSHOT_IN_PROGRESS,
        F::ShareSnapshotOperationNotSupported => file_codes::SHARE_SNAPSHOT_OPERATION_NOT_SUPPORTED,
        F::DeleteShareWhenSnapshotLeased => file_codes::DELETE_SHARE_WHEN_SNAPSHOT_LEASED,
        F::ShareSizeLimitReached => file_codes::SHARE_SIZE_LIMIT_REACHED,
        F::ResourceNotFound => codes::RESOURCE_NOT_FOUND,
        F::ParentNotFound => file_codes::PARENT_NOT_FOUND,
        F::ResourceAlreadyExists => codes::RESOURCE_ALREADY_EXISTS,
        F::ResourceTypeMismatch => codes::RESOURCE_TYPE_MISMATCH,
        F::DirectoryNotEmpty => file_codes::DIRECTORY_NOT_EMPTY,
        F::OverwriteNotPermitted => codes::AUTHORIZATION_PERMISSION_MISMATCH,
        F::CannotDelete => file_codes::CANNOT_DELETE,
        F::InvalidPath => file_codes::INVALID_PATH,
        F::InvalidResourceName => codes::INVALID_RESOURCE_NAME,
        F::SharingViolation => file_codes::SHARING_VIOLATION,
        F::FileLockConflict => file_codes::FILE_LOCK_CONFLICT,
        F::DeletePending => file_codes::DELETE_PENDING,
        F::ClientCacheFlushDelay => file_codes::CLIENT_CACHE_FLUSH_DELAY,
        F::HandleLimitExceeded => file_codes::HANDLE_LIMIT_EXCEEDED,
        F::ReadOnlyAttribute => file_codes::READ_ONLY_ATTRIBUTE,
        F::InvalidAttributes | F::FileTooLarge | F::NothingBelow => codes::INVALID_HEADER_VALUE,
        F::InvalidPermission => file_codes::FILE_INVALID_PERMISSION,
        F::NoTextForPermission => file_codes::CANNOT_CONVERT_TO_SDDL,
        F::InvalidPermissionKey => file_codes::FILE_INVALID_PERMISSION_KEY,
        F::FileGenerationMismatch => file_codes::FILE_GENERATION_MISMATCH,
        F::PreviousSnapshotNotFound => codes::PREVIOUS_SNAPSHOT_NOT_FOUND,
        F::NoPendingCopy => codes::NO_PENDING_COPY_OPERATION,
        // REST has no streams: only SMB hears of this.
        F::MovedIntoItself | F::TooManyStreams => codes::INVALID_INPUT,
    }
}

/// The same error with what only this refusal has to say.
pub(crate) fn describe(error: ApiError, refusal: F) -> ApiError {
    match refusal {
        F::InvalidAttributes => error.detail("HeaderName", "x-ms-file-attributes"),
        F::FileTooLarge => error
            .detail("HeaderName", "x-ms-content-length")
            .detail("MaxLimit", FILE_BYTES.to_string()),
        F::NothingBelow => error.detail("HeaderName", "x-ms-recursive"),
        F::MovedIntoItself => error.saying("A directory cannot be moved into itself."),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_domain::{LeaseOn, Refusal};

    #[test]
    fn rows() {
        for (refusal, status, code) in [
            (F::ShareNotFound.into(), 404, "ShareNotFound"),
            (F::ParentNotFound.into(), 404, "ParentNotFound"),
            (F::ReadOnlyAttribute.into(), 409, "ReadOnlyAttribute"),
            (F::ClientCacheFlushDelay.into(), 500, "ClientCacheFlushDelay"),
            (F::InvalidAttributes.into(), 400, "InvalidHeaderValue"),
            (F::ShareSizeLimitReached.into(), 413, "ShareSizeLimitReached"),
            (Refusal::LeaseIdMissing(LeaseOn::File), 412, "LeaseIdMissing"),
            (Refusal::LeaseIdMismatch(LeaseOn::File), 412, "LeaseIdMismatchWithFileOperation"),
            (Refusal::LeaseNotPresent(LeaseOn::File), 412, "LeaseNotPresentWithFileOperation"),
            (
                Refusal::LeaseIdMismatch(LeaseOn::Share),
                412,
                "LeaseIdMismatchWithContainerOperation",
            ),
        ] {
            let error = ApiError::from(refusal);
            assert_eq!((error.status.as_u16(), error.code), (status, code));
        }
        let missing = ApiError::from(Refusal::LeaseIdMissing(LeaseOn::Share));
        assert!(missing.message.contains("lease on the file share"), "{}", missing.message);
    }
}
