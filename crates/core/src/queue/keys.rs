//! Where every row of the Queue service lives: keys, byte for byte.
//!
//! Must never be built anywhere else: the order of `N` and `O` is what makes receiving and expiring
//! cost the same however many messages there are.
//!
//! ```text
//! placement        key                    row
//! a/account        q·C·K(queue)           queue: incarnation, metadata, policies
//! q/account/queue  i·K                    how many messages there are
//! q/account/queue  i·Q·id                 message: state, length of its text
//! q/account/queue  i·T·id·part            its text, in parts
//! q/account/queue  i·N·visible·inserted   next visible: id and expiry, in the order of delivery
//! q/account/queue  i·O·expires·id         expiry; none for a message that never expires
//! ```
//! `i` = incarnation (8 bytes), `id` = 16 bytes, numbers and instants big-endian in 8 bytes, `part`
//! one byte; the rest of the directory is in `crate::directory`.

use crate::directory::KeyRange;
use crate::directory::keys::tagged;
use zaffre_base::{Guid, Incarnation, Timestamp};
use zaffre_domain::queue::Message;

/// The keys of one incarnation of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Keys(pub(crate) Incarnation);

impl Keys {
    pub(crate) fn count(self) -> Vec<u8> {
        tagged(self.0, b'K')
    }

    pub(crate) fn message(self, id: Guid) -> Vec<u8> {
        let mut key = tagged(self.0, b'Q');
        key.extend_from_slice(&id.0.to_be_bytes());
        key
    }

    pub(crate) fn text(self, id: Guid, part: u8) -> Vec<u8> {
        let mut key = tagged(self.0, b'T');
        key.extend_from_slice(&id.0.to_be_bytes());
        key.push(part);
        key
    }

    /// Where a message waits for its delivery.
    pub(crate) fn next(self, message: &Message) -> Vec<u8> {
        let mut key = self.visible_from(message.visible);
        key.extend_from_slice(&message.inserted.0.to_be_bytes());
        key
    }

    /// The first place of the messages that become visible at `at` or later.
    pub(crate) fn visible_from(self, at: Timestamp) -> Vec<u8> {
        let mut key = tagged(self.0, b'N');
        key.extend_from_slice(&at.0.to_be_bytes());
        key
    }

    /// The place after all messages that are visible at `now`.
    pub(crate) fn visible_end(self, now: Timestamp) -> Vec<u8> {
        self.visible_from(Timestamp(now.0.saturating_add(1)))
    }

    pub(crate) fn expiry(self, expires: Timestamp, id: Guid) -> Vec<u8> {
        let mut key = tagged(self.0, b'O');
        key.extend_from_slice(&expires.0.to_be_bytes());
        key.extend_from_slice(&id.0.to_be_bytes());
        key
    }

    /// All expiries.
    pub(crate) fn expiries(self) -> KeyRange {
        KeyRange::under(tagged(self.0, b'O'))
    }

    /// The expiries up to and with `now`.
    pub(crate) fn expired(self, now: Timestamp) -> KeyRange {
        let after = Timestamp(now.0.saturating_add(1));
        KeyRange { start: tagged(self.0, b'O'), end: Some(self.expiry(after, Guid(0))) }
    }

    /// The instant and the message that an expiry's key names.
    pub(crate) fn expiry_of(self, key: &[u8]) -> Option<(Timestamp, Guid)> {
        let rest = key.strip_prefix(tagged(self.0, b'O').as_slice())?;
        let (expires, id) = rest.split_first_chunk::<8>()?;
        let id: [u8; 16] = id.try_into().ok()?;
        Some((Timestamp(u64::from_be_bytes(*expires)), Guid(u128::from_be_bytes(id))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use zaffre_base::Stamp;
    use zaffre_domain::queue::Lifetime;

    #[test]
    fn order() {
        let keys = Keys(Incarnation(7));
        let message = |at: u64, delay: u64| {
            Message::insert(Stamp(at), Lifetime::Forever, Duration::from_nanos(delay * 100))
        };
        let (a, b, c) = (message(10, 0), message(11, 0), message(9, 5));
        let order = [keys.next(&a), keys.next(&b), keys.next(&c)];
        assert!(order.is_sorted());
        assert!(keys.next(&a) < keys.visible_end(Timestamp(10)));
        assert!(keys.next(&b) >= keys.visible_end(Timestamp(10)));
        let expiry = keys.expiry(Timestamp(5), Guid(3));
        assert_eq!(keys.expiry_of(&expiry), Some((Timestamp(5), Guid(3))));
        for (now, inside) in [(4, false), (5, true), (6, true)] {
            let range = keys.expired(Timestamp(now));
            let found = range.start <= expiry && range.end.is_some_and(|end| expiry < end);
            assert_eq!(found, inside, "{now}");
        }
    }
}
