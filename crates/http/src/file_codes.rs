//! Error codes that only the File service has, with status and message.
//!
//! Data only, as in `codes`. Texts of codes that no client ever showed are our own.

use crate::codes::Code;
use hyper::StatusCode;

macro_rules! codes {
    ($($constant:ident = $status:ident $name:literal: $message:literal)+) => {
        $(
            #[doc = concat!($name, ": ", $message)]
            pub const $constant: Code =
                Code { status: StatusCode::$status, name: $name, message: $message };
        )+

        /// All of them.
        pub const ALL: &[Code] = &[$($constant),+];
    };
}

codes! {
    CANNOT_CONVERT_TO_SDDL = BAD_REQUEST "CannotConvertToSddlDueToCustomAce":
        "The security descriptor contains entries that cannot be converted to SDDL."
    CANNOT_DELETE = CONFLICT "CannotDeleteFileOrDirectory":
        "The file or directory could not be deleted because it is in use by an SMB client."
    CLIENT_CACHE_FLUSH_DELAY = INTERNAL_SERVER_ERROR "ClientCacheFlushDelay":
        "The specified resource state could not be flushed from an SMB client in the specified time."
    DELETE_PENDING = CONFLICT "DeletePending":
        "The specified resource is marked for deletion by an SMB client."
    DELETE_SHARE_WHEN_SNAPSHOT_LEASED = CONFLICT "DeleteShareWhenSnapshotLeased":
        "Unable to delete share because one or more share snapshots have active leases. Release the \
         share snapshot leases or delete the share with the include-leased parameter for \
         x-ms-delete-snapshots."
    DIRECTORY_NOT_EMPTY = CONFLICT "DirectoryNotEmpty":
        "The specified directory is not empty."
    FEATURE_VERSION_MISMATCH = BAD_REQUEST "FeatureVersionMismatch":
        "The operation requires a higher version of the service than the request names."
    FILE_GENERATION_MISMATCH = CONFLICT "FileGenerationMismatch":
        "The file was created anew since the previous snapshot was taken."
    FILE_INVALID_PERMISSION = BAD_REQUEST "FileInvalidPermission":
        "The specified permission is invalid."
    FILE_INVALID_PERMISSION_KEY = BAD_REQUEST "FileInvalidPermissionKey":
        "The specified permission key is invalid."
    FILE_LOCK_CONFLICT = CONFLICT "FileLockConflict":
        "A portion of the specified file is locked by an SMB client."
    HANDLE_LIMIT_EXCEEDED = BAD_REQUEST "HandleLimitExceeded":
        "The maximum number of open handles has been reached."
    INVALID_PATH = BAD_REQUEST "InvalidFileOrDirectoryPathName":
        "The file or directory path is too long or has too many subdirectories."
    LEASE_ID_MISMATCH_WITH_FILE_OPERATION = PRECONDITION_FAILED "LeaseIdMismatchWithFileOperation":
        "The lease ID specified did not match the lease ID for the file."
    LEASE_NOT_PRESENT_WITH_FILE_OPERATION = PRECONDITION_FAILED "LeaseNotPresentWithFileOperation":
        "There is currently no lease on the file."
    LEASE_ID_MISMATCH_WITH_SHARE_OPERATION = PRECONDITION_FAILED
        "LeaseIdMismatchWithContainerOperation":
        "The lease ID specified did not match the lease ID for the file share."
    LEASE_NOT_PRESENT_WITH_SHARE_OPERATION = PRECONDITION_FAILED
        "LeaseNotPresentWithContainerOperation":
        "There is currently no lease on the file share."
    PARENT_NOT_FOUND = NOT_FOUND "ParentNotFound":
        "The specified parent path does not exist."
    READ_ONLY_ATTRIBUTE = CONFLICT "ReadOnlyAttribute":
        "The specified resource is read-only and cannot be modified at this time."
    SHARE_ALREADY_EXISTS = CONFLICT "ShareAlreadyExists":
        "The specified share already exists."
    SHARE_BEING_DELETED = CONFLICT "ShareBeingDeleted":
        "The specified share is being deleted. Try operation later."
    SHARE_HAS_SNAPSHOTS = CONFLICT "ShareHasSnapshots":
        "The share has snapshots and the operation requires no snapshots."
    SHARE_NOT_FOUND = NOT_FOUND "ShareNotFound":
        "The specified share does not exist."
    SHARE_SIZE_LIMIT_REACHED = PAYLOAD_TOO_LARGE "ShareSizeLimitReached":
        "The share size limit has been reached."
    SHARE_SNAPSHOT_COUNT_EXCEEDED = CONFLICT "ShareSnapshotCountExceeded":
        "The total number of snapshots for the share is over the limit."
    SHARE_SNAPSHOT_IN_PROGRESS = CONFLICT "ShareSnapshotInProgress":
        "A share snapshot operation is in progress on the specified share."
    SHARE_SNAPSHOT_NOT_FOUND = NOT_FOUND "ShareSnapshotNotFound":
        "The specified share snapshot does not exist."
    SHARE_SNAPSHOT_OPERATION_NOT_SUPPORTED = BAD_REQUEST "ShareSnapshotOperationNotSupported":
        "The specified operation is not supported on a share snapshot."
    SHARING_VIOLATION = CONFLICT "SharingViolation":
        "The specified resource may be in use by an SMB client."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sentences() {
        for code in ALL {
            assert!(code.message.ends_with('.') && code.message.is_ascii(), "{}", code.name);
            assert!(code.status.is_client_error() || code.status.is_server_error());
        }
    }
}
