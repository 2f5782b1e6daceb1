//! Which conditional headers each operation takes; what it does not take is ignored.
//!
//! Must never be the only copy of this table: `spec/operation_headers.csv` is the vendor's.

use super::Conditions;

/// An operation on a container or a blob that takes a condition or a lease id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConditionalOperation {
    /// Get Blob
    GetBlob,
    /// Get Blob Properties
    GetBlobProperties,
    /// Get Blob Metadata
    GetBlobMetadata,
    /// Query Blob Contents
    QueryBlobContents,
    /// Get Block List
    GetBlockList,
    /// Get Blob Tags
    GetBlobTags,
    /// Set Blob Tags
    SetBlobTags,
    /// Set Blob Tier
    SetBlobTier,
    /// Set Blob Immutability Policy
    SetBlobImmutabilityPolicy,
    /// Put Blob
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
    /// Snapshot Blob
    SnapshotBlob,
    /// Lease Blob
    LeaseBlob,
    /// Append Block
    AppendBlock,
    /// Append Blob Seal
    SealBlob,
    /// Put Page, update or clear
    PutPage,
    /// Copy Blob and Copy Blob From URL, about their destination
    CopyBlob,
    /// Incremental Copy Blob, about its destination
    IncrementalCopyBlob,
    /// Abort Copy Blob
    AbortCopyBlob,
    /// Get Page Ranges, with or without a previous snapshot
    GetPageRanges,
    /// Create Container
    CreateContainer,
    /// Delete Container
    DeleteContainer,
    /// Get Container Properties
    GetContainerProperties,
    /// Get Container Metadata
    GetContainerMetadata,
    /// Set Container Metadata
    SetContainerMetadata,
    /// Get Container ACL
    GetContainerAcl,
    /// Set Container ACL
    SetContainerAcl,
    /// Lease Container
    LeaseContainer,
    /// List Blobs
    ListBlobs,
    /// List Containers
    ListContainers,
}

/// What `x-ms-lease-id` means to an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseHeader {
    /// Nothing.
    Ignored,
    /// Checked when given ([`crate::lease::LeaseAccess::Read`]).
    Optional,
    /// Needed while a lease is active ([`crate::lease::LeaseAccess::Write`]).
    Required,
    /// It names the lease that the operation itself acts on.
    Subject,
}

/// The headers an operation takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "five independent headers, one row of the table")]
pub struct Accepted {
    /// If-Match
    pub if_match: bool,
    /// If-None-Match
    pub if_none_match: bool,
    /// If-Modified-Since
    pub if_modified_since: bool,
    /// If-Unmodified-Since
    pub if_unmodified_since: bool,
    /// `x-ms-if-tags`
    pub if_tags: bool,
    /// `x-ms-lease-id`
    pub lease: LeaseHeader,
}

/// The row of an operation.
pub fn accepted(operation: ConditionalOperation) -> Accepted {
    use ConditionalOperation as Op;
    match operation {
        Op::GetBlob
        | Op::QueryBlobContents
        | Op::GetBlobProperties
        | Op::GetBlobMetadata
        | Op::SnapshotBlob
        | Op::GetPageRanges => Accepted::all(LeaseHeader::Optional),
        Op::PutBlob
        | Op::PutBlockList
        | Op::SetBlobMetadata
        | Op::SetBlobProperties
        | Op::AppendBlock
        | Op::PutPage
        | Op::CopyBlob
        | Op::DeleteBlob => Accepted::all(LeaseHeader::Required),
        Op::SealBlob => Accepted { if_tags: false, ..Accepted::all(LeaseHeader::Required) },
        Op::LeaseBlob => Accepted::all(LeaseHeader::Subject),
        Op::SetBlobTags => Accepted { if_tags: true, ..Accepted::none(LeaseHeader::Required) },
        Op::GetBlockList | Op::GetBlobTags | Op::SetBlobTier => {
            Accepted { if_tags: true, ..Accepted::none(LeaseHeader::Optional) }
        }
        Op::SetBlobImmutabilityPolicy => {
            Accepted { if_unmodified_since: true, ..Accepted::none(LeaseHeader::Ignored) }
        }
        Op::IncrementalCopyBlob => Accepted::all(LeaseHeader::Ignored),
        Op::PutBlock | Op::AbortCopyBlob => Accepted::none(LeaseHeader::Required),
        Op::DeleteContainer => Accepted::dates(LeaseHeader::Required),
        Op::SetContainerAcl => Accepted::dates(LeaseHeader::Optional),
        Op::LeaseContainer => Accepted::dates(LeaseHeader::Subject),
        Op::SetContainerMetadata => {
            Accepted { if_modified_since: true, ..Accepted::none(LeaseHeader::Optional) }
        }
        Op::GetContainerProperties | Op::GetContainerMetadata | Op::GetContainerAcl => {
            Accepted::none(LeaseHeader::Optional)
        }
        Op::CreateContainer | Op::ListBlobs | Op::ListContainers => {
            Accepted::none(LeaseHeader::Ignored)
        }
    }
}

impl Accepted {
    const fn none(lease: LeaseHeader) -> Self {
        Self {
            if_match: false,
            if_none_match: false,
            if_modified_since: false,
            if_unmodified_since: false,
            if_tags: false,
            lease,
        }
    }

    const fn dates(lease: LeaseHeader) -> Self {
        Self { if_modified_since: true, if_unmodified_since: true, ..Self::none(lease) }
    }

    const fn all(lease: LeaseHeader) -> Self {
        Self { if_match: true, if_none_match: true, if_tags: true, ..Self::dates(lease) }
    }
}

impl Conditions {
    /// Keeps what the operation takes: the service ignores conditions it has no use for.
    #[must_use]
    pub fn taken_by(self, operation: ConditionalOperation) -> Self {
        let takes = accepted(operation);
        Self {
            if_match: self.if_match.filter(|_| takes.if_match),
            if_none_match: self.if_none_match.filter(|_| takes.if_none_match),
            if_modified_since: self.if_modified_since.filter(|_| takes.if_modified_since),
            if_unmodified_since: self.if_unmodified_since.filter(|_| takes.if_unmodified_since),
            if_tags: self.if_tags.filter(|_| takes.if_tags),
        }
    }
}
