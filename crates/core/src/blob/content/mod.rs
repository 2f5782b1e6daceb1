//! The bytes of blobs and blocks: received into inline rows or extents, read back, freed.
//!
//! Must never change a content that exists, and never buffer one whole.

pub(crate) mod buffers;
pub(crate) mod claim;
pub(crate) mod digest;
pub(crate) mod free;
pub(crate) mod hashing;
pub(crate) mod manifest;
pub(crate) mod read;
mod together;
pub(crate) mod unclaimed;
pub(crate) mod upload;

/// Extents on their way to the disk for one upload.
const IN_FLIGHT: usize = 2;

/// Bytes read from the disk at once; a download holds two of these.
const READ_SLICE: u64 = 512 * 1024;

/// Slices below this are put together, so that a blob of many small blocks is not sent in crumbs.
const SMALL_SLICE: u64 = 64 * 1024;

/// Slices put together at most.
const SLICES_TOGETHER: usize = 256;
