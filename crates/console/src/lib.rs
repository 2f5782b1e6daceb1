//! The console: metrics, health and, for tests, the clock and faults, on a port of its own.
//!
//! Must never show data or secrets of an account, and never change anything unless test controls
//! are switched on.

mod clock;
mod conflicts;
mod controls;
mod faults;
mod metrics;
mod service;
mod text;

pub use service::{Console, Watched};
