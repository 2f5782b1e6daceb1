//! What the operations of the Queue service answer, as plain data for a protocol to render.

use zaffre_base::{Guid, QueueName, Timestamp};
use zaffre_domain::blob::Metadata;
use zaffre_domain::queue::Message;

/// Whether Create Queue made a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    /// It did.
    New,
    /// There is one already, with the same metadata.
    Existing,
}

/// A queue in a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueView {
    /// Its name.
    pub name: QueueName,
    /// Its metadata; empty unless asked for.
    pub metadata: Metadata,
}

/// One page of queues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueuePage {
    /// In order of names.
    pub queues: Vec<QueueView>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// What Get Queue Metadata answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueProperties {
    /// Its metadata.
    pub metadata: Metadata,
    /// How many messages it has, visible or not; never fewer than there are.
    pub messages: u64,
}

/// A message as it is handed out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageView {
    /// Its id.
    pub id: Guid,
    /// Its state.
    pub message: Message,
    /// Its text; empty where it is not shown.
    pub text: String,
}

impl MessageView {
    /// When it was put.
    pub fn inserted(&self) -> Timestamp {
        self.message.inserted.time()
    }

    /// The receipt, as clients see it.
    pub fn receipt(&self) -> String {
        self.message.receipt().text(self.id)
    }
}
