//! The Table service: one file per operation, each load → decide → commit.
//!
//! Must never know HTTP, and never decide a rule itself: rules live in `zaffre_domain::table`.

mod entities;
mod guarded;
pub(crate) mod keys;
pub mod op;
mod query_entities;
mod query_tables;
pub(crate) mod records;
pub mod reply;
mod rows;
mod tables;
mod write_entities;

pub use entities::get_entity;
pub use query_entities::query_entities;
pub use query_tables::query_tables;
pub use tables::{create_table, delete_table, get_table_acl, set_table_acl, table_access};
pub use write_entities::{write_batch, write_entity};
