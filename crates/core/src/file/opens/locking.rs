//! Byte-range locks of handles: put in, waited for, answered, given back.
//!
//! A lock that no other lock keeps out is put in at once, so that nobody comes in whom it keeps out. It
//! is granted when the reads and writes have ended that were under way then. Until that it is only
//! promised: whoever meets it waits for what becomes of it. If they were refused, one could learn of the
//! lock, and then read the bytes as they were before a write that the lock is still waiting for.
//! Must never lose a request: each is answered once, or its waiter went away and its locks with it.

use super::Opens;
use super::node::Node;
use super::types::{HandleId, LOCK_WAITS_PER_HANDLE};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;
use zaffre_domain::fs::locks::{LockKind, LockRefusal, Range};
use zaffre_domain::fs::oplock::Cause;

/// Why a lock request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockRefused {
    /// Another lock is in the way.
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
    /// To be answered later.
    Pending(LockWait),
}

type Answer = oneshot::Sender<Result<(), LockRefused>>;

/// A request that waits for a lock in its way.
#[derive(Debug)]
pub(super) struct Queued {
    id: u64,
    handle: HandleId,
    wanted: Vec<(Range, LockKind)>,
    /// It waits for the lock to go, and not only to be granted or withdrawn.
    patient: bool,
    answer: Answer,
}

/// A request whose locks are in the table, and that waits for reads and writes to end.
#[derive(Debug)]
pub(super) struct Promised {
    id: u64,
    handle: HandleId,
    /// What was under way when the locks were put in and has not ended. Nothing is ever added, which
    /// is why others who keep coming cannot keep it waiting.
    awaited: Vec<u64>,
    answer: Answer,
}

/// A lock that is waited for. Dropping it takes the request back, with all that was put in for it.
#[derive(Debug)]
pub struct LockWait {
    opens: Opens,
    id: u64,
    handle: HandleId,
    sequence: Option<(u8, u8)>,
    answer: Option<oneshot::Receiver<Result<(), LockRefused>>>,
}

impl Future for LockWait {
    type Output = Result<(), LockRefused>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(Err(LockRefused::Closed)) };
        // Nobody drops a request unanswered but with its file, which closes the handle.
        let answer = ready!(Pin::new(answer).poll(cx)).unwrap_or(Err(LockRefused::Closed));
        self.answer = None;
        Poll::Ready(answer.and_then(|()| self.take()))
    }
}

impl LockWait {
    /// The locks are held from here on, and not before: a waiter that goes away leaves none behind,
    /// and no word that its request was done.
    fn take(&self) -> Result<(), LockRefused> {
        let mut state = self.opens.state();
        let node = state.node_of(self.handle).ok_or(LockRefused::Closed)?;
        if !node.locks.keep(self.id) {
            return Err(LockRefused::Closed);
        }
        node.remember(self.handle, self.sequence);
        Ok(())
    }
}

impl Drop for LockWait {
    fn drop(&mut self) {
        if self.answer.is_none() {
            return;
        }
        let mut state = self.opens.state();
        // A handle that is closed took its requests along.
        let Some(node) = state.node_of(self.handle) else { return };
        node.lock_queue.retain(|request| request.id != self.id);
        node.promised.retain(|request| request.id != self.id);
        if node.locks.withdraw(self.id) {
            node.settle_locks();
        }
    }
}

impl Opens {
    /// Locks all of `wanted` or none. With `queue` a single range that another lock covers is waited
    /// for; reads and writes that are under way, and locks that wait for such, are waited for in any
    /// case.
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
        let (answer, answered) = oneshot::channel();
        match node.locks.promise_all(handle, wanted, id) {
            Ok(()) => {
                let awaited = node.touches(handle, wanted);
                if awaited.is_empty() {
                    node.locks.grant(id);
                    node.locks.keep(id);
                    node.remember(handle, sequence);
                    node.contend(handle, Cause::Change, now);
                    return Ok(Locking::Granted);
                }
                if let Err(refused) = node.may_wait(handle) {
                    node.locks.withdraw(id);
                    return Err(refused);
                }
                node.contend(handle, Cause::Change, now);
                node.promised.push(Promised { id, handle, awaited, answer });
            }
            Err(LockRefusal::NotGranted) => {
                let patient = queue && wanted.len() == 1;
                if !patient && !node.meets_promise(handle, wanted) {
                    return Err(LockRefused::NotGranted);
                }
                node.may_wait(handle)?;
                let wanted = wanted.to_vec();
                node.lock_queue.push_back(Queued { id, handle, wanted, patient, answer });
            }
            Err(LockRefusal::TooMany) => return Err(LockRefused::TooMany),
        }
        let (opens, answer) = (self.clone(), Some(answered));
        Ok(Locking::Pending(LockWait { opens, id, handle, sequence, answer }))
    }

    /// Unlocks the ranges in order; those before one that is not locked stay unlocked. A lock whose
    /// request is not answered is none yet: only its waiter can take it back.
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

    /// Refuses one request too many of a handle.
    fn may_wait(&self, handle: HandleId) -> Result<(), LockRefused> {
        let queued = self.lock_queue.iter().filter(|request| request.handle == handle).count();
        let promised = self.promised.iter().filter(|request| request.handle == handle).count();
        if queued + promised < LOCK_WAITS_PER_HANDLE { Ok(()) } else { Err(LockRefused::TooMany) }
    }

    /// Whether only locks that are not granted yet are in the way of these.
    fn meets_promise(&self, handle: HandleId, wanted: &[(Range, LockKind)]) -> bool {
        self.locks.granted().lock_all(handle, wanted).is_ok()
    }

    /// Goes on with whatever can after a lock went or was granted.
    pub(super) fn settle_locks(&mut self) {
        self.put_in();
        // What is granted refuses those who waited for just that, and has nobody else put in.
        if self.grant_promised() {
            self.put_in();
        }
        self.wake();
    }

    /// Puts in what waits and is free now, the oldest first; refuses who did not want to wait for a
    /// lock that is granted now.
    fn put_in(&mut self) {
        for request in std::mem::take(&mut self.lock_queue) {
            let Queued { id, handle, wanted, patient, answer } = request;
            // Nobody hears an answer whose waiter is just going away; so below.
            match self.locks.promise_all(handle, &wanted, id) {
                Ok(()) => {
                    let awaited = self.touches(handle, &wanted);
                    self.promised.push(Promised { id, handle, awaited, answer });
                }
                Err(LockRefusal::NotGranted) if patient || self.meets_promise(handle, &wanted) => {
                    let request = Queued { id, handle, wanted, patient, answer };
                    self.lock_queue.push_back(request);
                }
                Err(LockRefusal::NotGranted) => {
                    let _ = answer.send(Err(LockRefused::NotGranted));
                }
                Err(LockRefusal::TooMany) => {
                    let _ = answer.send(Err(LockRefused::TooMany));
                }
            }
        }
    }

    /// A read or write has ended: whoever waited for nothing else is answered.
    pub(super) fn touch_ended(&mut self, id: u64) {
        for request in &mut self.promised {
            request.awaited.retain(|awaited| *awaited != id);
        }
        if self.promised.iter().any(|request| request.awaited.is_empty()) {
            self.settle_locks();
        }
    }

    /// Grants what waits for nothing any more; whether there was such.
    fn grant_promised(&mut self) -> bool {
        let mut any = false;
        for request in self.promised.extract_if(.., |request| request.awaited.is_empty()) {
            self.locks.grant(request.id);
            let _ = request.answer.send(Ok(()));
            any = true;
        }
        any
    }

    /// Answers the requests of a handle that is closed, or whose client is gone.
    pub(super) fn refuse_locks_of(&mut self, handle: HandleId) {
        for request in std::mem::take(&mut self.lock_queue) {
            if request.handle == handle {
                let _ = request.answer.send(Err(LockRefused::Closed));
            } else {
                self.lock_queue.push_back(request);
            }
        }
        for request in self.promised.extract_if(.., |request| request.handle == handle) {
            self.locks.withdraw(request.id);
            let _ = request.answer.send(Err(LockRefused::Closed));
        }
        self.settle_locks();
    }
}
