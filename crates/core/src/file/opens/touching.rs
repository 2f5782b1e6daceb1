//! Reads and writes that are under way: no lock comes between their check and their end.
//!
//! Must never make a reader or writer wait: a lock does, or is refused. Without this a read that was
//! let through could give bytes that the holder of a later lock has written.

use super::Opens;
use super::node::Node;
use super::types::HandleId;
use zaffre_domain::fs::locks::{LockKind, LockTable, Range, Touch};

/// A handle that is just reading or writing; dropping it ends that.
#[derive(Debug)]
pub struct Touching {
    opens: Opens,
    handle: HandleId,
    id: u64,
}

/// What is being read or written.
#[derive(Debug)]
pub(super) struct Touched {
    id: u64,
    pub(super) handle: HandleId,
    range: Range,
    touch: Touch,
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
    /// Begins to read or write `range`, unless a lock keeps the holder of `handle` from that.
    pub fn touch(&self, handle: HandleId, range: Range, touch: Touch) -> Option<Touching> {
        let mut state = self.state();
        let id = state.draw_id();
        let node = state.node_of(handle)?;
        if node.locks.forbids(Some(handle), range, touch) {
            return None;
        }
        node.touched.push(Touched { id, handle, range, touch });
        Some(Touching { opens: self.clone(), handle, id })
    }
}

impl Node {
    /// Whether somebody else is just reading or writing, over SMB or REST, what these locks would keep
    /// them from.
    pub(super) fn is_touched(&self, handle: HandleId, wanted: &[(Range, LockKind)]) -> bool {
        if self.touched.is_empty() && self.entered.is_empty() {
            return false;
        }
        let mut asked = LockTable::default();
        if asked.lock_all(handle, wanted).is_err() {
            return false;
        }
        let mut others = self.touched.iter().filter(|touched| touched.handle != handle);
        others.any(|other| asked.forbids(Some(other.handle), other.range, other.touch))
            || self.entered.iter().any(|entered| entered.op.locks().refuses(&asked))
    }
}
