//! Metadata: ordered keys and values, transactions on one placement, snapshots.
//!
//! Must never know what rows mean. Engines live in their own files and join the conformance suite.

use crate::error::StoreError;
use std::fmt;
use std::sync::Arc;

/// What lives together on one engine shard and is scanned in order: a container, a queue, a table,
/// a share, or an account's directory. A transaction addresses one and cannot name another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placement(Arc<[u8]>);

impl Placement {
    /// A placement by its name, at most 255 bytes.
    pub fn new(name: impl Into<Arc<[u8]>>) -> Self {
        let name = name.into();
        assert!(name.len() <= 255, "a placement's name fits a length byte");
        Self(name)
    }

    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Placement({})", self.0.escape_ascii())
    }
}

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Relative to the placement.
    pub key: Vec<u8>,
    /// As it was put.
    pub value: Vec<u8>,
}

/// Why a body could not finish this run; only the engine makes and consumes these.
#[derive(Debug)]
pub struct Interrupt(StoreError);

/// How a body ends without writing.
#[derive(Debug)]
pub enum Abort<E> {
    /// The engine cut the run short; it decides what follows.
    Interrupt(Interrupt),
    /// The rules say no: drop all writes and give this to the caller.
    Fail(E),
}

impl<E> From<Interrupt> for Abort<E> {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupt(interrupt)
    }
}

/// How a transaction fails.
#[derive(Debug)]
pub enum TransactError<E> {
    /// The body said no; nothing was written.
    Body(E),
    /// The store failed; unless it says `Unknown` or `Poisoned`, nothing was written.
    Store(StoreError),
}

impl<E> From<StoreError> for TransactError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
