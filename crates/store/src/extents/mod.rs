//! Bytes: immutable extents in append-only segment files.
//!
//! Must never know what the bytes mean. A returned reference is durable; a read is verified.

use crate::meta::Placement;

/// Largest payload of one extent.
pub const MAX_EXTENT: usize = 4 * 1024 * 1024;

/// The row that names an extent, stored in its record so that compaction finds the row to rewrite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// Where the row lives.
    pub placement: Placement,
    /// Its key.
    pub key: Vec<u8>,
}

/// Where an extent's record is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExtentRef {
    /// The segment file's number.
    pub segment: u32,
    /// Offset of the record in it.
    pub offset: u64,
    /// Length of the payload.
    pub length: u32,
}
