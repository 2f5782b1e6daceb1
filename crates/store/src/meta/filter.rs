//! Which keys a table of rows surely does not have.
//!
//! Must never say so of a key that was added.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// Places for keys: some for each row that fits into memory between two checkpoints.
const BITS: u64 = 1 << 18;

/// One bit for every key that was added, at a place that other keys may share.
#[derive(Debug)]
pub(crate) struct Filter {
    words: Box<[AtomicU64]>,
    /// Seeded anew for every table: nobody can choose keys that share their places.
    hasher: RandomState,
}

impl Default for Filter {
    fn default() -> Self {
        let words = (0..BITS / 64).map(|_| AtomicU64::new(0)).collect();
        Self { words, hasher: RandomState::default() }
    }
}

impl Filter {
    fn place(&self, key: &[u8]) -> (usize, u64) {
        let place = self.hasher.hash_one(key) % BITS;
        (usize::try_from(place / 64).unwrap_or(0), 1 << (place % 64))
    }

    /// Adds a key. Whoever learns of its row by other means sees it here too: the commit that
    /// wrote the row is announced later.
    pub(crate) fn add(&self, key: &[u8]) {
        let (word, bit) = self.place(key);
        self.words[word].fetch_or(bit, Ordering::Release);
    }

    /// Whether the key may have been added.
    pub(crate) fn may_have(&self, key: &[u8]) -> bool {
        let (word, bit) = self.place(key);
        self.words[word].load(Ordering::Acquire) & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_forgotten_and_few_are_made_up() {
        let filter = Filter::default();
        let key = |n: u32| format!("account/container/{n}").into_bytes();
        (0..10_000).for_each(|n| filter.add(&key(n)));
        assert!((0..10_000).all(|n| filter.may_have(&key(n))));
        let made_up = (10_000..20_000).filter(|n| filter.may_have(&key(*n))).count();
        assert!(made_up < 1_000, "{made_up}");
    }
}
