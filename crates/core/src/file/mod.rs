//! The File service: files and directories, one file per operation, for REST and SMB alike.
//!
//! Must never know HTTP or SMB, and never decide a rule itself: rules live in `zaffre_domain`.

mod admit;
mod books;
mod copy_file;
mod create_directory;
mod create_file;
mod delete;
mod directory_properties;
mod entered;
mod file_properties;
mod found;
mod get_file;
mod guarded;
mod handles;
pub(crate) mod keys;
mod landing;
mod lease;
mod list_directory;
mod list_ranges;
pub mod mount;
pub mod op;
pub mod opens;
mod permission;
mod put_range;
pub(crate) mod reclaim;
pub(crate) mod records;
mod rename;
pub mod reply;
mod settings;
pub mod share;
pub(crate) mod state;
mod tree;
mod views;
pub mod write_back;

pub use copy_file::{abort_copy_file, copy_file};
pub use create_directory::create_directory;
pub use create_file::create_file;
pub use delete::{delete_directory, delete_file};
pub use directory_properties::{get_directory, set_directory_metadata, set_directory_properties};
pub use file_properties::{get_file_properties, set_file_metadata, set_file_properties};
pub use get_file::get_file;
pub use handles::{force_close_handles, list_handles};
pub use lease::lease_file;
pub use list_directory::list_directory;
pub use list_ranges::list_ranges;
pub use permission::{create_permission, get_permission};
pub use put_range::put_range;
pub use rename::rename;
pub(crate) use views::{content_views, has_content};
