//! The rows of the Queue service.

use crate::directory::{Family, Listed};
use crate::records::{Policy, Record, fields};
use minicbor::{Decode, Encode};
use std::collections::BTreeMap;
use zaffre_base::{Guid, Incarnation, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::queue::Message;

/// A queue that exists.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Queue {
    /// Prefixes every key inside; the commit that created or last cleared the queue.
    #[cbor(n(0), with = "fields")]
    pub(crate) incarnation: Incarnation,
    #[n(1)]
    pub(crate) metadata: BTreeMap<String, String>,
    #[n(2)]
    pub(crate) policies: Vec<Policy>,
}

impl Record for Queue {
    const WHAT: &'static str = "queue";
}

impl Listed for Queue {
    const FAMILY: Family = Family::Queues;

    fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    fn not_found() -> Refusal {
        Refusal::QueueNotFound
    }

    fn being_deleted() -> Refusal {
        Refusal::QueueBeingDeleted
    }
}

/// A message but for its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Stored {
    #[cbor(n(0), with = "fields")]
    inserted: Stamp,
    #[cbor(n(1), with = "fields")]
    expires: Timestamp,
    #[cbor(n(2), with = "fields")]
    visible: Timestamp,
    #[n(3)]
    dequeues: u64,
    #[cbor(n(4), with = "fields")]
    receipt: Stamp,
    /// Bytes of its text.
    #[n(5)]
    pub(crate) length: u32,
}

impl Record for Stored {
    const WHAT: &'static str = "message";
}

impl Stored {
    pub(crate) fn new(message: &Message, length: u32) -> Self {
        let Message { inserted, expires, visible, dequeues, receipt } = *message;
        Self { inserted, expires, visible, dequeues, receipt, length }
    }

    pub(crate) fn message(&self) -> Message {
        let Self { inserted, expires, visible, dequeues, receipt, .. } = *self;
        Message { inserted, expires, visible, dequeues, receipt }
    }
}

/// A message's place in the order of delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Waiting {
    #[cbor(n(0), with = "fields")]
    pub(crate) id: Guid,
    /// So that those that are gone are passed by without a look at them.
    #[cbor(n(1), with = "fields")]
    pub(crate) expires: Timestamp,
}

impl Record for Waiting {
    const WHAT: &'static str = "waiting message";
}

/// How many messages there are, expired ones included until they are reclaimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Count {
    #[n(0)]
    pub(crate) messages: u64,
}

impl Record for Count {
    const WHAT: &'static str = "count of messages";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use zaffre_domain::queue::Lifetime;

    #[test]
    fn round_trips() {
        let metadata = [("a".to_owned(), "b".to_owned())].into();
        let queue = Queue { incarnation: Incarnation(7), metadata, policies: Vec::new() };
        assert_eq!(Queue::from_bytes(&queue.to_bytes()).ok(), Some(queue));
        let message = Message::insert(Stamp(9), Lifetime::Seconds(5), Duration::from_secs(1));
        let stored = Stored::new(&message, 77);
        let back = Stored::from_bytes(&stored.to_bytes()).ok();
        assert_eq!(back, Some(stored));
        assert_eq!(back.map(|stored| stored.message()), Some(message));
        let waiting = Waiting { id: Guid(3), expires: Timestamp(4) };
        assert_eq!(Waiting::from_bytes(&waiting.to_bytes()).ok(), Some(waiting));
    }
}
