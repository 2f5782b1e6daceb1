//! The one table from what the rules refuse to what the client is told.
//!
//! Must never decide anything: `code` is exhaustive, so a new refusal does not compile without
//! its row.

use crate::codes::{self, Code};
use crate::error::ApiError;
use crate::{copy_refusal, file_codes, file_refusal, kept_refusal, table_refusal};
use zaffre_base::base64;
use zaffre_domain::{LeaseOn, Refusal};

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let error = Self::from(code(&refusal));
        match refusal {
            Refusal::NotModified => Self::not_modified(),
            Refusal::LeaseIdMissing(on)
            | Refusal::LeaseLost(on)
            | Refusal::LeaseIdMismatchWithLeaseOperation(on)
            | Refusal::LeaseNotPresentWithLeaseOperation(on) => of_noun(error, on),
            Refusal::InvalidRange { length } => {
                error.header("content-range", format!("bytes */{length}"))
            }
            Refusal::Md5Mismatch { announced, computed } => error
                .detail("UserSpecifiedMd5", base64::encode(&announced))
                .detail("ServerCalculatedMd5", base64::encode(&computed)),
            Refusal::Crc64Mismatch { announced, computed } => error
                .detail("UserSpecifiedCrc", base64::encode(&announced))
                .detail("ServerCalculatedCrc", base64::encode(&computed)),
            Refusal::RequestBodyTooLarge { limit } => Self::request_body_too_large(limit),
            Refusal::AppendedBlockCountExceedsLimit => error.saying(
                "The committed block count cannot exceed the maximum limit of 50,000 blocks."
                    .to_owned(),
            ),
            Refusal::Copy(refusal) => copy_refusal::describe(error, refusal),
            Refusal::IncompleteBody => Self::incomplete_body(),
            Refusal::Kept(refusal) => kept_refusal::describe(error, refusal),
            Refusal::InvalidPopReceipt { presented } => Self::invalid_query_parameter(
                "popreceipt",
                &presented,
                "Invalid pop receipt format.",
            ),
            Refusal::InvisibleBeyondExpiry { seconds } => invalid_visibility(
                seconds,
                "The visibility timeout must not end after the message has expired.",
            ),
            Refusal::InvisibleForLife { seconds } => {
                invalid_visibility(seconds, "messagettl must be greater than visibilitytimeout.")
            }
            Refusal::File(refusal) => file_refusal::describe(error, refusal),
            Refusal::Table(refusal) => table_refusal::describe(error, &refusal),
            _ => error,
        }
    }
}

fn invalid_visibility(seconds: u64, reason: &str) -> ApiError {
    ApiError::invalid_query_parameter("visibilitytimeout", &seconds.to_string(), reason)
}

/// The codes word leases on blobs; on others only the noun differs.
fn of_noun(error: ApiError, on: LeaseOn) -> ApiError {
    let noun = match on {
        LeaseOn::Blob => return error,
        LeaseOn::Container => "the container",
        LeaseOn::Share => "the file share",
        LeaseOn::File => "the file",
    };
    let message = error.message.replace("the blob", noun);
    error.saying(message)
}

fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::ContainerNotFound => codes::CONTAINER_NOT_FOUND,
        Refusal::ContainerAlreadyExists => codes::CONTAINER_ALREADY_EXISTS,
        Refusal::ContainerBeingDeleted => codes::CONTAINER_BEING_DELETED,
        Refusal::PublicAccessNotPermitted => codes::PUBLIC_ACCESS_NOT_PERMITTED,
        Refusal::BlobNotFound => codes::BLOB_NOT_FOUND,
        Refusal::BlobAlreadyExists => codes::BLOB_ALREADY_EXISTS,
        Refusal::InvalidBlobType => codes::INVALID_BLOB_TYPE,
        Refusal::SnapshotsPresent => codes::SNAPSHOTS_PRESENT,
        Refusal::OperationNotAllowedOnRootBlob => codes::OPERATION_NOT_ALLOWED_ON_ROOT_BLOB,
        Refusal::PermanentDeleteIsOff => codes::PERMANENT_DELETE_IS_OFF,
        Refusal::BlobNotDeleted => codes::BLOB_OPERATION_NOT_SUPPORTED,
        Refusal::BlobArchived => codes::BLOB_ARCHIVED,
        Refusal::Kept(refusal) => kept_refusal::code(*refusal),
        Refusal::UnauthorizedBlobOverwrite => codes::UNAUTHORIZED_BLOB_OVERWRITE,
        Refusal::ConditionNotMet | Refusal::NotModified => codes::CONDITION_NOT_MET,
        Refusal::UnsatisfiableCondition => codes::UNSATISFIABLE_CONDITION,
        Refusal::MultipleConditionHeadersNotSupported => {
            codes::MULTIPLE_CONDITION_HEADERS_NOT_SUPPORTED
        }
        Refusal::LeaseIdMissing(_) => codes::LEASE_ID_MISSING,
        Refusal::LeaseLost(_) => codes::LEASE_LOST,
        Refusal::LeaseIdMismatch(LeaseOn::Blob) => codes::LEASE_ID_MISMATCH_WITH_BLOB_OPERATION,
        Refusal::LeaseIdMismatch(LeaseOn::Container) => {
            codes::LEASE_ID_MISMATCH_WITH_CONTAINER_OPERATION
        }
        Refusal::LeaseIdMismatch(LeaseOn::Share) => {
            file_codes::LEASE_ID_MISMATCH_WITH_SHARE_OPERATION
        }
        Refusal::LeaseIdMismatch(LeaseOn::File) => {
            file_codes::LEASE_ID_MISMATCH_WITH_FILE_OPERATION
        }
        Refusal::LeaseNotPresent(LeaseOn::Share) => {
            file_codes::LEASE_NOT_PRESENT_WITH_SHARE_OPERATION
        }
        Refusal::LeaseNotPresent(LeaseOn::File) => {
            file_codes::LEASE_NOT_PRESENT_WITH_FILE_OPERATION
        }
        Refusal::LeaseNotPresent(LeaseOn::Blob) => codes::LEASE_NOT_PRESENT_WITH_BLOB_OPERATION,
        Refusal::LeaseNotPresent(LeaseOn::Container) => {
            codes::LEASE_NOT_PRESENT_WITH_CONTAINER_OPERATION
        }
        Refusal::LeaseAlreadyPresent => codes::LEASE_ALREADY_PRESENT,
        Refusal::LeaseIdMismatchWithLeaseOperation(_) => {
            codes::LEASE_ID_MISMATCH_WITH_LEASE_OPERATION
        }
        Refusal::LeaseNotPresentWithLeaseOperation(_) => {
            codes::LEASE_NOT_PRESENT_WITH_LEASE_OPERATION
        }
        Refusal::LeaseIsBreakingAndCannotBeAcquired => {
            codes::LEASE_IS_BREAKING_AND_CANNOT_BE_ACQUIRED
        }
        Refusal::LeaseIsBreakingAndCannotBeChanged => {
            codes::LEASE_IS_BREAKING_AND_CANNOT_BE_CHANGED
        }
        Refusal::LeaseIsBrokenAndCannotBeRenewed => codes::LEASE_IS_BROKEN_AND_CANNOT_BE_RENEWED,
        Refusal::LeaseAlreadyBroken => codes::LEASE_ALREADY_BROKEN,
        Refusal::InvalidBlockList => codes::INVALID_BLOCK_LIST,
        Refusal::InvalidBlobOrBlock => codes::INVALID_BLOB_OR_BLOCK,
        Refusal::BlockCountExceedsLimit | Refusal::AppendedBlockCountExceedsLimit => {
            codes::BLOCK_COUNT_EXCEEDS_LIMIT
        }
        Refusal::BlockListTooLong => codes::BLOCK_LIST_TOO_LONG,
        Refusal::InvalidRange { .. } => codes::INVALID_RANGE,
        Refusal::Md5Mismatch { .. } => codes::MD5_MISMATCH,
        Refusal::Crc64Mismatch { .. } => codes::CRC64_MISMATCH,
        Refusal::RequestBodyTooLarge { .. } => codes::REQUEST_BODY_TOO_LARGE,
        Refusal::IncompleteBody => codes::INVALID_INPUT,
        Refusal::InvalidMarker | Refusal::RangeTooLargeForChecksum { .. } => {
            codes::OUT_OF_RANGE_INPUT
        }
        Refusal::AppendPositionConditionNotMet => codes::APPEND_POSITION_CONDITION_NOT_MET,
        Refusal::MaxBlobSizeConditionNotMet => codes::MAX_BLOB_SIZE_CONDITION_NOT_MET,
        Refusal::BlobIsSealed => codes::BLOB_IS_SEALED,
        Refusal::SequenceNumberConditionNotMet => codes::SEQUENCE_NUMBER_CONDITION_NOT_MET,
        Refusal::SequenceNumberIncrementTooLarge => codes::SEQUENCE_NUMBER_INCREMENT_TOO_LARGE,
        Refusal::InvalidPageRange => codes::INVALID_PAGE_RANGE,
        Refusal::PreviousSnapshotNotFound => codes::PREVIOUS_SNAPSHOT_NOT_FOUND,
        Refusal::PreviousSnapshotCannotBeNewer => codes::PREVIOUS_SNAPSHOT_CANNOT_BE_NEWER,
        Refusal::BlobOverwritten => codes::BLOB_OVERWRITTEN,
        Refusal::Copy(refusal) => copy_refusal::code(*refusal),
        Refusal::QueueNotFound => codes::QUEUE_NOT_FOUND,
        Refusal::QueueAlreadyExists => codes::QUEUE_ALREADY_EXISTS,
        Refusal::QueueBeingDeleted => codes::QUEUE_BEING_DELETED,
        Refusal::MessageNotFound => codes::MESSAGE_NOT_FOUND,
        Refusal::PopReceiptMismatch => codes::POP_RECEIPT_MISMATCH,
        Refusal::InvalidPopReceipt { .. }
        | Refusal::InvisibleBeyondExpiry { .. }
        | Refusal::InvisibleForLife { .. } => codes::INVALID_QUERY_PARAMETER_VALUE,
        Refusal::InvalidMetadata => codes::INVALID_METADATA,
        Refusal::EmptyMetadataKey => codes::EMPTY_METADATA_KEY,
        Refusal::MetadataTooLarge => codes::METADATA_TOO_LARGE,
        Refusal::File(refusal) => file_refusal::code(*refusal),
        Refusal::Table(refusal) => table_refusal::code(refusal),
        Refusal::TagsTooLarge => codes::TAGS_TOO_LARGE,
        Refusal::EmptyTagName => codes::EMPTY_TAG_NAME,
        Refusal::DuplicateTagNames => codes::DUPLICATE_TAG_NAMES,
        Refusal::InvalidTag => codes::INVALID_TAG,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let container = LeaseOn::Container;
        for (refusal, status, code, message) in [
            (Refusal::BlobNotFound, 404, "BlobNotFound", "The specified blob does not exist."),
            (
                Refusal::AppendedBlockCountExceedsLimit,
                409,
                "BlockCountExceedsLimit",
                "The committed block count cannot exceed the maximum limit of 50,000 blocks.",
            ),
            (
                Refusal::NotModified,
                304,
                "ConditionNotMet",
                "The condition specified using HTTP conditional header(s) is not met.",
            ),
            (
                Refusal::LeaseIdMissing(LeaseOn::Blob),
                412,
                "LeaseIdMissing",
                "There is currently a lease on the blob and no lease ID was specified in the request.",
            ),
            (
                Refusal::LeaseIdMissing(container),
                412,
                "LeaseIdMissing",
                "There is currently a lease on the container and no lease ID was specified in the \
                 request.",
            ),
            (
                Refusal::LeaseLost(container),
                412,
                "LeaseLost",
                "A lease ID was specified, but the lease for the container has expired.",
            ),
            (
                Refusal::LeaseNotPresentWithLeaseOperation(container),
                409,
                "LeaseNotPresentWithLeaseOperation",
                "There is currently no lease on the container.",
            ),
            (
                Refusal::LeaseIdMismatch(container),
                412,
                "LeaseIdMismatchWithContainerOperation",
                "The lease ID specified did not match the lease ID for the container.",
            ),
            (
                Refusal::LeaseIdMismatchWithLeaseOperation(container),
                409,
                "LeaseIdMismatchWithLeaseOperation",
                "The lease ID specified did not match the lease ID for the container.",
            ),
        ] {
            let error = ApiError::from(refusal);
            assert_eq!((error.status.as_u16(), error.code), (status, code));
            assert_eq!(error.message, message);
        }
    }

    #[test]
    fn details() {
        let range = ApiError::from(Refusal::InvalidRange { length: 7 });
        assert_eq!(range.headers, [("content-range", "bytes */7".to_owned())]);
        let crc = ApiError::from(Refusal::Crc64Mismatch { announced: [0; 8], computed: [1; 8] });
        assert_eq!(crc.details[0], ("UserSpecifiedCrc", "AAAAAAAAAAA=".to_owned()));
        let large = ApiError::from(Refusal::RequestBodyTooLarge { limit: 9 });
        assert_eq!(large.details, [("MaxLimit", "9".to_owned())]);
    }
}
