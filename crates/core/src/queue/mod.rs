//! The Queue service: one file per operation, each load → decide → commit.
//!
//! Must never know HTTP, and never decide a rule itself: rules live in `zaffre_domain`.

mod clear_messages;
mod create_queue;
mod delete_message;
mod delete_queue;
mod get_messages;
mod guarded;
pub(crate) mod heads;
mod inside;
pub(crate) mod keys;
mod list_queues;
pub mod op;
mod peek_messages;
mod put_message;
mod queue_properties;
pub(crate) mod reclaim;
pub(crate) mod records;
pub mod reply;
mod rows;
mod update_message;

pub use clear_messages::clear_messages;
pub use create_queue::create_queue;
pub use delete_message::delete_message;
pub use delete_queue::delete_queue;
pub use get_messages::get_messages;
pub use list_queues::list_queues;
pub use peek_messages::peek_messages;
pub use put_message::put_message;
pub use queue_properties::{
    get_queue_acl, get_queue_metadata, queue_access, set_queue_acl, set_queue_metadata,
};
pub use update_message::update_message;
