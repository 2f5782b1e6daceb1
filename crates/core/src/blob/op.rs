//! The operations of the Blob service as plain data: what a protocol parses a request into.
//!
//! Must never know HTTP; every field is typed and already checked for syntax.

mod change;
mod containers;
mod content;
mod encryption;
mod protection;
mod read;

pub use change::{
    DeleteBlob, DeleteSnapshots, LeaseBlob, SealBlob, SetBlobMetadata, SetBlobProperties,
    SetBlobTags, SnapshotBlob, UndeleteBlob,
};
pub use containers::{
    CreateContainer, DeleteContainer, GetContainer, GetContainerAcl, IncludeHistory,
    LeaseContainer, ListBlobs, ListContainers, RestoreContainer, SetContainerAcl,
    SetContainerMetadata,
};
pub use content::{
    AppendBlock, CreateBlob, ExpectedChecksum, NewBlob, PageWrite, PutBlob, PutBlock, PutBlockList,
    PutPage, SetPageProperties,
};
pub use encryption::{CustomerKey, Encryption};
pub use protection::{
    DeleteBlobImmutabilityPolicy, SetBlobImmutabilityPolicy, SetBlobLegalHold, SetBlobTier,
};
pub use read::{
    FindBlobsByTags, GetBlob, GetBlobProperties, GetBlobTags, GetBlockList, GetPageRanges,
    QueryBlob, RangeChecksum,
};

use zaffre_base::{AccountName, ApiVersion, BlobName, ContainerName, Timestamp};

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
