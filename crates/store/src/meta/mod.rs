//! Metadata: ordered keys and values, transactions on one placement, snapshots.
//!
//! Must never know what rows mean. Engines live in their own files and join the conformance suite.

mod answers;
mod checkpointer;
mod commit_queue;
mod committer;
#[cfg(test)]
mod conformance;
mod embedded;
mod engine;
mod filter;
pub(crate) mod frame;
mod journal;
mod layers;
mod memtable;
mod overlay;
mod placement;
mod redb_backend;
mod row;
mod row_cache;
mod strict;
mod tree;
mod tx;

pub use commit_queue::{CommitQueue, Refused};
pub use engine::{Meta, Snapshot};
pub use placement::Placement;
pub use row::Row;
pub use strict::{Strict, StrictOptions};
pub use tx::{Abort, Interrupt, TransactError, Tx};

pub(crate) use embedded::{Embedded, EmbeddedOptions, create};
pub(crate) use journal::NAMES as JOURNALS;
pub(crate) use tree::Tree;

/// Limits that every engine fits and `Tx` enforces.
pub mod limits {
    /// Bytes in a key.
    pub const KEY_BYTES: usize = 2_560;
    /// Bytes in a value.
    pub const VALUE_BYTES: usize = 64 * 1024;
    /// Rows a body may read.
    pub const READS: usize = 512;
    /// Rows a body may write.
    pub const WRITES: usize = 1_024;
    /// Bytes of all keys and values a body writes.
    pub const WRITE_BYTES: usize = 4 * 1024 * 1024;
    /// Seconds a snapshot may be held.
    pub const SNAPSHOT_SECONDS: u64 = 5;
    /// Transactions that may wait for the commit thread before callers are told to slow down.
    pub const WAITING: usize = 8_192;
    /// Transactions committed together at most.
    pub const BATCH: usize = 1_024;
    /// Bytes committed together at most, over all transactions of a batch.
    pub const BATCH_BYTES: usize = 16 * 1024 * 1024;
}
