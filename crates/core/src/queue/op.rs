//! The operations of the Queue service as plain data: what a protocol parses a request into.
//!
//! Must never know HTTP; every field is typed and already checked for syntax.

use std::time::Duration;
use zaffre_base::{AccountName, Guid, QueueName};
use zaffre_domain::blob::{AccessPolicy, Metadata};
use zaffre_domain::queue::Lifetime;

/// A queue by its full name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueuePath {
    /// The account.
    pub account: AccountName,
    /// The queue.
    pub queue: QueueName,
}

/// List Queues.
#[derive(Clone, Debug)]
pub struct ListQueues {
    /// The account.
    pub account: AccountName,
    /// Only names that start so.
    pub prefix: String,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
    /// Show metadata.
    pub include_metadata: bool,
}

/// Create Queue.
#[derive(Clone, Debug)]
pub struct CreateQueue {
    /// Which.
    pub at: QueuePath,
    /// Its metadata.
    pub metadata: Metadata,
}

/// Delete Queue.
#[derive(Clone, Debug)]
pub struct DeleteQueue {
    /// Which.
    pub at: QueuePath,
}

/// Get Queue Metadata.
#[derive(Clone, Debug)]
pub struct GetQueueMetadata {
    /// Which.
    pub at: QueuePath,
}

/// Set Queue Metadata.
#[derive(Clone, Debug)]
pub struct SetQueueMetadata {
    /// Which.
    pub at: QueuePath,
    /// Replaces all metadata.
    pub metadata: Metadata,
}

/// Get Queue ACL.
#[derive(Clone, Debug)]
pub struct GetQueueAcl {
    /// Which.
    pub at: QueuePath,
}

/// Set Queue ACL.
#[derive(Clone, Debug)]
pub struct SetQueueAcl {
    /// Which.
    pub at: QueuePath,
    /// Stored access policies, at most five.
    pub policies: Vec<AccessPolicy>,
}

/// Put Message.
#[derive(Clone, Debug)]
pub struct PutMessage {
    /// Where.
    pub at: QueuePath,
    /// Its text, at most 64 KiB.
    pub text: String,
    /// How long it lives.
    pub lifetime: Lifetime,
    /// How long it is invisible at first.
    pub delay: Duration,
}

/// Get Messages.
#[derive(Clone, Debug)]
pub struct GetMessages {
    /// Where.
    pub at: QueuePath,
    /// How many at most, 1..=32.
    pub count: usize,
    /// How long they are invisible to others.
    pub hold: Duration,
}

/// Peek Messages.
#[derive(Clone, Debug)]
pub struct PeekMessages {
    /// Where.
    pub at: QueuePath,
    /// How many at most, 1..=32.
    pub count: usize,
}

/// Update Message.
#[derive(Clone, Debug)]
pub struct UpdateMessage {
    /// Where.
    pub at: QueuePath,
    /// Which; `None` = an id that no message can have.
    pub id: Option<Guid>,
    /// The receipt as it came.
    pub receipt: String,
    /// How long it is invisible from now on.
    pub delay: Duration,
    /// Its new text, if it gets one.
    pub text: Option<String>,
}

/// Delete Message.
#[derive(Clone, Debug)]
pub struct DeleteMessage {
    /// Where.
    pub at: QueuePath,
    /// Which; `None` = an id that no message can have.
    pub id: Option<Guid>,
    /// The receipt as it came.
    pub receipt: String,
}

/// Clear Messages.
#[derive(Clone, Debug)]
pub struct ClearMessages {
    /// Where.
    pub at: QueuePath,
}
