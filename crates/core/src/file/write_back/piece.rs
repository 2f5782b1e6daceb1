//! Bytes that wait, as they came.

use bytes::{Bytes, BytesMut};
use std::ops::Range;
use zaffre_domain::fs::pieces::Stretch;

/// What a piece costs beside its bytes.
const OVERHEAD: u64 = 128;

/// Some bytes of a write.
#[derive(Clone, Debug)]
pub(in crate::file) struct Piece {
    pub(in crate::file) bytes: Bytes,
    /// Bytes of the memory that they are a part of.
    backing: u64,
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

impl Piece {
    /// Bytes that nobody else keeps.
    pub(in crate::file) fn new(bytes: Bytes) -> Self {
        let backing = length(&bytes);
        Self { bytes, backing }
    }
}

impl Stretch for Piece {
    fn length(&self) -> u64 {
        length(&self.bytes)
    }

    fn part(&self, range: Range<u64>) -> Self {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let bytes = self.bytes.slice(at(range.start)..at(range.end));
        // A little that is left of much does not keep it all.
        if length(&bytes) < self.backing / 2 {
            return Self::new(Bytes::copy_from_slice(&bytes));
        }
        Self { bytes, backing: self.backing }
    }

    fn joined(&self, behind: &Self) -> Self {
        let mut both = BytesMut::with_capacity(self.bytes.len() + behind.bytes.len());
        both.extend_from_slice(&self.bytes);
        both.extend_from_slice(&behind.bytes);
        Self::new(both.freeze())
    }

    fn memory(&self) -> u64 {
        self.backing.saturating_add(OVERHEAD)
    }
}
