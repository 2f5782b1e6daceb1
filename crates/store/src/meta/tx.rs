//! What a transaction's body sees: reads through its own overlay, bounded writes, one stamp.
//!
//! Must never reach the engine: an overlay is kept or dropped as a whole by whoever runs the body.

use super::memtable::merge;
use super::overlay::Overlay;
use super::placement::Placement;
use super::{Row, limits};
use crate::error::StoreError;
use bytes::Bytes;
use zaffre_base::Stamp;

/// What a body reads from: an engine's current state or a snapshot. Keys are full keys.
pub(crate) trait View {
    fn get(&self, full_key: &[u8]) -> Result<Option<Bytes>, StoreError>;
    /// Rows with `start <= key < end`, in order, at most `limit`; keys are full keys.
    fn scan(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<Row>, StoreError>;
}

/// Why a body could not finish this run; only the engine makes and consumes these.
#[derive(Debug)]
pub struct Interrupt(pub(crate) StoreError);

impl From<StoreError> for Interrupt {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

/// How a body ends without writing.
#[derive(Debug)]
pub enum Abort<E> {
    /// The engine cut the run short; it decides what follows.
    Interrupt(Interrupt),
    /// The rules say no: drop all writes and give this to the caller.
    Fail(E),
}

impl<E> From<Interrupt> for Abort<E> {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupt(interrupt)
    }
}

/// How a transaction fails.
#[derive(Debug)]
pub enum TransactError<E> {
    /// The body said no; nothing was written.
    Body(E),
    /// The store failed; unless it says `Unknown` or `Poisoned`, nothing was written.
    Store(StoreError),
}

impl<E> From<StoreError> for TransactError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// One run of a transaction's body.
pub struct Tx<'a> {
    view: &'a dyn View,
    at: &'a Placement,
    stamp: Stamp,
    overlay: Overlay,
    reads: usize,
    write_bytes: usize,
    rehearsal: bool,
    announced: bool,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(view: &'a dyn View, at: &'a Placement, stamp: Stamp) -> Self {
        let overlay = Overlay::new();
        let (reads, write_bytes, rehearsal, announced) = (0, 0, false, false);
        Self { view, at, stamp, overlay, reads, write_bytes, rehearsal, announced }
    }

    /// A run whose writes are dropped.
    pub(crate) fn rehearsal(view: &'a dyn View, at: &'a Placement, stamp: Stamp) -> Self {
        Self { rehearsal: true, ..Self::new(view, at, stamp) }
    }

    pub(crate) fn into_writes(self) -> Overlay {
        self.overlay
    }

    /// Whether a run that counts writes anything.
    pub(crate) fn would_write(&self) -> bool {
        self.announced || !self.overlay.is_empty()
    }

    /// Whether what is written here is dropped, because only the verdict counts. A body that reads
    /// nothing of what it writes may then leave its writes out and [`announce`](Self::announce) them.
    pub fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    /// Says that the run that counts will write.
    pub fn announce(&mut self) {
        self.announced = true;
    }

    /// This commit's stamp: unique, strictly rising, never before the clock. Its time is the `now`
    /// of every rule the body applies, so that time and commit order never disagree.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The value under `key`, own writes included.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<Bytes>, Interrupt> {
        self.count_reads(1)?;
        check_key(key)?;
        self.at.with_full_key(key, |full| match self.overlay.get(full) {
            Some(written) => Ok(written.clone()),
            None => Ok(self.view.get(full)?),
        })
    }

    /// Rows with `start <= key < end` (to the placement's end without `end`), in order, at most
    /// `limit`, own writes included.
    pub fn scan(
        &mut self,
        start: &[u8],
        end: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, Interrupt> {
        let from = self.full_key(start)?;
        let to = match end {
            Some(end) => self.full_key(end)?,
            None => self.at.end(),
        };
        if from >= to || limit == 0 {
            return Ok(Vec::new());
        }
        // Deletions in the overlay hide that many stored rows; read so many more.
        let own = self.overlay.range(&from, &to);
        let stored = self.view.scan(&from, &to, limit.saturating_add(own.len()))?;
        let mut rows = merge(own.to_vec(), stored);
        rows.truncate(limit);
        let prefix = self.at.prefix_len();
        for row in &mut rows {
            row.key.drain(..prefix);
        }
        self.count_reads(rows.len())?;
        Ok(rows)
    }

    /// Writes a row.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Interrupt> {
        self.put_shared(key, Bytes::copy_from_slice(value))
    }

    /// Writes a row whose value is kept as it is, without a copy however often the body runs. It must
    /// not be a small part of something large, which would be kept as well.
    pub fn put_shared(&mut self, key: &[u8], value: Bytes) -> Result<(), Interrupt> {
        if value.len() > limits::VALUE_BYTES {
            return Err(StoreError::Limit("value longer than 64 KiB").into());
        }
        self.write(key, Some(value))
    }

    /// Removes a row if it is there.
    pub fn delete(&mut self, key: &[u8]) -> Result<(), Interrupt> {
        self.write(key, None)
    }

    fn write(&mut self, key: &[u8], value: Option<Bytes>) -> Result<(), Interrupt> {
        let full = self.full_key(key)?;
        self.write_bytes += full.len() + value.as_ref().map_or(0, Bytes::len);
        if self.write_bytes > limits::WRITE_BYTES {
            return Err(StoreError::Limit("transaction writes more than 4 MiB").into());
        }
        self.overlay.insert(full, value);
        if self.overlay.len() > limits::WRITES {
            return Err(StoreError::Limit("transaction writes more than 1,024 rows").into());
        }
        Ok(())
    }

    fn full_key(&self, key: &[u8]) -> Result<Vec<u8>, Interrupt> {
        check_key(key)?;
        Ok(self.at.full_key(key))
    }

    fn count_reads(&mut self, more: usize) -> Result<(), Interrupt> {
        self.reads += more;
        if self.reads > limits::READS {
            return Err(StoreError::Limit("transaction reads more than 512 rows").into());
        }
        Ok(())
    }
}

fn check_key(key: &[u8]) -> Result<(), Interrupt> {
    if key.len() > limits::KEY_BYTES {
        return Err(StoreError::Limit("key longer than 2,560 bytes").into());
    }
    Ok(())
}
