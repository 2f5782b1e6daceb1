//! What clients are told about refusals that come from how a blob is kept.
//!
//! Must never have a default arm: a new refusal does not compile without its row.

use crate::codes::{self, Code};
use crate::error::ApiError;
use zaffre_domain::blob::KeptRefusal;

/// The code of a refusal.
pub(crate) fn code(refusal: KeptRefusal) -> Code {
    use KeptRefusal as R;
    match refusal {
        R::BlobBeingRehydrated => codes::BLOB_BEING_REHYDRATED,
        R::BlobOperationNotSupported | R::ImmutabilityNotEnabled => {
            codes::BLOB_OPERATION_NOT_SUPPORTED
        }
        R::AccessTierNotSupportedForBlobType => codes::ACCESS_TIER_NOT_SUPPORTED_FOR_BLOB_TYPE,
        R::BlobTierInadequateForContentLength => codes::BLOB_TIER_INADEQUATE_FOR_CONTENT_LENGTH,
        R::CannotChangeToLowerTier => codes::CANNOT_CHANGE_TO_LOWER_TIER,
        R::BlobImmutableDueToPolicy => codes::BLOB_IMMUTABLE_DUE_TO_POLICY,
        R::BlobImmutableDueToLegalHold => codes::BLOB_IMMUTABLE_DUE_TO_LEGAL_HOLD,
        R::ImmutabilityPolicyDeleteOnLockedPolicy => {
            codes::IMMUTABILITY_POLICY_DELETE_ON_LOCKED_POLICY
        }
        R::ImmutabilityPolicyInThePast => codes::INVALID_HEADER_VALUE,
        R::ContainerImmutableStorageWithVersioningEnabled => {
            codes::CONTAINER_IMMUTABLE_STORAGE_WITH_VERSIONING_ENABLED
        }
        R::BlobUsesCustomerSpecifiedEncryption => codes::BLOB_USES_CUSTOMER_SPECIFIED_ENCRYPTION,
        R::BlobDoesNotUseCustomerSpecifiedEncryption => {
            codes::BLOB_DOES_NOT_USE_CUSTOMER_SPECIFIED_ENCRYPTION
        }
        R::BlobCustomerSpecifiedEncryptionMismatch => {
            codes::BLOB_CUSTOMER_SPECIFIED_ENCRYPTION_MISMATCH
        }
        R::EncryptionScopeNotAvailable => codes::ENCRYPTION_SCOPE_NOT_AVAILABLE,
        R::RequestForbiddenByContainerEncryptionPolicy => {
            codes::REQUEST_FORBIDDEN_BY_CONTAINER_ENCRYPTION_POLICY
        }
    }
}

/// What the code alone does not say.
pub(crate) fn describe(error: ApiError, refusal: KeptRefusal) -> ApiError {
    match refusal {
        KeptRefusal::ImmutabilityPolicyInThePast => {
            error.detail("HeaderName", "x-ms-immutability-policy-until-date")
        }
        KeptRefusal::ImmutabilityNotEnabled => error.saying(
            "Blob operation is not supported: version-level immutability is not enabled."
                .to_owned(),
        ),
        _ => error,
    }
}
