//! The SMB server: SMB 2.0.2 to 3.1.1 on the same files as the File service's REST protocol.
//!
//! Must never serve SMB 1, an unsigned request of a session, or anybody who has not proven that
//! they hold an account's key.

pub mod crypto;
pub mod dialect;
mod files;
pub mod limits;
mod options;
pub mod rpc;
mod server;
pub mod status;
pub mod wire;

pub use options::{Descriptors, Options};
pub use server::{AccountsNow, Listener};
