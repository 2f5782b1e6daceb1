//! The rules of files and directories, the same for REST and SMB.
//!
//! Must never do I/O, read a clock, or know a protocol or the store.

pub mod access;
pub mod attributes;
pub mod deletion;
pub mod locks;
pub mod name;
pub mod oplock;
pub mod pieces;
pub mod properties;
pub mod refusal;
pub mod rest;
pub mod security;
pub mod share;
pub mod share_mode;
pub mod stream;
pub mod write_back;

pub use attributes::Attributes;
pub use name::{EntryName, FilePath};
pub use properties::{FileId, PermissionKey};
pub use refusal::FileRefusal;
pub use security::Descriptor;
pub use stream::Stream;
