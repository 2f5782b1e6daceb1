//! Where the messages of each queue begin, remembered so that nobody looks through what is gone.
//!
//! Places in the order of delivery begin with an instant that is never before the commit that wrote
//! them. So once a commit has found nothing to deliver before some place, there never will be:
//! everything before it was delivered, deleted, or has expired. Without this, a receiver would step
//! over the deletions that the store still has in memory.
//!
//! Must never be told of a place that was not found by a durable commit, or that is after what a
//! snapshot could see: it would hide messages. Forgetting is harmless.

use super::keys::Keys;
use crate::directory::Place;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use zaffre_base::{Stamp, Timestamp};

/// Queues whose beginnings are remembered at most.
const QUEUES: usize = 10_000;

/// The beginnings of all queues.
#[derive(Default)]
pub(crate) struct Heads(Mutex<HashMap<Place, Vec<u8>>>);

impl Heads {
    fn map(&self) -> MutexGuard<'_, HashMap<Place, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No message is before this key.
    pub(super) fn get(&self, place: &Place) -> Vec<u8> {
        let first = || Keys(place.incarnation).visible_from(Timestamp(0));
        self.map().get(place).cloned().unwrap_or_else(first)
    }

    /// A durable commit found that no message is before `key`.
    pub(super) fn found(&self, place: &Place, key: Vec<u8>) {
        let mut map = self.map();
        if map.len() >= QUEUES && !map.contains_key(place) {
            map.clear();
        }
        let known = map.entry(place.clone()).or_default();
        if *known < key {
            *known = key;
        }
    }

    /// Whoever looked without a commit, at a state that has all commits up to `seen`, found that
    /// no message is before `key`. Commits after `seen` may have put some after it.
    pub(super) fn seen(&self, place: &Place, key: Vec<u8>, seen: Stamp) {
        self.found(place, key.min(Keys(place.incarnation).visible_end(seen.time())));
    }

    /// A life of a queue has ended.
    pub(crate) fn forget(&self, place: &Place) {
        self.map().remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Family;
    use zaffre_base::{AccountName, Incarnation};

    #[test]
    fn beginnings_only_move_on() {
        let account = AccountName::parse("devstoreaccount1").expect("legal");
        let place = Place::new(Family::Queues, &account, "abc", Incarnation(7));
        let (heads, keys) = (Heads::default(), Keys(Incarnation(7)));
        let at = |ticks| keys.visible_from(Timestamp(ticks));
        assert_eq!(heads.get(&place), at(0));
        heads.found(&place, at(50));
        heads.found(&place, at(40));
        assert_eq!(heads.get(&place), at(50));
        heads.seen(&place, at(90), Stamp(60));
        assert_eq!(heads.get(&place), at(61), "what came after the look may be from 61 on");
        heads.forget(&place);
        assert_eq!(heads.get(&place), at(0));
    }
}
