//! Plain data of the Queue service and the rules over it.
//!
//! Must never hold a message's text: rules see instants, counts and receipts only.

mod message;
mod receipt;
mod sent;

pub use message::{Message, NEVER};
pub use receipt::Receipt;
pub use sent::{Lifetime, check_insertion};
