//! Opening a file or directory for as long as a handle lives.
//!
//! Must never wait itself: what stands in the way is told to go, and the caller tries again.

use super::node::{Cache, CacheKey, Node, Open};
use super::state::State;
use super::types::{FileKey, HANDLES, HANDLES_PER_FILE, OpenRequest, Opened, Wanted};
use super::{Opens, Refused, Waiting};
use std::time::Duration;
use zaffre_base::Timestamp;
use zaffre_domain::fs::access::Classes;
use zaffre_domain::fs::oplock::{Caching, Cause, Held, Manner, Others, grant, to_break};
use zaffre_domain::fs::rest::RestOp;

/// What came of a try.
#[derive(Debug)]
pub enum Attempt<T> {
    /// It is done.
    Done(T),
    /// Something has to go first; try again when it changed.
    Wait(Waiting),
}

impl Opens {
    /// Opens at `now` (monotonic), if nothing is in the way. `again` says that it has waited before:
    /// then it also waits for breaks to end whose first answer would have been enough.
    pub fn try_open(
        &self,
        request: &OpenRequest,
        again: bool,
        now: Duration,
        time: Timestamp,
    ) -> Result<Attempt<Opened>, Refused> {
        let mut state = self.state();
        state.clear(request.file, now, |node, open| is_in_the_way(node, open, request));
        let tried = state.try_open(request, again, now, time);
        state.tidy(request.file);
        tried
    }

    /// Whether `file` is not about to go: one that is being removed is waited for.
    pub fn try_find(&self, file: FileKey, now: Duration) -> Result<Attempt<()>, Refused> {
        let mut state = self.state();
        let Some(node) = state.nodes.get_mut(&file) else { return Ok(Attempt::Done(())) };
        Ok(node.deleted(now)?.map_or(Attempt::Done(()), Attempt::Wait))
    }

    /// Opens, waiting for what is in the way to go; dropping the wait leaves nothing behind.
    pub async fn open(&self, request: &OpenRequest, time: Timestamp) -> Result<Opened, Refused> {
        let mut again = false;
        loop {
            let now = self.monotonic();
            match self.try_open(request, again, now, time)? {
                Attempt::Done(opened) => return Ok(opened),
                Attempt::Wait(waiting) => waiting.wait(now).await,
            }
            again = true;
        }
    }
}

/// Whether a handle whose client is gone, and cannot be asked, is to make room.
fn is_in_the_way(node: &Node, open: &Open, request: &OpenRequest) -> bool {
    let cause = if request.overwrites { Cause::OpenOverwrite } else { Cause::Open };
    let same = open.cache.is_some() && open.cache == cache_key(request);
    let asked = !same && !is_quiet(request) && node.must_answer(open, cause);
    asked || !open.mode.agrees_with(request.mode)
}

/// Whether it only looks at attributes.
fn is_quiet(request: &OpenRequest) -> bool {
    request.access.is_quiet() && !request.overwrites
}

fn cache_key(request: &OpenRequest) -> Option<CacheKey> {
    match request.wanted {
        Wanted::Lease { lease, .. } => Some(CacheKey::Lease(lease)),
        Wanted::Nothing | Wanted::Oplock(_) => None,
    }
}

impl State {
    fn try_open(
        &mut self,
        request: &OpenRequest,
        again: bool,
        now: Duration,
        time: Timestamp,
    ) -> Result<Attempt<Opened>, Refused> {
        let mine = cache_key(request);
        if let Some(CacheKey::Lease(lease)) = mine
            && self.leases.get(&lease).is_some_and(|file| *file != request.file)
        {
            return Err(Refused::LeaseElsewhere);
        }
        if self.handles.len() >= HANDLES {
            return Err(Refused::TooMany);
        }
        if let Some(waiting) = self.closed_above(request, now)? {
            return Ok(Attempt::Wait(waiting));
        }
        let deletes = request.mode.access.delete || request.overwrites;
        let beside = match request.base {
            Some(base) => self.base_admits(base, now)?,
            None if deletes => self.streams_let_go(request.file, now)?,
            None => None,
        };
        if let Some(waiting) = beside {
            return Ok(Attempt::Wait(waiting));
        }
        let node = self.node(request.file);
        if let Some(waiting) = node.admit(request, again, now)? {
            return Ok(Attempt::Wait(waiting));
        }
        Ok(Attempt::Done(self.add(request, time)))
    }

    /// A directory above is being moved: what is below must not be opened until that is done.
    fn closed_above(
        &mut self,
        request: &OpenRequest,
        now: Duration,
    ) -> Result<Option<Waiting>, Refused> {
        for file in request.place.above.iter() {
            let above = FileKey { file: *file, ..request.file };
            if let Some(node) = self.nodes.get_mut(&above).filter(|node| node.is_closed_below()) {
                return node.wait(now).map(Some);
            }
        }
        Ok(None)
    }

    fn add(&mut self, request: &OpenRequest, time: Timestamp) -> Opened {
        let handle = super::HandleId(self.draw_id());
        self.handles.insert(handle, request.file);
        let node = self.node(request.file);
        node.place.clone_from(&request.place);
        node.directory = request.directory;
        node.base = request.base;
        let cache = node.grant(request, handle);
        node.opens.push(Open {
            handle,
            access: request.access,
            mode: request.mode,
            cache,
            delete_on_close: request.delete_on_close,
            owner: request.owner.clone(),
            opened: time,
            reconnected: None,
            orphaned: None,
            sequences: zaffre_domain::fs::locks::LockSequences::default(),
        });
        let opened = node.granted(handle);
        if let Some(base) = request.base {
            self.note_stream(base, request.file);
        }
        if let Some(CacheKey::Lease(lease)) = cache {
            self.leases.insert(lease, request.file);
        }
        opened
    }
}

impl Node {
    /// Refuses what goes with its last handle. One that is being removed is waited for: it is gone in
    /// a moment, and whoever asked for it looks again.
    pub(super) fn deleted(&mut self, now: Duration) -> Result<Option<Waiting>, Refused> {
        if self.removing {
            return self.wait(now).map(Some);
        }
        if self.deletion.is_pending() { Err(Refused::DeletePending) } else { Ok(None) }
    }

    /// Whether the open can come now: `None` = yes.
    fn admit(
        &mut self,
        request: &OpenRequest,
        again: bool,
        now: Duration,
    ) -> Result<Option<Waiting>, Refused> {
        let mine = cache_key(request);
        if let Some(waiting) = self.deleted(now)? {
            return Ok(Some(waiting));
        }
        if self.opens.len() >= HANDLES_PER_FILE {
            return Err(Refused::TooMany);
        }
        if self.is_closed_to_opens() {
            return self.wait(now).map(Some);
        }
        let access = request.mode.access;
        if request.rest_leased && (access.write || access.delete) {
            return Err(Refused::SharingViolation);
        }
        let collides = self.opens.iter().any(|open| !open.mode.agrees_with(request.mode));
        let rest = self.entered.iter().any(|e| !e.op.mode().agrees_with(request.mode));
        if collides || rest {
            // A handle that is only cached may go and make room.
            let wait = self.break_caches(Cause::SharingConflict, mine, false, now);
            return if wait { self.wait(now).map(Some) } else { Err(Refused::SharingViolation) };
        }
        if is_quiet(request) {
            return Ok(None);
        }
        let spare_leases = request.access.is_quiet_for_leases() && !request.overwrites;
        let cause = if request.overwrites { Cause::OpenOverwrite } else { Cause::Open };
        // A break under way that this open has no part in may still change what it finds.
        let breaking = self.caches.iter().any(|cache| {
            let (manner, state) = (cache.held.manner(), cache.held.state());
            let apart = again || to_break(manner, state, cause).is_none();
            let spared = manner == Manner::Lease && spare_leases;
            Some(cache.key) != mine && cache.held.is_breaking() && apart && !spared
        });
        let wait = self.break_caches(cause, mine, spare_leases, now);
        if wait || breaking { self.wait(now).map(Some) } else { Ok(None) }
    }

    /// Grants what can be cached beside what is there. Of directories nothing can.
    fn grant(&mut self, request: &OpenRequest, handle: super::HandleId) -> Option<CacheKey> {
        if request.directory {
            return None;
        }
        let (manner, wanted, key) = match request.wanted {
            Wanted::Nothing => return None,
            Wanted::Oplock(caching) => (Manner::Oplock, caching, CacheKey::Oplock(handle)),
            Wanted::Lease { lease, caching, .. } => {
                (Manner::Lease, caching, CacheKey::Lease(lease))
            }
        };
        let granted = grant(manner, wanted, self.others(key));
        if let Some(cache) = self.caches.iter_mut().find(|cache| cache.key == key) {
            cache.held.raise(wanted, granted);
            return Some(key);
        }
        let (epoch, second_version) = match request.wanted {
            Wanted::Lease { epoch, second_version, .. } => (epoch, second_version),
            Wanted::Nothing | Wanted::Oplock(_) if granted.is_none() => return None,
            Wanted::Nothing | Wanted::Oplock(_) => (0, false),
        };
        let held = Held::granted(manner, granted, epoch);
        self.caches.push(Cache { key, held, second_version, answer_by: None });
        Some(key)
    }

    /// What those with another key than `mine` mean for what can be cached.
    fn others(&self, mine: CacheKey) -> Others {
        let opens = || self.opens.iter().filter(|open| open.cache != Some(mine));
        let caches = || self.caches.iter().filter(|cache| cache.key != mine);
        let operations = || self.entered.iter().filter(|e| e.op != RestOp::List);
        let changes = |classes: Classes| classes.write || classes.delete;
        Others {
            any: opens().any(|open| open.cache.is_some() || !open.access.is_quiet())
                || operations().next().is_some(),
            writes: caches().any(|cache| cache.held.state().contains(Caching::W)),
            handle: caches().any(|cache| cache.held.state().contains(Caching::H)),
            oplock: caches().any(|cache| cache.held.manner() == Manner::Oplock),
            // What is changed just now must not be cached from before the change.
            locked: !self.locks.is_empty() || operations().any(|e| changes(e.op.mode().access)),
        }
    }
}
