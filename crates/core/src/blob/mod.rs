//! The Blob service: one file per operation, each load → decide → commit.
//!
//! Must never know HTTP, and never decide a rule itself: rules live in `zaffre_domain`.

use bytes::Bytes;
use futures_core::Stream;
use std::pin::Pin;

mod admit;
mod append_block;
mod blob_properties;
mod blob_tags;
mod container_properties;
pub(crate) mod content;
pub mod copy;
mod create_blob;
mod create_container;
mod current;
mod delete_blob;
mod delete_container;
mod find_by_tags;
mod get_blob;
mod get_block_list;
mod guarded;
pub(crate) mod history;
pub(crate) mod keys;
mod lease;
mod list_blobs;
mod list_containers;
pub(crate) mod marker;
pub mod op;
mod page_properties;
mod page_ranges;
mod page_views;
mod protection;
mod put_blob;
mod put_block;
mod put_block_list;
mod put_page;
mod query_blob;
pub(crate) mod records;
pub(crate) mod replace;
pub mod reply;
mod restore_container;
mod set_tier;
pub(crate) mod site;
mod snapshot_blob;
mod undelete_blob;
mod view;

pub use append_block::{append_block, seal_blob};
pub use blob_properties::{get_blob_properties, set_blob_metadata, set_blob_properties};
pub use blob_tags::{get_blob_tags, set_blob_tags};
pub use container_properties::{
    container_access, get_container, get_container_acl, set_container_acl, set_container_metadata,
};
pub use create_blob::create_blob;
pub use create_container::create_container;
pub use delete_blob::delete_blob;
pub(crate) use delete_blob::remove_blob;
pub use delete_container::delete_container;
pub use find_by_tags::find_blobs_by_tags;
pub use get_blob::get_blob;
pub use get_block_list::get_block_list;
pub use keys::names_extents;
pub use lease::{lease_blob, lease_container};
pub use list_blobs::list_blobs;
pub use list_containers::list_containers;
pub use page_properties::set_page_properties;
pub use page_ranges::get_page_ranges;
pub(crate) use page_views::history_views;
pub use protection::{delete_immutability_policy, set_immutability_policy, set_legal_hold};
pub use put_blob::put_blob;
pub(crate) use put_blob::store_blob;
pub use put_block::put_block;
pub use put_block_list::put_block_list;
pub use put_page::put_page;
pub use query_blob::query_blob;
pub use restore_container::restore_container;
pub use set_tier::set_blob_tier;
pub use snapshot_blob::snapshot_blob;
pub use undelete_blob::undelete_blob;

/// Bytes on their way in or out, in pieces; never collected whole.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, StreamError>> + Send>>;

/// Why a stream of bytes ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StreamError {
    /// The other side went away, was too slow, or sent less than announced.
    Broken,
    /// More than the limit arrived.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// Stored bytes could not be read or failed their checksum; the log says which.
    Corrupt,
}
