//! What one commit of a copy writes: rows, layers of pages, and the extents that they name.

use super::{STEP_ROW_BYTES, STEP_ROWS};
use crate::blob::content::claim::KeyValue;
use crate::blob::content::unclaimed::Unclaimed;
use crate::sparse::{self, SparseKeys};
use bytes::Bytes;
use std::sync::Arc;
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::{Interrupt, Tx};

/// What has been copied since the last commit.
#[derive(Default)]
pub(super) struct Batch {
    rows: Vec<KeyValue>,
    layers: Vec<(u32, Bytes)>,
    unclaimed: Vec<Unclaimed>,
    row_bytes: usize,
    /// Bytes of content.
    pub(super) bytes: u64,
}

impl Batch {
    /// Whether a commit is due, `bytes` being how much content one may have.
    pub(super) fn is_full(&self, bytes: u64) -> bool {
        self.bytes >= bytes
            || self.rows.len() + self.layers.len() >= STEP_ROWS
            || self.row_bytes >= STEP_ROW_BYTES
    }

    pub(super) fn row(&mut self, key: Vec<u8>, value: Bytes) {
        self.row_bytes += value.len();
        self.rows.push((key, value));
    }

    /// The row of a piece, and the extent it names.
    pub(super) fn piece(&mut self, key: Vec<u8>, piece: Unclaimed) {
        if let Some(extent) = piece.extent() {
            let run = Run { at: 0, length: extent.length, extent, skip: 0 };
            self.row(key, runs::encode(&[run]).into());
            self.unclaimed.push(piece);
        }
    }

    /// All of a chunk: where its bytes are in one extent, if there are any.
    pub(super) fn chunk(&mut self, number: u32, runs: &[Run], extent: Option<Unclaimed>) {
        let value: Bytes = runs::encode(runs).into();
        self.row_bytes += value.len();
        self.layers.push((number, value));
        self.unclaimed.extend(extent);
    }

    /// What a transaction writes, and the extents it comes to name.
    pub(super) fn land(self, content: SparseKeys) -> (Landing, Vec<Unclaimed>) {
        let (rows, layers) = (Arc::new(self.rows), Arc::new(self.layers));
        (Landing { rows, layers, content }, self.unclaimed)
    }
}

/// A batch inside a transaction, which may run more than once.
#[derive(Clone)]
pub(super) struct Landing {
    rows: Arc<Vec<KeyValue>>,
    layers: Arc<Vec<(u32, Bytes)>>,
    content: SparseKeys,
}

impl Landing {
    pub(super) fn write(&self, tx: &mut Tx<'_>) -> Result<(), Interrupt> {
        for (key, value) in self.rows.iter() {
            tx.put_shared(key, value.clone())?;
        }
        for (chunk, value) in self.layers.iter() {
            sparse::put_whole(tx, self.content, *chunk, value.clone())?;
        }
        Ok(())
    }
}
