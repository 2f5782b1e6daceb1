//! Sparse content: bytes written in any order into one content, cheap to snapshot.
//!
//! Must never change a row that somebody may look at as of an earlier commit: every write adds a
//! layer, and layers go away when no snapshot and no reader can see them any more.

mod copy;
mod fold;
mod free;
mod keys;
mod load;
mod owner;
mod queue;
mod read;
mod readers;
mod receive;
mod rows;
mod scan;
mod write;

pub(crate) use copy::{next_chunk, pack, put_whole};
pub(crate) use fold::{Folded, fold_clears, trim};
pub(crate) use free::{free, whole_chunks};
pub(crate) use keys::SparseKeys;
pub(crate) use queue::{Queue, look, wait_if_heavy, work};
pub(crate) use read::{CHUNK, slice};
pub(crate) use readers::{ReaderGuard, Readers};
pub(crate) use receive::{Payload, Sums, receive, receive_sealed, write, write_sealed};
pub(crate) use rows::Label;
pub(crate) use scan::{Comparison, scan};
pub(crate) use write::{Landed, OfChunk, TooManyClears, clear, label, land};

/// Chunks a clear may touch one by one; a wider one is a row of its own for the whole content.
const NARROW_CHUNKS: u64 = 4;

/// Wide clears that may wait to be worked into the chunks.
const WIDE_CLEARS: usize = 64;

/// Small writes in a chunk after which they are folded into an extent.
const FOLD_WRITES: usize = 32;

/// Bytes of small writes in a chunk after which they are folded.
const FOLD_BYTES: usize = 128 * 1024;

/// Small writes, and their bytes, in a chunk after which a writer waits for them to be folded.
const HEAVY_WRITES: usize = 1_024;
const HEAVY_BYTES: usize = 2 * 1024 * 1024;

/// Layers folded by one transaction.
const LAYERS_PER_FOLD: usize = 256;

/// Pieces of a chunk beyond which a fold writes its bytes anew, as one extent.
const CRUMBS: usize = 256;

/// Chunks folded at the same time.
const FOLDS_TOGETHER: usize = 8;
