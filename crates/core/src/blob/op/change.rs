//! The operations that change a blob, and none that brings bytes for it.

use super::{BlobPath, Context, Encryption};
use zaffre_base::Guid;
use zaffre_domain::blob::append::AppendConditions;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::TierConditions;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::lease::LeaseCommand;

/// Set Blob Metadata.
#[derive(Clone, Debug)]
pub struct SetBlobMetadata {
    /// Which.
    pub at: BlobPath,
    /// Replaces all metadata.
    pub metadata: Metadata,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Set Blob Properties (the six content headers of a block blob, all replaced).
#[derive(Clone, Debug)]
pub struct SetBlobProperties {
    /// Which.
    pub at: BlobPath,
    /// Replaces all content headers.
    pub properties: HttpProperties,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
}

/// Delete Blob. Also removes a blob that only has staged blocks.
#[derive(Clone, Debug)]
pub struct DeleteBlob {
    /// Which.
    pub at: BlobPath,
    /// What happens to the blob's snapshots.
    pub snapshots: DeleteSnapshots,
    /// `deletetype=permanent`: what is deleted already is deleted for good.
    pub permanent: bool,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The same about the change of its tier.
    pub tier_conditions: TierConditions,
}

/// What the deletion of a blob does to its snapshots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeleteSnapshots {
    /// There must be none.
    #[default]
    Refuse,
    /// They go with the blob.
    Include,
    /// They go and the blob stays.
    Only,
}

/// Snapshot Blob.
#[derive(Clone, Debug)]
pub struct SnapshotBlob {
    /// Which.
    pub at: BlobPath,
    /// Replaces the metadata in the snapshot, unless empty.
    pub metadata: Metadata,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Undelete Blob.
#[derive(Clone, Debug)]
pub struct UndeleteBlob {
    /// Which.
    pub at: BlobPath,
}

/// Lease Blob.
#[derive(Clone, Debug)]
pub struct LeaseBlob {
    /// Which.
    pub at: BlobPath,
    /// What to do.
    pub command: LeaseCommand,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

/// Append Blob Seal.
#[derive(Clone, Debug)]
pub struct SealBlob {
    /// Which blob.
    pub at: BlobPath,
    /// Where the blob must end.
    pub append: AppendConditions,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
}

/// Set Blob Tags.
#[derive(Clone, Debug)]
pub struct SetBlobTags {
    /// Which.
    pub at: BlobPath,
    /// Replaces all tags.
    pub tags: Tags,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// `x-ms-if-tags` and the `x-ms-blob-if-*` headers.
    pub conditions: Conditions,
}
