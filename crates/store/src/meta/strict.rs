//! The test engine: enforces every limit, runs every body twice, injects conflicts and lost answers.
//!
//! It behaves like the worst legal networked engine. What runs on it runs on any engine.

use super::engine::{Body, Engine, Meta, SnapshotView, Submitted, Verdict};
use super::overlay::Overlay;
use super::placement::Placement;
use super::tx::{Tx, View};
use super::{Row, limits};
use crate::clock::Clock;
use crate::error::StoreError;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zaffre_base::{Stamp, Timestamp};

type Rows = BTreeMap<Vec<u8>, Bytes>;

/// What `Strict` does to its callers. Chances are one in so many; 0 = never.
#[derive(Clone, Copy, Debug)]
pub struct StrictOptions {
    /// Decides all chances.
    pub seed: u64,
    /// A conflict makes the body run again on fresh state.
    pub conflict_one_in: u64,
    /// The answer to a commit is lost; whether it happened is read back by its outcome row.
    pub lost_answer_one_in: u64,
    /// Not even the outcome can be read: the caller is told `Unknown`.
    pub unknown_one_in: u64,
}

impl Default for StrictOptions {
    fn default() -> Self {
        Self { seed: 1, conflict_one_in: 4, lost_answer_one_in: 8, unknown_one_in: 0 }
    }
}

/// The engine.
pub struct Strict {
    options: StrictOptions,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    rows: Arc<Rows>,
    last: Stamp,
    random: u64,
}

impl State {
    fn chance(&mut self, one_in: u64) -> bool {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        one_in != 0 && (self.random >> 33).is_multiple_of(one_in)
    }
}

impl Strict {
    /// An empty engine.
    pub fn meta(clock: Clock, options: StrictOptions) -> Meta {
        let last = Stamp(clock.now().0);
        let state = State { rows: Arc::default(), last, random: options.seed };
        Meta::new(Arc::new(Self { options, clock, state: Mutex::new(state) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(
        &self,
        rows: &Arc<Rows>,
        at: &Placement,
        stamp: Stamp,
        body: &mut Body,
        rehearsal: bool,
    ) -> (Verdict, bool, Overlay) {
        let view = StrictSnapshot {
            rows: Arc::clone(rows),
            stamp,
            now: stamp.time(),
            taken: None,
            clock: self.clock.clone(),
        };
        let new = if rehearsal { Tx::rehearsal } else { Tx::new };
        let mut tx = new(&view, at, stamp);
        let verdict = body(&mut tx);
        (verdict, tx.would_write(), tx.into_writes())
    }

    /// One attempt; `None` means a conflict or a lost commit: try again.
    fn attempt(&self, at: &Placement, body: &mut Body) -> Option<Result<(), StoreError>> {
        let mut state = self.state();
        let stamp = Stamp(self.clock.now().0.max(state.last.0 + 1));
        let rows = Arc::clone(&state.rows);
        let (_, announced, _) = self.run(&rows, at, stamp, body, true);
        let (_, _, first) = self.run(&rows, at, stamp, body, false);
        let (verdict, writes_any, writes) = self.run(&rows, at, stamp, body, false);
        assert_eq!(first, writes, "a body must do the same on the same state");
        // A write that no rehearsal tells of would be answered and never made.
        assert_eq!(announced, writes_any, "a rehearsal must announce what is written");
        match verdict {
            Verdict::Refuse => return Some(Ok(())),
            Verdict::Interrupted(error) => return Some(Err(error)),
            Verdict::Commit => {}
        }
        if state.chance(self.options.conflict_one_in) {
            return None;
        }
        let lost = state.chance(self.options.lost_answer_one_in);
        let unknown = state.chance(self.options.unknown_one_in);
        let happens = !(lost || unknown) || state.chance(2);
        drop(rows);
        if happens {
            commit(&mut state, writes, stamp);
        }
        if unknown {
            return Some(Err(StoreError::Unknown));
        }
        // A lost answer is settled by reading the outcome row back: it is there or it is not.
        happens.then_some(Ok(()))
    }
}

fn commit(state: &mut State, writes: Overlay, stamp: Stamp) {
    let rows = Arc::make_mut(&mut state.rows);
    for (key, value) in writes {
        match value {
            Some(value) => rows.insert(key, value),
            None => rows.remove(&key),
        };
    }
    state.last = stamp;
}

impl Engine for Strict {
    fn snapshot(&self) -> Result<Arc<dyn SnapshotView>, StoreError> {
        let state = self.state();
        Ok(Arc::new(StrictSnapshot {
            rows: Arc::clone(&state.rows),
            stamp: state.last,
            // No commit is under way while the state is locked.
            now: self.clock.now().max(state.last.time()),
            taken: Some(self.clock.monotonic()),
            clock: self.clock.clone(),
        }))
    }

    fn submit<'a>(&'a self, at: &Placement, mut body: Body) -> Submitted<'a> {
        let at = at.clone();
        Box::pin(async move {
            loop {
                if let Some(outcome) = self.attempt(&at, &mut body) {
                    return outcome;
                }
                // Let others in between, as a conflict means somebody else was.
                tokio::task::yield_now().await;
            }
        })
    }

    fn settle(&self) -> Submitted<'_> {
        // Commits happen while the state is locked.
        drop(self.state());
        Box::pin(std::future::ready(Ok(())))
    }

    fn last_stamp(&self) -> Stamp {
        self.state().last
    }
}

struct StrictSnapshot {
    rows: Arc<Rows>,
    stamp: Stamp,
    now: Timestamp,
    taken: Option<Duration>,
    clock: Clock,
}

impl StrictSnapshot {
    fn check_age(&self) -> Result<(), StoreError> {
        let limit = Duration::from_secs(limits::SNAPSHOT_SECONDS);
        match self.taken {
            Some(taken) if self.clock.monotonic().saturating_sub(taken) > limit => {
                Err(StoreError::Limit("snapshot held for more than five seconds"))
            }
            _ => Ok(()),
        }
    }
}

impl View for StrictSnapshot {
    fn get(&self, full_key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.check_age()?;
        Ok(self.rows.get(full_key).cloned())
    }

    fn scan(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        self.check_age()?;
        let range = self.rows.range(start.to_vec()..end.to_vec()).take(limit);
        Ok(range.map(|(key, value)| Row { key: key.clone(), value: value.to_vec() }).collect())
    }
}

impl SnapshotView for StrictSnapshot {
    fn stamp(&self) -> Stamp {
        self.stamp
    }

    fn now(&self) -> Timestamp {
        self.now
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// An engine with every injection on.
    pub(crate) fn hostile(seed: u64) -> Meta {
        Strict::meta(Clock::default(), StrictOptions { seed, ..StrictOptions::default() })
    }
}
