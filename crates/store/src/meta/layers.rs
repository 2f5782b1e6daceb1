//! One consistent state of all rows: the rows in memory over those being written over the tree.
//!
//! Must never be changed: a change makes new layers, readers keep the old ones.

use super::Row;
use super::memtable::{Memtable, merge};
use super::tree::TreeView;
use super::tx::View;
use crate::error::StoreError;
use bytes::Bytes;
use std::sync::Arc;
use zaffre_base::{Stamp, Timestamp};

/// Rows taken from memory at once: readers hold the table's lock no longer than this takes.
const CHUNK: usize = 1_024;

/// The layers, newest first.
#[derive(Clone)]
pub(crate) struct Layers {
    pub(crate) active: Arc<Memtable>,
    /// Being written to the tree; its journal is kept until that is done.
    pub(crate) frozen: Option<Arc<Memtable>>,
    pub(crate) tree: Arc<TreeView>,
}

/// The layers as of one commit.
pub(crate) struct LayersAt {
    pub(crate) layers: Arc<Layers>,
    pub(crate) stamp: Stamp,
    /// Every commit up to this time is in here.
    pub(crate) now: Timestamp,
}

impl View for LayersAt {
    fn get(&self, full_key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let frozen = self.layers.frozen.as_ref();
        let in_memory = self
            .layers
            .active
            .get(full_key, self.stamp)
            .or_else(|| frozen.and_then(|frozen| frozen.get(full_key, self.stamp)));
        match in_memory {
            Some(value) => Ok(value),
            None => self.layers.tree.get(full_key),
        }
    }

    fn scan(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        let mut from = start.to_vec();
        let mut rows = Vec::new();
        // Small at first: who wants a few rows must not pay for a thousand.
        let mut chunk = limit.clamp(1, CHUNK);
        while rows.len() < limit {
            let (more, next) = self.scan_piece(&from, end, limit - rows.len(), chunk)?;
            chunk = chunk.saturating_mul(4).min(CHUNK);
            rows.extend(more);
            match next {
                Some(next) => from = next,
                None => break,
            }
        }
        rows.truncate(limit);
        Ok(rows)
    }
}

impl LayersAt {
    /// The rows of a piece of the range, and where the next piece starts if there is one.
    fn scan_piece(
        &self,
        from: &[u8],
        end: &[u8],
        wanted: usize,
        chunk: usize,
    ) -> Result<(Vec<Row>, Option<Vec<u8>>), StoreError> {
        let mut stop = end.to_vec();
        let mut upper = Vec::new();
        for table in [Some(&self.layers.active), self.layers.frozen.as_ref()].into_iter().flatten()
        {
            let piece = table.scan(from, &stop, self.stamp, chunk);
            if !piece.complete
                && let Some((last, _)) = piece.rows.last()
            {
                stop = key_after(last);
            }
            upper.push(piece.rows);
        }
        // Deletions in memory hide as many rows of the tree; read so many more.
        let hidden: usize = upper.iter().map(Vec::len).sum();
        let most = wanted.saturating_add(hidden);
        let lower = self.layers.tree.scan(from, &stop, most)?;
        if lower.len() == most
            && let Some(last) = lower.last()
        {
            // The tree has more: nothing after its last row may be shown yet.
            stop = key_after(&last.key);
        }
        let mut rows = lower;
        for mut table in upper.into_iter().rev() {
            table.retain(|(key, _)| *key < stop);
            rows = merge(table, rows);
        }
        let next = (stop.as_slice() < end).then_some(stop);
        Ok((rows, next))
    }
}

/// The smallest key greater than `key`.
fn key_after(key: &[u8]) -> Vec<u8> {
    let mut after = key.to_vec();
    after.push(0);
    after
}
