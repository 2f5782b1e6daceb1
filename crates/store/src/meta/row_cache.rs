//! Rows of one state of the tree that were read lately, verified and ready to be shared, and keys
//! that were seen to have none.
//!
//! Must never outlive its state: a state does not change, so what was read from it stays true.

use super::memtable::Written;
use bytes::Bytes;
use foldhash::fast::RandomState;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory for all rows together.
const BYTES: usize = 16 * 1024 * 1024;
/// Rows longer than this are read from the tree each time.
const LONGEST: usize = 16 * 1024;
/// Parts with a lock of their own, so that readers seldom meet.
const SHARDS: usize = 16;
/// What a row costs beside its key and value.
const OVERHEAD: usize = 160;

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct RowCache {
    shards: [Mutex<Shard>; SHARDS],
    /// Seeded anew for every state: nobody can choose names that meet in one shard.
    hasher: RandomState,
}

#[derive(Debug)]
struct Kept {
    /// `None`: there is no such row. Every write looks for some that are not there.
    value: Written,
    /// Asked for since it was last passed over.
    used: bool,
}

/// Rows in a ring: whoever comes first goes first, but what was asked for meanwhile goes round once
/// more. A hit moves nothing.
#[derive(Debug, Default)]
struct Shard {
    rows: HashMap<Arc<[u8]>, Kept, RandomState>,
    ring: VecDeque<Arc<[u8]>>,
    bytes: usize,
}

fn cost(key: &[u8], value: Option<&Bytes>) -> usize {
    key.len() + value.map_or(0, Bytes::len) + OVERHEAD
}

impl Shard {
    fn get(&mut self, key: &[u8]) -> Option<Written> {
        let kept = self.rows.get_mut(key)?;
        kept.used = true;
        Some(kept.value.clone())
    }

    fn put(&mut self, key: &[u8], value: Written) {
        let cost = cost(key, value.as_ref());
        while self.bytes + cost > BYTES / SHARDS && self.drop_one() {}
        let key: Arc<[u8]> = key.into();
        // Two readers may have missed it at once; what they read is the same.
        if let Entry::Vacant(place) = self.rows.entry(Arc::clone(&key)) {
            place.insert(Kept { value, used: false });
            self.ring.push_back(key);
            self.bytes += cost;
        }
    }

    /// Drops the next row that nobody asked for; false if there is none.
    fn drop_one(&mut self) -> bool {
        while let Some(key) = self.ring.pop_front() {
            match self.rows.get_mut(&key) {
                Some(kept) if kept.used => {
                    kept.used = false;
                    self.ring.push_back(key);
                }
                Some(kept) => {
                    self.bytes -= cost(&key, kept.value.as_ref());
                    self.rows.remove(&key);
                    return true;
                }
                None => {}
            }
        }
        false
    }
}

impl RowCache {
    fn shard(&self, key: &[u8]) -> MutexGuard<'_, Shard> {
        let number = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or(0) % SHARDS;
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read under the key lately; the outer `None` = it was not read.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Written> {
        self.shard(key).get(key)
    }

    /// Keeps what was read for the next reader.
    pub(crate) fn put(&self, key: &[u8], value: Written) {
        if value.as_ref().map_or(0, Bytes::len) <= LONGEST {
            self.shard(key).put(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_returns_what_was_put_and_stays_small() {
        let cache = RowCache::default();
        cache.put(b"often", None);
        for number in 0..20_000_u32 {
            let key = number.to_be_bytes();
            let value = Some(Bytes::from(vec![number.to_le_bytes()[0]; 4096]));
            cache.put(&key, value.clone());
            // Two readers missed it at once.
            cache.put(&key, value.clone());
            if number % 16 == 0 {
                assert_eq!(cache.get(&key), Some(value));
            }
            // Asked for all the time, so it stays.
            assert_eq!(cache.get(b"often"), Some(None));
        }
        let mut held = 0;
        for shard in &cache.shards {
            let shard = shard.lock().expect("no panic");
            let sum: usize =
                shard.rows.iter().map(|(key, kept)| cost(key, kept.value.as_ref())).sum();
            assert_eq!((sum, shard.rows.len()), (shard.bytes, shard.ring.len()));
            assert!(sum <= BYTES / SHARDS, "{sum}");
            held += shard.rows.len();
        }
        assert!((3_500..=BYTES / 4096).contains(&held), "{held}");
        cache.put(b"long", Some(vec![0; LONGEST + 1].into()));
        assert_eq!(cache.get(b"long"), None);
        assert_eq!(cache.get(b"never"), None);
    }
}
