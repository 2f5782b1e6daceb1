//! What a transaction's body sees: reads through its own overlay, bounded writes, one stamp.
//!
//! Must never reach the engine: an overlay is kept or dropped as a whole by whoever runs the body.

use super::placement::Placement;
use super::{Row, limits};
use crate::error::StoreError;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Bound;
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

/// A body's writes by full key; `None` deletes.
pub(crate) type Overlay = BTreeMap<Vec<u8>, Option<Bytes>>;

/// One run of a transaction's body.
pub struct Tx<'a> {
    view: &'a dyn View,
    at: &'a Placement,
    stamp: Stamp,
    overlay: Overlay,
    reads: usize,
    write_bytes: usize,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(view: &'a dyn View, at: &'a Placement, stamp: Stamp) -> Self {
        Self { view, at, stamp, overlay: Overlay::new(), reads: 0, write_bytes: 0 }
    }

    pub(crate) fn into_writes(self) -> Overlay {
        self.overlay
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
        let range = (Bound::Included(from.clone()), Bound::Excluded(to.clone()));
        let hidden = self.overlay.range(range.clone()).count();
        let stored = self.view.scan(&from, &to, limit.saturating_add(hidden))?;
        let mut merged: Overlay =
            stored.into_iter().map(|r| (r.key, Some(r.value.into()))).collect();
        merged.extend(self.overlay.range(range).map(|(k, v)| (k.clone(), v.clone())));
        let prefix = self.at.prefix_len();
        let rows: Vec<Row> = merged
            .into_iter()
            .filter_map(|(key, value)| {
                Some(Row { key: key[prefix..].to_vec(), value: value?.into() })
            })
            .take(limit)
            .collect();
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
