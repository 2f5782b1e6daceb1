//! Counts and histograms that many threads raise at once without waiting for one another.
//!
//! Must never lock where something is counted, nor grow without end: a register has a fixed size.

use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts values by the first of some rising bounds that they do not exceed.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// One for each bound, and one for what exceeds the last.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// What a histogram held at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The bounds, with how many values did not exceed each.
    pub up_to: Vec<(u64, u64)>,
    /// How many values there were.
    pub count: u64,
    /// What they came to.
    pub sum: u64,
}

impl Histogram {
    /// An empty one with these bounds, rising.
    pub fn new(bounds: &'static [u64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    /// Counts one value.
    pub fn add(&self, value: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(at) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub fn read(&self) -> Counted {
        let mut count = 0;
        let mut up_to = Vec::with_capacity(self.bounds.len());
        for (at, here) in self.counts.iter().enumerate() {
            count += here.load(Ordering::Relaxed);
            up_to.extend(self.bounds.get(at).map(|bound| (*bound, count)));
        }
        Counted { up_to, count, sum: self.sum.load(Ordering::Relaxed) }
    }
}

/// A fixed number of places for values found by their key; a place once taken is kept for ever.
#[derive(Debug)]
pub struct Register<K, V> {
    places: Box<[OnceLock<(K, V)>]>,
}

impl<K: Hash + Eq + Copy, V> Register<K, V> {
    /// Room for `places` keys.
    pub fn new(places: usize) -> Self {
        Self { places: (0..places).map(|_| OnceLock::new()).collect() }
    }

    /// The value of `key`, made on first use. `None` when all places are taken by others.
    pub fn of(&self, key: K, fresh: impl Fn() -> V) -> Option<&V> {
        // Keys are names in the code: nobody chooses them to collide.
        let hash = FixedState::default().hash_one(key);
        let length = u64::try_from(self.places.len()).unwrap_or(u64::MAX);
        let start = usize::try_from(hash.checked_rem(length)?).unwrap_or_default();
        let (before, after) = self.places.split_at(start);
        let mut around = after.iter().chain(before);
        around.find_map(|place| {
            let (taken, value) = place.get_or_init(|| (key, fresh()));
            (*taken == key).then_some(value)
        })
    }

    /// Everything in it, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.places.iter().filter_map(OnceLock::get).map(|(key, value)| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms() {
        let histogram = Histogram::new(&[10, 20]);
        for value in [0, 10, 11, 20, 21, 1_000] {
            histogram.add(value);
        }
        let want = Counted { up_to: vec![(10, 2), (20, 4)], count: 6, sum: 1_062 };
        assert_eq!(histogram.read(), want);
    }

    #[test]
    fn registers_keep_what_they_have_and_refuse_the_rest() {
        let register = Register::new(3);
        for key in [1, 2, 3, 1, 2, 3, 4] {
            let found = register.of(key, || AtomicU64::new(0));
            assert_eq!(found.is_some(), key != 4, "{key}");
            if let Some(count) = found {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        let mut all: Vec<_> =
            register.iter().map(|(k, v)| (*k, v.load(Ordering::Relaxed))).collect();
        all.sort_unstable();
        assert_eq!(all, [(1, 2), (2, 2), (3, 2)]);
        assert!(Register::<u8, ()>::new(0).of(1, || ()).is_none());
    }
}
