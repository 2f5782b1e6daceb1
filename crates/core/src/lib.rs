//! The operations of the services, each load → decide → commit, and the work they leave behind.
//!
//! Must never know HTTP or SMB, and never decide a rule itself: rules live in `zaffre_domain`.

pub mod analytics;
pub mod background;
pub mod blob;
mod detached;
mod directory;
mod error;
pub mod file;
mod fresh_id;
pub mod leases;
pub mod queue;
mod records;
mod service;
pub mod service_properties;
pub mod settings;
pub(crate) mod sparse;
pub mod table;

pub use error::Error;
pub use service::{CopyOptions, Core, CoreOptions, Layout};
pub use zaffre_store::StoreError;
