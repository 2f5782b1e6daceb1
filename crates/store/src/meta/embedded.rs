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

use super::commit_queue::{CommitQueue, Refused};
use super::engine::{Body, Engine, SnapshotView, Submitted, Verdict};
use super::journal::{self, Journal};
use super::layers::{Layers, LayersAt};
use super::limits;
use super::memtable::Memtable;
use super::placement::Placement;
use super::tree::{Checkpoint, Tree, TreeView};
use super::tx::{Overlay, Tx, View};
use crate::clock::Clock;
use crate::disk::{Disk, File};
use crate::error::StoreError;
use crate::poison::Poison;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use zaffre_base::Stamp;

/// How long a failed checkpoint waits before it is tried again.
const RETRY: Duration = Duration::from_millis(50);
/// Rows in memory may grow to so many times the intended size while a checkpoint is under way.
const PATIENCE: usize = 3;

/// A transaction waiting for the commit thread.
struct Waiting {
    at: Placement,
    body: Body,
    answer: oneshot::Sender<Result<(), StoreError>>,
}

/// What the commit thread and the checkpoint thread tell each other.
#[derive(Default)]
struct Turn {
    /// Generation and newest stamp of the frozen rows waiting to be written.
    frozen: Option<Checkpoint>,
    /// Why the last try to write them failed.
    failure: Option<StoreError>,
    /// A read failed: the tree must be opened anew.
    broken: bool,
    closing: bool,
}

struct Shared {
    layers: RwLock<Arc<Layers>>,
    last_stamp: AtomicU64,
    queue: CommitQueue<Waiting>,
    turn: Mutex<Turn>,
    turned: Condvar,
    clock: Clock,
    poison: Poison,
    memory_bytes: usize,
}

/// The engine; dropping it commits what waits, writes a last checkpoint and ends its threads.
pub(crate) struct Embedded {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// How the engine uses memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmbeddedOptions {
    /// Cache of the tree's pages.
    pub(crate) cache_bytes: usize,
    /// Rows kept in memory before a checkpoint.
    pub(crate) memory_bytes: usize,
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
            queue: CommitQueue::new(limits::WAITING),
            turn: Mutex::new(turn),
            turned: Condvar::new(),
            clock,
            poison,
            memory_bytes: options.memory_bytes,
        });
        let committer = Committer { shared: Arc::clone(&shared), journal };
        let checkpointer = Arc::clone(&shared);
        let threads = vec![
            spawn("zaffre-commit", move || committer.run())?,
            spawn("zaffre-checkpoint", move || checkpoint_loop(&checkpointer, tree))?,
        ];
        Ok(Self { shared, threads })
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
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
    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn layers(&self) -> Arc<Layers> {
        Arc::clone(&self.layers.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change_layers(&self, change: impl FnOnce(&Layers) -> Layers) {
        let mut slot = self.layers.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Arc::new(change(&slot));
    }

    fn snapshot(&self) -> LayersAt {
        // The stamp is read under the lock: until it is released no newer layer can appear that
        // holds commits up to the stamp, nor can the tree get ahead of it.
        let slot = self.layers.read().unwrap_or_else(PoisonError::into_inner);
        let stamp = Stamp(self.last_stamp.load(Ordering::SeqCst));
        if slot.tree.is_broken() {
            self.turn().broken = true;
            self.turned.notify_all();
        }
        LayersAt { layers: Arc::clone(&slot), stamp }
    }

    /// Runs the body on a snapshot; true if that settled it (refused, or nothing to write).
    fn rehearse(&self, at: &Placement, body: &mut Body) -> Result<bool, StoreError> {
        let snapshot = self.snapshot();
        let stamp = Stamp(self.clock.now().0.max(snapshot.stamp.0 + 1));
        let (verdict, writes) = run(&snapshot, at, stamp, body)?;
        match verdict {
            Verdict::Commit => Ok(writes.is_empty()),
            Verdict::Refuse => Ok(true),
            Verdict::Interrupted(error) => Err(error),
        }
    }
}

impl SnapshotView for LayersAt {
    fn stamp(&self) -> Stamp {
        self.stamp
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
            let (answer, answered) = oneshot::channel();
            self.shared.queue.push(Waiting { at, body, answer }).map_err(|e| match e {
                Refused::Full(_) => StoreError::Busy,
                Refused::Closed(_) => StoreError::Closed,
            })?;
            answered.await.unwrap_or(Err(StoreError::Closed))
        })
    }

    fn last_stamp(&self) -> Stamp {
        Stamp(self.shared.last_stamp.load(Ordering::SeqCst))
    }
}

/// Runs a body once. A panic in it is contained: it must not end the commit thread.
fn run(
    view: &dyn View,
    at: &Placement,
    stamp: Stamp,
    body: &mut Body,
) -> Result<(Verdict, Overlay), StoreError> {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let mut tx = Tx::new(view, at, stamp);
        let verdict = body(&mut tx);
        (verdict, tx.into_writes())
    }));
    ran.map_err(|_| StoreError::Limit("a transaction's body panicked"))
}

type Answers = Vec<(oneshot::Sender<Result<(), StoreError>>, Result<(), StoreError>)>;

/// The commit thread.
struct Committer {
    shared: Arc<Shared>,
    journal: Journal,
}

impl Committer {
    fn run(mut self) {
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                let batch = self.shared.queue.take_now(limits::BATCH).or_else(|| {
                    self.journal.seal();
                    self.shared.queue.take(limits::BATCH)
                });
                match batch {
                    Some(batch) => waiting.extend(batch),
                    None => break,
                }
            }
            self.commit(&mut waiting);
        }
        self.close();
    }

    /// Commits as many of the waiting transactions as fit one batch and answers them.
    fn commit(&mut self, waiting: &mut VecDeque<Waiting>) {
        let mut answers = Answers::new();
        let before = Stamp(self.shared.last_stamp.load(Ordering::SeqCst));
        let ready = self.shared.poison.check().and_then(|()| self.make_room());
        let result = ready.and_then(|()| self.run_batch(waiting, before, &mut answers));
        match result {
            Ok(last) => {
                self.shared.last_stamp.store(last.0, Ordering::SeqCst);
                for (answer, outcome) in answers {
                    // The receiver may be gone with its client.
                    drop(answer.send(outcome));
                }
            }
            Err(error) => {
                tracing::error!(%error, "a commit failed; none of its transactions took effect");
                self.shared.layers().active.forget_after(before);
                answers.extend(waiting.drain(..).map(|w| (w.answer, Ok(()))));
                for (answer, _) in answers {
                    drop(answer.send(Err(error.clone())));
                }
            }
        }
    }

    fn run_batch(
        &mut self,
        waiting: &mut VecDeque<Waiting>,
        before: Stamp,
        answers: &mut Answers,
    ) -> Result<Stamp, StoreError> {
        let layers = self.shared.layers();
        // Later bodies of the batch see the writes of earlier ones, which no reader sees yet.
        let view = LayersAt { layers: Arc::clone(&layers), stamp: Stamp(u64::MAX) };
        let (mut last, mut bytes) = (before, 0);
        self.journal.begin();
        while bytes < limits::BATCH_BYTES
            && let Some(mut next) = waiting.pop_front()
        {
            let stamp = Stamp(self.shared.clock.now().0.max(last.0 + 1));
            let (outcome, writes) = match run(&view, &next.at, stamp, &mut next.body) {
                Ok((Verdict::Commit, writes)) => (Ok(()), writes),
                Ok((Verdict::Refuse, _)) => (Ok(()), Overlay::new()),
                Ok((Verdict::Interrupted(error), _)) | Err(error) => (Err(error), Overlay::new()),
            };
            answers.push((next.answer, outcome));
            if !writes.is_empty() {
                last = stamp;
                bytes += writes
                    .iter()
                    .map(|(k, v)| k.len() + v.as_ref().map_or(0, Vec::len))
                    .sum::<usize>();
                self.journal.push(stamp, &writes)?;
                layers.active.insert(stamp, writes);
            }
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
        while turn.frozen.is_some() {
            if bytes < self.shared.memory_bytes.saturating_mul(PATIENCE) {
                return Ok(());
            }
            if let Some(failure) = turn.failure.clone() {
                return Err(failure);
            }
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

/// What the checkpoint thread does next.
enum Task {
    Write(Checkpoint),
    Reopen,
    Stop,
}

impl Shared {
    fn next_task(&self) -> Task {
        let mut turn = self.turn();
        loop {
            match turn.frozen {
                // A failure while closing is final: the journal still has the rows.
                Some(_) if turn.closing && turn.failure.is_some() => return Task::Stop,
                Some(checkpoint) => return Task::Write(checkpoint),
                None if turn.closing => return Task::Stop,
                None if turn.broken => return Task::Reopen,
                None => turn = self.turned.wait(turn).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn checkpointed(&self, tree: TreeView) {
        let tree = Arc::new(tree);
        self.change_layers(|layers| Layers {
            active: Arc::clone(&layers.active),
            frozen: None,
            tree,
        });
        let closing = self.turn().closing;
        *self.turn() = Turn { closing, ..Turn::default() };
        self.turned.notify_all();
    }

    /// Readers of a failed instance get errors; gives them the reopened one, or waits a little.
    fn recover(&self, tree: &mut Tree, failure: Option<StoreError>) {
        tree.close();
        let reopened = tree.read();
        let broken = reopened.is_err();
        if let Ok(view) = reopened {
            let tree = Arc::new(view);
            self.change_layers(|layers| Layers { tree, ..layers.clone() });
        }
        let mut turn = self.turn();
        turn.broken = broken;
        turn.failure = failure;
        self.turned.notify_all();
        if broken || turn.failure.is_some() {
            drop(self.turned.wait_timeout(turn, RETRY));
        }
    }
}

fn checkpoint_loop(shared: &Shared, mut tree: Tree) {
    loop {
        match shared.next_task() {
            Task::Stop => return,
            Task::Reopen => shared.recover(&mut tree, None),
            Task::Write(checkpoint) => {
                let frozen = shared.layers().frozen.clone();
                match tree.write(frozen.as_deref(), checkpoint) {
                    Ok(view) => shared.checkpointed(view),
                    Err(error) => {
                        tracing::error!(%error, "a checkpoint failed; it is tried again");
                        shared.recover(&mut tree, Some(error));
                    }
                }
            }
        }
    }
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
        let options = EmbeddedOptions { cache_bytes: 1 << 20, memory_bytes: 8 << 10 };
        let engine = Embedded::open(&disk, file, options, clock, Poison::new());
        Meta::new(Arc::new(engine.expect("opened")))
    }
}
