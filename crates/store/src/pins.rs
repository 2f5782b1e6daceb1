//! Pins: what readers still hold. Superseded rows and bytes are freed only when no pin covers them.
//!
//! Must never guess: a reader registers before it takes its snapshot, whoever frees looks after the
//! change that retired the bytes is visible. One of the two therefore always sees the other.

use crate::meta::Placement;
use crate::sync::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use zaffre_base::{ContentId, Stamp};

/// Which pins exist: a plain table, the lock is around it.
#[derive(Debug, Default)]
struct Table {
    /// Readers by the last stamp that was committed before they took their snapshot.
    stamps: BTreeMap<Stamp, usize>,
    /// Readers by the content they follow to its end.
    contents: BTreeMap<(Placement, ContentId), usize>,
    /// The same readers by the oldest state they may have read an extent's address from.
    followers: BTreeMap<Stamp, usize>,
}

fn add<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K) {
    *counts.entry(key).or_default() += 1;
}

fn subtract<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        Some(_) => drop(counts.remove(key)),
        None => debug_assert!(false, "a pin is dropped once"),
    }
}

fn none_up_to(counts: &BTreeMap<Stamp, usize>, stamp: Stamp) -> bool {
    counts.first_key_value().is_none_or(|(oldest, _)| *oldest > stamp)
}

impl Table {
    fn may_free(&self, retired_at: Stamp, content: &(Placement, ContentId)) -> bool {
        none_up_to(&self.stamps, retired_at) && !self.contents.contains_key(content)
    }

    fn may_move(&self, retired_at: Stamp) -> bool {
        none_up_to(&self.stamps, retired_at) && none_up_to(&self.followers, retired_at)
    }

    fn narrow(&mut self, at: Stamp, content: (Placement, ContentId)) {
        // The new pin first, under the same lock: there is no moment without either.
        add(&mut self.contents, content);
        add(&mut self.followers, at);
        subtract(&mut self.stamps, &at);
    }
}

/// The pins of a store. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Pins(Arc<Mutex<Table>>);

impl Pins {
    /// No pins.
    pub fn new() -> Self {
        Self::default()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pins everything that a snapshot taken from now on can see. `at` is the last committed stamp;
    /// call this BEFORE taking the snapshot.
    #[must_use = "dropping the pin ends it"]
    pub fn enter(&self, at: Stamp) -> StampPin {
        add(&mut self.table().stamps, at);
        StampPin { pins: self.clone(), at, ended: false }
    }

    /// Whether a content that the commit `retired_at` took out of use can be freed: no snapshot
    /// from before is in use and nobody follows that content.
    pub fn may_free(&self, retired_at: Stamp, placement: &Placement, content: ContentId) -> bool {
        self.table().may_free(retired_at, &(placement.clone(), content))
    }

    /// Whether bytes that moved elsewhere at `retired_at` can be freed in their old place: nobody
    /// can still hold an address read before. Followers of a content count too, because they may
    /// have the old address in hand though the content itself stays.
    pub fn may_move(&self, retired_at: Stamp) -> bool {
        self.table().may_move(retired_at)
    }

    /// How many pins there are, of both kinds.
    pub fn count(&self) -> usize {
        let table = self.table();
        table.stamps.values().sum::<usize>() + table.contents.values().sum::<usize>()
    }
}

/// Holds every row and byte that was in use at a stamp.
#[derive(Debug)]
pub struct StampPin {
    pins: Pins,
    at: Stamp,
    ended: bool,
}

impl StampPin {
    /// The stamp it holds.
    pub fn at(&self) -> Stamp {
        self.at
    }

    /// Holds one content only from here on, so that a long download does not hold everything else.
    #[must_use = "dropping the pin ends it"]
    pub fn narrow(mut self, placement: &Placement, content: ContentId) -> ContentPin {
        let content = (placement.clone(), content);
        self.pins.table().narrow(self.at, content.clone());
        self.ended = true;
        ContentPin { pins: self.pins.clone(), content, since: self.at }
    }
}

impl Drop for StampPin {
    fn drop(&mut self) {
        if !self.ended {
            subtract(&mut self.pins.table().stamps, &self.at);
        }
    }
}

/// Holds one content, however often it is superseded or deleted meanwhile.
#[derive(Debug)]
pub struct ContentPin {
    pins: Pins,
    content: (Placement, ContentId),
    since: Stamp,
}

impl ContentPin {
    /// Says that this reader holds no address of an extent any more that it read before `at` (the
    /// last committed stamp, taken BEFORE its next snapshot): lets moved bytes be freed under it.
    pub fn renew(&mut self, at: Stamp) {
        let mut table = self.pins.table();
        add(&mut table.followers, at);
        subtract(&mut table.followers, &self.since);
        self.since = at;
    }
}

impl Drop for ContentPin {
    fn drop(&mut self) {
        let mut table = self.pins.table();
        subtract(&mut table.contents, &self.content);
        subtract(&mut table.followers, &self.since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement() -> Placement {
        Placement::new(&b"p"[..])
    }

    #[test]
    fn a_stamp_pin_holds_what_was_retired_at_or_after_it() {
        let pins = Pins::new();
        let pin = pins.enter(Stamp(10));
        for (retired_at, free) in [(9, true), (10, false), (11, false)] {
            let got = pins.may_free(Stamp(retired_at), &placement(), ContentId(1));
            assert_eq!(got, free, "{retired_at}");
            assert_eq!(pins.may_move(Stamp(retired_at)), free, "{retired_at}");
        }
        drop(pin);
        assert!(pins.may_free(Stamp(11), &placement(), ContentId(1)));
        assert_eq!(pins.count(), 0);
    }

    #[test]
    fn a_narrowed_pin_holds_its_content_only() {
        let pins = Pins::new();
        let mut pin = pins.enter(Stamp(10)).narrow(&placement(), ContentId(1));
        for (content, free) in [(1, false), (2, true)] {
            assert_eq!(pins.may_free(Stamp(20), &placement(), ContentId(content)), free);
        }
        let elsewhere = Placement::new(&b"q"[..]);
        assert!(pins.may_free(Stamp(20), &elsewhere, ContentId(1)));
        assert!(!pins.may_move(Stamp(10)), "it may hold an address from before");
        pin.renew(Stamp(15));
        assert!(pins.may_move(Stamp(14)));
        assert!(!pins.may_move(Stamp(15)));
        drop(pin);
        assert!(pins.may_move(Stamp(15)));
        assert_eq!(pins.count(), 0);
    }

    #[test]
    fn equal_pins_are_counted() {
        let pins = Pins::new();
        let first = pins.enter(Stamp(5));
        let second = pins.enter(Stamp(5));
        drop(first);
        assert!(!pins.may_move(Stamp(5)));
        drop(second);
        assert!(pins.may_move(Stamp(5)));
    }
}
