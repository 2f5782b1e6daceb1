//! The operations of the Blob service as plain data: what a protocol parses a request into.
//!
//! Must never know HTTP; every field is typed and already checked for syntax.

mod encryption;
mod protection;

pub use encryption::{CustomerKey, Encryption};
pub use protection::{
    DeleteBlobImmutabilityPolicy, SetBlobImmutabilityPolicy, SetBlobLegalHold, SetBlobTier,
};

use std::ops::Range;
use zaffre_base::{AccountName, ApiVersion, BlobName, ContainerName, Guid, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::append::AppendConditions;
use zaffre_domain::blob::encryption::ScopePolicy;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::pages::{SequenceAction, SequenceConditions};
use zaffre_domain::blob::tags::{FindExpression, Tags};
use zaffre_domain::blob::tier::{AccessTier, TierConditions};
use zaffre_domain::blob::{AccessPolicy, BlockListEntry, HttpProperties, Metadata, PublicAccess};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::lease::LeaseCommand;

/// Facts about the request that change what some operations do.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The version the answer must look like.
    pub version: ApiVersion,
}

/// A container by its full name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContainerPath {
    /// The account.
    pub account: AccountName,
    /// The container.
    pub container: ContainerName,
}

/// A blob, one of its snapshots, or one of its versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlobPath {
    /// The account.
    pub account: AccountName,
    /// The container.
    pub container: ContainerName,
    /// The blob.
    pub blob: BlobName,
    /// Which of its states; operations that only know the current one ignore it.
    pub moment: Moment,
}

/// Which state of a blob is meant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Moment {
    /// The current one.
    #[default]
    Current,
    /// A snapshot, `snapshot`.
    Snapshot(MomentId),
    /// A version, `versionid`; it may be the current one.
    Version(MomentId),
}

/// The id of a snapshot or a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MomentId {
    /// When it was made.
    pub at: Timestamp,
    /// The id as sent, which signatures cover.
    pub text: String,
}

/// List Containers.
#[derive(Clone, Debug)]
pub struct ListContainers {
    /// The account.
    pub account: AccountName,
    /// Only names that start so.
    pub prefix: String,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
    /// Show metadata.
    pub include_metadata: bool,
    /// Show `$logs` and the like.
    pub include_system: bool,
    /// Show deleted containers that are kept.
    pub include_deleted: bool,
}

/// Create Container.
#[derive(Clone, Debug)]
pub struct CreateContainer {
    /// Which.
    pub at: ContainerPath,
    /// Its metadata.
    pub metadata: Metadata,
    /// Anonymous access.
    pub access: PublicAccess,
    /// What its blobs are encrypted with.
    pub scopes: ScopePolicy,
}

/// Delete Container.
#[derive(Clone, Debug)]
pub struct DeleteContainer {
    /// Which.
    pub at: ContainerPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-(Un)Modified-Since.
    pub conditions: Conditions,
}

/// Restore Container.
#[derive(Clone, Debug)]
pub struct RestoreContainer {
    /// Which, by the name it had.
    pub at: ContainerPath,
    /// Which of those that had the name; `None` = an id that none can have.
    pub version: Option<Stamp>,
}

/// Get Container Properties and Get Container Metadata.
#[derive(Clone, Debug)]
pub struct GetContainer {
    /// Which.
    pub at: ContainerPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
}

/// Set Container Metadata.
#[derive(Clone, Debug)]
pub struct SetContainerMetadata {
    /// Which.
    pub at: ContainerPath,
    /// Replaces all metadata.
    pub metadata: Metadata,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-Modified-Since.
    pub conditions: Conditions,
}

/// Get Container ACL.
#[derive(Clone, Debug)]
pub struct GetContainerAcl {
    /// Which.
    pub at: ContainerPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
}

/// Set Container ACL: replaces both the access level and the policies.
#[derive(Clone, Debug)]
pub struct SetContainerAcl {
    /// Which.
    pub at: ContainerPath,
    /// Anonymous access.
    pub access: PublicAccess,
    /// Stored access policies, at most five.
    pub policies: Vec<AccessPolicy>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-(Un)Modified-Since.
    pub conditions: Conditions,
}

/// Lease Container.
#[derive(Clone, Debug)]
pub struct LeaseContainer {
    /// Which.
    pub at: ContainerPath,
    /// What to do.
    pub command: LeaseCommand,
    /// If-(Un)Modified-Since.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

/// List Blobs, flat or by delimiter.
#[derive(Clone, Debug)]
pub struct ListBlobs {
    /// Which container.
    pub at: ContainerPath,
    /// Only names that start so.
    pub prefix: String,
    /// Names that share everything up to this are shown once.
    pub delimiter: Option<String>,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Start at this name, inclusive (2026-02-06).
    pub start_from: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
    /// Show metadata.
    pub include_metadata: bool,
    /// Show tags.
    pub include_tags: bool,
    /// Show blobs that only have staged blocks.
    pub include_uncommitted: bool,
    /// Show what is not current.
    pub history: IncludeHistory,
}

/// What a listing shows besides current blobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of what can be asked for")]
pub struct IncludeHistory {
    /// Snapshots.
    pub snapshots: bool,
    /// Versions, and the ids of current ones.
    pub versions: bool,
    /// What is deleted and kept, of the kinds that are shown.
    pub deleted: bool,
    /// Names that have versions and no current one.
    pub deleted_with_versions: bool,
}

impl IncludeHistory {
    /// Whether anything is asked for.
    pub fn any(self) -> bool {
        self.snapshots || self.versions || self.deleted || self.deleted_with_versions
    }
}

/// Put Blob of type BlockBlob. The body comes beside it.
#[derive(Clone, Debug)]
pub struct PutBlob {
    /// Which.
    pub at: BlobPath,
    /// Length announced by Content-Length, if any.
    pub length: Option<u64>,
    /// Content headers to store; `content_md5` here is `x-ms-blob-content-md5`, verified too.
    pub properties: HttpProperties,
    /// Metadata to store.
    pub metadata: Metadata,
    /// Tags to store.
    pub tags: Tags,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// `x-ms-access-tier`; the old tier is kept when absent.
    pub tier: Option<AccessTier>,
    /// Policy and hold of the new state.
    pub protection: Protection,
    /// Size and conditions differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Put Blob of a kind that starts without content: AppendBlob, or PageBlob of a given size.
#[derive(Clone, Debug)]
pub struct CreateBlob {
    /// Which.
    pub at: BlobPath,
    /// What it is to be.
    pub new: NewBlob,
    /// Content headers to store.
    pub properties: HttpProperties,
    /// Metadata to store.
    pub metadata: Metadata,
    /// Tags to store.
    pub tags: Tags,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// `x-ms-access-tier` of a page blob.
    pub tier: Option<AccessTier>,
    /// Policy and hold of the new state.
    pub protection: Protection,
    /// Conditions differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// What a blob without content is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NewBlob {
    /// An append blob.
    Append,
    /// A page blob.
    Page {
        /// Its size, a multiple of 512.
        length: u64,
        /// Its sequence number.
        sequence_number: u64,
    },
}

/// Append Block. The body comes beside it.
#[derive(Clone, Debug)]
pub struct AppendBlock {
    /// Which blob.
    pub at: BlobPath,
    /// Length announced by Content-Length, if any.
    pub length: Option<u64>,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
    /// Where the blob must end, how large it may become.
    pub append: AppendConditions,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// Sizes differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Put Page. The body, if it is an update, comes beside it.
#[derive(Clone, Debug)]
pub struct PutPage {
    /// Which blob.
    pub at: BlobPath,
    /// Whole pages.
    pub pages: Range<u64>,
    /// What to do to them.
    pub write: PageWrite,
    /// What the blob's sequence number must be.
    pub sequence: SequenceConditions,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// What Put Page does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageWrite {
    /// Writes the body, which must be as long as the pages and hash so.
    Update(ExpectedChecksum),
    /// Clears the pages.
    Clear,
}

/// Set Blob Properties with a size or a sequence number, which only page blobs have.
#[derive(Clone, Debug)]
pub struct SetPageProperties {
    /// Which.
    pub at: BlobPath,
    /// Replaces all content headers; `None` leaves them.
    pub properties: Option<HttpProperties>,
    /// The new size, a multiple of 512.
    pub length: Option<u64>,
    /// What to do to the sequence number.
    pub sequence: Option<SequenceAction>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
}

/// Get Page Ranges.
#[derive(Clone, Debug)]
pub struct GetPageRanges {
    /// Which.
    pub at: BlobPath,
    /// Only ranges in these bytes: first and, if given, last.
    pub range: Option<(u64, Option<u64>)>,
    /// Show what differs from this snapshot, instead of what is there.
    pub previous: Option<MomentId>,
    /// Where the last page of the answer ended.
    pub marker: Option<u64>,
    /// Ranges in one page of the answer.
    pub max_results: Option<u32>,
    /// Whether the answer may come in pages at all.
    pub may_page: bool,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
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

/// Put Block. The body comes beside it.
#[derive(Clone, Debug)]
pub struct PutBlock {
    /// Which blob.
    pub at: BlobPath,
    /// Decoded block id, 1..=64 bytes.
    pub block_id: Vec<u8>,
    /// Length announced by Content-Length, if any.
    pub length: Option<u64>,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// Sizes differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Put Block List; the XML body is parsed and its checksum verified by the protocol.
#[derive(Clone, Debug)]
pub struct PutBlockList {
    /// Which blob.
    pub at: BlobPath,
    /// What to commit, in order.
    pub blocks: Vec<BlockListEntry>,
    /// Content headers to store; what is absent is cleared.
    pub properties: HttpProperties,
    /// Metadata to store.
    pub metadata: Metadata,
    /// Tags to store.
    pub tags: Tags,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// `x-ms-access-tier`; the old tier is kept when absent.
    pub tier: Option<AccessTier>,
    /// Policy and hold of the new state.
    pub protection: Protection,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Get Block List.
#[derive(Clone, Debug)]
pub struct GetBlockList {
    /// Which blob.
    pub at: BlobPath,
    /// Show committed blocks.
    pub committed: bool,
    /// Show staged blocks.
    pub uncommitted: bool,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// `x-ms-if-tags` alone.
    pub conditions: Conditions,
}

/// Get Blob.
#[derive(Clone, Debug)]
pub struct GetBlob {
    /// Which.
    pub at: BlobPath,
    /// The first and, if given, last byte wanted; `None` = the whole blob.
    pub range: Option<(u64, Option<u64>)>,
    /// Compute the range's checksum (range of at most 4 MiB, checked by core against the size).
    pub range_checksum: Option<RangeChecksum>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Query Blob Contents; the query itself stays with the protocol.
#[derive(Clone, Debug)]
pub struct QueryBlob {
    /// Which.
    pub at: BlobPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Which checksum of the returned range is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeChecksum {
    /// `x-ms-range-get-content-md5`
    Md5,
    /// `x-ms-range-get-content-crc64`
    Crc64,
}

/// Get Blob Properties and Get Blob Metadata.
#[derive(Clone, Debug)]
pub struct GetBlobProperties {
    /// Which.
    pub at: BlobPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

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

/// Get Blob Tags.
#[derive(Clone, Debug)]
pub struct GetBlobTags {
    /// Which.
    pub at: BlobPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// `x-ms-if-tags` and the `x-ms-blob-if-*` headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
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

/// Find Blobs by Tags, of an account or of one container.
#[derive(Clone, Debug)]
pub struct FindBlobsByTags {
    /// The account.
    pub account: AccountName,
    /// The container, if it is asked of one.
    pub container: Option<ContainerName>,
    /// What to find.
    pub expression: FindExpression,
    /// Find previous versions too.
    pub include_versions: bool,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
}

/// The checksum a body must have; at most one is given (the protocol refuses both).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExpectedChecksum {
    /// `Content-MD5` (or `x-ms-blob-content-md5` on Put Blob).
    pub md5: Option<[u8; 16]>,
    /// `x-ms-content-crc64`
    pub crc64: Option<[u8; 8]>,
}

impl ExpectedChecksum {
    /// Whether a body that hashes so is the one announced.
    pub(crate) fn check(&self, md5: Option<[u8; 16]>, crc64: [u8; 8]) -> Result<(), Refusal> {
        match (self.md5, md5) {
            (Some(announced), Some(computed)) if announced != computed => {
                return Err(Refusal::Md5Mismatch { announced, computed });
            }
            _ => {}
        }
        match self.crc64 {
            Some(announced) if announced != crc64 => {
                Err(Refusal::Crc64Mismatch { announced, computed: crc64 })
            }
            _ => Ok(()),
        }
    }
}
