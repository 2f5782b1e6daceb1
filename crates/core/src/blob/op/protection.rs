//! The operations that change how a state of a blob is kept and not what it is.

use super::{BlobPath, Context};
use zaffre_base::Guid;
use zaffre_domain::blob::immutability::ImmutabilityPolicy;
use zaffre_domain::blob::tier::{AccessTier, RehydratePriority};
use zaffre_domain::conditions::Conditions;

/// Set Blob Tier.
#[derive(Clone, Debug)]
pub struct SetBlobTier {
    /// Which.
    pub at: BlobPath,
    /// The tier.
    pub tier: AccessTier,
    /// `x-ms-rehydrate-priority`
    pub priority: Option<RehydratePriority>,
    /// `x-ms-lease-id`
    pub lease: Option<Guid>,
    /// `x-ms-if-tags` alone.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

/// Set Blob Immutability Policy.
#[derive(Clone, Debug)]
pub struct SetBlobImmutabilityPolicy {
    /// Which.
    pub at: BlobPath,
    /// The policy.
    pub policy: ImmutabilityPolicy,
    /// If-Unmodified-Since alone.
    pub conditions: Conditions,
}

/// Delete Blob Immutability Policy.
#[derive(Clone, Debug)]
pub struct DeleteBlobImmutabilityPolicy {
    /// Which.
    pub at: BlobPath,
}

/// Set Blob Legal Hold.
#[derive(Clone, Debug)]
pub struct SetBlobLegalHold {
    /// Which.
    pub at: BlobPath,
    /// Whether it is held.
    pub hold: bool,
}
