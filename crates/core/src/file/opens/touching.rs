//! Reads and writes that are under way: no lock is granted between their check and their end.
//! Without this a read that was let through could give bytes that the holder of a later lock has written.
//!
//! Must never wait while it is under way: locks wait for its end.

use super::node::Node;
use super::open::Attempt;
use super::types::{FileKey, HandleId, TOUCH_PATIENCE};
use super::{Opens, Refused, Waiting};
use std::time::Duration;
use zaffre_domain::fs::locks::{LockKind, LockTable, Range, Touch};

/// A handle that is just reading or writing; dropping it ends that. It lasts beyond its handle: who
/// closes one does not undo what it is doing.
#[derive(Debug)]
pub struct Touching {
    opens: Opens,
    file: FileKey,
    id: u64,
}

/// What is being read or written.
#[derive(Debug)]
pub(super) struct Touched {
    id: u64,
    handle: HandleId,
    range: Range,
    touch: Touch,
}

impl Drop for Touching {
    fn drop(&mut self) {
        let mut state = self.opens.state();
        if let Some(node) = state.nodes.get_mut(&self.file) {
            node.touched.retain(|touched| touched.id != self.id);
            node.touch_ended(self.id);
        }
        state.tidy(self.file);
    }
}

impl Opens {
    /// Begins to read or write `range`, unless a lock keeps the holder of `handle` from that. One that
    /// is about to be granted is waited for, which is as long as others take to read or write.
    pub async fn touch(
        &self,
        handle: HandleId,
        range: Range,
        touch: Touch,
    ) -> Result<Touching, Refused> {
        self.patiently(TOUCH_PATIENCE, |now| self.try_touch(handle, range, touch, now)).await
    }

    /// As [`Opens::touch`], without waiting.
    pub fn try_touch(
        &self,
        handle: HandleId,
        range: Range,
        touch: Touch,
        now: Duration,
    ) -> Result<Attempt<Touching>, Refused> {
        let mut state = self.state();
        let id = state.draw_id();
        let file = *state.handles.get(&handle).ok_or(Refused::NoSuchHandle)?;
        let node = state.nodes.get_mut(&file).ok_or(Refused::NoSuchHandle)?;
        let forbidden = |locks: &LockTable<_>| locks.forbids(Some(handle), range, touch);
        if forbidden(&node.locks) {
            return node.refused_by_lock(forbidden, now).map(Attempt::Wait);
        }
        node.touched.push(Touched { id, handle, range, touch });
        Ok(Attempt::Done(Touching { opens: self.clone(), file, id }))
    }
}

impl Node {
    /// Refuses whom a lock keeps out that is granted; others wait until it is or is not.
    pub(super) fn refused_by_lock(
        &mut self,
        forbidden: impl Fn(&LockTable<HandleId>) -> bool,
        now: Duration,
    ) -> Result<Waiting, Refused> {
        if forbidden(&self.locks.granted()) {
            return Err(Refused::LockConflict);
        }
        Ok(self.wait(now)?.or_else(Refused::LockConflict))
    }

    /// What others are just reading or writing, over SMB or REST, that these locks keep them from.
    /// The locker's own is not among it: who orders both does not want them apart.
    pub(super) fn touches(&self, handle: HandleId, wanted: &[(Range, LockKind)]) -> Vec<u64> {
        let mut asked = LockTable::default();
        if (self.touched.is_empty() && self.entered.is_empty())
            || asked.lock_all(handle, wanted).is_err()
        {
            return Vec::new();
        }
        let others = self.touched.iter().filter(|touched| touched.handle != handle);
        let smb = others.filter(|o| asked.forbids(Some(o.handle), o.range, o.touch)).map(|o| o.id);
        let rest = self.entered.iter().filter(|e| e.op.locks().refuses(&asked)).map(|e| e.id);
        smb.chain(rest).collect()
    }
}
