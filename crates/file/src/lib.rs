//! The File REST service: parse → authorize → core → render.
//!
//! Must never decide a rule of files, and never reach core without `Authorized`.

mod authorize;
mod body;
mod dispatch;
mod failure;
mod fields;
pub mod operation;
pub mod parse;
mod render;
pub mod route;
mod service;
mod source;
pub mod target;

pub use service::{FileOptions, FileService, Ports};
