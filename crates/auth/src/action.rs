//! The closed list of what a caller may ask of the Blob service, and where.

use zaffre_base::{AccountName, BlobName, ContainerName};

/// One REST operation as the permission table sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Action {
    /// List Containers
    ListContainers,
    /// Get Account Information
    GetAccountInfo,
    /// Create Container
    CreateContainer,
    /// Get Container Properties / Metadata
    GetContainer,
    /// Set Container Metadata
    SetContainerMetadata,
    /// Get Container ACL
    GetContainerAcl,
    /// Set Container ACL
    SetContainerAcl,
    /// Delete Container
    DeleteContainer,
    /// Lease Container, any action but break
    LeaseContainer,
    /// Lease Container: break
    BreakContainerLease,
    /// List Blobs
    ListBlobs,
    /// Get Blob
    GetBlob,
    /// Get Blob Properties / Metadata
    GetBlobProperties,
    /// Get Block List of committed blocks only
    GetBlockList,
    /// Get Block List that shows staged blocks: never anonymous
    GetUncommittedBlockList,
    /// Put Blob: new blob `c` or `w`, overwrite `w`
    PutBlob,
    /// Put Block
    PutBlock,
    /// Put Block List
    PutBlockList,
    /// Set Blob Metadata
    SetBlobMetadata,
    /// Set Blob Properties
    SetBlobProperties,
    /// Delete Blob
    DeleteBlob,
    /// Lease Blob, any action but break
    LeaseBlob,
    /// Lease Blob: break
    BreakBlobLease,
}

/// What an operation touches.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The account.
    pub account: &'a AccountName,
    /// The container, for container and blob operations.
    pub container: Option<&'a ContainerName>,
    /// The blob, for blob operations.
    pub blob: Option<&'a BlobName>,
    /// `snapshot` as sent.
    pub snapshot: Option<&'a str>,
    /// `versionid` as sent.
    pub version: Option<&'a str>,
}

/// An operation that says what it needs, so that nobody else has to know.
pub trait Guarded {
    /// Which row of the permission table applies.
    fn action(&self) -> Action;
    /// What it touches.
    fn scope(&self) -> Scope<'_>;
}
