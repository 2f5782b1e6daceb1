//! What goes into the open table and what comes out: plain data of no protocol.
//!
//! Must never hold a row or a message.

use super::Removal;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zaffre_base::{Incarnation, Timestamp};
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::oplock::{Caching, Notice};
use zaffre_domain::fs::share_mode::OpenMode;
use zaffre_domain::fs::{FileId, FileRefusal};

/// Handles of one file or directory.
pub const HANDLES_PER_FILE: usize = 2_000;
/// Handles of all shares together.
pub const HANDLES: usize = 200_000;
/// Operations that wait for one file.
pub const WAITERS_PER_FILE: usize = 1_000;
/// Lock requests of one handle that wait.
pub const LOCK_WAITS_PER_HANDLE: usize = 64;

/// How long a read or write waits for a lock that is about to be granted. Others end theirs in a moment,
/// unless one is an upload by REST whose client is slow.
pub(super) const TOUCH_PATIENCE: Duration = Duration::from_secs(10);

/// A file or directory of a share, whatever its name is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileKey {
    /// The share.
    pub share: Incarnation,
    /// What it is there.
    pub file: FileId,
}

/// A handle; never used again, not even after a restart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HandleId(pub u64);

/// A lease as its client names it; several handles of the client share it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LeaseId {
    /// The client, of which account whatsoever.
    pub client: u128,
    /// The client's key.
    pub key: u128,
}

/// Hears what happens to the handles of one client. Called while the table is locked: it must not
/// block, and not call the table.
pub trait Listener: Send + Sync {
    /// Takes note of an event.
    fn tell(&self, event: Event);
}

/// What a client has to hear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Its oplock is lowered.
    Oplock {
        /// Of which handle.
        handle: HandleId,
        /// To what, and whether an answer is awaited.
        notice: Notice,
    },
    /// Its lease is lowered.
    Lease {
        /// A handle that has it.
        handle: HandleId,
        /// Which.
        lease: LeaseId,
        /// To what, and whether an answer is awaited.
        notice: Notice,
        /// Whether it was asked for with an epoch.
        second_version: bool,
    },
    /// Somebody else closed its handle.
    Closed {
        /// Which.
        handle: HandleId,
    },
}

/// What an open asks to cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Nothing.
    Nothing,
    /// The old way: level II is R, exclusive RW, batch RWH.
    Oplock(Caching),
    /// A lease.
    Lease {
        /// Which.
        lease: LeaseId,
        /// What for.
        caching: Caching,
        /// The last change that its client knows; 0 in the first version.
        epoch: u16,
        /// Whether it has an epoch.
        second_version: bool,
    },
}

/// Whose handle it is.
#[derive(Clone)]
pub struct Owner {
    /// Hears of breaks.
    pub listener: Arc<dyn Listener>,
    /// The session.
    pub session: u64,
    /// The tree of that session.
    pub tree: u64,
    /// The address of its client.
    pub client_address: Arc<str>,
    /// The name of its client.
    pub client_name: Arc<str>,
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Where a file is: shown to users, and told apart by the ids of the directories above it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The directories above it, the root first.
    pub above: Arc<[FileId]>,
    /// Its path from the root, `/` between names.
    pub path: String,
}

/// An open of a file or directory that exists.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts of a request")]
pub struct OpenRequest {
    /// Which.
    pub file: FileKey,
    /// Where it is.
    pub place: Place,
    /// What it is a stream of, if it is one.
    pub base: Option<FileKey>,
    /// Whether it is a directory.
    pub directory: bool,
    /// What it does.
    pub access: AccessMask,
    /// What it does and lets others do; its access is that of `access`.
    pub mode: OpenMode,
    /// Whether it replaces the content.
    pub overwrites: bool,
    /// Whether the file goes when this handle is closed.
    pub delete_on_close: bool,
    /// What it asks to cache.
    pub wanted: Wanted,
    /// Whether REST holds a lease on the file.
    pub rest_leased: bool,
    /// Whose it is.
    pub owner: Owner,
}

/// A handle that was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opened {
    /// Its id.
    pub handle: HandleId,
    /// What may be cached.
    pub caching: Caching,
    /// The number of the last change of the lease.
    pub epoch: u16,
    /// Whether the lease was first asked for with an epoch.
    pub second_version: bool,
    /// Whether the lease is being lowered just now.
    pub breaking: bool,
}

impl Opened {
    /// A handle that caches nothing.
    pub(super) fn without_caching(handle: HandleId) -> Self {
        let caching = Caching::NONE;
        Self { handle, caching, epoch: 0, second_version: false, breaking: false }
    }
}

/// What a closed handle leaves.
#[derive(Debug)]
pub struct Closed {
    /// Which handle.
    pub handle: HandleId,
    /// Of what.
    pub file: FileKey,
    /// The file is to be removed now: it was the last handle of a file marked for deletion. Remove
    /// it in one transaction, then drop this.
    pub removal: Option<Removal>,
}

/// Why the table refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// It goes with its last handle.
    DeletePending,
    /// It is open in a way that does not admit this.
    SharingViolation,
    /// Bytes are locked.
    LockConflict,
    /// A client did not give back in time what it had cached.
    FlushDelay,
    /// The lease is one on another file.
    LeaseElsewhere,
    /// A limit of handles or waiters.
    TooMany,
    /// There is no such handle, or no longer.
    NoSuchHandle,
}

impl From<Refused> for FileRefusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::DeletePending => Self::DeletePending,
            // A lease that is elsewhere is the mistake of an SMB client, which is told before.
            Refused::SharingViolation | Refused::LeaseElsewhere => Self::SharingViolation,
            Refused::LockConflict => Self::FileLockConflict,
            Refused::FlushDelay => Self::ClientCacheFlushDelay,
            Refused::TooMany => Self::HandleLimitExceeded,
            Refused::NoSuchHandle => Self::ResourceNotFound,
        }
    }
}

/// A handle as it is listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandleInfo {
    /// Its id.
    pub handle: HandleId,
    /// Of what.
    pub file: FileId,
    /// The directory it is in.
    pub parent: FileId,
    /// The path from the share's root.
    pub path: String,
    /// The session that opened it.
    pub session: u64,
    /// The address of its client.
    pub client_address: Arc<str>,
    /// The name of its client.
    pub client_name: Arc<str>,
    /// When it was opened.
    pub opened: Timestamp,
    /// When its client last came back to it.
    pub reconnected: Option<Timestamp>,
    /// What it does.
    pub access: AccessMask,
}

/// Which handles of a share are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Under {
    /// Those of one file or directory.
    Only(FileId),
    /// Those of a directory and of everything below.
    Tree(FileId),
    /// All.
    All,
}
