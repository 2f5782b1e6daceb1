//! The embedded engine: a journal with group commit in front, a tree behind, rows in between.
//!
//! ```text
//!   submit ─ rehearse on a snapshot ─► queue ─► commit thread: run bodies in order, append one
//!            (refusals end here)                batch to the journal, sync once, answer all
//!                                                     │ memory full: turn the journal over
//!                                                     ▼
//!                                       checkpoint thread: write the frozen rows to the tree
//! ```
//!
//! The rehearsal warms the caches outside the commit thread, and a refusal there is final: the
//! snapshot was taken after the request came in, so it is a legal point in time to refuse at.
//!
//! Must never answer before the batch is durable, nor anything after a failed sync.

use super::checkpointer::checkpoint_loop;
use super::commit_queue::{CommitQueue, Refused};
use super::committer::Committer;
use super::engine::{Body, Engine, SnapshotView, Submitted, Verdict};
use super::journal::{self, Journal};
use super::layers::{Layers, LayersAt};
use super::limits;
use super::placement::Placement;
use super::tree::{Checkpoint, Tree};
use super::tx::Tx;
use crate::clock::Clock;
use crate::directory::Lock;
use crate::disk::{Disk, File};
use crate::error::StoreError;
use crate::poison::Poison;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use zaffre_base::measure::Histogram;
use zaffre_base::planted::{Bug, planted};
use zaffre_base::{Stamp, Timestamp};

/// What `under_way` is while nothing is.
pub(super) const NO_BATCH: u64 = u64::MAX;

/// A transaction waiting for the commit thread.
pub(super) struct Waiting {
    pub(super) at: Placement,
    pub(super) body: Body,
    pub(super) answer: oneshot::Sender<Result<(), StoreError>>,
    /// Where it is waited for.
    pub(super) waiter: Option<Handle>,
}

/// What the commit thread and the checkpoint thread tell each other.
#[derive(Default)]
pub(super) struct Turn {
    /// Generation and newest stamp of the frozen rows waiting to be written.
    pub(super) frozen: Option<Checkpoint>,
    /// Tries to write them begun so far.
    pub(super) tries: u64,
    /// Which try failed last, and why.
    pub(super) failed: u64,
    pub(super) failure: Option<StoreError>,
    /// A read failed: the tree must be opened anew.
    pub(super) broken: bool,
    pub(super) closing: bool,
}

pub(super) struct Shared {
    layers: RwLock<Arc<Layers>>,
    pub(super) last_stamp: AtomicU64,
    /// No commit that is not durable yet has an earlier stamp; [`NO_BATCH`] if there is none.
    pub(super) under_way: AtomicU64,
    pub(super) queue: CommitQueue<Waiting>,
    turn: Mutex<Turn>,
    pub(super) turned: Condvar,
    pub(super) clock: Clock,
    pub(super) poison: Poison,
    pub(super) memory_bytes: usize,
    pub(super) batches: Arc<Histogram>,
}

/// The engine; dropping it commits what waits, writes a last checkpoint and ends its threads.
pub(crate) struct Embedded {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Given up after the threads have ended.
    _lock: Lock,
}

/// How the engine uses memory, and where it counts.
#[derive(Clone, Debug)]
pub(crate) struct EmbeddedOptions {
    /// Cache of the tree's pages.
    pub(crate) cache_bytes: usize,
    /// Rows kept in memory before a checkpoint.
    pub(crate) memory_bytes: usize,
    /// Transactions committed together.
    pub(crate) batches: Arc<Histogram>,
}

/// Makes the files of an empty engine, durable but for their names.
pub(crate) fn create(
    disk: &dyn Disk,
    tree: Arc<dyn File>,
    clock: &Clock,
) -> Result<(), StoreError> {
    const CREATING_CACHE: usize = 1024 * 1024;
    let (mut tree, found) = Tree::open(tree, CREATING_CACHE, Poison::new())?;
    if found.is_none() {
        tree.write(None, Checkpoint { generation: 0, stamp: Stamp(clock.now().0) })?;
    }
    journal::create(disk)
}

impl Embedded {
    /// Opens the engine on the tree in `tree` and the journals on `disk`.
    pub(crate) fn open(
        disk: &dyn Disk,
        tree: Arc<dyn File>,
        options: EmbeddedOptions,
        clock: Clock,
        poison: Poison,
        lock: Lock,
    ) -> Result<Self, StoreError> {
        let (mut tree, found) = Tree::open(tree, options.cache_bytes, poison.clone())?;
        let in_tree = found.ok_or_else(|| StoreError::corrupt("the tree is empty"))?;
        let (journal, replayed) = Journal::open(disk, in_tree.generation, poison.clone())?;
        let last = replayed.newest.unwrap_or(in_tree.stamp).max(in_tree.stamp);
        clock.raise_to(last);
        let mut generations = replayed.generations;
        let active = generations.pop().map(|(_, rows)| Arc::new(rows)).unwrap_or_default();
        let frozen = generations.pop();
        let turn = Turn {
            frozen: frozen
                .as_ref()
                .map(|(generation, _)| Checkpoint { generation: *generation, stamp: last }),
            ..Turn::default()
        };
        let layers = Layers {
            active,
            frozen: frozen.map(|(_, rows)| Arc::new(rows)),
            tree: Arc::new(tree.read()?),
        };
        let shared = Arc::new(Shared {
            layers: RwLock::new(Arc::new(layers)),
            last_stamp: AtomicU64::new(last.0),
            under_way: AtomicU64::new(NO_BATCH),
            queue: CommitQueue::new(limits::WAITING),
            turn: Mutex::new(turn),
            turned: Condvar::new(),
            clock,
            poison,
            memory_bytes: options.memory_bytes,
            batches: options.batches,
        });
        let committer = Committer::new(Arc::clone(&shared), journal);
        let checkpointer = Arc::clone(&shared);
        let threads = vec![
            spawn("zaffre-commit", &shared, move || committer.run())?,
            spawn("zaffre-checkpoint", &shared, move || checkpoint_loop(&checkpointer, tree))?,
        ];
        Ok(Self { shared, threads, _lock: lock })
    }
}

fn spawn(
    name: &str,
    shared: &Arc<Shared>,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    let shared = Arc::clone(shared);
    let watched = move || {
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            shared.give_up();
        }
    };
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(watched)
        .map_err(|e| StoreError::io("starting a thread", e))
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.shared.queue.close();
        for thread in self.threads.drain(..) {
            // A panic there was already answered with errors; there is nothing left to do here.
            drop(thread.join());
        }
    }
}

impl Shared {
    pub(super) fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn layers(&self) -> Arc<Layers> {
        Arc::clone(&self.layers.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn change_layers(&self, change: impl FnOnce(&Layers) -> Layers) {
        let mut slot = self.layers.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Arc::new(change(&slot));
    }

    fn snapshot(&self) -> LayersAt {
        // In this order: a batch that begins after the second line draws its stamps after the first,
        // and one that had ended by then is seen below. So no commit up to `now` is missed.
        let clock = self.clock.now();
        let now = clock.min(Stamp(self.under_way.load(Ordering::SeqCst)).time());
        // The stamp is read under the lock: until it is released no newer layer can appear that
        // holds commits up to the stamp, nor can the tree get ahead of it.
        let slot = self.layers.read().unwrap_or_else(PoisonError::into_inner);
        let mut stamp = Stamp(self.last_stamp.load(Ordering::SeqCst));
        if planted(Bug::StaleRead) && stamp.0.is_multiple_of(16) {
            stamp.0 -= 1;
        }
        if slot.tree.is_broken() {
            self.turn().broken = true;
            self.turned.notify_all();
        }
        LayersAt { layers: Arc::clone(&slot), stamp, now: now.max(stamp.time()) }
    }

    /// A thread has panicked: nobody may wait for it, neither a caller nor the other thread. What
    /// is durable is found by the next start.
    fn give_up(&self) {
        tracing::error!("a thread of the metadata engine panicked; no write is accepted any more");
        self.poison.set();
        self.queue.close();
        // Dropping what waits answers it.
        while self.queue.take_now(limits::BATCH).is_some() {}
        let mut turn = self.turn();
        turn.failed = u64::MAX;
        turn.failure.get_or_insert(StoreError::Poisoned);
        turn.closing = true;
        self.turned.notify_all();
    }

    /// Runs the body on a snapshot; true if that settled it (refused, or nothing to write).
    fn rehearse(&self, at: &Placement, body: &mut Body) -> Result<bool, StoreError> {
        let snapshot = self.snapshot();
        let stamp = Stamp(snapshot.now.0.max(snapshot.stamp.0 + 1));
        let (verdict, tx) = run(Tx::rehearsal(&snapshot, at, stamp), body)?;
        match verdict {
            Verdict::Commit => Ok(!tx.would_write()),
            Verdict::Refuse => Ok(true),
            Verdict::Interrupted(error) => Err(error),
        }
    }
}

impl SnapshotView for LayersAt {
    fn stamp(&self) -> Stamp {
        self.stamp
    }

    fn now(&self) -> Timestamp {
        self.now
    }
}

impl Embedded {
    /// Gives a body to the commit thread and waits for its answer.
    async fn commit(&self, at: Placement, body: Body) -> Result<(), StoreError> {
        let (answer, answered) = oneshot::channel();
        let waiter = Handle::try_current().ok();
        self.shared.queue.push(Waiting { at, body, answer, waiter }).map_err(|e| match e {
            Refused::Full(_) => StoreError::Busy,
            Refused::Closed(_) => StoreError::Closed,
        })?;
        answered.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl Engine for Embedded {
    fn snapshot(&self) -> Result<Arc<dyn SnapshotView>, StoreError> {
        Ok(Arc::new(self.shared.snapshot()))
    }

    fn submit<'a>(&'a self, at: &Placement, mut body: Body) -> Submitted<'a> {
        let at = at.clone();
        Box::pin(async move {
            self.shared.poison.check()?;
            if self.shared.rehearse(&at, &mut body)? {
                return Ok(());
            }
            self.commit(at, body).await
        })
    }

    fn settle(&self) -> Submitted<'_> {
        // Commits are made in order: when this one, which does nothing, has its turn, all that were
        // under way have ended.
        let nothing: Body = Box::new(|_| Verdict::Refuse);
        Box::pin(self.commit(Placement::new(Vec::new()), nothing))
    }

    fn last_stamp(&self) -> Stamp {
        Stamp(self.shared.last_stamp.load(Ordering::SeqCst))
    }
}

/// Runs a body once. A panic in it is contained: it must not end the commit thread.
pub(super) fn run<'a>(mut tx: Tx<'a>, body: &mut Body) -> Result<(Verdict, Tx<'a>), StoreError> {
    let ran = catch_unwind(AssertUnwindSafe(move || {
        let verdict = body(&mut tx);
        (verdict, tx)
    }));
    ran.map_err(|_| StoreError::Limit("a transaction's body panicked"))
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::disk::{MemDisk, OpenMode};
    use crate::meta::Meta;

    /// An engine on an in-memory disk that turns its journal over often.
    pub(crate) fn in_memory(_seed: u64) -> Meta {
        let disk = MemDisk::new();
        let clock = Clock::default();
        let file = disk.open("tree", OpenMode::New).expect("in memory");
        create(&disk, Arc::clone(&file), &clock).expect("created");
        let options = EmbeddedOptions {
            cache_bytes: 1 << 20,
            memory_bytes: 8 << 10,
            batches: Arc::new(Histogram::new(&[])),
        };
        let engine = Embedded::open(&disk, file, options, clock, Poison::new(), Lock::default());
        Meta::new(Arc::new(engine.expect("opened")))
    }
}
