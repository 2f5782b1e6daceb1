//! Why an operation was refused, named after what the caller can do about it.
//!
//! Must never mention HTTP or NTSTATUS: one table in each protocol maps these.

use alloc::string::String;

/// A refusal decided by the rules; nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    // What is there, and what is not
    /// No such container.
    ContainerNotFound,
    /// The container exists already.
    ContainerAlreadyExists,
    /// The name is still held by a container being deleted.
    ContainerBeingDeleted,
    /// The account lets no container be public.
    PublicAccessNotPermitted,
    /// No such blob, snapshot or version.
    BlobNotFound,
    /// The blob exists and the request asked that it did not.
    BlobAlreadyExists,
    /// The operation does not apply to this kind of blob.
    InvalidBlobType,
    /// The blob has snapshots and the request did not say what to do with them.
    SnapshotsPresent,
    /// The id is that of the current version, which is deleted with the blob.
    OperationNotAllowedOnRootBlob,
    /// What is kept after its deletion may not be deleted for good in this account.
    PermanentDeleteIsOff,
    /// Only what was deleted before can be deleted for good.
    BlobNotDeleted,
    /// The blob's bytes are offline.
    BlobArchived,
    /// How the blob is kept does not allow it.
    Kept(crate::blob::KeptRefusal),
    /// The credential may create but not overwrite.
    UnauthorizedBlobOverwrite,

    // Conditions
    /// A condition on a write, or the dominating condition on a read, is false (412).
    ConditionNotMet,
    /// The reader already has this version (304).
    NotModified,
    /// The conditions can never hold for this operation.
    UnsatisfiableCondition,
    /// The combination of condition headers is not allowed.
    MultipleConditionHeadersNotSupported,

    // Leases: on use
    /// A lease is held and the request named none.
    LeaseIdMissing(LeaseOn),
    /// Another lease is held.
    LeaseIdMismatch(LeaseOn),
    /// The request named a lease and there is none.
    LeaseNotPresent(LeaseOn),
    /// The named lease has expired or was broken.
    LeaseLost(LeaseOn),
    // Leases: on lease operations
    /// Somebody holds the lease.
    LeaseAlreadyPresent,
    /// The id is not that of the lease.
    LeaseIdMismatchWithLeaseOperation(LeaseOn),
    /// There is no lease to act on.
    LeaseNotPresentWithLeaseOperation(LeaseOn),
    /// The lease is breaking and cannot be acquired.
    LeaseIsBreakingAndCannotBeAcquired,
    /// The lease is breaking and cannot be changed.
    LeaseIsBreakingAndCannotBeChanged,
    /// The lease was broken and cannot be renewed.
    LeaseIsBrokenAndCannotBeRenewed,
    /// Only before 2012-02-12: the lease is broken already.
    LeaseAlreadyBroken,

    // Content
    /// The block list names a block that is not there.
    InvalidBlockList,
    /// The block id's length differs from the other staged blocks'.
    InvalidBlobOrBlock,
    /// Too many blocks are staged or committed.
    BlockCountExceedsLimit,
    /// The block list names more than 50,000 blocks.
    BlockListTooLong,
    /// The range lies outside the content, whose length is given.
    InvalidRange {
        /// Length of the whole content.
        length: u64,
    },
    /// The body's MD5 is not the announced one.
    Md5Mismatch {
        /// What the request said.
        announced: [u8; 16],
        /// What arrived.
        computed: [u8; 16],
    },
    /// The body's CRC64 is not the announced one.
    Crc64Mismatch {
        /// What the request said.
        announced: [u8; 8],
        /// What arrived.
        computed: [u8; 8],
    },
    /// The body is larger than the operation allows.
    RequestBodyTooLarge {
        /// The largest allowed size in bytes.
        limit: u64,
    },
    /// The body ended early, came too slowly, or the connection broke.
    IncompleteBody,
    /// A listing marker that we did not make.
    InvalidMarker,
    /// The checksum of a range was asked for and the range is larger than that allows.
    RangeTooLargeForChecksum {
        /// The largest allowed range in bytes.
        limit: u64,
    },

    // Append blobs
    /// The blob does not end where the request says.
    AppendPositionConditionNotMet,
    /// The blob is, or would become, larger than the request allows.
    MaxBlobSizeConditionNotMet,
    /// The blob was sealed: nothing can be added any more.
    BlobIsSealed,
    /// The append blob has as many blocks as it can have.
    AppendedBlockCountExceedsLimit,

    // Page blobs
    /// The blob's sequence number is not as the request says.
    SequenceNumberConditionNotMet,
    /// The sequence number has no successor.
    SequenceNumberIncrementTooLarge,
    /// The pages lie outside the blob.
    InvalidPageRange,
    /// The snapshot to compare with is not there.
    PreviousSnapshotNotFound,
    /// The snapshot to compare with is newer than what is compared with it.
    PreviousSnapshotCannotBeNewer,
    /// The blob was written anew since the snapshot to compare with was taken.
    BlobOverwritten,
    // Copies
    /// What only copies refuse.
    Copy(crate::blob::copy::CopyRefusal),
    // Queues and messages
    /// No such queue.
    QueueNotFound,
    /// The queue exists already, with other metadata.
    QueueAlreadyExists,
    /// The name is still held by a queue being deleted.
    QueueBeingDeleted,
    /// No such message, or its receipt is no longer good.
    MessageNotFound,
    /// The receipt was made for another message.
    PopReceiptMismatch,
    /// The receipt was never made here.
    InvalidPopReceipt {
        /// As it came.
        presented: String,
    },
    /// The message would stay invisible until after it has expired.
    InvisibleBeyondExpiry {
        /// The timeout asked for.
        seconds: u64,
    },
    /// A new message would expire before it is ever visible.
    InvisibleForLife {
        /// The timeout asked for.
        seconds: u64,
    },

    // Metadata
    /// A metadata name is not a C# identifier or is given twice, or a value is not plain ASCII.
    InvalidMetadata,
    /// A metadata name is empty.
    EmptyMetadataKey,
    /// All names and values together are larger than 8 KiB.
    MetadataTooLarge,

    /// What only the File service refuses.
    File(crate::fs::FileRefusal),
    /// What only the Table service refuses.
    Table(crate::table::TableRefusal),
    // Tags
    /// There are too many tags, or one is too long.
    TagsTooLarge,
    /// A tag's name is empty.
    EmptyTagName,
    /// Two tags have the same name.
    DuplicateTagNames,
    /// A tag has a character that is not allowed in tags.
    InvalidTag,
}

/// What the lease in question is on; only the wording of the answer differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum LeaseOn {
    /// A blob.
    Blob,
    /// A container.
    Container,
    /// A share.
    Share,
    /// A file.
    File,
}

impl From<crate::table::TableRefusal> for Refusal {
    fn from(refusal: crate::table::TableRefusal) -> Self {
        Self::Table(refusal)
    }
}

impl From<crate::fs::FileRefusal> for Refusal {
    fn from(refusal: crate::fs::FileRefusal) -> Self {
        Self::File(refusal)
    }
}
