//! Why the File service refuses, named after what the caller can do about it.
//!
//! Must never mention HTTP or NTSTATUS: one table in each protocol maps these.

/// A refusal of the File service, over either protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileRefusal {
    // Shares
    /// No such share.
    ShareNotFound,
    /// The share exists already.
    ShareAlreadyExists,
    /// The name is still held by a share being deleted.
    ShareBeingDeleted,
    /// The share has snapshots and the request did not say what to do with them.
    ShareHasSnapshots,
    /// No such snapshot of the share.
    ShareSnapshotNotFound,
    /// The share has as many snapshots as it can have.
    ShareSnapshotCountExceeded,
    /// Another snapshot of the share is being taken.
    ShareSnapshotInProgress,
    /// The operation does not apply to a snapshot.
    ShareSnapshotOperationNotSupported,
    /// A snapshot that would be deleted with the share is leased.
    DeleteShareWhenSnapshotLeased,
    /// The share's quota leaves no room for what was asked.
    ShareSizeLimitReached,

    // What is there, and what is not
    /// No such file or directory.
    ResourceNotFound,
    /// The directory that it would be in does not exist.
    ParentNotFound,
    /// There is a file or directory of that name.
    ResourceAlreadyExists,
    /// It is a file where a directory is wanted, or the other way round.
    ResourceTypeMismatch,
    /// The directory has entries.
    DirectoryNotEmpty,
    /// The credential may create but not overwrite.
    OverwriteNotPermitted,
    /// It cannot be deleted: it is the root, or somebody has it open.
    CannotDelete,
    /// A directory cannot be moved into itself.
    MovedIntoItself,
    /// What is below was asked for, and it is a file.
    NothingBelow,

    // Names
    /// The path is too long or too deep.
    InvalidPath,
    /// A name has a character or a form that names may not have.
    InvalidResourceName,

    // Who has it open
    /// It is open in a way that does not admit this.
    SharingViolation,
    /// Bytes are locked.
    FileLockConflict,
    /// It is deleted as soon as the last handle to it is closed.
    DeletePending,
    /// A client did not give back in time what it had cached.
    ClientCacheFlushDelay,
    /// There are as many handles as there can be.
    HandleLimitExceeded,

    // Properties
    /// The attribute `ReadOnly` is set.
    ReadOnlyAttribute,
    /// An attribute that this kind of resource cannot have.
    InvalidAttributes,
    /// The security descriptor makes no sense, or lacks a part.
    InvalidPermission,
    /// The descriptor has entries that its text form has no words for.
    NoTextForPermission,
    /// No descriptor has this key.
    InvalidPermissionKey,

    // Content
    /// The file would be larger than a file can be.
    FileTooLarge,
    /// The file has as many named streams as it can have.
    TooManyStreams,
    /// The file was made anew since the snapshot to compare with was taken.
    FileGenerationMismatch,
    /// The snapshot to compare with is not there.
    PreviousSnapshotNotFound,
    /// There is no such copy, or it is finished.
    NoPendingCopy,
}
