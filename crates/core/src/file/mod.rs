//! The File service: files and directories, one file per operation, for REST and SMB alike.
//!
//! Must never know HTTP or SMB, and never decide a rule itself: rules live in `zaffre_domain`.

mod guarded;
pub mod op;
pub mod opens;
pub mod reply;
pub mod share;
