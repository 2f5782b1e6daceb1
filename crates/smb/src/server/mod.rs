//! Connections, sessions and the way of a request.
//!
//! Must never read a message longer than its sender is trusted with.

mod chain;
pub(crate) mod connection;
mod credits;
mod dispatch;
pub(crate) mod exchange;
mod listener;
pub(crate) mod negotiate;
mod reply;
pub(crate) mod session;
mod setup;
pub(crate) mod state;
mod throttle;

pub use listener::Listener;
pub use state::AccountsNow;
