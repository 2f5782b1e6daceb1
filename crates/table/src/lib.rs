//! The Table REST service: parse → authorize → core → render.
//!
//! Must never decide a rule of tables, and never reach core without `Authorized`.

mod authorize;
mod batch;
mod dispatch;
mod entity;
mod failure;
pub mod format;
pub mod json;
pub mod operation;
mod parse;
mod render;
pub mod route;
mod service;
pub mod target;

pub use entity::read as read_entity;
pub use service::{TableOptions, TableService};
