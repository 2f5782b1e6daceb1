//! The map of one chunk: disjoint pieces in order, with gaps between them.

use alloc::vec::Vec;
use core::ops::Range;

/// Some bytes of a chunk and where they come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<S> {
    /// Where in the chunk.
    pub at: u32,
    /// How many; never 0.
    pub length: u32,
    /// What holds them.
    pub source: S,
    /// Where they start in what holds them.
    pub skip: u32,
}

impl<S: Copy> Piece<S> {
    /// Behind its last byte.
    pub fn end(&self) -> u32 {
        self.at.saturating_add(self.length)
    }

    /// What of it lies in `range`.
    pub fn within(&self, range: &Range<u32>) -> Option<Self> {
        let (from, to) = (self.at.max(range.start), self.end().min(range.end));
        let skip = self.skip.saturating_add(from - self.at.min(from));
        (from < to).then(|| Self { at: from, length: to - from, source: self.source, skip })
    }
}

/// What a chunk holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map<S>(Vec<Piece<S>>);

impl<S> Default for Map<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: Copy + PartialEq> Map<S> {
    /// A map of pieces that are in order; `None` if two of them overlap or one is empty.
    pub fn from_pieces(pieces: Vec<Piece<S>>) -> Option<Self> {
        let mut end = 0;
        for piece in &pieces {
            if piece.length == 0 || piece.at < end {
                return None;
            }
            end = piece.end();
        }
        Some(Self(pieces))
    }

    /// The pieces, in order.
    pub fn pieces(&self) -> &[Piece<S>] {
        &self.0
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts a piece over what was there.
    pub fn write(&mut self, piece: Piece<S>) {
        self.clear(piece.at..piece.end());
        if piece.length == 0 {
            return;
        }
        let index = self.0.partition_point(|other| other.at < piece.at);
        // What goes on where its neighbour ends, in the same bytes, is one piece.
        if let Some(before) = index.checked_sub(1).and_then(|i| self.0.get_mut(i))
            && before.end() == piece.at
            && before.source == piece.source
            && before.skip.checked_add(before.length) == Some(piece.skip)
        {
            before.length += piece.length;
            return;
        }
        self.0.insert(index, piece);
    }

    /// Takes away whatever lies in `range`.
    pub fn clear(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|piece| piece.end() <= range.start);
        let last = self.0.partition_point(|piece| piece.at < range.end);
        if first >= last {
            return;
        }
        let left = self.0[first].within(&(0..range.start));
        let right = self.0[last - 1].within(&(range.end..u32::MAX));
        self.0.splice(first..last, left.into_iter().chain(right));
    }

    /// What lies in `range`, in order.
    pub fn within(&self, range: Range<u32>) -> impl Iterator<Item = Piece<S>> {
        let first = self.0.partition_point(|piece| piece.end() <= range.start);
        self.0[first..].iter().map_while(move |piece| piece.within(&range))
    }

    /// What is there, without regard to where it comes from: ranges that do not touch.
    pub fn present(&self) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for piece in &self.0 {
            match ranges.last_mut() {
                Some(last) if last.end == piece.at => last.end = piece.end(),
                _ => ranges.push(piece.at..piece.end()),
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    /// Each byte as the letter of its source and its place in it.
    fn shown(map: &Map<char>) -> Vec<(u32, char, u32)> {
        let bytes = |p: &Piece<char>| {
            let p = *p;
            (0..p.length).map(move |i| (p.at + i, p.source, p.skip + i))
        };
        map.pieces().iter().flat_map(bytes).collect()
    }

    /// A plain model: one entry for each byte.
    fn check(steps: &[(&str, u32, u32, u32)]) {
        let mut map = Map::default();
        let mut model: [Option<(char, u32)>; 32] = [None; 32];
        for (source, at, length, skip) in steps.iter().copied() {
            let source = source.chars().next();
            match source {
                Some(source) => map.write(Piece { at, length, source, skip }),
                None => map.clear(at..at + length),
            }
            for i in 0..length {
                let byte = source.map(|source| (source, skip + i));
                if let Some(slot) = usize::try_from(at + i).ok().and_then(|i| model.get_mut(i)) {
                    *slot = byte;
                }
            }
            let want: Vec<_> = (0..)
                .zip(model)
                .filter_map(|(at, byte): (u32, _)| byte.map(|(source, skip)| (at, source, skip)))
                .collect();
            assert_eq!(shown(&map), want, "after {source:?} {at}+{length}");
            assert_eq!(map.is_empty(), want.is_empty());
            assert!(Map::from_pieces(map.pieces().to_vec()).is_some(), "in order");
        }
    }

    #[test]
    fn every_write_over_every_other() {
        for at in 0..12 {
            for length in 0..12 {
                check(&[("a", 4, 4, 10), ("b", at, length, 0)]);
                check(&[("a", 0, 4, 0), ("b", 6, 4, 9), ("", at, length, 0)]);
                check(&[("a", 2, 8, 0), ("b", 5, 1, 0), ("c", at, length, 3), ("", 0, 32, 0)]);
            }
        }
    }

    #[test]
    fn what_follows_in_the_same_bytes_is_one_piece() {
        let mut map = Map::default();
        for at in [0, 4, 8] {
            map.write(Piece { at, length: 4, source: 'a', skip: at + 100 });
        }
        assert_eq!(map.pieces().len(), 1);
        map.write(Piece { at: 12, length: 4, source: 'a', skip: 0 });
        assert_eq!(map.pieces().len(), 2);
        assert_eq!(map.present(), core::slice::from_ref(&(0..16)));
        map.clear(6..7);
        assert_eq!(map.present(), [0..6, 7..16]);
        let text: String = map.within(5..13).map(|piece| piece.source).collect();
        assert_eq!(text, "aaa");
        assert_eq!(map.within(20..30).count(), 0);
    }

    #[test]
    fn nonsense_is_no_map() {
        let piece = |at, length| Piece { at, length, source: 'a', skip: 0 };
        for pieces in [[piece(0, 2), piece(1, 1)], [piece(4, 1), piece(0, 1)], [piece(0, 0); 2]] {
            assert_eq!(Map::from_pieces(pieces.to_vec()), None);
        }
    }
}
