//! A message's life, as a state machine over absolute instants.
//!
//! ```text
//!   insert ──► waiting ──visible──► ready ──receive──► held ──visible──► ready …
//!                 │                   │                  │
//!                 └──── update with the newest receipt: a new one, visible anew
//!                 └──── delete with the newest receipt ──► gone
//!                 └──── expires ──► gone for everybody
//! ```
//! Which of waiting, ready and held it is follows from `visible` and `now` alone, so that nothing
//! has to happen when a timeout ends, and nothing is lost by a restart.
//!
//! Must never keep an old receipt good: there is one per message, replaced at every delivery and
//! update. A timeout that ends replaces nothing: whoever received the message last may still
//! delete it until somebody else receives it.

use super::Receipt;
use super::sent::Lifetime;
use crate::Refusal;
use core::time::Duration;
use zaffre_base::planted::{Bug, planted};
use zaffre_base::time::MAX_TICKS;
use zaffre_base::{Guid, Stamp, Timestamp};

/// When a message that never expires does.
pub const NEVER: Timestamp = Timestamp(MAX_TICKS);

/// The state of a message; its text is elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// When it was put.
    pub inserted: Stamp,
    /// From then on it is gone.
    pub expires: Timestamp,
    /// From then on it can be received.
    pub visible: Timestamp,
    /// How often it was received.
    pub dequeues: u64,
    /// The commit that issued the one receipt that is good.
    pub receipt: Stamp,
}

impl Message {
    /// A new message, put by the commit `at`, which can be received after `delay`.
    pub fn insert(at: Stamp, lifetime: Lifetime, delay: Duration) -> Self {
        let now = at.time();
        let expires = match lifetime {
            Lifetime::Forever => NEVER,
            Lifetime::Seconds(seconds) => now.plus(Duration::from_secs(seconds)),
        };
        Self { inserted: at, expires, visible: now.plus(delay), dequeues: 0, receipt: at }
    }

    /// Whether it is gone at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires <= now && self.expires < NEVER
    }

    /// Whether it can be received or peeked at `now`.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.visible <= now && !self.is_expired(now)
    }

    /// Delivers it by the commit `at`, for `hold`; `None` if it is not ready.
    pub fn receive(&self, at: Stamp, hold: Duration) -> Option<Self> {
        let now = at.time();
        let hold = if planted(Bug::VisibleMessage) { Duration::ZERO } else { hold };
        self.is_ready(now).then(|| Self {
            visible: now.plus(hold),
            dequeues: self.dequeues.saturating_add(1),
            receipt: at,
            ..*self
        })
    }

    /// Makes it visible after `delay`, for whoever has its newest receipt, and issues a new one.
    pub fn update(
        &self,
        id: Guid,
        presented: &str,
        at: Stamp,
        delay: Duration,
    ) -> Result<Self, Refusal> {
        let now = at.time();
        self.admit(id, presented, now)?;
        let visible = now.plus(delay);
        if visible > self.expires {
            return Err(Refusal::InvisibleBeyondExpiry { seconds: delay.as_secs() });
        }
        Ok(Self { visible, receipt: at, ..*self })
    }

    /// Whether who presents this receipt may delete or update the message.
    pub fn admit(&self, id: Guid, presented: &str, now: Timestamp) -> Result<(), Refusal> {
        if self.is_expired(now) {
            return Err(Refusal::MessageNotFound);
        }
        if Receipt::read(id, presented)? == self.receipt() || planted(Bug::ReusedReceipt) {
            return Ok(());
        }
        Err(Refusal::MessageNotFound)
    }

    /// The one receipt that is good.
    pub fn receipt(&self) -> Receipt {
        Receipt(self.receipt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use zaffre_base::time::TICKS_PER_SECOND;

    const ID: Guid = Guid(7);

    fn at(second: u64) -> Stamp {
        Stamp(1_000_000 * TICKS_PER_SECOND + second * TICKS_PER_SECOND)
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    fn text(message: &Message) -> String {
        message.receipt().text(ID)
    }

    fn put(ttl: u64, delay: u64) -> Message {
        Message::insert(at(0), Lifetime::Seconds(ttl), seconds(delay))
    }

    #[test]
    fn when_it_can_be_received() {
        for (ttl, delay, second, ready, expired) in [
            (100, 0, 0, true, false),
            (100, 10, 9, false, false),
            (100, 10, 10, true, false),
            (100, 10, 99, true, false),
            (100, 10, 100, false, true),
            (1, 0, 1, false, true),
        ] {
            let message = put(ttl, delay);
            let now = at(second).time();
            let row = (ttl, delay, second);
            assert_eq!(
                (message.is_ready(now), message.is_expired(now)),
                (ready, expired),
                "{row:?}"
            );
            assert_eq!(message.receive(at(second), seconds(30)).is_some(), ready, "{row:?}");
        }
        let forever = Message::insert(at(0), Lifetime::Forever, seconds(0));
        assert!(forever.is_ready(NEVER) && !forever.is_expired(NEVER));
        let saturated = Message::insert(at(0), Lifetime::Seconds(u64::MAX), seconds(0));
        assert_eq!(saturated.expires, NEVER);
    }

    #[test]
    fn every_delivery_and_update_replaces_the_receipt() {
        let new = put(100, 0);
        let held = new.receive(at(1), seconds(30)).expect("ready");
        assert_eq!((held.dequeues, held.visible), (1, at(31).time()));
        assert_eq!(new.admit(ID, &text(&new), at(1).time()), Ok(()), "good at once after the put");
        assert_eq!(held.admit(ID, &text(&new), at(2).time()), Err(Refusal::MessageNotFound));
        assert_eq!(held.receive(at(30), seconds(30)), None, "nobody else has it meanwhile");
        // After the timeout and before another delivery the receipt is still good.
        assert_eq!(held.admit(ID, &text(&held), at(90).time()), Ok(()));
        let again = held.receive(at(31), seconds(1)).expect("ready again");
        assert_eq!(again.dequeues, 2);
        assert_eq!(again.admit(ID, &text(&held), at(31).time()), Err(Refusal::MessageNotFound));
        let updated = again.update(ID, &text(&again), at(32), seconds(5)).expect("its receipt");
        assert_eq!((updated.dequeues, updated.visible), (2, at(37).time()));
        assert_eq!((updated.inserted, updated.expires), (new.inserted, new.expires));
        assert_eq!(updated.admit(ID, &text(&again), at(33).time()), Err(Refusal::MessageNotFound));
        assert_eq!(updated.admit(ID, &text(&updated), at(33).time()), Ok(()));
        assert_eq!(
            updated.admit(ID, &text(&updated), at(100).time()),
            Err(Refusal::MessageNotFound)
        );
    }

    #[test]
    fn updates() {
        let message = put(100, 0);
        for (second, delay, want) in [
            (0, 0, Ok(0)),
            (10, 90, Ok(100)),
            (10, 91, Err(Refusal::InvisibleBeyondExpiry { seconds: 91 })),
            (100, 0, Err(Refusal::MessageNotFound)),
        ] {
            let got = message.update(ID, &text(&message), at(second), seconds(delay));
            let got = got.map(|m| m.visible.since(at(0).time()).as_secs());
            assert_eq!(got, want, "{second} {delay}");
        }
    }

    #[test]
    fn receipts_of_others() {
        let message = put(100, 0);
        let foreign = message.receipt().text(Guid(8));
        let now = at(1).time();
        for (presented, want) in [
            (foreign.as_str(), Refusal::PopReceiptMismatch),
            ("garbled", Refusal::InvalidPopReceipt { presented: "garbled".into() }),
            ("", Refusal::InvalidPopReceipt { presented: String::new() }),
        ] {
            assert_eq!(message.admit(ID, presented, now), Err(want), "{presented}");
        }
    }
}
