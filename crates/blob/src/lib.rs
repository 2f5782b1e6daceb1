//! The Blob REST service: parse → authorize → core → render.
//!
//! Must never decide a rule of storage, and never reach core without `Authorized`.

pub mod account_info;
pub mod body;
pub mod fields;
pub mod operation;
pub mod parse;
pub mod refuse;
pub mod render;
pub mod route;
pub mod target;
