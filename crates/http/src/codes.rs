//! Every error code we send, with its status and message, exactly as Azure words them.
//!
//! Data only: which refusal becomes which code is decided in `refusal`. Three texts are our own
//! because Azure's are not known: MutuallyExclusiveQueryParameters, APINotImplemented, and the
//! one number that BlockCountExceedsLimit names. MemoryExtentStoreAtSizeLimit is Azurite's.

use hyper::StatusCode;

/// One row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The HTTP status.
    pub status: StatusCode,
    /// `x-ms-error-code`
    pub name: &'static str,
    /// The message.
    pub message: &'static str,
}

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
    ACCESS_TIER_NOT_SUPPORTED_FOR_BLOB_TYPE = BAD_REQUEST "AccessTierNotSupportedForBlobType":
        "The access tier is not supported for this blob type."
    APPEND_POSITION_CONDITION_NOT_MET = PRECONDITION_FAILED "AppendPositionConditionNotMet":
        "The append position condition specified was not met."
    BLOB_ALREADY_EXISTS = CONFLICT "BlobAlreadyExists":
        "The specified blob already exists."
    BLOB_ARCHIVED = CONFLICT "BlobArchived":
        "This operation is not permitted on an archived blob."
    BLOB_BEING_REHYDRATED = CONFLICT "BlobBeingRehydrated":
        "This operation is not permitted because the blob is being rehydrated."
    BLOB_CUSTOMER_SPECIFIED_ENCRYPTION_MISMATCH = CONFLICT
        "BlobCustomerSpecifiedEncryptionMismatch":
        "The given customer specified encryption does not match the encryption used to encrypt the \
         blob."
    BLOB_DOES_NOT_USE_CUSTOMER_SPECIFIED_ENCRYPTION = CONFLICT
        "BlobDoesNotUseCustomerSpecifiedEncryption":
        "The blob is not encrypted with customer specified encryption, but one was provided in the \
         request."
    BLOB_IMMUTABLE_DUE_TO_LEGAL_HOLD = CONFLICT "BlobImmutableDueToLegalHold":
        "This operation is not permitted as the blob is immutable due to one or more legal holds."
    BLOB_IMMUTABLE_DUE_TO_POLICY = CONFLICT "BlobImmutableDueToPolicy":
        "This operation is not permitted as the blob is immutable due to a policy."
    BLOB_IS_SEALED = CONFLICT "BlobIsSealed":
        "The blob is sealed and its contents cannot be modified."
    BLOB_NOT_ARCHIVED = CONFLICT "BlobNotArchived":
        "This blob is currently not in the archived state."
    BLOB_NOT_FOUND = NOT_FOUND "BlobNotFound":
        "The specified blob does not exist."
    BLOB_OPERATION_NOT_SUPPORTED = CONFLICT "BlobOperationNotSupported":
        "Blob operation is not supported."
    BLOB_OVERWRITTEN = CONFLICT "BlobOverwritten":
        "The blob has been recreated since the previous snapshot was taken."
    BLOB_TIER_INADEQUATE_FOR_CONTENT_LENGTH = CONFLICT "BlobTierInadequateForContentLength":
        "Specified blob tier size limit cannot be less than content length."
    BLOB_USES_CUSTOMER_SPECIFIED_ENCRYPTION = CONFLICT "BlobUsesCustomerSpecifiedEncryption":
        "The blob is encrypted with customer specified encryption, but it was not provided in the \
         request."
    BLOCK_COUNT_EXCEEDS_LIMIT = CONFLICT "BlockCountExceedsLimit":
        "The uncommitted block count cannot exceed the maximum limit of 100,000 blocks."
    BLOCK_LIST_TOO_LONG = BAD_REQUEST "BlockListTooLong":
        "The block list may not contain more than 50,000 blocks."
    BOTH_CRC64_AND_MD5_HEADER_PRESENT = BAD_REQUEST "BothCrc64AndMd5HeaderPresent":
        "Both x-ms-content-crc64 header and Content-MD5 header are present."
    BOTH_CRC64_AND_MD5_RANGE_HEADER_PRESENT = BAD_REQUEST "BothCrc64AndMd5RangeHeaderPresent":
        "Both x-ms-range-get-content-crc64 header and x-ms-range-get-content-md5 header are \
         present."
    BOTH_USER_TAGS_AND_SOURCE_TAGS_COPY_PRESENT = BAD_REQUEST
        "BothUserTagsAndSourceTagsCopyPresentException":
        "x-ms-tags and x-ms-copy-source-tag-option header cannot both be present."
    CANNOT_CHANGE_TO_LOWER_TIER = CONFLICT "CannotChangeToLowerTier":
        "A higher blob tier has already been explicitly set."
    CANNOT_VERIFY_COPY_SOURCE = NOT_FOUND "CannotVerifyCopySource":
        "Could not verify the copy source within the specified time."
    CONTAINER_ALREADY_EXISTS = CONFLICT "ContainerAlreadyExists":
        "The specified container already exists."
    CONTAINER_BEING_DELETED = CONFLICT "ContainerBeingDeleted":
        "The specified container is being deleted. Try operation later."
    CONTAINER_DISABLED = CONFLICT "ContainerDisabled":
        "The specified container has been disabled by the administrator."
    CONTAINER_IMMUTABLE_STORAGE_WITH_VERSIONING_ENABLED = CONFLICT
        "ContainerImmutableStorageWithVersioningEnabled":
        "The requested operation is not allowed as the container has a immutable storage with \
         versioning enabled."
    CONTAINER_NOT_FOUND = NOT_FOUND "ContainerNotFound":
        "The specified container does not exist."
    COPY_ACROSS_ACCOUNTS_NOT_SUPPORTED = BAD_REQUEST "CopyAcrossAccountsNotSupported":
        "The copy source account and destination account must be the same."
    COPY_ID_MISMATCH = CONFLICT "CopyIdMismatch":
        "The specified copy ID did not match the copy ID for the pending copy operation."
    CORS_PREFLIGHT_FAILURE = FORBIDDEN "CorsPreflightFailure":
        "CORS not enabled or no matching rule found for this request."
    CRC64_MISMATCH = BAD_REQUEST "Crc64Mismatch":
        "The CRC64 value specified in the request did not match with the CRC64 value \
         calculated by the server."
    ENCRYPTION_SCOPE_NOT_AVAILABLE = CONFLICT "EncryptionScopeNotAvailable":
        "The given encryption scope is not available."
    FEATURE_VERSION_MISMATCH = CONFLICT "FeatureVersionMismatch":
        "The operation for AppendBlob requires at least version 2015-02-21."
    IMMUTABILITY_POLICY_DELETE_ON_LOCKED_POLICY = CONFLICT
        "ImmutabilityPolicyDeleteOnLockedPolicy":
        "The immutability policy of the blob is locked and cannot be deleted."
    INCREMENTAL_COPY_BLOB_MISMATCH = CONFLICT "IncrementalCopyBlobMismatch":
        "The specified source blob is different than the copy source of the existing incremental \
         copy blob."
    INCREMENTAL_COPY_OF_EARLIER_SNAPSHOT_NOT_ALLOWED = CONFLICT
        "IncrementalCopyOfEarlierSnapshotNotAllowed":
        "The specified snapshot is earlier than the last snapshot copied into the incremental \
         copy blob."
    INCREMENTAL_COPY_SOURCE_MUST_BE_SNAPSHOT = CONFLICT "IncrementalCopySourceMustBeSnapshot":
        "The source for incremental copy request must be a snapshot."
    INFINITE_LEASE_DURATION_REQUIRED = PRECONDITION_FAILED "InfiniteLeaseDurationRequired":
        "The lease ID matched, but the specified lease must be an infinite-duration lease."
    INVALID_BLOB_OR_BLOCK = BAD_REQUEST "InvalidBlobOrBlock":
        "The specified blob or block content is invalid."
    INVALID_BLOB_TIER = BAD_REQUEST "InvalidBlobTier":
        "The specified blob tier is invalid."
    INVALID_BLOB_TYPE = CONFLICT "InvalidBlobType":
        "The blob type is invalid for this operation."
    INVALID_BLOCK_ID = BAD_REQUEST "InvalidBlockId":
        "The specified block ID is invalid. The block ID must be Base64-encoded."
    INVALID_BLOCK_LIST = BAD_REQUEST "InvalidBlockList":
        "The specified block list is invalid."
    INVALID_OPERATION = BAD_REQUEST "InvalidOperation":
        "Invalid operation against a blob snapshot."
    INVALID_PAGE_RANGE = RANGE_NOT_SATISFIABLE "InvalidPageRange":
        "The page range specified is invalid."
    INVALID_SOURCE_BLOB_TYPE = CONFLICT "InvalidSourceBlobType":
        "The copy source blob type is invalid for this operation."
    INVALID_SOURCE_BLOB_URL = CONFLICT "InvalidSourceBlobUrl":
        "The source url for incremental copy request must be valid azure storage blob url."
    INVALID_VERSION_FOR_PAGE_BLOB_OPERATION = BAD_REQUEST "InvalidVersionForPageBlobOperation":
        "All operations on page blobs require at least version 2009-09-19."
    LEASE_ALREADY_BROKEN = CONFLICT "LeaseAlreadyBroken":
        "The lease has already been broken and cannot be broken again."
    LEASE_ALREADY_PRESENT = CONFLICT "LeaseAlreadyPresent":
        "There is already a lease present."
    LEASE_ID_MISMATCH_WITH_BLOB_OPERATION = PRECONDITION_FAILED "LeaseIdMismatchWithBlobOperation":
        "The lease ID specified did not match the lease ID for the blob."
    LEASE_ID_MISMATCH_WITH_CONTAINER_OPERATION = PRECONDITION_FAILED
        "LeaseIdMismatchWithContainerOperation":
        "The lease ID specified did not match the lease ID for the container."
    LEASE_ID_MISMATCH_WITH_LEASE_OPERATION = CONFLICT "LeaseIdMismatchWithLeaseOperation":
        "The lease ID specified did not match the lease ID for the blob."
    LEASE_ID_MISSING = PRECONDITION_FAILED "LeaseIdMissing":
        "There is currently a lease on the blob and no lease ID was specified in the request."
    LEASE_IS_BREAKING_AND_CANNOT_BE_ACQUIRED = CONFLICT "LeaseIsBreakingAndCannotBeAcquired":
        "The lease ID matched, but the lease is currently in breaking state and cannot be \
         acquired until it is broken."
    LEASE_IS_BREAKING_AND_CANNOT_BE_CHANGED = CONFLICT "LeaseIsBreakingAndCannotBeChanged":
        "The lease ID matched, but the lease is currently in breaking state and cannot be changed."
    LEASE_IS_BROKEN_AND_CANNOT_BE_RENEWED = CONFLICT "LeaseIsBrokenAndCannotBeRenewed":
        "The lease ID matched, but the lease has been broken explicitly and cannot be renewed."
    LEASE_LOST = PRECONDITION_FAILED "LeaseLost":
        "A lease ID was specified, but the lease for the blob has expired."
    LEASE_NOT_PRESENT_WITH_BLOB_OPERATION = PRECONDITION_FAILED "LeaseNotPresentWithBlobOperation":
        "There is currently no lease on the blob."
    LEASE_NOT_PRESENT_WITH_CONTAINER_OPERATION = PRECONDITION_FAILED
        "LeaseNotPresentWithContainerOperation":
        "There is currently no lease on the container."
    LEASE_NOT_PRESENT_WITH_LEASE_OPERATION = CONFLICT "LeaseNotPresentWithLeaseOperation":
        "There is currently no lease on the blob."
    MAX_BLOB_SIZE_CONDITION_NOT_MET = PRECONDITION_FAILED "MaxBlobSizeConditionNotMet":
        "The max blob size condition specified was not met."
    MUTUALLY_EXCLUSIVE_QUERY_PARAMETERS = BAD_REQUEST "MutuallyExclusiveQueryParameters":
        "Mutually exclusive query parameters are specified in the request URI."
    NO_PENDING_COPY_OPERATION = CONFLICT "NoPendingCopyOperation":
        "There is currently no pending copy operation."
    OPERATION_NOT_ALLOWED_ON_INCREMENTAL_COPY_BLOB = CONFLICT
        "OperationNotAllowedOnIncrementalCopyBlob":
        "The specified operation is not allowed on an incremental copy blob."
    OPERATION_NOT_ALLOWED_ON_ROOT_BLOB = FORBIDDEN "OperationNotAllowedOnRootBlob":
        "The specified operation is not allowed on root blob."
    PENDING_COPY_OPERATION = CONFLICT "PendingCopyOperation":
        "There is currently a pending copy operation."
    PERMANENT_DELETE_IS_OFF = CONFLICT "PermanentDeleteIsOff":
        "Permanent delete is off on the storage account."
    PUBLIC_ACCESS_NOT_PERMITTED = CONFLICT "PublicAccessNotPermitted":
        "Public access is not permitted on this storage account."
    PREVIOUS_SNAPSHOT_CANNOT_BE_NEWER = BAD_REQUEST "PreviousSnapshotCannotBeNewer":
        "The prevsnapshot query parameter value cannot be newer than snapshot query parameter \
         value."
    PREVIOUS_SNAPSHOT_NOT_FOUND = CONFLICT "PreviousSnapshotNotFound":
        "The previous snapshot is not found."
    REQUEST_FORBIDDEN_BY_CONTAINER_ENCRYPTION_POLICY = FORBIDDEN
        "RequestForbiddenByContainerEncryptionPolicy":
        "The request is forbidden by the container encryption policy."
    SEQUENCE_NUMBER_CONDITION_NOT_MET = PRECONDITION_FAILED "SequenceNumberConditionNotMet":
        "The sequence number condition specified was not met."
    SEQUENCE_NUMBER_INCREMENT_TOO_LARGE = CONFLICT "SequenceNumberIncrementTooLarge":
        "The sequence number increment cannot be performed because it would result in \
         overflow of the sequence number."
    SNAPSHOT_COUNT_EXCEEDED = CONFLICT "SnapshotCountExceeded":
        "The snapshot count against this blob has been exceeded."
    SNAPSHOT_OPERATION_RATE_EXCEEDED = CONFLICT "SnapshotOperationRateExceeded":
        "The rate of snapshot operations against this blob has been exceeded."
    SNAPSHOTS_PRESENT = CONFLICT "SnapshotsPresent":
        "This operation is not permitted because the blob has snapshots."
    SOURCE_CONDITION_NOT_MET = PRECONDITION_FAILED "SourceConditionNotMet":
        "The source condition specified using HTTP conditional header(s) is not met."
    DUPLICATE_TAG_NAMES = BAD_REQUEST "DuplicateTagNames":
        "The tags specified contain duplicate names."
    EMPTY_TAG_NAME = BAD_REQUEST "EmptyTagName":
        "The name of one of the tag key-value pairs is empty."
    HIERARCHICAL_NAMESPACE_NOT_ENABLED = BAD_REQUEST "HierarchicalNamespaceNotEnabled":
        "This operation is only supported on a hierarchical namespace account."
    INVALID_TAG = BAD_REQUEST "InvalidTag":
        "The tags specified are invalid. It contains characters that are not permitted."
    TAGS_TOO_LARGE = BAD_REQUEST "TagsTooLarge":
        "The tags specified exceed the maximum permissible limit."
    TARGET_CONDITION_NOT_MET = PRECONDITION_FAILED "TargetConditionNotMet":
        "The target condition specified using HTTP conditional header(s) is not met."
    UNAUTHORIZED_BLOB_OVERWRITE = FORBIDDEN "UnauthorizedBlobOverwrite":
        "This request is not authorized to perform blob overwrites."
    UNSATISFIABLE_CONDITION = BAD_REQUEST "UnsatisfiableCondition":
        "The request includes an unsatisfiable condition for this operation."
    ACCOUNT_IS_DISABLED = FORBIDDEN "AccountIsDisabled":
        "The specified account is disabled."
    API_NOT_IMPLEMENTED = NOT_IMPLEMENTED "APINotImplemented":
        "Current API is not implemented yet."
    CONDITION_HEADERS_NOT_SUPPORTED = BAD_REQUEST "ConditionHeadersNotSupported":
        "Condition headers are not supported."
    CONDITION_NOT_MET = PRECONDITION_FAILED "ConditionNotMet":
        "The condition specified using HTTP conditional header(s) is not met."
    EMPTY_METADATA_KEY = BAD_REQUEST "EmptyMetadataKey":
        "The key for one of the metadata key-value pairs is empty."
    INSUFFICIENT_ACCOUNT_PERMISSIONS = FORBIDDEN "InsufficientAccountPermissions":
        "The account being accessed does not have sufficient permissions to execute this operation."
    INTERNAL_ERROR = INTERNAL_SERVER_ERROR "InternalError":
        "The server encountered an internal error. Please retry the request."
    INVALID_HEADER_VALUE = BAD_REQUEST "InvalidHeaderValue":
        "The value for one of the HTTP headers is not in the correct format."
    INVALID_HTTP_VERB = BAD_REQUEST "InvalidHttpVerb":
        "The HTTP verb specified was not recognized by the server."
    INVALID_INPUT = BAD_REQUEST "InvalidInput":
        "One of the request inputs is not valid."
    INVALID_MD5 = BAD_REQUEST "InvalidMd5":
        "The MD5 value specified in the request is invalid. MD5 value must be 128 bits and \
         base64 encoded."
    INVALID_METADATA = BAD_REQUEST "InvalidMetadata":
        "The metadata specified is invalid. It has characters that are not permitted."
    INVALID_QUERY_PARAMETER_VALUE = BAD_REQUEST "InvalidQueryParameterValue":
        "Value for one of the query parameters specified in the request URI is invalid."
    INVALID_RANGE = RANGE_NOT_SATISFIABLE "InvalidRange":
        "The range specified is invalid for the current size of the resource."
    INVALID_RESOURCE_NAME = BAD_REQUEST "InvalidResourceName":
        "The specifed resource name contains invalid characters."
    INVALID_URI = BAD_REQUEST "InvalidUri":
        "The requested URI does not represent any resource on the server."
    INVALID_XML_DOCUMENT = BAD_REQUEST "InvalidXmlDocument":
        "XML specified is not syntactically valid."
    INVALID_XML_NODE_VALUE = BAD_REQUEST "InvalidXmlNodeValue":
        "The value for one of the XML nodes is not in the correct format."
    MD5_MISMATCH = BAD_REQUEST "Md5Mismatch":
        "The MD5 value specified in the request did not match with the MD5 value calculated \
         by the server."
    MEMORY_EXTENT_STORE_AT_SIZE_LIMIT = CONFLICT "MemoryExtentStoreAtSizeLimit":
        "There is no space left to store the content of this request."
    INVALID_MARKER = BAD_REQUEST "InvalidMarker":
        "The specified marker is invalid."
    MESSAGE_NOT_FOUND = NOT_FOUND "MessageNotFound":
        "The specified message does not exist."
    METADATA_TOO_LARGE = BAD_REQUEST "MetadataTooLarge":
        "The metadata specified exceeds the maximum permissible limit."
    MISSING_CONTENT_LENGTH_HEADER = LENGTH_REQUIRED "MissingContentLengthHeader":
        "The Content-Length header was not specified."
    MISSING_REQUIRED_HEADER = BAD_REQUEST "MissingRequiredHeader":
        "An HTTP header that's mandatory for this request is not specified."
    MISSING_REQUIRED_QUERY_PARAMETER = BAD_REQUEST "MissingRequiredQueryParameter":
        "A query parameter that's mandatory for this request is not specified."
    MISSING_REQUIRED_XML_NODE = BAD_REQUEST "MissingRequiredXmlNode":
        "A required XML node was not specified in the request body."
    MULTIPLE_CONDITION_HEADERS_NOT_SUPPORTED = BAD_REQUEST "MultipleConditionHeadersNotSupported":
        "Multiple condition headers are not supported."
    OPERATION_TIMED_OUT = INTERNAL_SERVER_ERROR "OperationTimedOut":
        "The operation could not be completed within the permitted time."
    OUT_OF_RANGE_INPUT = BAD_REQUEST "OutOfRangeInput":
        "One of the request inputs is out of range."
    OUT_OF_RANGE_QUERY_PARAMETER_VALUE = BAD_REQUEST "OutOfRangeQueryParameterValue":
        "One of the query parameters specified in the request URI is outside the permissible range."
    REQUEST_BODY_TOO_LARGE = PAYLOAD_TOO_LARGE "RequestBodyTooLarge":
        "The request body is too large and exceeds the maximum permissible limit."
    REQUEST_URL_FAILED_TO_PARSE = BAD_REQUEST "RequestUrlFailedToParse":
        "The url in the request could not be parsed."
    RESOURCE_ALREADY_EXISTS = CONFLICT "ResourceAlreadyExists":
        "The specified resource already exists."
    RESOURCE_NOT_FOUND = NOT_FOUND "ResourceNotFound":
        "The specified resource does not exist."
    RESOURCE_TYPE_MISMATCH = CONFLICT "ResourceTypeMismatch":
        "The specified resource type does not match the type of the existing resource."
    SERVER_BUSY = SERVICE_UNAVAILABLE "ServerBusy":
        "The server is busy."
    UNSUPPORTED_HEADER = BAD_REQUEST "UnsupportedHeader":
        "One of the HTTP headers specified in the request is not supported."
    POP_RECEIPT_MISMATCH = BAD_REQUEST "PopReceiptMismatch":
        "The specified pop receipt did not match the pop receipt for a dequeued message."
    QUEUE_ALREADY_EXISTS = CONFLICT "QueueAlreadyExists":
        "The specified queue already exists."
    QUEUE_BEING_DELETED = CONFLICT "QueueBeingDeleted":
        "The specified queue is being deleted."
    QUEUE_NOT_FOUND = NOT_FOUND "QueueNotFound":
        "The specified queue does not exist."
    UNSUPPORTED_QUERY_PARAMETER = BAD_REQUEST "UnsupportedQueryParameter":
        "One of the query parameters specified in the request URI is not supported."
    UNSUPPORTED_XML_NODE = BAD_REQUEST "UnsupportedXmlNode":
        "One of the XML nodes specified in the request body is not supported."
    UNSUPPORTED_HTTP_VERB = METHOD_NOT_ALLOWED "UnsupportedHttpVerb":
        "The resource doesn't support specified Http Verb."
    AUTHENTICATION_FAILED = FORBIDDEN "AuthenticationFailed":
        "Server failed to authenticate the request. Make sure the value of Authorization \
         header is formed correctly including the signature."
    AUTHORIZATION_FAILURE = FORBIDDEN "AuthorizationFailure":
        "This request is not authorized to perform this operation."
    AUTHORIZATION_PERMISSION_MISMATCH = FORBIDDEN "AuthorizationPermissionMismatch":
        "This request is not authorized to perform this operation using this permission."
    AUTHORIZATION_PROTOCOL_MISMATCH = FORBIDDEN "AuthorizationProtocolMismatch":
        "This request is not authorized to perform this operation using this protocol."
    AUTHORIZATION_RESOURCE_TYPE_MISMATCH = FORBIDDEN "AuthorizationResourceTypeMismatch":
        "This request is not authorized to perform this operation using this resource type."
    AUTHORIZATION_SERVICE_MISMATCH = FORBIDDEN "AuthorizationServiceMismatch":
        "This request is not authorized to perform this operation using this service."
    AUTHORIZATION_SOURCE_IP_MISMATCH = FORBIDDEN "AuthorizationSourceIPMismatch":
        "This request is not authorized to perform this operation using this source IP {SourceIP}."
    INVALID_AUTHENTICATION_INFO = BAD_REQUEST "InvalidAuthenticationInfo":
        "Authentication information is not given in the correct format. Check the value of \
         Authorization header."
    KEY_BASED_AUTHENTICATION_NOT_PERMITTED = FORBIDDEN "KeyBasedAuthenticationNotPermitted":
        "Key based authentication is not permitted on this storage account."
    NO_AUTHENTICATION_INFORMATION = UNAUTHORIZED "NoAuthenticationInformation":
        "Server failed to authenticate the request. Please refer to the information in the \
         www-authenticate header."
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_texts_are_sentences() {
        let names: BTreeSet<_> = ALL.iter().map(|code| code.name).collect();
        assert_eq!(names.len(), ALL.len());
        for code in ALL {
            assert!(code.message.ends_with('.') && code.message.is_ascii(), "{}", code.name);
            assert!(code.status.is_client_error() || code.status.is_server_error());
        }
    }
}
