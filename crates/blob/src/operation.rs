//! The closed list of what the Blob service can be asked, first as a name, then as parsed data.
//!
//! Must never have a default arm: a new operation does not compile until every match handles it.

use crate::account_info::GetAccountInfo;
use crate::batch::Batch;
use crate::parse::blob::Download;
use crate::parse::copy::Copy;
use crate::parse::from_url::{FromUrl, WholeBlob};
use crate::parse::listing::{BlobListing, ContainerListing};
use crate::parse::put::{BlockListUpload, Upload};
use crate::parse::tags::{Search, TagsUpload};
use zaffre_auth::action::Action;
use zaffre_core::blob::copy::{AbortCopy, IncrementalCopy};
use zaffre_core::blob::op;
use zaffre_core::service_properties::{
    GetServiceProperties, GetServiceStats, SetServiceProperties,
};
use zaffre_domain::service::log::Effect;

/// Which operation a request asks for; all of the REST API.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Kind {
    /// List Containers
    ListContainers,
    /// Get Account Information
    GetAccountInfo,
    /// Get Service Properties
    GetServiceProperties,
    /// Set Service Properties
    SetServiceProperties,
    /// Get Service Stats
    GetServiceStats,
    /// Blob Batch
    Batch,
    /// Get User Delegation Key
    GetUserDelegationKey,
    /// Preflight (OPTIONS)
    Preflight,
    /// Create Container
    CreateContainer,
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
    /// Delete Container
    DeleteContainer,
    /// Restore Container
    RestoreContainer,
    /// Lease Container
    LeaseContainer,
    /// List Blobs
    ListBlobs,
    /// Get Blob
    GetBlob,
    /// Get Blob Properties
    GetBlobProperties,
    /// Get Blob Metadata
    GetBlobMetadata,
    /// Set Blob Metadata
    SetBlobMetadata,
    /// Set Blob Properties
    SetBlobProperties,
    /// Delete Blob
    DeleteBlob,
    /// Snapshot Blob
    SnapshotBlob,
    /// Undelete Blob
    UndeleteBlob,
    /// Lease Blob
    LeaseBlob,
    /// Put Blob
    PutBlob,
    /// Put Blob of type AppendBlob
    PutAppendBlob,
    /// Put Blob of type PageBlob
    PutPageBlob,
    /// Put Page, update or clear
    PutPage,
    /// Get Page Ranges
    GetPageRanges,
    /// Append Block
    AppendBlock,
    /// Append Blob Seal
    SealBlob,
    /// Put Block
    PutBlock,
    /// Put Block List
    PutBlockList,
    /// Get Block List
    GetBlockList,
    /// Put Blob From URL
    PutBlobFromUrl,
    /// Put Block From URL
    PutBlockFromUrl,
    /// Append Block From URL
    AppendBlockFromUrl,
    /// Put Page From URL
    PutPageFromUrl,
    /// Copy Blob
    CopyBlob,
    /// Copy Blob From URL
    CopyBlobFromUrl,
    /// Abort Copy Blob
    AbortCopyBlob,
    /// Incremental Copy Blob
    IncrementalCopyBlob,
    /// Set Blob Expiry: only accounts with a hierarchical namespace have it
    SetBlobExpiry,
    /// Query Blob Contents
    QueryBlobContents,
    /// Get Blob Tags
    GetBlobTags,
    /// Set Blob Tags
    SetBlobTags,
    /// Set Blob Tier
    SetBlobTier,
    /// Set Blob Immutability Policy
    SetBlobImmutabilityPolicy,
    /// Delete Blob Immutability Policy
    DeleteBlobImmutabilityPolicy,
    /// Set Blob Legal Hold
    SetBlobLegalHold,
    /// Find Blobs by Tags, in the whole account
    FindBlobsByTags,
    /// Find Blobs by Tags, in one container
    FindBlobsByTagsInContainer,
}

impl Kind {
    /// The operation's name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::ListContainers => "ListContainers",
            Self::GetAccountInfo => "GetAccountInfo",
            Self::GetServiceProperties => "GetServiceProperties",
            Self::SetServiceProperties => "SetServiceProperties",
            Self::GetServiceStats => "GetServiceStats",
            Self::Batch => "Batch",
            Self::GetUserDelegationKey => "GetUserDelegationKey",
            Self::Preflight => "Preflight",
            Self::CreateContainer => "CreateContainer",
            Self::GetContainerProperties => "GetContainerProperties",
            Self::GetContainerMetadata => "GetContainerMetadata",
            Self::SetContainerMetadata => "SetContainerMetadata",
            Self::GetContainerAcl => "GetContainerAcl",
            Self::SetContainerAcl => "SetContainerAcl",
            Self::DeleteContainer => "DeleteContainer",
            Self::RestoreContainer => "RestoreContainer",
            Self::LeaseContainer => "LeaseContainer",
            Self::ListBlobs => "ListBlobs",
            Self::GetBlob => "GetBlob",
            Self::GetBlobProperties => "GetBlobProperties",
            Self::GetBlobMetadata => "GetBlobMetadata",
            Self::SetBlobMetadata => "SetBlobMetadata",
            Self::SetBlobProperties => "SetBlobProperties",
            Self::DeleteBlob => "DeleteBlob",
            Self::SnapshotBlob => "SnapshotBlob",
            Self::UndeleteBlob => "UndeleteBlob",
            Self::LeaseBlob => "LeaseBlob",
            Self::PutBlob => "PutBlob",
            Self::PutAppendBlob => "PutAppendBlob",
            Self::PutPageBlob => "PutPageBlob",
            Self::PutPage => "PutPage",
            Self::GetPageRanges => "GetPageRanges",
            Self::AppendBlock => "AppendBlock",
            Self::SealBlob => "SealBlob",
            Self::PutBlock => "PutBlock",
            Self::PutBlockList => "PutBlockList",
            Self::GetBlockList => "GetBlockList",
            Self::PutBlobFromUrl => "PutBlobFromURL",
            Self::PutBlockFromUrl => "PutBlockFromURL",
            Self::AppendBlockFromUrl => "AppendBlockFromURL",
            Self::PutPageFromUrl => "PutPageFromURL",
            Self::CopyBlob => "CopyBlob",
            Self::CopyBlobFromUrl => "CopyBlobFromURL",
            Self::AbortCopyBlob => "AbortCopyBlob",
            Self::IncrementalCopyBlob => "IncrementalCopyBlob",
            Self::SetBlobExpiry => "SetBlobExpiry",
            Self::QueryBlobContents => "QueryBlobContents",
            Self::GetBlobTags => "GetBlobTags",
            Self::SetBlobTags => "SetBlobTags",
            Self::SetBlobTier => "SetBlobTier",
            Self::SetBlobImmutabilityPolicy => "SetBlobImmutabilityPolicy",
            Self::DeleteBlobImmutabilityPolicy => "DeleteBlobImmutabilityPolicy",
            Self::SetBlobLegalHold => "SetBlobLegalHold",
            Self::FindBlobsByTags => "FindBlobsByTags",
            Self::FindBlobsByTagsInContainer => "FindBlobsByTagsInContainer",
        }
    }

    /// The row of the permission table; `None` when there is no permission to ask about.
    /// Breaking a lease needs less than the other lease actions.
    pub fn action(self, breaks_lease: bool) -> Option<Action> {
        Some(match self {
            Self::Preflight => return None,
            Self::ListContainers => Action::ListContainers,
            Self::GetAccountInfo => Action::GetAccountInfo,
            Self::GetServiceProperties => Action::GetServiceProperties,
            Self::SetServiceProperties => Action::SetServiceProperties,
            Self::GetServiceStats => Action::GetServiceStats,
            Self::Batch => Action::Batch,
            Self::GetUserDelegationKey => Action::GetUserDelegationKey,
            Self::CreateContainer => Action::CreateContainer,
            Self::GetContainerProperties | Self::GetContainerMetadata => Action::GetContainer,
            Self::SetContainerMetadata => Action::SetContainerMetadata,
            Self::GetContainerAcl => Action::GetContainerAcl,
            Self::SetContainerAcl => Action::SetContainerAcl,
            Self::DeleteContainer => Action::DeleteContainer,
            Self::RestoreContainer => Action::RestoreContainer,
            Self::LeaseContainer if breaks_lease => Action::BreakContainerLease,
            Self::LeaseContainer => Action::LeaseContainer,
            Self::ListBlobs => Action::ListBlobs,
            Self::GetBlob => Action::GetBlob,
            Self::GetBlobProperties | Self::GetBlobMetadata => Action::GetBlobProperties,
            Self::SetBlobMetadata => Action::SetBlobMetadata,
            Self::SetBlobProperties => Action::SetBlobProperties,
            Self::DeleteBlob => Action::DeleteBlob,
            Self::SnapshotBlob => Action::SnapshotBlob,
            Self::UndeleteBlob => Action::UndeleteBlob,
            Self::LeaseBlob if breaks_lease => Action::BreakBlobLease,
            Self::LeaseBlob => Action::LeaseBlob,
            Self::PutBlob => Action::PutBlob,
            Self::PutAppendBlob => Action::PutAppendBlob,
            Self::PutPageBlob => Action::PutPageBlob,
            Self::PutPage => Action::PutPage,
            Self::GetPageRanges => Action::GetPageRanges,
            Self::AppendBlock => Action::AppendBlock,
            Self::SealBlob => Action::SealAppendBlob,
            Self::PutBlock => Action::PutBlock,
            Self::AppendBlockFromUrl => Action::AppendBlockFromUrl,
            Self::PutPageFromUrl => Action::PutPageFromUrl,
            Self::CopyBlob => Action::CopyBlob,
            Self::CopyBlobFromUrl => Action::CopyBlobFromUrl,
            Self::AbortCopyBlob => Action::AbortCopyBlob,
            Self::IncrementalCopyBlob => Action::IncrementalCopyBlob,
            Self::PutBlockFromUrl => Action::PutBlockFromUrl,
            Self::PutBlobFromUrl => Action::PutBlobFromUrl,
            Self::PutBlockList => Action::PutBlockList,
            Self::GetBlockList => Action::GetBlockList,
            Self::SetBlobExpiry => Action::SetBlobExpiry,
            Self::QueryBlobContents => Action::QueryBlobContents,
            Self::GetBlobTags => Action::GetBlobTags,
            Self::SetBlobTags => Action::SetBlobTags,
            Self::SetBlobTier => Action::SetBlobTier,
            Self::SetBlobImmutabilityPolicy => Action::SetBlobImmutabilityPolicy,
            Self::DeleteBlobImmutabilityPolicy => Action::DeleteBlobImmutabilityPolicy,
            Self::SetBlobLegalHold => Action::SetBlobLegalHold,
            Self::FindBlobsByTags => Action::FindBlobsByTags,
            Self::FindBlobsByTagsInContainer => Action::FindBlobsByTagsInContainer,
        })
    }

    /// What it does, as logs tell operations apart.
    pub fn effect(self) -> Effect {
        match self {
            Self::DeleteBlob | Self::DeleteContainer => Effect::Delete,
            kind if kind.is_write() => Effect::Write,
            _ => Effect::Read,
        }
    }

    /// Whether it changes something, which the secondary endpoint never does.
    pub fn is_write(self) -> bool {
        match self {
            Self::ListContainers
            | Self::GetAccountInfo
            | Self::GetServiceProperties
            | Self::GetServiceStats
            | Self::GetUserDelegationKey
            | Self::Preflight
            | Self::GetContainerProperties
            | Self::GetContainerMetadata
            | Self::GetContainerAcl
            | Self::ListBlobs
            | Self::GetBlob
            | Self::GetBlobProperties
            | Self::GetBlobMetadata
            | Self::GetPageRanges
            | Self::GetBlockList
            | Self::QueryBlobContents
            | Self::GetBlobTags
            | Self::FindBlobsByTags
            | Self::FindBlobsByTagsInContainer => false,
            Self::SetServiceProperties
            | Self::Batch
            | Self::CreateContainer
            | Self::SetContainerMetadata
            | Self::SetContainerAcl
            | Self::DeleteContainer
            | Self::RestoreContainer
            | Self::LeaseContainer
            | Self::SetBlobMetadata
            | Self::SetBlobProperties
            | Self::DeleteBlob
            | Self::SnapshotBlob
            | Self::UndeleteBlob
            | Self::LeaseBlob
            | Self::PutBlob
            | Self::PutAppendBlob
            | Self::PutPageBlob
            | Self::PutPage
            | Self::AppendBlock
            | Self::SealBlob
            | Self::PutBlock
            | Self::AppendBlockFromUrl
            | Self::PutPageFromUrl
            | Self::CopyBlob
            | Self::CopyBlobFromUrl
            | Self::AbortCopyBlob
            | Self::IncrementalCopyBlob
            | Self::PutBlockFromUrl
            | Self::PutBlobFromUrl
            | Self::PutBlockList
            | Self::SetBlobExpiry
            | Self::SetBlobTags
            | Self::SetBlobTier
            | Self::SetBlobImmutabilityPolicy
            | Self::DeleteBlobImmutabilityPolicy
            | Self::SetBlobLegalHold => true,
        }
    }
}

/// A request whose syntax was checked: the operation with everything its head said.
#[derive(Clone, Debug)]
pub enum BlobOperation {
    /// List Containers
    ListContainers(ContainerListing),
    /// Get Account Information
    GetAccountInfo(GetAccountInfo),
    /// Get Service Properties
    GetServiceProperties(GetServiceProperties),
    /// Set Service Properties; what changes comes with the body.
    SetServiceProperties(SetServiceProperties),
    /// Get Service Stats
    GetServiceStats(GetServiceStats),
    /// Blob Batch; its parts come with the body.
    Batch(Batch),
    /// Get User Delegation Key; all it says comes with the body.
    GetUserDelegationKey,
    /// Create Container
    CreateContainer(op::CreateContainer),
    /// Get Container Properties
    GetContainerProperties(op::GetContainer),
    /// Get Container Metadata
    GetContainerMetadata(op::GetContainer),
    /// Set Container Metadata
    SetContainerMetadata(op::SetContainerMetadata),
    /// Get Container ACL
    GetContainerAcl(op::GetContainerAcl),
    /// Set Container ACL; its policies come with the body.
    SetContainerAcl(op::SetContainerAcl),
    /// Delete Container
    DeleteContainer(op::DeleteContainer),
    /// Restore Container
    RestoreContainer(op::RestoreContainer),
    /// Lease Container
    LeaseContainer(op::LeaseContainer),
    /// List Blobs
    ListBlobs(BlobListing),
    /// Get Blob
    GetBlob(Download),
    /// Get Blob Properties
    GetBlobProperties(op::GetBlobProperties),
    /// Get Blob Metadata
    GetBlobMetadata(op::GetBlobProperties),
    /// Set Blob Metadata
    SetBlobMetadata(op::SetBlobMetadata),
    /// Set Blob Properties
    SetBlobProperties(op::SetBlobProperties),
    /// Delete Blob
    DeleteBlob(op::DeleteBlob),
    /// Snapshot Blob
    SnapshotBlob(op::SnapshotBlob),
    /// Undelete Blob
    UndeleteBlob(op::UndeleteBlob),
    /// Lease Blob
    LeaseBlob(op::LeaseBlob),
    /// Put Blob; its content comes with the body.
    PutBlob(Upload<op::PutBlob>),
    /// Put Blob of a kind that starts without content
    CreateBlob(op::CreateBlob),
    /// Put Page; its content comes with the body.
    PutPage(Upload<op::PutPage>),
    /// Set Blob Properties with a size or a sequence number
    SetPageProperties(op::SetPageProperties),
    /// Get Page Ranges
    GetPageRanges(op::GetPageRanges),
    /// Append Block; its content comes with the body.
    AppendBlock(Upload<op::AppendBlock>),
    /// Append Blob Seal
    SealBlob(op::SealBlob),
    /// Put Block; its content comes with the body.
    PutBlock(Upload<op::PutBlock>),
    /// Put Block List; its blocks come with the body.
    PutBlockList(BlockListUpload),
    /// Get Block List
    GetBlockList(op::GetBlockList),
    /// Put Blob From URL
    PutBlobFromUrl(Box<FromUrl<WholeBlob>>),
    /// Put Block From URL
    PutBlockFromUrl(FromUrl<op::PutBlock>),
    /// Append Block From URL
    AppendBlockFromUrl(FromUrl<op::AppendBlock>),
    /// Put Page From URL
    PutPageFromUrl(FromUrl<op::PutPage>),
    /// Copy Blob and Copy Blob From URL
    CopyBlob(Box<Copy>),
    /// Abort Copy Blob
    AbortCopyBlob(AbortCopy),
    /// Incremental Copy Blob
    IncrementalCopyBlob(FromUrl<IncrementalCopy>),
    /// Query Blob Contents; the query comes with the body.
    QueryBlobContents(op::QueryBlob),
    /// Get Blob Tags
    GetBlobTags(op::GetBlobTags),
    /// Set Blob Tags; its tags come with the body.
    SetBlobTags(TagsUpload),
    /// Set Blob Tier
    SetBlobTier(op::SetBlobTier),
    /// Set Blob Immutability Policy
    SetBlobImmutabilityPolicy(op::SetBlobImmutabilityPolicy),
    /// Delete Blob Immutability Policy
    DeleteBlobImmutabilityPolicy(op::DeleteBlobImmutabilityPolicy),
    /// Set Blob Legal Hold
    SetBlobLegalHold(op::SetBlobLegalHold),
    /// Find Blobs by Tags
    FindBlobsByTags(Search),
}
