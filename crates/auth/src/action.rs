//! The closed list of what a caller may ask of the services, and where.

use crate::authorized::Extras;
use zaffre_base::AccountName;

macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident,)*) => {
        /// One REST operation as the permission table sees it.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Action { $($(#[$doc])* $action,)* }

        impl Action {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$action,)*];
        }
    };
}

actions! {
    /// Get Service Properties, of any service
    GetServiceProperties,
    /// Set Service Properties, of any service
    SetServiceProperties,
    /// Get Service Stats, of any service
    GetServiceStats,
    /// Get User Delegation Key, of any service
    GetUserDelegationKey,
    /// Get Account Information
    GetAccountInfo,
    /// The outer request of a batch, of any service; what is inside is asked about itself
    Batch,
    /// List Containers
    ListContainers,
    /// Find Blobs by Tags in the whole account
    FindBlobsByTags,
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
    /// Restore Container
    RestoreContainer,
    /// Lease Container, any action but break
    LeaseContainer,
    /// Lease Container: break
    BreakContainerLease,
    /// List Blobs
    ListBlobs,
    /// Find Blobs by Tags in one container
    FindBlobsByTagsInContainer,
    /// Get Blob; also reading the source of a copy
    GetBlob,
    /// Get Blob Properties / Metadata
    GetBlobProperties,
    /// Query Blob Contents
    QueryBlobContents,
    /// Get Block List of committed blocks only
    GetBlockList,
    /// Get Block List that shows staged blocks: never anonymous
    GetUncommittedBlockList,
    /// Get Page Ranges, also as a difference
    GetPageRanges,
    /// Put Blob: new blob `c` or `w`, overwrite `w`
    PutBlob,
    /// Put Blob of an append blob
    PutAppendBlob,
    /// Put Blob of a page blob
    PutPageBlob,
    /// Put Blob From URL
    PutBlobFromUrl,
    /// Copy Blob
    CopyBlob,
    /// Copy Blob From URL
    CopyBlobFromUrl,
    /// Incremental Copy Blob
    IncrementalCopyBlob,
    /// Abort Copy Blob
    AbortCopyBlob,
    /// Put Block
    PutBlock,
    /// Put Block From URL
    PutBlockFromUrl,
    /// Put Block List
    PutBlockList,
    /// Append Block
    AppendBlock,
    /// Append Block From URL
    AppendBlockFromUrl,
    /// Append Blob Seal
    SealAppendBlob,
    /// Put Page: update
    PutPage,
    /// Put Page: clear
    ClearPages,
    /// Put Page From URL
    PutPageFromUrl,
    /// Snapshot Blob
    SnapshotBlob,
    /// Set Blob Metadata
    SetBlobMetadata,
    /// Set Blob Properties
    SetBlobProperties,
    /// Set Blob Tier
    SetBlobTier,
    /// Set Blob Expiry
    SetBlobExpiry,
    /// Get Blob Tags
    GetBlobTags,
    /// Set Blob Tags
    SetBlobTags,
    /// Set Blob Immutability Policy
    SetBlobImmutabilityPolicy,
    /// Delete Blob Immutability Policy
    DeleteBlobImmutabilityPolicy,
    /// Set Blob Legal Hold
    SetBlobLegalHold,
    /// Delete Blob; one version of it when the scope names one
    DeleteBlob,
    /// Delete Blob with `deletetype=permanent`
    PermanentlyDeleteBlob,
    /// Undelete Blob
    UndeleteBlob,
    /// Lease Blob, any action but break
    LeaseBlob,
    /// Lease Blob: break
    BreakBlobLease,
    /// List Queues
    ListQueues,
    /// Create Queue
    CreateQueue,
    /// Delete Queue
    DeleteQueue,
    /// Get Queue Metadata
    GetQueueMetadata,
    /// Set Queue Metadata
    SetQueueMetadata,
    /// Get Queue ACL
    GetQueueAcl,
    /// Set Queue ACL
    SetQueueAcl,
    /// Put Message
    PutMessage,
    /// Get Messages
    GetMessages,
    /// Peek Messages
    PeekMessages,
    /// Update Message
    UpdateMessage,
    /// Delete Message
    DeleteMessage,
    /// Clear Messages
    ClearMessages,
    /// Query Tables, also for one table by name
    QueryTables,
    /// Create Table
    CreateTable,
    /// Delete Table
    DeleteTable,
    /// Get Table ACL
    GetTableAcl,
    /// Set Table ACL
    SetTableAcl,
    /// Query Entities: whoever performs it keeps to `Authorized::key_range`
    QueryEntities,
    /// Query Entities for one entity by its key
    GetEntity,
    /// Insert Entity
    InsertEntity,
    /// Update Entity, with If-Match
    UpdateEntity,
    /// Merge Entity, with If-Match
    MergeEntity,
    /// Insert Or Replace Entity
    InsertOrReplaceEntity,
    /// Insert Or Merge Entity
    InsertOrMergeEntity,
    /// Delete Entity
    DeleteEntity,
    /// List Shares
    ListShares,
    /// Create Share
    CreateShare,
    /// Get Share Properties / Metadata
    GetShare,
    /// Set Share Properties
    SetShareProperties,
    /// Set Share Metadata
    SetShareMetadata,
    /// Get Share ACL
    GetShareAcl,
    /// Set Share ACL
    SetShareAcl,
    /// Get Share Stats
    GetShareStats,
    /// Snapshot Share
    SnapshotShare,
    /// Delete Share, or a snapshot of one
    DeleteShare,
    /// Restore Share
    RestoreShare,
    /// Lease Share, any action but break
    LeaseShare,
    /// Lease Share: break
    BreakShareLease,
    /// Create Permission
    CreatePermission,
    /// Get Permission
    GetPermission,
    /// Create Directory
    CreateDirectory,
    /// Get Directory Properties / Metadata
    GetDirectory,
    /// Set Directory Properties
    SetDirectoryProperties,
    /// Set Directory Metadata
    SetDirectoryMetadata,
    /// Delete Directory
    DeleteDirectory,
    /// List Directories and Files
    ListDirectory,
    /// Create File: new file `c` or `w`, overwrite `w`
    CreateFile,
    /// Get File; also reading the source of a copy
    GetFile,
    /// Get File Properties / Metadata
    GetFileProperties,
    /// Set File Properties
    SetFileProperties,
    /// Set File Metadata
    SetFileMetadata,
    /// Delete File
    DeleteFile,
    /// Put Range
    PutRange,
    /// Put Range from URL
    PutRangeFromUrl,
    /// List Ranges
    ListRanges,
    /// Copy File
    CopyFile,
    /// Abort Copy File
    AbortCopyFile,
    /// Rename File and Rename Directory; also what is renamed
    Rename,
    /// Lease File, any action but break
    LeaseFile,
    /// Lease File: break
    BreakFileLease,
    /// List Handles
    ListHandles,
    /// Force Close Handles
    ForceCloseHandles,
}

/// What an operation touches.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The account.
    pub account: &'a AccountName,
    /// The container, queue, table or share, for operations on one or inside one.
    pub container: Option<&'a str>,
    /// The blob or file, for operations on one.
    pub object: Option<&'a str>,
    /// `snapshot` as sent.
    pub snapshot: Option<&'a str>,
    /// `versionid` as sent.
    pub version: Option<&'a str>,
    /// Partition key and row key, for operations on one entity.
    pub entity: Option<(&'a str, &'a str)>,
}

impl<'a> Scope<'a> {
    /// The account's service.
    pub fn account(account: &'a AccountName) -> Self {
        let (container, object, snapshot, version, entity) = (None, None, None, None, None);
        Self { account, container, object, snapshot, version, entity }
    }

    /// A container, queue, table or share.
    pub fn container(account: &'a AccountName, container: &'a str) -> Self {
        Self { container: Some(container), ..Self::account(account) }
    }

    /// A blob or file.
    pub fn object(account: &'a AccountName, container: &'a str, object: &'a str) -> Self {
        Self { object: Some(object), ..Self::container(account, container) }
    }

    /// An entity of a table.
    pub fn entity(account: &'a AccountName, table: &'a str, key: (&'a str, &'a str)) -> Self {
        Self { entity: Some(key), ..Self::container(account, table) }
    }
}

/// An operation that says what it needs, so that nobody else has to know.
pub trait Guarded {
    /// Which row of the permission table applies.
    fn action(&self) -> Action;
    /// What it touches.
    fn scope(&self) -> Scope<'_>;
    /// What it does besides, each of which needs a permission of its own.
    fn extras(&self) -> Extras {
        Extras::default()
    }
}
