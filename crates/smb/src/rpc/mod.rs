//! The pipes of IPC$: DCE/RPC, and the one service on it that clients ask for, the list of shares.
//!
//! Must never change anything: everything here is a question.

pub mod dcerpc;
pub(crate) mod pipe;
pub mod srvsvc;
