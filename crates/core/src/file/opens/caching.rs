//! Answers to breaks, and what holders of handles do that breaks what others cache.
//!
//! Must never decide what a break lowers: `zaffre_domain::fs::oplock` does.

use super::node::{CacheKey, Node};
use super::open::Attempt;
use super::types::{HandleId, LeaseId, Opened, Under};
use super::{Opens, Refused};
use std::time::Duration;
use zaffre_domain::fs::oplock::{AnswerError, Caching, Cause};

impl Opens {
    /// The holder of an oplock keeps `to`.
    pub fn answer_oplock(&self, handle: HandleId, to: Caching) -> Result<(), AnswerError> {
        let mut state = self.state();
        let node = state.node_of(handle).ok_or(AnswerError::NotBreaking)?;
        node.answer(CacheKey::Oplock(handle), to, self.monotonic())
    }

    /// The holder of a lease keeps `to`.
    pub fn answer_lease(&self, lease: LeaseId, to: Caching) -> Result<(), AnswerError> {
        let mut state = self.state();
        let file = state.leases.get(&lease).copied().ok_or(AnswerError::NotBreaking)?;
        let node = state.nodes.get_mut(&file).ok_or(AnswerError::NotBreaking)?;
        node.answer(CacheKey::Lease(lease), to, self.monotonic())
    }

    /// Whether a handle has this lease.
    pub fn has_lease(&self, lease: LeaseId) -> bool {
        self.state().leases.contains_key(&lease)
    }

    /// What a handle may cache now.
    pub fn caching(&self, handle: HandleId) -> Opened {
        let mut state = self.state();
        let node = state.node_of(handle);
        node.map_or_else(|| Opened::without_caching(handle), |node| node.granted(handle))
    }

    /// The holder of `handle` is about to do something to the file; waits until what others cache
    /// does not stand against it any more. Cached reads of the same lease are the holder's own.
    pub async fn contend(&self, handle: HandleId, cause: Cause) -> Result<(), Refused> {
        loop {
            let now = self.monotonic();
            match self.try_contend(handle, cause, now)? {
                Attempt::Done(()) => return Ok(()),
                Attempt::Wait(waiting) => waiting.wait(now).await,
            }
        }
    }

    /// As [`Opens::contend`], without waiting.
    pub fn try_contend(
        &self,
        handle: HandleId,
        cause: Cause,
        now: Duration,
    ) -> Result<Attempt<()>, Refused> {
        let mut state = self.state();
        let node = state.node_of(handle).ok_or(Refused::NoSuchHandle)?;
        node.expire_breaks(now);
        if node.contend(handle, cause, now) {
            return node.wait(now).map(Attempt::Wait);
        }
        Ok(Attempt::Done(()))
    }

    /// The holder of `handle`, a directory, is about to move it: asks those who only cache handles
    /// of what is below to let them go. Refuses when one stays open.
    pub fn try_empty_below(&self, handle: HandleId, now: Duration) -> Result<Attempt<()>, Refused> {
        let mut state = self.state();
        let top = *state.handles.get(&handle).ok_or(Refused::NoSuchHandle)?;
        for file in state.files(top.share, Under::Tree(top.file)) {
            if file == top {
                continue;
            }
            if let Some(waiting) = state.empty(file, now)? {
                return Ok(Attempt::Wait(waiting));
            }
        }
        Ok(Attempt::Done(()))
    }
}

impl Node {
    /// What a handle caches.
    pub(super) fn granted(&self, handle: HandleId) -> Opened {
        let key = self.open(handle).and_then(|open| open.cache);
        let cache = self.caches.iter().find(|cache| Some(cache.key) == key);
        let Some(cache) = cache else { return Opened::without_caching(handle) };
        Opened {
            handle,
            caching: cache.held.state(),
            epoch: cache.held.epoch(),
            second_version: cache.second_version,
            breaking: cache.held.is_breaking(),
        }
    }

    /// Breaks for what the holder of `handle` does; whether it has to wait.
    pub(super) fn contend(&mut self, handle: HandleId, cause: Cause, now: Duration) -> bool {
        let mine = self.open(handle).and_then(|open| open.cache);
        // Old reads of an oplock are wrong after a change even to the one who changed them: such a
        // client keeps no track of which of its handles cached what.
        let shared = |key: &CacheKey| match (key, cause) {
            (CacheKey::Oplock(_), Cause::Change) => {
                self.caches.iter().any(|c| c.key == *key && c.held.state() != Caching::R)
            }
            _ => true,
        };
        let mine = mine.filter(shared);
        self.break_caches(cause, mine, false, now)
    }

    fn answer(&mut self, key: CacheKey, to: Caching, now: Duration) -> Result<(), AnswerError> {
        let at = self.caches.iter().position(|cache| cache.key == key);
        let at = at.ok_or(AnswerError::NotBreaking)?;
        let next = self.caches[at].held.answer(to)?;
        let goes_on = next.is_some_and(|notice| notice.answer);
        self.caches[at].answer_by = goes_on.then(|| now + super::node::BREAK_TIME);
        if let Some(notice) = next {
            self.notify(at, notice);
        }
        self.forget_spent_oplocks();
        self.wake();
        Ok(())
    }
}
