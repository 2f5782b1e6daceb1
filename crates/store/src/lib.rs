//! The store: ordered transactional metadata (`meta`) and immutable bytes (`extents`) on one disk.
//!
//! Must never know what the rows mean. A success answer from here is durable.

pub mod check;
pub mod clock;
pub mod directory;
pub mod disk;
pub mod error;
pub mod extents;
pub mod meta;
pub mod pins;
pub mod poison;
pub mod raw;
mod store;
mod sync;
pub mod xts;

pub use clock::Clock;
pub use directory::OpenError;
pub use error::StoreError;
pub use meta::{Abort, Interrupt, Meta, Placement, Row, Snapshot, TransactError, Tx};
pub use store::{Store, StoreOptions};
