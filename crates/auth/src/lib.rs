//! Credentials in, `Authorized<Op>` out. The only maker of that type.
//!
//! Must never do I/O: accounts, container ACLs and both clocks come in as arguments.

mod authorized;
pub mod action;

pub use authorized::{Authorized, Grants};
