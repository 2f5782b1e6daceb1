//! Bytes of a file that were written and are not committed: the newest of each place, in order.
//!
//! Must never lose a byte: what a later write leaves of an earlier one stays.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

/// Neighbours are joined up to so many bytes, so that many small writes in order are few pieces.
pub const JOINED_BYTES: u64 = 64 * 1024;

/// Some bytes that can be cut and joined.
pub trait Stretch: Clone {
    /// How many; never none.
    fn length(&self) -> u64;
    /// A part that is inside.
    #[must_use]
    fn part(&self, range: Range<u64>) -> Self;
    /// These and those behind them.
    #[must_use]
    fn joined(&self, behind: &Self) -> Self;
    /// The memory that they keep.
    fn memory(&self) -> u64;
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Pieces<B> {
    /// By offset; they never overlap.
    pieces: BTreeMap<u64, B>,
    memory: u64,
}

impl<B> Default for Pieces<B> {
    fn default() -> Self {
        Self { pieces: BTreeMap::new(), memory: 0 }
    }
}

impl<B: Stretch> Pieces<B> {
    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many pieces there are.
    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// The memory that they keep.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Where the first begins and the last ends.
    pub fn span(&self) -> Option<Range<u64>> {
        let (first, _) = self.pieces.first_key_value()?;
        let (last, bytes) = self.pieces.last_key_value()?;
        Some(*first..last.saturating_add(bytes.length()))
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &B)> {
        self.pieces.iter().map(|(offset, bytes)| (*offset, bytes))
    }

    /// How many of them touch a range.
    pub fn count_in(&self, range: Range<u64>) -> usize {
        let before = self.pieces.range(..range.start).next_back();
        let reaches = before.is_some_and(|(at, b)| at.saturating_add(b.length()) > range.start);
        usize::from(reaches) + self.pieces.range(range).count()
    }

    /// What lies in a range, cut to it, in order.
    pub fn within(&self, range: Range<u64>) -> Vec<(u64, B)> {
        if range.is_empty() {
            return Vec::new();
        }
        let first = self.pieces.range(..=range.start).next_back().map_or(0, |(offset, _)| *offset);
        let cut = |(offset, bytes): (&u64, &B)| {
            let from = range.start.max(*offset);
            let to = range.end.min(offset.saturating_add(bytes.length()));
            (from < to).then(|| (from, bytes.part(from - offset..to - offset)))
        };
        self.pieces.range(first..range.end).filter_map(cut).collect()
    }

    /// Writes over what is there.
    pub fn write(&mut self, offset: u64, bytes: B) {
        let end = offset.saturating_add(bytes.length());
        self.cut_out(offset..end);
        self.put(offset, bytes);
        self.join_before(offset);
    }

    /// Puts what was written earlier below what is there.
    pub fn put_below(&mut self, older: &Self) {
        let newer = core::mem::replace(self, older.clone());
        for (offset, bytes) in newer.pieces {
            self.write(offset, bytes);
        }
    }

    fn put(&mut self, offset: u64, bytes: B) {
        self.memory = self.memory.saturating_add(bytes.memory());
        self.pieces.insert(offset, bytes);
    }

    fn take(&mut self, offset: u64) -> Option<B> {
        let bytes = self.pieces.remove(&offset)?;
        self.memory = self.memory.saturating_sub(bytes.memory());
        Some(bytes)
    }

    fn cut_out(&mut self, range: Range<u64>) {
        let first = self.pieces.range(..=range.start).next_back().map_or(0, |(offset, _)| *offset);
        let touched: Vec<u64> = self.pieces.range(first..range.end).map(|(at, _)| *at).collect();
        for at in touched {
            let end = self.pieces.get(&at).map_or(at, |bytes| at.saturating_add(bytes.length()));
            if end <= range.start {
                continue;
            }
            let Some(bytes) = self.take(at) else { continue };
            if at < range.start {
                self.put(at, bytes.part(0..range.start - at));
            }
            if end > range.end {
                self.put(range.end, bytes.part(range.end - at..end - at));
            }
        }
    }

    /// Joins a piece with those before it that it touches, as long as they are not much larger: so
    /// each byte is copied only a few times, however small the writes are.
    fn join_before(&mut self, offset: u64) {
        let mut at = offset;
        while let Some((before, earlier)) = self.pieces.range(..at).next_back() {
            let Some(later) = self.pieces.get(&at) else { return };
            let (left, right) = (earlier.length(), later.length());
            let touches = before.saturating_add(left) == at;
            let small = left.saturating_add(right) <= JOINED_BYTES;
            if !touches || !small || left > right.saturating_mul(2) {
                return;
            }
            let (before, whole) = (*before, earlier.joined(later));
            self.take(at);
            self.take(before);
            self.put(before, whole);
            at = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    impl Stretch for Vec<u8> {
        fn length(&self) -> u64 {
            u64::try_from(self.len()).expect("small")
        }

        fn part(&self, range: Range<u64>) -> Self {
            let at = |offset: u64| usize::try_from(offset).expect("small");
            self[at(range.start)..at(range.end)].to_vec()
        }

        fn joined(&self, behind: &Self) -> Self {
            [self.as_slice(), behind].concat()
        }

        fn memory(&self) -> u64 {
            self.length()
        }
    }

    /// The same with one byte after the other.
    #[test]
    fn as_a_plain_file_would_have_it() {
        const SIZE: usize = 300;
        let mut random = 0x2545_F491_4F6C_DD1D_u64;
        let mut draw = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % u64::try_from(below).expect("small")).expect("small")
        };
        for case in 0..200 {
            let mut pieces: Pieces<Vec<u8>> = Pieces::default();
            let mut plain: Vec<Option<u8>> = vec![None; SIZE];
            for step in 0..40_u8 {
                let (at, length) = (draw(SIZE - 20), 1 + draw(20));
                plain[at..at + length].fill(Some(step));
                pieces.write(u64::try_from(at).expect("small"), vec![step; length]);
                let memory: u64 = pieces.iter().map(|(_, bytes)| bytes.memory()).sum();
                assert_eq!(memory, pieces.memory());
            }
            let (from, to) = (draw(SIZE), draw(SIZE));
            let mut seen = vec![None; SIZE];
            let range = u64::try_from(from).expect("small")..u64::try_from(to).expect("small");
            for (at, bytes) in pieces.within(range) {
                let at = usize::try_from(at).expect("small");
                for (place, byte) in bytes.iter().enumerate() {
                    seen[at + place] = Some(*byte);
                }
            }
            if from < to {
                assert_eq!(seen[from..to], plain[from..to], "case {case}");
            }
            let last = plain.iter().rposition(Option::is_some).expect("written");
            let end = pieces.span().expect("written").end;
            assert_eq!(end, u64::try_from(last + 1).expect("small"));
        }
    }

    #[test]
    fn small_writes_in_order_are_few_pieces() {
        let mut pieces = Pieces::default();
        for at in 0..4096 {
            pieces.write(at, vec![7_u8]);
        }
        assert_eq!(pieces.span(), Some(0..4096));
        assert!(pieces.count() < 12, "{}", pieces.count());
        let few = pieces.count();
        pieces.write(9000, vec![1]);
        assert_eq!(pieces.count(), few + 1, "those that do not touch stay apart");
        let counts = [0..1, 4095..9000, 4096..9000, 4095..9001, 9001..9002];
        assert_eq!(counts.map(|range| pieces.count_in(range)), [1, 1, 0, 2, 0]);
    }

    #[test]
    fn what_is_put_below_is_older() {
        let (mut old, mut new) = (Pieces::default(), Pieces::default());
        old.write(0, vec![1_u8; 10]);
        new.write(5, vec![2_u8; 10]);
        new.put_below(&old);
        let all: Vec<u8> = new.within(0..15).into_iter().flat_map(|(_, bytes)| bytes).collect();
        assert_eq!(all, [&[1; 5][..], &[2; 10]].concat());
        assert_eq!(new.memory(), 15);
    }

    #[test]
    fn how_many_touch_a_range() {
        let mut pieces: Pieces<Vec<u8>> = Pieces::default();
        assert_eq!(pieces.count_in(0..100), 0);
        for at in [10, 30, 50] {
            pieces.write(at, vec![1; 5]);
        }
        for (range, want) in [
            (0..10, 0),
            (0..11, 1),
            (10..11, 1),
            (14..15, 1),
            (15..30, 0),
            (12..31, 2),
            (0..100, 3),
            (54..100, 1),
            (55..100, 0),
        ] {
            assert_eq!(pieces.count_in(range.clone()), want, "{range:?}");
            assert_eq!(pieces.within(range.clone()).len(), want, "{range:?}");
        }
    }

    #[test]
    fn neighbours_are_joined_unless_one_is_much_larger() {
        // Joined they are 64 KiB at most.
        let half = 32 * 1024;
        for (writes, want) in [
            (&[][..], 0),
            (&[(0, 4)], 1),
            (&[(0, 4), (4, 2)], 1),
            (&[(0, 5), (5, 2)], 2),
            (&[(0, 5), (5, 2), (7, 2)], 1),
            (&[(0, 4), (5, 4)], 2),
            (&[(4, 4), (0, 4)], 2),
            (&[(0, half), (half, half)], 1),
            (&[(0, half), (half, half + 1)], 2),
        ] {
            let mut pieces: Pieces<Vec<u8>> = Pieces::default();
            for (at, length) in writes {
                pieces.write(u64::try_from(*at).expect("small"), vec![1; *length]);
            }
            assert_eq!((pieces.count(), pieces.is_empty()), (want, want == 0), "{writes:?}");
            let all: usize = writes.iter().map(|(_, length)| length).sum();
            assert_eq!(pieces.memory(), u64::try_from(all).expect("small"));
        }
    }
}
