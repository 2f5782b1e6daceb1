//! The Queue REST service: parse → authorize → core → render.
//!
//! Must never decide a rule of messages, and never reach core without `Authorized`.

mod authorize;
mod dispatch;
mod failure;
pub mod operation;
pub mod parse;
mod render;
pub mod route;
mod service;
pub mod target;
pub mod text;

pub use service::{QueueOptions, QueueService};
