//! What a reader puts over what is committed.
//!
//! Must never be put over something newer than itself: [`Over::is_current`] says whether it may.

use super::entry::{Entry, View};
use super::piece::Piece;
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;
use zaffre_domain::fs::pieces::Stretch;

/// Writes of a range that wait.
pub(in crate::file) struct Over {
    entry: Arc<Entry>,
    generation: u64,
    pieces: Vec<(u64, Piece)>,
    /// Where all writes that wait end.
    pub(in crate::file) end: u64,
}

impl Over {
    pub(super) fn of(entry: Arc<Entry>, range: Range<u64>) -> Self {
        let View { generation, over, end } = entry.view(range);
        Self { entry, generation, pieces: over, end }
    }

    /// Whether no commit was begun since: what is committed is nothing newer.
    pub(in crate::file) fn is_current(&self) -> bool {
        self.entry.generation() == self.generation
    }

    /// The same as of now, and the turn that keeps commits from beginning.
    pub(in crate::file) async fn again(self, range: Range<u64>) -> (Self, OwnedMutexGuard<()>) {
        let turn = self.entry.turn.clone().lock_owned().await;
        (Self::of(self.entry, range), turn)
    }

    /// The bytes of a range, if one write has them all.
    pub(in crate::file) fn alone(&self, range: Range<u64>) -> Option<Bytes> {
        let (offset, piece) = self.pieces.last()?;
        let inside = *offset <= range.start && range.end <= offset + piece.length();
        inside.then(|| piece.part(range.start - offset..range.end - offset).bytes)
    }

    /// The bytes of a range: `below` and zeros behind it, with what waits over them.
    pub(in crate::file) fn put_over(&self, below: &Bytes, range: Range<u64>) -> Bytes {
        if self.pieces.is_empty() && u64::try_from(below.len()) == Ok(range.end - range.start) {
            return below.clone();
        }
        let index = |offset: u64| usize::try_from(offset - range.start).unwrap_or(usize::MAX);
        let mut whole = BytesMut::zeroed(index(range.end));
        let known = below.len().min(whole.len());
        whole[..known].copy_from_slice(&below[..known]);
        for (offset, piece) in &self.pieces {
            let from = (*offset).max(range.start);
            let to = (offset + piece.length()).min(range.end);
            if from < to {
                let part = piece.part(from - offset..to - offset);
                whole[index(from)..index(to)].copy_from_slice(&part.bytes);
            }
        }
        whole.freeze()
    }
}
