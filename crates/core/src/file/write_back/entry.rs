//! What waits for one file: gathered, and on its way to the disk.
//!
//! Must never be seen half: whoever looks sees every write that was acknowledged.

use super::piece::Piece;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zaffre_domain::fs::pieces::{Pieces, Stretch};
use zaffre_domain::fs::write_back::{CHUNK_PIECES, Verdict, Waiting, verdict};
use zaffre_domain::sparse::CHUNK_BYTES;

/// What is committed together.
#[derive(Clone, Debug, Default)]
pub(in crate::file) struct Batch {
    pub(in crate::file) pieces: Pieces<Piece>,
    /// Pieces of each chunk, at most.
    chunks: BTreeMap<u64, usize>,
}

impl Batch {
    /// One write.
    pub(in crate::file) fn of(offset: u64, piece: Piece) -> Self {
        let mut batch = Self::default();
        batch.pieces.write(offset, piece);
        batch
    }

    /// Pieces of a chunk, at most, with one more write.
    fn pieces_of(&mut self, chunk: u64) -> usize {
        // A write in the middle of a piece makes three of one.
        let with_one = |pieces: usize| pieces + 2;
        let Some(pieces) = self.chunks.get_mut(&chunk) else { return with_one(0) };
        if with_one(*pieces) > CHUNK_PIECES {
            let start = chunk * CHUNK_BYTES;
            *pieces = self.pieces.count_in(start..start + CHUNK_BYTES);
        }
        with_one(*pieces)
    }

    fn end(&self) -> u64 {
        self.pieces.span().map_or(0, |span| span.end)
    }
}

/// The file as the first write found it.
#[derive(Clone, Copy, Debug)]
struct Basis {
    /// The size that is committed.
    size: u64,
    /// Bytes that the share has left.
    room: u64,
}

#[derive(Debug, Default)]
struct State {
    gathered: Batch,
    committing: Option<Arc<Batch>>,
    /// Commits begun.
    generation: u64,
    /// Operations under way beside which nothing may wait.
    calm: usize,
    failed: bool,
    basis: Option<Basis>,
    /// When the oldest write that is gathered came, in monotonic time.
    since: Duration,
    /// Nobody finds it any more: look again.
    gone: bool,
}

/// One file with writes that wait.
#[derive(Debug, Default)]
pub(super) struct Entry {
    state: Mutex<State>,
    /// Whoever holds it commits.
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
}

/// What came of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// As the rules say; with `Keep` and `KeepAndCommit` it is in.
    As(Verdict),
    /// It has to be said first what the file is like.
    Unknown,
    /// The entry is gone: look again.
    Gone,
}

/// What a reader sees of what waits.
pub(super) struct View {
    pub(super) generation: u64,
    /// What was written in the range, older below newer.
    pub(super) over: Vec<(u64, Piece)>,
    /// Where the last write ends.
    pub(super) end: u64,
}

impl Entry {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a write, if it may wait. `all` counts the bytes of all files.
    pub(super) fn take(&self, offset: u64, piece: &Piece, all: &AtomicU64, now: Duration) -> Taken {
        let mut state = self.state();
        if state.gone {
            return Taken::Gone;
        }
        let Some(basis) = state.basis else { return Taken::Unknown };
        let end = offset.saturating_add(piece.length());
        let (first, last) = (offset / CHUNK_BYTES, end.saturating_sub(1) / CHUNK_BYTES);
        let in_chunk = (first..=last).map(|chunk| state.gathered.pieces_of(chunk)).max();
        let gathered = &state.gathered;
        let new = (first..=last).filter(|chunk| !gathered.chunks.contains_key(chunk)).count();
        let growth = end.max(gathered.end()).saturating_sub(basis.size);
        let verdict = verdict(&Waiting {
            bytes: gathered.pieces.memory().saturating_add(piece.memory()),
            pieces: gathered.pieces.count() + 1,
            chunks: gathered.chunks.len() + new,
            in_chunk: in_chunk.unwrap_or(0),
            all_bytes: all.load(Ordering::Relaxed).saturating_add(piece.memory()),
            others: !gathered.pieces.is_empty() || state.committing.is_some(),
            calm: state.calm > 0,
            failed: state.failed,
            fits: growth <= basis.room,
            committing: state.committing.is_some(),
        });
        if matches!(verdict, Verdict::Keep | Verdict::KeepAndCommit) {
            if state.gathered.pieces.is_empty() {
                state.since = now;
            }
            for chunk in first..=last {
                let pieces = state.gathered.pieces_of(chunk);
                state.gathered.chunks.insert(chunk, pieces);
            }
            let before = state.gathered.pieces.memory();
            state.gathered.pieces.write(offset, piece.clone());
            count(all, before, state.gathered.pieces.memory());
        }
        Taken::As(verdict)
    }

    /// Says what the file is like: its size, and the bytes that the share has left.
    pub(super) fn found(&self, size: u64, room: u64) {
        self.state().basis.get_or_insert(Basis { size, room });
    }

    /// What waits of a range.
    pub(super) fn view(&self, range: Range<u64>) -> View {
        let state = self.state();
        let mut over = Vec::new();
        let mut end = state.gathered.end();
        if let Some(committing) = &state.committing {
            over = committing.pieces.within(range.clone());
            end = end.max(committing.end());
        }
        over.extend(state.gathered.pieces.within(range));
        View { generation: state.generation, over, end }
    }

    /// How many commits were begun.
    pub(super) fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Whether anything waits.
    pub(super) fn is_dirty(&self) -> bool {
        let state = self.state();
        !state.gathered.pieces.is_empty() || state.committing.is_some()
    }

    /// Whether something has waited since `before`, and nobody has seen it fail.
    pub(super) fn is_due(&self, before: Duration) -> bool {
        let state = self.state();
        !state.failed && !state.gathered.pieces.is_empty() && state.since <= before
    }

    /// Whether the last commit failed.
    pub(super) fn has_failed(&self) -> bool {
        self.state().failed
    }

    /// From now on, until [`Entry::let_wait`], no write waits; not if the entry is gone.
    pub(super) fn calm(&self) -> bool {
        let mut state = self.state();
        if !state.gone {
            state.calm += 1;
        }
        !state.gone
    }

    /// Ends what [`Entry::calm`] began.
    pub(super) fn let_wait(&self) {
        let mut state = self.state();
        state.calm = state.calm.saturating_sub(1);
        // What was done meanwhile may have changed it.
        state.basis = None;
    }

    /// Takes out what is gathered, to be committed; it is seen until that is done.
    pub(super) fn begin(&self) -> Option<Arc<Batch>> {
        let mut state = self.state();
        if state.gathered.pieces.is_empty() {
            return None;
        }
        let batch = Arc::new(std::mem::take(&mut state.gathered));
        state.committing = Some(batch.clone());
        state.generation += 1;
        Some(batch)
    }

    /// The batch is committed, or will never be.
    pub(super) fn done(&self, all: &AtomicU64) {
        let mut state = self.state();
        state.failed = false;
        state.basis = None;
        if let Some(batch) = state.committing.take() {
            count(all, batch.pieces.memory(), 0);
        }
    }

    /// The batch is not committed: it waits again, below what came after it.
    pub(super) fn failed(&self, all: &AtomicU64) {
        let mut state = self.state();
        state.failed = true;
        state.basis = None;
        let Some(batch) = state.committing.take() else { return };
        let before = state.gathered.pieces.memory().saturating_add(batch.pieces.memory());
        state.gathered.pieces.put_below(&batch.pieces);
        for (chunk, pieces) in &batch.chunks {
            *state.gathered.chunks.entry(*chunk).or_default() += pieces;
        }
        count(all, before, state.gathered.pieces.memory());
    }

    /// Forgets what is gathered.
    pub(super) fn discard(&self, all: &AtomicU64) {
        let mut state = self.state();
        let gathered = std::mem::take(&mut state.gathered);
        count(all, gathered.pieces.memory(), 0);
        (state.failed, state.basis) = (false, None);
    }

    /// Marks the entry as gone if nobody needs it.
    pub(super) fn retire(&self) -> bool {
        let mut state = self.state();
        let idle = state.gathered.pieces.is_empty() && state.committing.is_none();
        state.gone |= idle && state.calm == 0;
        state.gone
    }
}

fn count(all: &AtomicU64, before: u64, after: u64) {
    if after >= before {
        all.fetch_add(after - before, Ordering::Relaxed);
    } else {
        all.fetch_sub(before - after, Ordering::Relaxed);
    }
}
