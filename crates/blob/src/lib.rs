//! The Blob REST service: parse → authorize → core → render.
//!
//! Must never decide a rule of storage, and never reach core without `Authorized`.

pub mod account_info;
mod authorize;
pub mod batch;
pub mod body;
pub mod copy;
mod dispatch;
mod failure;
pub mod fields;
pub mod operation;
pub mod parse;
pub mod refuse;
pub mod render;
pub mod request;
pub mod route;
mod service;
mod system;
pub mod target;
mod website;

pub use service::{BlobOptions, BlobService};
