//! The commit thread: runs waiting bodies in order, appends one batch, syncs once, answers all.
//!
//! Must never answer before the batch is durable.

use super::answers::{self, Ran};
use super::embedded::{NO_BATCH, Shared, Waiting, run};
use super::engine::Verdict;
use super::journal::Journal;
use super::layers::{Layers, LayersAt};
use super::limits;
use super::memtable::Memtable;
use super::overlay::Overlay;
use super::tree::Checkpoint;
use super::tx::Tx;
use crate::error::StoreError;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use zaffre_base::planted::{Bug, planted};
use zaffre_base::{Stamp, Timestamp};

/// Rows in memory may grow to so many times the intended size while a checkpoint is under way.
const PATIENCE: usize = 3;

/// With fewer at once it is not worth waiting for others.
const COMPANY: usize = 8;
/// How long others are waited for, at most: not much longer than a sync takes.
const GATHERING: Duration = Duration::from_micros(200);

/// The commit thread.
pub(super) struct Committer {
    shared: Arc<Shared>,
    journal: Journal,
    /// Transactions that were under way at once lately.
    company: usize,
}

impl Committer {
    pub(super) fn new(shared: Arc<Shared>, journal: Journal) -> Self {
        Self { shared, journal, company: 0 }
    }

    pub(super) fn run(mut self) {
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                match self.next_batch() {
                    Some(batch) => waiting.extend(batch),
                    None => break,
                }
            }
            let taken = waiting.len();
            self.commit(&mut waiting);
            let together = taken + self.shared.queue.len();
            self.company = together.max(self.company - self.company / 8);
        }
        self.close();
    }

    /// What waits, or what comes next; `None` once closed and empty. A sync costs the same for one as
    /// for many: where there was company lately, half of it is waited for.
    fn next_batch(&mut self) -> Option<Vec<Waiting>> {
        let queue = &self.shared.queue;
        if queue.is_empty() {
            self.journal.seal();
            queue.wait();
        }
        if self.company >= COMPANY {
            queue.gather((self.company / 2).min(limits::BATCH), GATHERING);
        }
        queue.take(limits::BATCH)
    }

    /// Commits as many of the waiting transactions as fit one batch and answers them.
    fn commit(&mut self, waiting: &mut VecDeque<Waiting>) {
        let mut answers = Vec::new();
        let before = Stamp(self.shared.last_stamp.load(Ordering::SeqCst));
        let ready = self.shared.poison.check().and_then(|()| self.make_room());
        // From here on readers do not go ahead of what this batch decides.
        self.shared.under_way.store(self.shared.clock.now().0, Ordering::SeqCst);
        let result = ready.and_then(|()| self.run_batch(waiting, before, &mut answers));
        if let Ok(last) = &result {
            self.shared.last_stamp.store(last.0, Ordering::SeqCst);
        }
        self.shared.under_way.store(NO_BATCH, Ordering::SeqCst);
        match result {
            Ok(_) => {
                self.shared.batches.add(u64::try_from(answers.len()).unwrap_or(u64::MAX));
                answers::send(answers);
            }
            Err(error) => {
                tracing::error!(%error, "a commit failed; none of its transactions took effect");
                self.shared.layers().active.forget_after(before);
                for ran in &mut answers {
                    ran.outcome = Err(error.clone());
                }
                answers::send(answers);
                for never in waiting.drain(..) {
                    drop(never.answer.send(Err(error.clone())));
                }
            }
        }
    }

    fn run_batch(
        &mut self,
        waiting: &mut VecDeque<Waiting>,
        before: Stamp,
        answers: &mut Vec<Ran>,
    ) -> Result<Stamp, StoreError> {
        let layers = self.shared.layers();
        // Later bodies of the batch see the writes of earlier ones, which no reader sees yet.
        let view = LayersAt {
            layers: Arc::clone(&layers),
            stamp: Stamp(u64::MAX),
            now: Timestamp(u64::MAX),
        };
        let (mut last, mut bytes) = (before, 0);
        self.journal.begin();
        while bytes < limits::BATCH_BYTES
            && let Some(mut next) = waiting.pop_front()
        {
            let stamp = Stamp(self.shared.clock.now().0.max(last.0 + 1));
            let tx = Tx::new(&view, &next.at, stamp);
            let (outcome, writes) = match run(tx, &mut next.body) {
                Ok((Verdict::Commit, tx)) => (Ok(()), tx.into_writes()),
                Ok((Verdict::Refuse, _)) => (Ok(()), Overlay::new()),
                Ok((Verdict::Interrupted(error), _)) | Err(error) => (Err(error), Overlay::new()),
            };
            let Waiting { answer, waiter, body, .. } = next;
            answers.push(Ran { answer, waiter, outcome, body });
            if !writes.is_empty() {
                last = stamp;
                bytes += writes
                    .iter()
                    .map(|(k, v)| k.len() + v.as_ref().map_or(0, Bytes::len))
                    .sum::<usize>();
                self.journal.push(stamp, &writes)?;
                layers.active.insert(stamp, writes);
            }
        }
        if planted(Bug::EarlyAnswer) {
            answers::send(std::mem::take(answers));
        }
        if !self.journal.is_empty() {
            self.journal.commit()?;
        }
        Ok(last)
    }

    /// Keeps the rows in memory bounded: freezes them when there are enough, waits when the
    /// checkpoint thread is too far behind.
    fn make_room(&mut self) -> Result<(), StoreError> {
        let bytes = self.shared.layers().active.bytes();
        if bytes < self.shared.memory_bytes {
            return Ok(());
        }
        let mut turn = self.shared.turn();
        let tries = turn.tries;
        while turn.frozen.is_some() {
            if bytes < self.shared.memory_bytes.saturating_mul(PATIENCE) {
                return Ok(());
            }
            // What an earlier try met may be over by now: only one begun after this counts.
            if turn.failed > tries
                && let Some(failure) = turn.failure.clone()
            {
                return Err(failure);
            }
            self.shared.turned.notify_all();
            turn = self.shared.turned.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        drop(turn);
        self.freeze()
    }

    fn freeze(&mut self) -> Result<(), StoreError> {
        let generation = self.journal.generation();
        let stamp = Stamp(self.shared.last_stamp.load(Ordering::SeqCst));
        self.journal.rotate()?;
        self.shared.change_layers(|layers| Layers {
            active: Arc::new(Memtable::default()),
            frozen: Some(Arc::clone(&layers.active)),
            tree: Arc::clone(&layers.tree),
        });
        self.shared.turn().frozen = Some(Checkpoint { generation, stamp });
        self.shared.turned.notify_all();
        Ok(())
    }

    /// Leaves a tree that has everything, so that the next opening replays nothing.
    fn close(&mut self) {
        let mut turn = self.shared.turn();
        while turn.frozen.is_some() && turn.failure.is_none() {
            turn = self.shared.turned.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        let written = turn.frozen.is_none();
        drop(turn);
        let rows = self.shared.layers().active.bytes();
        if written
            && rows > 0
            && !self.shared.poison.is_set()
            && let Err(error) = self.freeze()
        {
            tracing::warn!(%error, "no last checkpoint; the next start replays the journal");
        }
        self.shared.turn().closing = true;
        self.shared.turned.notify_all();
    }
}
