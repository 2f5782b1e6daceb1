//! Byte-range locks of handles: granted, queued in order, given back.
//!
//! Must never lose a request: each is answered once, or its waiter went away.

use super::Opens;
use super::node::Node;
use super::types::{HandleId, LOCK_WAITS_PER_HANDLE};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use zaffre_domain::fs::locks::{LockKind, LockRefusal, Range};
use zaffre_domain::fs::oplock::Cause;

/// Why a lock request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockRefused {
    /// Another lock is in the way, or somebody is just reading or writing there.
    NotGranted,
    /// A limit of locks or waiters.
    TooMany,
    /// There is no such handle, or it was closed while the request waited.
    Closed,
}

/// What came of a lock request.
#[derive(Debug)]
pub enum Locking {
    /// Granted, or granted before to the same request.
    Granted,
    /// In the queue.
    Queued(LockWait),
}

/// A request in the queue of a file.
#[derive(Debug)]
pub(super) struct LockRequest {
    id: u64,
    handle: HandleId,
    range: Range,
    kind: LockKind,
    sequence: Option<(u8, u8)>,
    /// It waits for reads and writes that are under way, and for no lock.
    only_touched: bool,
    answer: oneshot::Sender<Result<(), LockRefused>>,
}

/// A lock that is waited for. Dropping it takes the request back, also one granted meanwhile.
#[derive(Debug)]
pub struct LockWait {
    opens: Opens,
    id: u64,
    handle: HandleId,
    range: Range,
    answer: Option<oneshot::Receiver<Result<(), LockRefused>>>,
}

impl Future for LockWait {
    type Output = Result<(), LockRefused>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(Err(LockRefused::Closed)) };
        let polled = Pin::new(answer).poll(cx);
        polled.map(|answer| {
            self.answer = None;
            // Nobody drops a request unanswered but with its file, which closes the handle.
            answer.unwrap_or(Err(LockRefused::Closed))
        })
    }
}

impl Drop for LockWait {
    fn drop(&mut self) {
        let Some(mut answer) = self.answer.take() else { return };
        let mut state = self.opens.state();
        let Some(node) = state.node_of(self.handle) else { return };
        node.lock_queue.retain(|request| request.id != self.id);
        if let Ok(Ok(())) = answer.try_recv() {
            let _ = node.locks.unlock(self.handle, self.range);
            node.settle_locks();
        }
    }
}

impl Opens {
    /// Locks all of `wanted` or none. With `queue` a single range that is not free is waited for;
    /// for reads and writes that are under way a single range waits in any case.
    /// `sequence` numbers the request, so that one sent again after a reconnect acts once.
    pub fn lock(
        &self,
        handle: HandleId,
        wanted: &[(Range, LockKind)],
        queue: bool,
        sequence: Option<(u8, u8)>,
    ) -> Result<Locking, LockRefused> {
        let now = self.monotonic();
        let mut state = self.state();
        let id = state.draw_id();
        let node = state.node_of(handle).ok_or(LockRefused::Closed)?;
        if node.is_replay(handle, sequence) {
            return Ok(Locking::Granted);
        }
        let touched = node.is_touched(handle, wanted);
        let tried = if touched {
            Err(LockRefusal::NotGranted)
        } else {
            node.locks.lock_all(handle, wanted)
        };
        match tried {
            Ok(()) => {
                node.contend(handle, Cause::Change, now);
                node.remember(handle, sequence);
                Ok(Locking::Granted)
            }
            Err(LockRefusal::TooMany) => Err(LockRefused::TooMany),
            Err(LockRefusal::NotGranted) => match wanted {
                [(range, kind)] if queue || touched => {
                    let waiting = node.lock_queue.iter().filter(|r| r.handle == handle).count();
                    if waiting >= LOCK_WAITS_PER_HANDLE {
                        return Err(LockRefused::TooMany);
                    }
                    let (answer, answered) = oneshot::channel();
                    let (range, kind) = (*range, *kind);
                    let request = LockRequest {
                        id,
                        handle,
                        range,
                        kind,
                        sequence,
                        only_touched: !queue,
                        answer,
                    };
                    node.lock_queue.push_back(request);
                    let answer = Some(answered);
                    Ok(Locking::Queued(LockWait { opens: self.clone(), id, handle, range, answer }))
                }
                _ => Err(LockRefused::NotGranted),
            },
        }
    }

    /// Unlocks the ranges in order; those before one that is not locked stay unlocked.
    pub fn unlock(
        &self,
        handle: HandleId,
        ranges: &[Range],
        sequence: Option<(u8, u8)>,
    ) -> Result<(), UnlockRefused> {
        let mut state = self.state();
        let node = state.node_of(handle).ok_or(UnlockRefused::Closed)?;
        if node.is_replay(handle, sequence) {
            return Ok(());
        }
        let unlocked = ranges.iter().try_for_each(|range| node.locks.unlock(handle, *range));
        node.settle_locks();
        unlocked.map_err(|_| UnlockRefused::NotLocked)?;
        node.remember(handle, sequence);
        Ok(())
    }
}

/// Why an unlock is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnlockRefused {
    /// A range is not one that is locked.
    NotLocked,
    /// There is no such handle.
    Closed,
}

impl Node {
    fn is_replay(&mut self, handle: HandleId, sequence: Option<(u8, u8)>) -> bool {
        let open = self.open_mut(handle);
        open.zip(sequence)
            .is_some_and(|(open, (index, number))| open.sequences.is_replay(index, number))
    }

    fn remember(&mut self, handle: HandleId, sequence: Option<(u8, u8)>) {
        if let Some((open, (index, number))) = self.open_mut(handle).zip(sequence) {
            open.sequences.done(index, number);
        }
    }

    /// Grants what waits and is free now, the oldest first.
    pub(super) fn settle_locks(&mut self) {
        let mut queue = std::mem::take(&mut self.lock_queue);
        queue.retain(|request| !request.answer.is_closed());
        while let Some(request) = queue.pop_front() {
            let LockRequest { handle, range, kind, sequence, only_touched, .. } = request;
            if self.is_touched(handle, &[(range, kind)]) {
                self.lock_queue.push_back(request);
                continue;
            }
            let answer = match self.locks.lock(handle, range, kind) {
                Ok(()) => Ok(()),
                Err(LockRefusal::TooMany) => Err(LockRefused::TooMany),
                Err(LockRefusal::NotGranted) if only_touched => Err(LockRefused::NotGranted),
                Err(LockRefusal::NotGranted) => {
                    self.lock_queue.push_back(request);
                    continue;
                }
            };
            if answer.is_ok() {
                self.remember(handle, sequence);
            }
            if request.answer.send(answer).is_err() && answer.is_ok() {
                // Its waiter is gone; nobody would ever unlock it.
                let _ = self.locks.unlock(handle, range);
            }
        }
    }

    /// Answers the requests of a handle that is closed.
    pub(super) fn refuse_locks_of(&mut self, handle: HandleId) {
        let queue = std::mem::take(&mut self.lock_queue);
        for request in queue {
            if request.handle == handle {
                let _ = request.answer.send(Err(LockRefused::Closed));
            } else {
                self.lock_queue.push_back(request);
            }
        }
    }
}
