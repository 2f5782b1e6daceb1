//! Why an operation is refused for how a blob is kept: its tier, its policies, its encryption.
//!
//! Must never mention HTTP: one table in the protocol maps these.

/// A refusal decided by how a blob is kept; nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeptRefusal {
    // Tiers
    /// The blob is on its way back from the archive, to another tier or sooner than asked.
    BlobBeingRehydrated,
    /// Not for snapshots and former versions.
    BlobOperationNotSupported,
    /// No blob of this kind can have the tier.
    AccessTierNotSupportedForBlobType,
    /// The blob is larger than the premium tier allows.
    BlobTierInadequateForContentLength,
    /// A premium tier can only be raised.
    CannotChangeToLowerTier,

    // Immutability
    /// The state must stay as it is for some time.
    BlobImmutableDueToPolicy,
    /// The state must stay as it is until somebody takes the hold away.
    BlobImmutableDueToLegalHold,
    /// A locked policy cannot be taken away.
    ImmutabilityPolicyDeleteOnLockedPolicy,
    /// A policy that would be over already.
    ImmutabilityPolicyInThePast,
    /// The account does not offer policies and holds.
    ImmutabilityNotEnabled,
    /// A container that may hold immutable blobs is deleted only once it is empty.
    ContainerImmutableStorageWithVersioningEnabled,

    // Encryption
    /// The blob needs its customer's key and the request brought none.
    BlobUsesCustomerSpecifiedEncryption,
    /// The request brought a key and the blob needs none.
    BlobDoesNotUseCustomerSpecifiedEncryption,
    /// The request brought another key, or named another scope.
    BlobCustomerSpecifiedEncryptionMismatch,
    /// The account has no such scope.
    EncryptionScopeNotAvailable,
    /// The container allows no other encryption than its own.
    RequestForbiddenByContainerEncryptionPolicy,
}

impl From<KeptRefusal> for crate::Refusal {
    fn from(refusal: KeptRefusal) -> Self {
        Self::Kept(refusal)
    }
}
