//! Rows of one state of the tree that were read lately, verified and ready to be copied.
//!
//! Must never outlive its state: a state does not change, so what was read from it stays true.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use zaffre_base::checksum::crc32c;

/// Memory for all rows together.
const BYTES: usize = 16 * 1024 * 1024;
/// Rows longer than this are read from the tree each time.
const LONGEST: usize = 16 * 1024;
/// Parts with a lock of their own, so that readers seldom meet.
const SHARDS: usize = 16;
/// What a row costs beside its key and value.
const OVERHEAD: usize = 96;

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct RowCache([Mutex<Shard>; SHARDS]);

type Rows = HashMap<Box<[u8]>, Box<[u8]>>;

/// What was read since the last turn, and before it. What is asked for again moves to the young
/// ones; the rest is gone two turns later.
#[derive(Debug, Default)]
struct Shard {
    young: Rows,
    old: Rows,
    young_bytes: usize,
}

impl Shard {
    fn put(&mut self, key: Box<[u8]>, value: Box<[u8]>) {
        let cost = key.len() + value.len() + OVERHEAD;
        if self.young_bytes + cost > BYTES / SHARDS / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(key, value).is_none() {
            self.young_bytes += cost;
        }
    }
}

impl RowCache {
    fn shard(&self, key: &[u8]) -> MutexGuard<'_, Shard> {
        let number = usize::try_from(crc32c(key)).unwrap_or(0) % SHARDS;
        self.0[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row's value if it was read lately.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut shard = self.shard(key);
        if let Some(value) = shard.young.get(key) {
            return Some(value.to_vec());
        }
        let (key, value) = shard.old.remove_entry(key)?;
        let copy = value.to_vec();
        shard.put(key, value);
        Some(copy)
    }

    /// Keeps a row for the next reader.
    pub(crate) fn put(&self, key: &[u8], value: &[u8]) {
        if value.len() <= LONGEST {
            self.shard(key).put(key.into(), value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_returns_what_was_put_and_stays_small() {
        let cache = RowCache::default();
        cache.put(b"often", b"x");
        for number in 0..20_000_u32 {
            let key = number.to_be_bytes();
            cache.put(&key, &[number.to_le_bytes()[0]; 4096]);
            assert_eq!(cache.get(&key), Some(vec![number.to_le_bytes()[0]; 4096]));
            // Asked for all the time, so it stays.
            assert_eq!(cache.get(b"often").as_deref(), Some(&b"x"[..]));
        }
        let rows = |shard: &Shard| shard.young.len() + shard.old.len();
        let held: usize = cache.0.iter().map(|s| rows(&s.lock().expect("no panic"))).sum();
        assert!((1_500..=BYTES / 4096).contains(&held), "{held}");
        cache.put(b"long", &vec![0; LONGEST + 1]);
        assert_eq!(cache.get(b"long"), None);
        assert_eq!(cache.get(b"never"), None);
    }
}
