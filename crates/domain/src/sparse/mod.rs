//! Sparse content: bytes that are written in any order, overwritten and cleared, in chunks.
//!
//! Must never see a byte: a piece says where its bytes come from, and what nothing was ever written
//! to, or was cleared, is a gap that reads as zeros.

mod changes;
mod map;
mod needed;
mod ranges;

pub use changes::{Change, changes};
pub use map::{Map, Piece};
pub use needed::{Layer, needed};
pub use ranges::{Found, Ranges};

use zaffre_base::limits::MIB;

/// Bytes in a chunk. What is written to one chunk is kept apart from every other.
pub const CHUNK_BYTES: u64 = MIB;

/// Some bytes of one chunk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Part {
    /// The number of the chunk.
    pub chunk: u32,
    /// Where in it.
    pub at: u32,
    /// How many; never 0.
    pub length: u32,
}

impl Part {
    /// Where the part starts in the content.
    pub fn offset(self) -> u64 {
        u64::from(self.chunk) * CHUNK_BYTES + u64::from(self.at)
    }
}

/// The part of `from..to` that starts it and ends with its chunk at the latest; `None` if there is
/// nothing left, or if it lies beyond the last chunk that can be numbered.
pub fn first_part(from: u64, to: u64) -> Option<Part> {
    let chunk = u32::try_from(from / CHUNK_BYTES).ok()?;
    let at = from % CHUNK_BYTES;
    let length = to.checked_sub(from)?.min(CHUNK_BYTES - at);
    let (at, length) = (u32::try_from(at).ok()?, u32::try_from(length).ok()?);
    (length > 0).then_some(Part { chunk, at, length })
}

/// `from..to`, cut at the chunks.
pub fn parts(from: u64, to: u64) -> impl Iterator<Item = Part> {
    let mut next = from;
    core::iter::from_fn(move || {
        let part = first_part(next, to)?;
        next += u64::from(part.length);
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn parts_end_with_their_chunks() {
        let c = CHUNK_BYTES;
        for (from, to, want) in [
            (0, 0, &[][..]),
            (5, 4, &[]),
            (0, 1, &[(0, 0, 1)]),
            (c - 1, c + 1, &[(0, c - 1, 1), (1, 0, 1)]),
            (0, 2 * c, &[(0, 0, c), (1, 0, c)]),
            (c + 7, 3 * c + 9, &[(1, 7, c - 7), (2, 0, c), (3, 0, 9)]),
            (u64::MAX - 1, u64::MAX, &[]),
        ] {
            let got: Vec<_> =
                parts(from, to).map(|p| (p.chunk, u64::from(p.at), u64::from(p.length))).collect();
            assert_eq!(got, want, "{from}..{to}");
        }
        assert_eq!(first_part(c + 7, c + 8).map(Part::offset), Some(c + 7));
    }
}
