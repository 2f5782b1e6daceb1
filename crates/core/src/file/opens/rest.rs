//! REST operations as opens that last as long as the operation.
//!
//! Must never hold the table's lock while waiting: the client that is asked to flush writes
//! through this table.

use super::node::{Entered, Node, Open};
use super::open::Attempt;
use super::state::State;
use super::types::{FileKey, Under};
use super::{Opens, Refused, Waiting};
use std::time::Duration;
use zaffre_domain::fs::locks::LockTable;
use zaffre_domain::fs::oplock::Cause;
use zaffre_domain::fs::rest::{HandleRule, RestOp};

/// A REST operation under way; dropping it ends that.
#[derive(Debug)]
pub struct Guard {
    opens: Opens,
    file: FileKey,
    id: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut state = self.opens.state();
        if let Some(node) = state.nodes.get_mut(&self.file) {
            node.entered.retain(|entered| entered.id != self.id);
            node.touch_ended(self.id);
            node.wake();
        }
        state.tidy(self.file);
    }
}

impl Opens {
    /// Enters an existing file or directory for a REST operation. Waits at most `patience` for
    /// clients to give back what they cache, and for locks that are about to be granted; dropping the
    /// wait leaves nothing behind.
    pub async fn enter(
        &self,
        file: FileKey,
        op: RestOp,
        patience: Duration,
    ) -> Result<Guard, Refused> {
        self.patiently(patience, |now| self.try_enter(file, op, now)).await
    }

    /// Enters at `now` (monotonic), if nothing is in the way.
    pub fn try_enter(
        &self,
        file: FileKey,
        op: RestOp,
        now: Duration,
    ) -> Result<Attempt<Guard>, Refused> {
        let mut state = self.state();
        state.clear(file, now, |node, open| is_in_the_way(node, open, op));
        let tried = state.try_enter(file, op, now);
        state.tidy(file);
        Ok(match tried? {
            Attempt::Done(id) => Attempt::Done(Guard { opens: self.clone(), file, id }),
            Attempt::Wait(waiting) => Attempt::Wait(waiting),
        })
    }
}

/// Whether a handle whose client is gone, and cannot be asked, is to make room. An operation that
/// no handle may see counts it as one.
fn is_in_the_way(node: &Node, open: &Open, op: RestOp) -> bool {
    let asked = op.cause().is_some_and(|cause| node.must_answer(open, cause));
    op.handles() == HandleRule::Ignored && (asked || !open.mode.agrees_with(op.mode()))
}

impl State {
    fn try_enter(
        &mut self,
        file: FileKey,
        op: RestOp,
        now: Duration,
    ) -> Result<Attempt<u64>, Refused> {
        let id = self.draw_id();
        if op.mode().access.delete
            && let Some(waiting) = self.streams_let_go(file, now)?
        {
            return Ok(Attempt::Wait(waiting));
        }
        let of_streams = self.open_streams(file);
        let node = self.node(file);
        if !op.ignores_deletion() && (node.removing || node.deletion.is_pending()) {
            return Err(Refused::DeletePending);
        }
        if op.handles() != HandleRule::Ignored && node.has_orphans() {
            return Err(Refused::SharingViolation);
        }
        let wanted = op.mode();
        if node.opens.iter().any(|open| !open.mode.agrees_with(wanted)) {
            // A handle that is only cached may go and make room.
            let wait = node.break_caches(Cause::SharingConflict, None, false, now);
            if wait {
                return node.wait(now).map(Attempt::Wait);
            }
            return Err(Refused::SharingViolation);
        }
        let forbidden = |locks: &LockTable<_>| op.locks().refuses(locks);
        if forbidden(&node.locks) {
            return node.refused_by_lock(forbidden, now).map(Attempt::Wait);
        }
        if let Some(cause) = op.cause()
            && node.break_caches(cause, None, false, now)
        {
            return node.wait(now).map(Attempt::Wait);
        }
        match op.handles() {
            HandleRule::Ignored => {}
            HandleRule::None if node.opens.is_empty() && of_streams == 0 => {}
            HandleRule::None => return Err(Refused::SharingViolation),
            HandleRule::NoneBelow => {
                let below = self.files(file.share, Under::Tree(file.file));
                for key in below {
                    if let Some(waiting) = self.empty(key, now)? {
                        return Ok(Attempt::Wait(waiting));
                    }
                }
            }
        }
        self.node(file).entered.push(Entered { id, op });
        Ok(Attempt::Done(id))
    }

    /// Asks those who only cache a handle of `file` to let it go, and refuses if one stays.
    pub(super) fn empty(
        &mut self,
        file: FileKey,
        now: Duration,
    ) -> Result<Option<Waiting>, Refused> {
        let Some(node) = self.nodes.get_mut(&file) else { return Ok(None) };
        node.expire_breaks(now);
        if node.has_orphans() {
            return Err(Refused::SharingViolation);
        }
        if node.break_caches(Cause::RestDelete, None, false, now) {
            return node.wait(now).map(Some);
        }
        if node.opens.is_empty() { Ok(None) } else { Err(Refused::SharingViolation) }
    }
}
