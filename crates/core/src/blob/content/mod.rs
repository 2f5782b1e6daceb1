//! The bytes of blobs and blocks: received into inline rows or extents, read back, freed.
//!
//! Must never change a content that exists, and never buffer one whole.

pub(crate) mod claim;
pub(crate) mod free;
pub(crate) mod manifest;
pub(crate) mod read;
mod unclaimed;
pub(crate) mod upload;

/// Content of at most so many bytes is kept in the metadata: one sync instead of two.
pub(crate) const INLINE_MAX: usize = 8 * 1024;

/// Bytes in every extent of a content but the last. Each upload buffers one, and two more are on
/// their way to the disk.
pub(crate) const PIECE: u32 = 1024 * 1024;

/// Extents on their way to the disk for one upload.
const IN_FLIGHT: usize = 2;

/// Extent rows that a deciding transaction writes itself; more are written before it.
const PIECES_PER_COMMIT: usize = 256;

/// Bytes read from the disk at once; a download holds two of these.
const READ_SLICE: u64 = 512 * 1024;
