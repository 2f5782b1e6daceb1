//! What is known about one file while somebody has it open.
//!
//! Must never look beyond that file.

use super::locking::{Promised, Queued};
use super::touching::Touched;
use super::types::{Event, FileKey, HandleId, LeaseId, Owner, Place, WAITERS_PER_FILE};
use super::wait::Waker;
use super::{Refused, Waiting};
use std::collections::VecDeque;
use std::time::Duration;
use zaffre_base::Timestamp;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::deletion::Deletion;
use zaffre_domain::fs::locks::{LockSequences, LockTable};
use zaffre_domain::fs::oplock::{Caching, Cause, Held, Manner, Notice, to_break};
use zaffre_domain::fs::rest::{HandleRule, RestOp};
use zaffre_domain::fs::share_mode::OpenMode;

/// How long a client may take to answer a break.
pub(super) const BREAK_TIME: Duration = Duration::from_secs(35);

/// One open, for as long as its handle lives.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) handle: HandleId,
    pub(super) access: AccessMask,
    pub(super) mode: OpenMode,
    pub(super) cache: Option<CacheKey>,
    pub(super) delete_on_close: bool,
    pub(super) owner: Owner,
    pub(super) opened: Timestamp,
    pub(super) reconnected: Option<Timestamp>,
    /// Its client is gone and may come back until then, in monotonic time.
    pub(super) orphaned: Option<Duration>,
    pub(super) sequences: LockSequences,
}

/// Who holds caching.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CacheKey {
    Oplock(HandleId),
    Lease(LeaseId),
}

/// Caching that is held.
#[derive(Debug)]
pub(super) struct Cache {
    pub(super) key: CacheKey,
    pub(super) held: Held,
    pub(super) second_version: bool,
    /// When its holder has had its time to answer.
    pub(super) answer_by: Option<Duration>,
}

/// A REST operation that is under way.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) id: u64,
    pub(super) op: RestOp,
}

/// One file or directory.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    /// What it is a stream of.
    pub(super) base: Option<FileKey>,
    pub(super) directory: bool,
    pub(super) opens: Vec<Open>,
    pub(super) caches: Vec<Cache>,
    pub(super) entered: Vec<Entered>,
    pub(super) touched: Vec<Touched>,
    pub(super) locks: LockTable<HandleId>,
    pub(super) lock_queue: VecDeque<Queued>,
    pub(super) promised: Vec<Promised>,
    pub(super) deletion: Deletion,
    /// The last handle is closed and the file is being removed.
    pub(super) removing: bool,
    pub(super) wakers: Vec<Waker>,
}

impl Node {
    pub(super) fn new(place: Place, directory: bool) -> Self {
        Self {
            place,
            base: None,
            directory,
            opens: Vec::new(),
            caches: Vec::new(),
            entered: Vec::new(),
            touched: Vec::new(),
            locks: LockTable::default(),
            lock_queue: VecDeque::new(),
            promised: Vec::new(),
            deletion: Deletion::default(),
            removing: false,
            wakers: Vec::new(),
        }
    }

    /// Whether nothing is known that a new node would not know.
    pub(super) fn is_idle(&self) -> bool {
        let is_used = !self.entered.is_empty() || !self.touched.is_empty() || self.removing;
        self.opens.is_empty() && !is_used
    }

    pub(super) fn open(&self, handle: HandleId) -> Option<&Open> {
        self.opens.iter().find(|open| open.handle == handle)
    }

    pub(super) fn open_mut(&mut self, handle: HandleId) -> Option<&mut Open> {
        self.opens.iter_mut().find(|open| open.handle == handle)
    }

    /// Whether a handle is there whose client is gone.
    pub(super) fn has_orphans(&self) -> bool {
        self.opens.iter().any(|open| open.orphaned.is_some())
    }

    /// Whether the holder of what `open` caches would have to answer before `cause` goes on.
    pub(super) fn must_answer(&self, open: &Open, cause: Cause) -> bool {
        let cache = self.caches.iter().find(|cache| open.cache == Some(cache.key));
        let broken =
            cache.and_then(|cache| to_break(cache.held.manner(), cache.held.state(), cause));
        broken.is_some_and(|broken| broken.wait)
    }

    /// Whether an answer is awaited that only the client of `handle` can give.
    pub(super) fn owes_answer(&self, handle: HandleId) -> bool {
        let key = self.open(handle).and_then(|open| open.cache);
        let breaking = self.caches.iter().any(|c| Some(c.key) == key && c.held.is_breaking());
        let other = |open: &Open| open.cache == key && open.orphaned.is_none();
        breaking && !self.opens.iter().any(|open| open.handle != handle && other(open))
    }

    /// Everybody who waits looks again.
    pub(super) fn wake(&mut self) {
        self.wakers.clear();
    }

    /// Waits for the next change, at the latest until a break is overdue.
    pub(super) fn wait(&mut self, now: Duration) -> Result<Waiting, Refused> {
        self.wakers.retain(|waker| !waker.is_closed());
        if self.wakers.len() >= WAITERS_PER_FILE {
            return Err(Refused::TooMany);
        }
        let first = self.caches.iter().filter_map(|cache| cache.answer_by).min();
        let (waiting, waker) = Waiting::new(first.unwrap_or(now + BREAK_TIME));
        self.wakers.push(waker);
        Ok(waiting)
    }

    /// Whether an operation under way must not see a new handle come.
    pub(super) fn is_closed_to_opens(&self) -> bool {
        self.entered.iter().any(|entered| entered.op.handles() != HandleRule::Ignored)
    }

    /// Whether an operation under way must not see a new handle come to anything below.
    pub(super) fn is_closed_below(&self) -> bool {
        self.entered.iter().any(|entered| entered.op.handles() == HandleRule::NoneBelow)
    }

    /// Breaks what others than `mine` cache and `cause` ends; whether the cause has to wait.
    pub(super) fn break_caches(
        &mut self,
        cause: Cause,
        mine: Option<CacheKey>,
        spare_leases: bool,
        now: Duration,
    ) -> bool {
        let mut wait = false;
        for at in 0..self.caches.len() {
            let cache = &self.caches[at];
            let spared = spare_leases && cache.held.manner() == Manner::Lease;
            if Some(cache.key) == mine || spared {
                continue;
            }
            let Some(broken) = to_break(cache.held.manner(), cache.held.state(), cause) else {
                continue;
            };
            self.start_break(at, broken.to, now);
            wait |= broken.wait && self.caches[at].held.is_breaking();
        }
        self.forget_spent_oplocks();
        wait
    }

    fn start_break(&mut self, at: usize, to: Caching, now: Duration) {
        let cache = &mut self.caches[at];
        let Some(notice) = cache.held.start(to) else { return };
        if notice.answer {
            cache.answer_by = Some(now + BREAK_TIME);
        }
        self.notify(at, notice);
        self.settle_unreachable();
    }

    /// Ends breaks whose holders are gone: they hear of it when they come back.
    pub(super) fn settle_unreachable(&mut self) {
        for cache in &mut self.caches {
            let mut reachable = self.opens.iter().filter(|open| open.orphaned.is_none());
            if !reachable.any(|open| open.cache == Some(cache.key)) {
                cache.held.settle();
                cache.answer_by = None;
            }
        }
    }

    /// Tells the holder of a cache, through any handle of it whose client is there.
    pub(super) fn notify(&self, at: usize, notice: Notice) {
        let Some(cache) = self.caches.get(at) else { return };
        let reachable = |open: &&Open| open.cache == Some(cache.key) && open.orphaned.is_none();
        let Some(open) = self.opens.iter().find(reachable) else { return };
        let handle = open.handle;
        open.owner.listener.tell(match cache.key {
            CacheKey::Oplock(_) => Event::Oplock { handle, notice },
            CacheKey::Lease(lease) => {
                Event::Lease { handle, lease, notice, second_version: cache.second_version }
            }
        });
    }

    /// An oplock that is gone is no oplock; a lease stays a lease, with nothing in it.
    pub(super) fn forget_spent_oplocks(&mut self) {
        let opens = &mut self.opens;
        self.caches.retain(|cache| {
            let spent = matches!(cache.key, CacheKey::Oplock(_)) && cache.held.state().is_none();
            if spent {
                for open in opens.iter_mut().filter(|open| open.cache == Some(cache.key)) {
                    open.cache = None;
                }
            }
            !spent
        });
    }

    /// Gives up on holders that have not answered in time.
    pub(super) fn expire_breaks(&mut self, now: Duration) {
        let mut changed = false;
        for cache in &mut self.caches {
            if cache.answer_by.is_some_and(|by| by <= now) {
                cache.held.give_up();
                cache.answer_by = None;
                changed = true;
            }
        }
        if changed {
            self.forget_spent_oplocks();
            self.wake();
        }
    }

    /// Takes an open out, with its locks and, when nobody shares it, its cache.
    pub(super) fn take_open(&mut self, handle: HandleId) -> Option<Open> {
        let at = self.opens.iter().position(|open| open.handle == handle)?;
        let open = self.opens.remove(at);
        if let Some(key) = open.cache {
            let shared = self.opens.iter().any(|other| other.cache == Some(key));
            if !shared {
                self.caches.retain(|cache| cache.key != key);
            }
        }
        Some(open)
    }
}
