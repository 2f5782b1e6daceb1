//! The real binary under concurrent clients, with pauses, kills, restarts and a clock that is turned.
//!
//! Must never look inside the server: what it says over its wires is all there is.

pub(crate) mod http;
mod ntlm;
pub(crate) mod outcome;
pub(crate) mod record;
pub(crate) mod round;
pub(crate) mod server;
pub(crate) mod smb;
pub(crate) mod world;

/// The answer did not come: what was asked may have been done or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lost;
