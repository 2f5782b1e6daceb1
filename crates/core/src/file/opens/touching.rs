//! Writes that are under way: no lock comes between their check and their end.
//!
//! Must never make a writer wait: a lock does, or is refused. Reads that are under way came before it.

use super::Opens;
use super::node::Node;
use super::types::HandleId;
use zaffre_domain::fs::locks::{LockKind, LockTable, Range, Touch};

/// A handle that is just writing; dropping it ends that.
#[derive(Debug)]
pub struct Touching {
    opens: Opens,
    handle: HandleId,
    id: u64,
}

/// What is being written.
#[derive(Debug)]
pub(super) struct Touched {
    id: u64,
    pub(super) handle: HandleId,
    range: Range,
}

impl Drop for Touching {
    fn drop(&mut self) {
        let mut state = self.opens.state();
        // A handle that is closed took its own along.
        if let Some(node) = state.node_of(self.handle) {
            node.touched.retain(|touched| touched.id != self.id);
            node.settle_locks();
        }
    }
}

impl Opens {
    /// Whether no lock keeps the holder of `handle` from touching `range`.
    pub fn may_touch(&self, handle: HandleId, range: Range, touch: Touch) -> bool {
        let mut state = self.state();
        let node = state.node_of(handle);
        node.is_some_and(|node| !node.locks.forbids(Some(handle), range, touch))
    }

    /// Begins to write `range`, unless a lock keeps the holder of `handle` from that.
    pub fn begin_write(&self, handle: HandleId, range: Range) -> Option<Touching> {
        let mut state = self.state();
        let id = state.draw_id();
        let node = state.node_of(handle)?;
        if node.locks.forbids(Some(handle), range, Touch::Write) {
            return None;
        }
        node.touched.push(Touched { id, handle, range });
        Some(Touching { opens: self.clone(), handle, id })
    }
}

impl Node {
    /// Whether somebody else is just writing, over SMB or REST, what these locks would keep them from.
    pub(super) fn is_written(&self, handle: HandleId, wanted: &[(Range, LockKind)]) -> bool {
        let rest =
            || self.entered.iter().map(|entered| entered.op).filter(|op| op.mode().access.write);
        if self.touched.is_empty() && rest().next().is_none() {
            return false;
        }
        let mut asked = LockTable::default();
        if asked.lock_all(handle, wanted).is_err() {
            return false;
        }
        let mut others = self.touched.iter().filter(|touched| touched.handle != handle);
        others.any(|other| asked.forbids(Some(other.handle), other.range, Touch::Write))
            || rest().any(|op| op.locks().refuses(&asked))
    }
}
