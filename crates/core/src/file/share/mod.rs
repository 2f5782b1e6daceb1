//! Shares: one file per operation, each load → decide → commit in the account's directory.
//!
//! Must never touch what is inside a share but through `file::state` and its siblings.

mod create;
mod delete;
mod find;
mod guarded;
mod lease;
mod list;
pub mod op;
mod properties;
pub(crate) mod records;
pub mod reply;
mod restore;
mod snapshot;

pub use create::create_share;
pub use delete::delete_share;
pub(crate) use delete::drop_deleted;
pub(crate) use find::find;
pub use find::{share_access, share_names};
pub use lease::lease_share;
pub use list::list_shares;
pub use op::{ShareAt, SharePath};
pub use properties::{
    get_share, get_share_acl, get_share_stats, set_share_acl, set_share_metadata,
    set_share_properties,
};
pub use restore::restore_share;
pub use snapshot::snapshot_share;
pub(crate) use snapshot::{InProgress, reconcile};
