//! What can go wrong in the store, by what the caller can do about it.

use std::io;
use std::sync::Arc;

/// A failure of the store; the operation's outcome is as each variant says.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Reading or writing failed; nothing was acknowledged.
    #[error("disk error while {doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The disk is full; nothing was changed.
    #[error("the disk is full (while {doing}); free some space and try again")]
    Full {
        /// What was being done.
        doing: &'static str,
    },
    /// A sync failed earlier: nothing more is acknowledged until a restart.
    #[error("the disk failed to make a write durable; no write is accepted until a restart")]
    Poisoned,
    /// Stored bytes fail their checksum or make no sense.
    #[error("corrupt data: {what}")]
    Corrupt {
        /// What and where.
        what: String,
    },
    /// A transaction broke one of the limits: a bug in the caller.
    #[error("transaction limit broken: {0}")]
    Limit(&'static str),
    /// A networked engine could not tell whether the commit happened.
    #[error("the outcome of the commit is unknown")]
    Unknown,
    /// Too much work is waiting.
    #[error("too many requests are waiting for the disk")]
    Busy,
    /// The store is closing.
    #[error("the store is shutting down")]
    Closed,
}

impl StoreError {
    /// Wraps an I/O error, telling a full disk from the rest.
    pub fn io(doing: &'static str, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::StorageFull {
            Self::Full { doing }
        } else {
            Self::Io { doing, source: Arc::new(source) }
        }
    }

    /// Corruption, described.
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }
}
