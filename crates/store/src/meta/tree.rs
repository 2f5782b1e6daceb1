//! The tree on disk: all rows up to the last checkpoint, in redb.
//!
//! Must never be written but by the checkpoint thread. Readers hold one of its consistent states.

use super::Row;
use super::memtable::Memtable;
use super::redb_backend::RedbBackend;
use super::row::{seal_into, unseal};
use super::row_cache::RowCache;
use crate::disk::File;
use crate::error::StoreError;
use crate::poison::Poison;
use bytes::Bytes;
use redb::{Database, ReadOnlyTable, ReadableDatabase, Table, TableDefinition, WriteTransaction};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zaffre_base::Stamp;

const ROWS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("rows");
/// `checkpoint` → generation and newest stamp that the tree contains, sealed like a row.
const SYSTEM: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("system");
const CHECKPOINT: &[u8] = b"checkpoint";

/// How far the tree has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Checkpoint {
    /// The last journal generation whose rows are all in the tree.
    pub(crate) generation: u64,
    /// The newest commit in it.
    pub(crate) stamp: Stamp,
}

/// The tree, open for writing.
pub(crate) struct Tree {
    file: Arc<dyn File>,
    cache_bytes: usize,
    poison: Poison,
    database: Option<Database>,
}

impl Tree {
    /// Opens the tree in `file`; `None` for the checkpoint of a file that is new.
    pub(crate) fn open(
        file: Arc<dyn File>,
        cache_bytes: usize,
        poison: Poison,
    ) -> Result<(Self, Option<Checkpoint>), StoreError> {
        let mut tree = Self { file, cache_bytes, poison, database: None };
        let checkpoint = read_checkpoint(tree.database()?)?;
        Ok((tree, checkpoint))
    }

    /// After an I/O error redb refuses all further work, reads included, so nobody can be reading
    /// pages that a new instance reuses. The last checkpoint is intact unless a sync failed.
    fn reopen(&mut self) -> Result<(), StoreError> {
        self.poison.check()?;
        self.close();
        let backend = RedbBackend { file: Arc::clone(&self.file), poison: self.poison.clone() };
        let mut builder = Database::builder();
        builder.set_cache_size(self.cache_bytes);
        let opened = guarded(|| {
            builder
                .create_with_backend(backend)
                .map_err(|e| redb_error("opening the metadata", e.into()))
        })?;
        self.database = Some(opened);
        Ok(())
    }

    fn database(&mut self) -> Result<&mut Database, StoreError> {
        if self.database.is_none() {
            self.reopen()?;
        }
        self.database.as_mut().ok_or(StoreError::Closed)
    }

    /// Verifies every page's checksum; false if something is wrong. May repair: give it a copy.
    pub(crate) fn verify(&mut self) -> Result<bool, StoreError> {
        let database = self.database()?;
        guarded(|| {
            database.check_integrity().map_err(|e| redb_error("verifying the tree", e.into()))
        })
    }

    /// Forgets an instance that a failure has made useless. After a panic inside redb dropping it
    /// can panic too, which must not end the checkpoint thread.
    pub(crate) fn close(&mut self) {
        let database = self.database.take();
        let closed = guarded(|| {
            drop(database);
            Ok(())
        });
        if let Err(error) = closed {
            tracing::error!(%error, "the metadata could not be closed");
        }
    }

    /// The state of the last checkpoint, for readers.
    pub(crate) fn read(&mut self) -> Result<TreeView, StoreError> {
        let doing = "beginning a read";
        let database = self.database()?;
        let table = guarded(|| {
            let tx = database.begin_read().map_err(|e| redb_error(doing, e.into()))?;
            tx.open_table(ROWS).map_err(|e| redb_error(doing, e.into()))
        });
        if table.is_err() {
            self.close();
        }
        table.map(|table| TreeView {
            table,
            lately: RowCache::default(),
            broken: AtomicBool::new(false),
        })
    }

    /// Writes the newest versions of all rows of `rows` in one durable commit.
    pub(crate) fn write(
        &mut self,
        rows: Option<&Memtable>,
        checkpoint: Checkpoint,
    ) -> Result<TreeView, StoreError> {
        let database = self.database()?;
        let written = guarded(|| write_rows(database, rows, checkpoint));
        if let Err(error) = written {
            self.close();
            return Err(error);
        }
        self.read()
    }
}

impl Drop for Tree {
    /// A damaged file can make redb panic while it closes; that must not reach whoever lets go.
    fn drop(&mut self) {
        self.close();
    }
}

fn write_rows(
    database: &Database,
    rows: Option<&Memtable>,
    checkpoint: Checkpoint,
) -> Result<(), StoreError> {
    let doing = "writing a checkpoint";
    let mut tx = database.begin_write().map_err(|e| redb_error(doing, e.into()))?;
    // Opening after a crash then needs no walk over the whole file.
    tx.set_quick_repair(true);
    {
        let mut table = tx.open_table(ROWS).map_err(|e| redb_error(doing, e.into()))?;
        if let Some(rows) = rows {
            let mut sealed = Vec::new();
            rows.for_each_newest(|key, value| put(&mut table, key, value, &mut sealed))?;
        }
    }
    write_checkpoint(&tx, checkpoint)?;
    tx.commit().map_err(|e| redb_error(doing, e.into()))
}

fn put(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    key: &[u8],
    value: Option<&[u8]>,
    sealed: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let done = match value {
        Some(value) => {
            seal_into(sealed, key, value);
            table.insert(key, &sealed[..]).map(drop)
        }
        None => table.remove(key).map(drop),
    };
    done.map_err(|e| redb_error("writing a row", e.into()))
}

fn write_checkpoint(tx: &WriteTransaction, checkpoint: Checkpoint) -> Result<(), StoreError> {
    let mut table = tx.open_table(SYSTEM).map_err(|e| redb_error("a checkpoint", e.into()))?;
    let mut value = checkpoint.generation.to_le_bytes().to_vec();
    value.extend_from_slice(&checkpoint.stamp.0.to_le_bytes());
    put(&mut table, CHECKPOINT, Some(&value), &mut Vec::new())
}

fn read_checkpoint(database: &Database) -> Result<Option<Checkpoint>, StoreError> {
    let doing = "reading the last checkpoint";
    guarded(|| {
        let tx = database.begin_read().map_err(|e| redb_error(doing, e.into()))?;
        let table = match tx.open_table(SYSTEM) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(redb_error(doing, error.into())),
        };
        let stored = table.get(CHECKPOINT).map_err(|e| redb_error(doing, e.into()))?;
        let missing = || StoreError::corrupt("the tree has no checkpoint row");
        let stored = stored.ok_or_else(missing)?;
        let value = unseal(CHECKPOINT, stored.value())?;
        let (generation, stamp) = value.split_first_chunk::<8>().ok_or_else(missing)?;
        let stamp: [u8; 8] = stamp.try_into().map_err(|_| missing())?;
        Ok(Some(Checkpoint {
            generation: u64::from_le_bytes(*generation),
            stamp: Stamp(u64::from_le_bytes(stamp)),
        }))
    })
}

/// One consistent state of the tree.
pub(crate) struct TreeView {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    lately: RowCache,
    /// A read failed: redb answers no more through this instance, it must be opened anew.
    broken: AtomicBool,
}

impl TreeView {
    pub(crate) fn get(&self, full_key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        if let Some(lately) = self.lately.get(full_key) {
            return Ok(lately);
        }
        let read = self.noting(guarded(|| {
            let found =
                self.table.get(full_key).map_err(|e| redb_error("reading a row", e.into()))?;
            found
                .map(|guard| unseal(full_key, guard.value()).map(Bytes::copy_from_slice))
                .transpose()
        }))?;
        self.lately.put(full_key, read.clone());
        Ok(read)
    }

    /// Rows with `start <= key < end`, in order, at most `most`; keys are full keys.
    pub(crate) fn scan(
        &self,
        start: &[u8],
        end: &[u8],
        most: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let doing = "scanning rows";
        self.noting(guarded(|| {
            let range = self.table.range(start..end).map_err(|e| redb_error(doing, e.into()))?;
            let mut rows = Vec::new();
            for entry in range.take(most) {
                let (key, value) = entry.map_err(|e| redb_error(doing, e.into()))?;
                let key = key.value();
                let value = unseal(key, value.value())?.to_vec();
                rows.push(Row { key: key.to_vec(), value });
            }
            Ok(rows)
        }))
    }

    /// Whether a read through it failed for the disk's sake.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    fn noting<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(result, Err(StoreError::Io { .. })) {
            self.broken.store(true, Ordering::Relaxed);
        }
        result
    }
}

/// redb asserts its invariants, so damaged pages can make it panic; that is corruption, not a bug
/// of ours, and must not take the server down.
fn guarded<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(StoreError::corrupt("a page of the metadata makes no sense")))
}

fn redb_error(doing: &'static str, error: redb::Error) -> StoreError {
    match error {
        redb::Error::Io(source) => StoreError::io(doing, source),
        // Closed: opened anew under a reader, because of such an error.
        redb::Error::PreviousIo | redb::Error::DatabaseClosed => {
            StoreError::io(doing, std::io::Error::other("an earlier disk error"))
        }
        other => StoreError::corrupt(format!("{doing}: {other}")),
    }
}
