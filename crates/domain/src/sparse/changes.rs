//! What differs between two states of a chunk.
//!
//! Must never compare bytes: what was written again counts as changed, even with the same bytes.

use super::map::Map;
use alloc::vec::Vec;
use core::ops::Range;

/// What happened to a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It was written.
    Written,
    /// It was there and was cleared.
    Cleared,
}

/// The ranges whose bytes come from elsewhere in `new` than in `old`, in order. Neighbours with the
/// same change are one range.
pub fn changes<S: Copy + PartialEq>(old: &Map<S>, new: &Map<S>) -> Vec<(Change, Range<u32>)> {
    let mut found: Vec<(Change, Range<u32>)> = Vec::new();
    let edges = |map: &Map<S>| -> Vec<u32> {
        map.pieces().iter().flat_map(|piece| [piece.at, piece.end()]).collect()
    };
    let mut cuts = edges(old);
    cuts.extend(edges(new));
    cuts.sort_unstable();
    cuts.dedup();
    for pair in cuts.windows(2) {
        let [from, to] = *pair else { continue };
        let here =
            |map: &Map<S>| map.within(from..to).next().map(|piece| (piece.source, piece.skip));
        let change = match (here(old), here(new)) {
            (before, Some(after)) if before != Some(after) => Change::Written,
            (Some(_), None) => Change::Cleared,
            _ => continue,
        };
        match found.last_mut() {
            Some((last, range)) if *last == change && range.end == from => range.end = to,
            _ => found.push((change, from..to)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Piece;
    use Change::{Cleared, Written};

    fn map(pieces: &[(u32, u32, char, u32)]) -> Map<char> {
        let piece = |&(at, length, source, skip): &(u32, u32, char, u32)| Piece {
            at,
            length,
            source,
            skip,
        };
        Map::from_pieces(pieces.iter().map(piece).collect()).unwrap_or_default()
    }

    #[test]
    fn rows() {
        let base = map(&[(0, 8, 'a', 0), (12, 4, 'b', 0)]);
        for (new, want) in [
            (base.clone(), &[][..]),
            (map(&[]), &[(Cleared, 0..8), (Cleared, 12..16)]),
            (map(&[(0, 8, 'a', 0), (12, 4, 'c', 0)]), &[(Written, 12..16)]),
            (map(&[(0, 8, 'a', 4), (12, 4, 'b', 0)]), &[(Written, 0..8)]),
            (
                map(&[(0, 2, 'a', 0), (2, 2, 'x', 0), (6, 2, 'a', 6), (12, 4, 'b', 0)]),
                &[(Written, 2..4), (Cleared, 4..6)],
            ),
            (
                map(&[(0, 8, 'a', 0), (8, 8, 'd', 0), (20, 1, 'd', 8)]),
                &[(Written, 8..16), (Written, 20..21)],
            ),
            (map(&[(0, 4, 'x', 0), (4, 4, 'y', 0), (12, 4, 'b', 0)]), &[(Written, 0..8)]),
        ] {
            assert_eq!(changes(&base, &new), want, "{new:?}");
        }
        assert_eq!(changes(&map(&[]), &base), [(Written, 0..8), (Written, 12..16)]);
    }
}
