//! Shares: one file per operation on a share as a whole.
//!
//! Must never know HTTP or SMB, or look at what is inside a share.

pub mod op;

pub use op::SharePath;
