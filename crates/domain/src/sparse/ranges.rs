//! Ranges of a whole content, gathered chunk by chunk, a page at a time.

use super::changes::Change;
use alloc::vec::Vec;
use core::ops::Range;

/// A range of a content and what is to be said of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Whether it is there or was written, or was cleared.
    pub change: Change,
    /// Where.
    pub bytes: Range<u64>,
}

/// Ranges that arrive in order and are put together where they touch.
#[derive(Debug)]
pub struct Ranges {
    window: Range<u64>,
    most: usize,
    found: Vec<Found>,
    /// Where a range starts that did not fit.
    next: Option<u64>,
}

impl Ranges {
    /// At most `most` ranges, cut to `window`.
    pub fn new(window: Range<u64>, most: usize) -> Self {
        Self { window, most, found: Vec::new(), next: None }
    }

    /// Adds the next range.
    pub fn add(&mut self, change: Change, bytes: Range<u64>) {
        let bytes = bytes.start.max(self.window.start)..bytes.end.min(self.window.end);
        if bytes.is_empty() || self.is_full() {
            return;
        }
        let full = self.found.len() == self.most;
        match self.found.last_mut() {
            Some(last) if last.change == change && last.bytes.end == bytes.start => {
                last.bytes.end = bytes.end;
            }
            _ if full => self.next = Some(bytes.start),
            _ => self.found.push(Found { change, bytes }),
        }
    }

    /// Whether a range came that did not fit: nothing more is needed.
    pub fn is_full(&self) -> bool {
        self.next.is_some()
    }

    /// The ranges, and where the next page starts.
    pub fn finish(self) -> (Vec<Found>, Option<u64>) {
        (self.found, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Change::{Cleared, Written};

    #[test]
    fn pages() {
        let input = [
            (Written, 0..10),
            (Written, 10..20),
            (Cleared, 20..30),
            (Written, 30..40),
            (Written, 50..60),
        ];
        for (window, most, want, next) in [
            (
                0..100,
                9,
                &[(Written, 0..20), (Cleared, 20..30), (Written, 30..40), (Written, 50..60)][..],
                None,
            ),
            (
                0..100,
                4,
                &[(Written, 0..20), (Cleared, 20..30), (Written, 30..40), (Written, 50..60)],
                None,
            ),
            (0..100, 3, &[(Written, 0..20), (Cleared, 20..30), (Written, 30..40)], Some(50)),
            (0..100, 1, &[(Written, 0..20)], Some(20)),
            (5..15, 9, &[(Written, 5..15)], None),
            (35..55, 9, &[(Written, 35..40), (Written, 50..55)], None),
            (40..50, 9, &[], None),
        ] {
            let mut ranges = Ranges::new(window.clone(), most);
            for (change, bytes) in input.clone() {
                ranges.add(change, bytes);
            }
            assert_eq!(ranges.is_full(), next.is_some());
            let (found, after) = ranges.finish();
            let found: Vec<_> = found.into_iter().map(|f| (f.change, f.bytes)).collect();
            assert_eq!((found.as_slice(), after), (want, next), "{window:?} {most}");
        }
    }
}
