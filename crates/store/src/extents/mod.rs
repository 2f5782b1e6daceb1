//! Bytes: immutable extents in append-only segment files.
//!
//! Must never know what the bytes mean. A returned reference is durable; a read is verified.

pub mod check;
mod compact;
mod files;
mod limbo;
mod open_writes;
mod orphans;
mod owners;
mod reader;
pub(crate) mod record;
mod recover;
mod release;
pub mod runs;
mod segment;
mod shared;
mod table;
mod upkeep;
mod walk;
mod writer;

pub use compact::{CompactReport, SPARSE_PERCENT};
pub use open_writes::{OpenWrites, WriteGuard};
pub use orphans::OrphanReport;
pub use reader::INLINE_READ;
pub use record::BLOCK;
pub use recover::Recovered;
pub use shared::ExtentOptions;
pub use table::{Live, Phase, SegmentStatus};
pub use upkeep::Upkeep;

use crate::directory::Lock;
use crate::disk::Disk;
use crate::error::StoreError;
use crate::meta::Placement;
use crate::poison::Poison;
use bytes::Bytes;
use record::Prepared;
use release::Task;
use shared::Shared;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use writer::{Job, Writer};

/// Largest payload of one extent.
pub const MAX_EXTENT: usize = 4 * 1024 * 1024;

/// The row that names an extent, stored in its record so that compaction finds the row to rewrite.
///
/// `key` is the row's key, or what the keys of all rows start with that may name the extent (the
/// versions of one chunk). No other row's key may start with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// Where the row lives.
    pub placement: Placement,
    /// Its key, or the start of it.
    pub key: Vec<u8>,
}

/// Where an extent's record is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExtentRef {
    /// The segment file's number.
    pub segment: u32,
    /// Offset of the record in it.
    pub offset: u64,
    /// Length of the payload.
    pub length: u32,
}

/// The extents of a store. Clones share them; when the last one is dropped, what was taken is
/// written, the segments are sealed and the threads have ended.
#[derive(Clone, Debug)]
pub struct Extents(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    queues: Vec<Queue>,
    tasks: Option<SyncSender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

/// One writer's queue and how many callers wait for it.
#[derive(Debug)]
struct Queue {
    jobs: mpsc::Sender<Job>,
    waiting: AtomicUsize,
}

/// Counts a caller as waiting until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queues.clear();
        self.tasks = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so; there is nothing to add.
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
struct SweepAfter(SyncSender<Task>);

impl writer::Hook for SweepAfter {
    fn sealed(&self) {
        // A full queue is no loss: any later sweep removes what is empty.
        let _ = self.0.try_send(Task::Sweep);
    }
}

impl Extents {
    /// Opens the extents on `disk`. Segments that are there are only listed; let
    /// [`Extents::recover_unsealed`] look at them in the background.
    pub fn open(
        disk: Arc<dyn Disk>,
        options: ExtentOptions,
        poison: Poison,
    ) -> Result<Self, StoreError> {
        Self::open_locked(disk, options, poison, Lock::default())
    }

    /// [`Extents::open`], holding `lock` until nothing writes to the segments any more.
    pub(crate) fn open_locked(
        disk: Arc<dyn Disk>,
        options: ExtentOptions,
        poison: Poison,
        lock: Lock,
    ) -> Result<Self, StoreError> {
        let shared = Arc::new(open_shared(disk, options, poison, lock)?);
        let (tasks, task_queue) = sync_channel(release::QUEUE);
        let mut inner =
            Inner { shared, queues: Vec::new(), tasks: Some(tasks.clone()), threads: Vec::new() };
        for number in 0..inner.shared.options.writers.max(1) {
            let (jobs, queue) = mpsc::channel(writer::QUEUE);
            let hook = Box::new(SweepAfter(tasks.clone()));
            let writer = Writer::new(Arc::clone(&inner.shared), queue, hook);
            inner.queues.push(Queue { jobs, waiting: AtomicUsize::new(0) });
            inner.threads.push(spawn(format!("extents-{number}"), move || writer.run())?);
        }
        let shared = Arc::clone(&inner.shared);
        let maintain = move || release::run(&shared, &task_queue);
        inner.threads.push(spawn("extents-free".to_owned(), maintain)?);
        Ok(Self(Arc::new(inner)))
    }

    /// Writes an extent of 1 byte to 4 MiB; it is durable when this returns.
    pub async fn write(&self, owner: &Owner, payload: Bytes) -> Result<ExtentRef, StoreError> {
        self.0.shared.poison.check()?;
        let prepared = Prepared::new(owner, payload)?;
        let (reply, answer) = oneshot::channel();
        let queue = self.shortest_queue();
        let _waiting = Waiting::new(&queue.waiting);
        queue.jobs.send(Job { prepared, reply }).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// The writer with the fewest callers; the first of equals, so that a lone caller's extents lie
    /// one behind the other.
    fn shortest_queue(&self) -> &Queue {
        let mut shortest = &self.0.queues[0];
        for queue in &self.0.queues[1..] {
            if queue.waiting.load(Ordering::Relaxed) < shortest.waiting.load(Ordering::Relaxed) {
                shortest = queue;
            }
        }
        shortest
    }

    /// Reads a range of an extent's payload, verified by checksum.
    pub async fn read(&self, at: &ExtentRef, range: Range<u32>) -> Result<Bytes, StoreError> {
        if range.end.saturating_sub(range.start) <= INLINE_READ {
            return reader::read(&self.0.shared, at, range);
        }
        let (shared, at) = (Arc::clone(&self.0.shared), *at);
        spawn_blocking(move || reader::read(&shared, &at, range))
            .await
            .unwrap_or(Err(StoreError::Closed))
    }

    /// Gives the space of extents back. No row names them any more, the deletion of the rows that
    /// did is durable, and no pin covers them. The work is done in the background.
    pub fn release(&self, refs: &[ExtentRef]) {
        if refs.is_empty() {
            return;
        }
        let Some(tasks) = &self.0.tasks else { return };
        let sent = tasks.try_send(Task::Release(refs.to_vec()));
        if let Err(TrySendError::Full(Task::Release(refs))) = sent {
            // Too far behind: whoever frees does the work, and so frees more slowly.
            release::release(&self.0.shared, refs);
        }
    }

    /// Waits until everything released so far has been dealt with.
    pub async fn settle(&self) {
        let tasks = self.0.tasks.clone();
        let (done, finished) = oneshot::channel();
        // Off the runtime's threads: the queue may be full.
        let sent = spawn_blocking(move || tasks.map(|tasks| tasks.send(Task::Settle(done)))).await;
        if sent.is_ok() {
            let _ = finished.await;
        }
    }

    /// Begins a write: hold the guard from before the first extent until the commit that names the
    /// extents has been answered. Records of open writes are never taken for orphans.
    #[must_use = "dropping the guard ends the write"]
    pub fn begin_write(&self) -> WriteGuard {
        self.0.shared.writes.begin()
    }

    /// Records below this sequence belong to writes that have ended.
    fn watermark(&self) -> u64 {
        self.0.shared.writes.watermark()
    }

    /// Looks at the segments found at the start and seals those that a crash left open.
    pub async fn recover_unsealed(&self) -> Result<Recovered, StoreError> {
        let done = self.blocking(recover::recover).await?;
        self.sweep().await?;
        Ok(done)
    }

    /// Counts the live records of up to `limit` sealed segments whose figures are not known yet, and
    /// removes those that have none. Returns how many it counted.
    pub async fn count_segments(&self, limit: usize) -> Result<usize, StoreError> {
        let uncounted = |s: &SegmentStatus| s.phase == Phase::Sealed && s.live.is_none();
        let chosen: Vec<_> = self.segments().into_iter().filter(uncounted).take(limit).collect();
        let counted = chosen.len();
        for segment in chosen {
            self.blocking(move |shared| recover::count(shared, &segment)).await?;
        }
        self.sweep().await?;
        Ok(counted)
    }

    async fn sweep(&self) -> Result<(), StoreError> {
        self.blocking(|shared| {
            release::sweep(shared);
            Ok(())
        })
        .await
    }

    /// What is known about each segment, in order.
    pub fn segments(&self) -> Vec<SegmentStatus> {
        self.0.shared.table.all()
    }

    /// Runs disk work off the runtime's threads.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.0.shared);
        spawn_blocking(move || work(&shared)).await.unwrap_or(Err(StoreError::Closed))
    }
}

fn open_shared(
    disk: Arc<dyn Disk>,
    options: ExtentOptions,
    poison: Poison,
    lock: Lock,
) -> Result<Shared, StoreError> {
    let opening = |error| StoreError::io("opening the segments", error);
    disk.create_dir(segment::FOLDER).map_err(opening)?;
    let names = disk.list(segment::FOLDER).map_err(opening)?;
    let table = table::Table::default();
    let mut next = 1;
    for number in names.iter().filter_map(|name| segment::parse_name(name)) {
        table.add(number, Phase::Found, 0);
        next = next.max(number.saturating_add(1));
    }
    // Each segment holds fewer than 2^32 records, so sequences made of segment numbers rise too.
    let writes = open_writes::OpenWrites::starting_at(u64::from(next) << 32);
    let files = files::Files::new(Arc::clone(&disk), options.open_files);
    Ok(Shared {
        disk,
        options,
        poison,
        files,
        table,
        writes,
        next_number: AtomicU32::new(next),
        maintenance: Mutex::new(()),
        _lock: lock,
    })
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name(name)
        .spawn(body)
        .map_err(|error| StoreError::io("starting a thread", error))
}
