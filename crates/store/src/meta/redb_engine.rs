//! The embedded engine: redb behind one commit thread with group commit.
//!
//! A body is first rehearsed on a snapshot in the caller's thread: its reads warm the cache there,
//! and a refusal is answered without bothering the commit thread (a snapshot taken after the
//! request came in is a legal point in time to refuse at). Then the commit thread runs the waiting
//! bodies in order on the pending state, commits once, and answers them all.
//!
//! Must never answer before the commit is durable, nor anything after a failed sync.

use super::commit_queue::{CommitQueue, Refused};
use super::engine::{Body, Engine, SnapshotView, Submitted, Verdict};
use super::placement::Placement;
use super::redb_backend::RedbBackend;
use super::row::{seal, unseal};
use super::tx::{Overlay, Tx, View};
use super::{Row, limits};
use crate::clock::Clock;
use crate::disk::File;
use crate::error::StoreError;
use crate::poison::Poison;
use redb::{
    Database, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use zaffre_base::Stamp;

const ROWS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("rows");
/// `stamp` → the newest commit's stamp, sealed like a row.
const SYSTEM: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("system");
const STAMP_KEY: &[u8] = b"stamp";

/// How long a reopening waits for snapshots of the broken instance to end.
const REOPEN_WAIT: Duration = Duration::from_secs(limits::SNAPSHOT_SECONDS);

/// A transaction waiting for the commit thread.
struct Waiting {
    at: Placement,
    body: Body,
    answer: oneshot::Sender<Result<(), StoreError>>,
}

struct Shared {
    file: Arc<dyn File>,
    cache_bytes: usize,
    /// `None` while it must be reopened after an I/O error.
    database: RwLock<Option<Arc<Database>>>,
    queue: CommitQueue<Waiting>,
    clock: Clock,
    poison: Poison,
    last_stamp: AtomicU64,
}

/// The engine; dropping it ends the commit thread after what is waiting was committed.
pub(crate) struct RedbEngine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl RedbEngine {
    /// Opens or creates the database in `file`.
    pub(crate) fn open(
        file: Arc<dyn File>,
        cache_bytes: usize,
        clock: Clock,
        poison: Poison,
    ) -> Result<Self, StoreError> {
        let database = open_database(&file, cache_bytes, &poison)?;
        let last = prepare(&database, &clock)?;
        let shared = Arc::new(Shared {
            file,
            cache_bytes,
            database: RwLock::new(Some(Arc::new(database))),
            queue: CommitQueue::new(limits::WAITING),
            clock,
            poison,
            last_stamp: AtomicU64::new(last.0),
        });
        let worker = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("zaffre-commit".to_owned())
            .spawn(move || commit_loop(&worker))
            .map_err(|e| StoreError::io("starting the commit thread", e))?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for RedbEngine {
    fn drop(&mut self) {
        self.shared.queue.close();
        if let Some(thread) = self.thread.take() {
            // A panic there was already answered with errors; there is nothing left to do here.
            drop(thread.join());
        }
    }
}

fn open_database(
    file: &Arc<dyn File>,
    cache_bytes: usize,
    poison: &Poison,
) -> Result<Database, StoreError> {
    let backend = RedbBackend { file: Arc::clone(file), poison: poison.clone() };
    let open = || Database::builder().set_cache_size(cache_bytes).create_with_backend(backend);
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(result) => result.map_err(|e| redb_error("opening the metadata", e.into())),
        Err(_) => Err(StoreError::corrupt("the metadata file cannot be understood")),
    }
}

/// Creates the tables of a new database and reads the newest stamp of an old one.
fn prepare(database: &Database, clock: &Clock) -> Result<Stamp, StoreError> {
    let doing = "preparing the metadata";
    let read = read_stamp(database);
    let last = match read {
        Ok(Some(stamp)) => stamp,
        Ok(None) => {
            let tx = begin_write(database)?;
            tx.open_table(ROWS).map_err(|e| redb_error(doing, e.into()))?;
            let stamp = Stamp(clock.now().0);
            write_stamp(&tx, stamp)?;
            tx.commit().map_err(|e| redb_error(doing, e.into()))?;
            stamp
        }
        Err(error) => return Err(error),
    };
    clock.raise_to(last);
    Ok(last)
}

fn read_stamp(database: &Database) -> Result<Option<Stamp>, StoreError> {
    let doing = "reading the newest stamp";
    guarded(|| {
        let tx = database.begin_read().map_err(|e| redb_error(doing, e.into()))?;
        let table = match tx.open_table(SYSTEM) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(redb_error(doing, error.into())),
        };
        let stored = table.get(STAMP_KEY).map_err(|e| redb_error(doing, e.into()))?;
        let stored = stored.ok_or_else(|| StoreError::corrupt("the newest stamp is missing"))?;
        let bytes = unseal(STAMP_KEY, stored.value())?;
        let bytes = bytes.try_into().map_err(|_| StoreError::corrupt("stamp of a wrong size"))?;
        Ok(Some(Stamp(u64::from_le_bytes(bytes))))
    })
}

fn write_stamp(tx: &WriteTransaction, stamp: Stamp) -> Result<(), StoreError> {
    let doing = "writing the newest stamp";
    let mut table = tx.open_table(SYSTEM).map_err(|e| redb_error(doing, e.into()))?;
    let value = seal(STAMP_KEY, &stamp.0.to_le_bytes());
    table.insert(STAMP_KEY, &value[..]).map_err(|e| redb_error(doing, e.into()))?;
    Ok(())
}

fn begin_write(database: &Database) -> Result<WriteTransaction, StoreError> {
    let doing = "beginning a commit";
    let mut tx = database.begin_write().map_err(|e| redb_error(doing, e.into()))?;
    // Opening after a crash then needs no walk over the whole file.
    tx.set_quick_repair(true);
    Ok(tx)
}

impl Shared {
    fn database(&self) -> Result<Arc<Database>, StoreError> {
        let slot = self.database.read().unwrap_or_else(PoisonError::into_inner);
        slot.clone().ok_or(StoreError::Busy)
    }

    fn snapshot(&self) -> Result<RedbSnapshot, StoreError> {
        let doing = "beginning a read";
        let database = self.database()?;
        // Read before the transaction begins: the snapshot may see more than this, never less.
        let stamp = Stamp(self.last_stamp.load(Ordering::SeqCst));
        let table = guarded(|| {
            let tx = database.begin_read().map_err(|e| redb_error(doing, e.into()))?;
            tx.open_table(ROWS).map_err(|e| redb_error(doing, e.into()))
        })?;
        Ok(RedbSnapshot { table, stamp, _database: database })
    }

    /// After an I/O error redb refuses all work. Unless a sync failed, the last commit is intact
    /// on disk, so the database is opened anew once nobody reads the old instance.
    fn reopen(&self) -> Result<(), StoreError> {
        self.poison.check()?;
        let mut slot = self.database.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = slot.as_ref() {
            let deadline = self.clock.monotonic() + REOPEN_WAIT;
            while Arc::strong_count(old) > 1 {
                if self.clock.monotonic() > deadline {
                    return Err(StoreError::Busy);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        *slot = None;
        let database = open_database(&self.file, self.cache_bytes, &self.poison)?;
        let last = prepare(&database, &self.clock)?;
        self.last_stamp.fetch_max(last.0, Ordering::SeqCst);
        *slot = Some(Arc::new(database));
        Ok(())
    }
}

impl Engine for RedbEngine {
    fn snapshot(&self) -> Result<Arc<dyn SnapshotView>, StoreError> {
        Ok(Arc::new(self.shared.snapshot()?))
    }

    fn submit<'a>(&'a self, at: &Placement, mut body: Body) -> Submitted<'a> {
        let at = at.clone();
        Box::pin(async move {
            self.shared.poison.check()?;
            if self.rehearse(&at, &mut body)? {
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

impl RedbEngine {
    /// Runs the body on a snapshot; true if that settled it (refused, or nothing to write).
    fn rehearse(&self, at: &Placement, body: &mut Body) -> Result<bool, StoreError> {
        let Ok(snapshot) = self.shared.snapshot() else {
            // The commit thread will reopen or report what is wrong.
            return Ok(false);
        };
        let stamp = Stamp(self.shared.clock.now().0.max(snapshot.stamp.0 + 1));
        let mut tx = Tx::new(&snapshot, at, stamp);
        match body(&mut tx) {
            Verdict::Commit => Ok(tx.into_writes().is_empty()),
            Verdict::Refuse => Ok(true),
            Verdict::Interrupted(error) => Err(error),
        }
    }
}

fn commit_loop(shared: &Shared) {
    let mut carried = VecDeque::new();
    loop {
        if carried.is_empty() {
            match shared.queue.take(limits::BATCH) {
                Some(batch) => carried.extend(batch),
                None => return,
            }
        }
        commit_batch(shared, &mut carried);
    }
}

/// Commits as many of the waiting transactions as fit one batch and answers them.
fn commit_batch(shared: &Shared, waiting: &mut VecDeque<Waiting>) {
    let mut answers = Vec::new();
    let result = shared.poison.check().and_then(|()| run_batch(shared, waiting, &mut answers));
    if let Err(error) = result {
        let error = if shared.poison.is_set() { StoreError::Poisoned } else { error };
        tracing::error!(%error, "a commit failed; none of its transactions took effect");
        // Nothing of this batch took effect; those not run yet get the same answer if none ran.
        if answers.is_empty() {
            answers.extend(waiting.drain(..).map(|w| (w.answer, Ok(()))));
        }
        for (answer, _) in answers {
            // The receiver may be gone with its client.
            drop(answer.send(Err(error.clone())));
        }
        if let Err(error) = shared.reopen() {
            tracing::error!(%error, "the metadata cannot be reopened yet");
        }
        return;
    }
    for (answer, outcome) in answers {
        drop(answer.send(outcome));
    }
}

type Answers = Vec<(oneshot::Sender<Result<(), StoreError>>, Result<(), StoreError>)>;

fn run_batch(
    shared: &Shared,
    waiting: &mut VecDeque<Waiting>,
    answers: &mut Answers,
) -> Result<(), StoreError> {
    let doing = "committing";
    let database = match shared.database() {
        Ok(database) => database,
        Err(_) => shared.reopen().and_then(|()| shared.database())?,
    };
    let tx = begin_write(&database)?;
    let mut last = Stamp(shared.last_stamp.load(Ordering::SeqCst));
    let (mut bytes, mut writes) = (0, 0);
    {
        let mut table = tx.open_table(ROWS).map_err(|e| redb_error(doing, e.into()))?;
        while bytes < limits::BATCH_BYTES
            && let Some(mut next) = waiting.pop_front()
        {
            let stamp = Stamp(shared.clock.now().0.max(last.0 + 1));
            let ran = run_body(&table, &mut next, stamp);
            let (outcome, overlay) = match ran {
                Ok(overlay) => (Ok(()), overlay),
                Err(error) => (Err(error), Overlay::new()),
            };
            answers.push((next.answer, outcome));
            if !overlay.is_empty() {
                last = stamp;
                writes += overlay.len();
                bytes += apply(&mut table, overlay)?;
            }
        }
    }
    if writes == 0 {
        return tx.abort().map_err(|e| redb_error(doing, e.into()));
    }
    write_stamp(&tx, last)?;
    guarded(|| tx.commit().map_err(|e| redb_error(doing, e.into())))?;
    shared.last_stamp.store(last.0, Ordering::SeqCst);
    Ok(())
}

/// Runs one body; its writes if it wants to commit, nothing if it refuses.
fn run_body<T: ReadableTable<&'static [u8], &'static [u8]>>(
    table: &T,
    waiting: &mut Waiting,
    stamp: Stamp,
) -> Result<Overlay, StoreError> {
    let view = TableView(table);
    let run = || {
        let mut tx = Tx::new(&view, &waiting.at, stamp);
        let verdict = (waiting.body)(&mut tx);
        (verdict, tx.into_writes())
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok((Verdict::Commit, overlay)) => Ok(overlay),
        Ok((Verdict::Refuse, _)) => Ok(Overlay::new()),
        Ok((Verdict::Interrupted(error), _)) => Err(error),
        Err(_) => Err(StoreError::Limit("a transaction's body panicked")),
    }
}

fn apply(
    table: &mut redb::Table<'_, &'static [u8], &'static [u8]>,
    overlay: Overlay,
) -> Result<usize, StoreError> {
    let doing = "writing rows";
    let mut bytes = 0;
    for (key, value) in overlay {
        bytes += key.len() + value.as_ref().map_or(0, Vec::len);
        match value {
            Some(value) => {
                let stored = seal(&key, &value);
                table.insert(&key[..], &stored[..]).map_err(|e| redb_error(doing, e.into()))?;
            }
            None => {
                table.remove(&key[..]).map_err(|e| redb_error(doing, e.into()))?;
            }
        }
    }
    Ok(bytes)
}

struct TableView<'a, T>(&'a T);

impl<T: ReadableTable<&'static [u8], &'static [u8]>> View for TableView<'_, T> {
    fn get(&self, full_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        guarded(|| {
            let found = self.0.get(full_key).map_err(|e| redb_error("reading a row", e.into()))?;
            found.map(|guard| unseal(full_key, guard.value()).map(<[u8]>::to_vec)).transpose()
        })
    }

    fn scan(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        let doing = "scanning rows";
        guarded(|| {
            let range = self.0.range(start..end).map_err(|e| redb_error(doing, e.into()))?;
            let mut rows = Vec::new();
            for entry in range.take(limit) {
                let (key, value) = entry.map_err(|e| redb_error(doing, e.into()))?;
                let key = key.value();
                let value = unseal(key, value.value())?.to_vec();
                rows.push(Row { key: key.to_vec(), value });
            }
            Ok(rows)
        })
    }
}

struct RedbSnapshot {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    stamp: Stamp,
    /// Counted by `reopen`: the old instance must not be replaced while it is read.
    _database: Arc<Database>,
}

impl View for RedbSnapshot {
    fn get(&self, full_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        TableView(&self.table).get(full_key)
    }

    fn scan(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        TableView(&self.table).scan(start, end, limit)
    }
}

impl SnapshotView for RedbSnapshot {
    fn stamp(&self) -> Stamp {
        self.stamp
    }
}

/// redb asserts its invariants, so damaged pages can make it panic; that is corruption, not a bug
/// of ours, and must not take the server down.
fn guarded<T>(read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(StoreError::corrupt("a page of the metadata makes no sense")))
}

fn redb_error(doing: &'static str, error: redb::Error) -> StoreError {
    match error {
        redb::Error::Io(source) => StoreError::io(doing, source),
        redb::Error::PreviousIo => {
            StoreError::io(doing, std::io::Error::other("an earlier disk error"))
        }
        redb::Error::Corrupted(what) => StoreError::corrupt(format!("{doing}: {what}")),
        other => StoreError::corrupt(format!("{doing}: {other}")),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::disk::{Disk, MemDisk, OpenMode};
    use crate::meta::Meta;

    /// An engine on an in-memory disk.
    pub(crate) fn in_memory(_seed: u64) -> Meta {
        let file = MemDisk::new().open("meta", OpenMode::New).expect("in memory");
        let engine = RedbEngine::open(file, 1 << 20, Clock::default(), Poison::new());
        Meta::new(Arc::new(engine.expect("a new database")))
    }
}
