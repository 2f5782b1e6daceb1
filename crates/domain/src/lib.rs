//! The rules of the service as pure functions over plain data, with `now` as an argument.
//!
//! Must never do I/O, read a clock, or know a protocol or the store.
#![no_std]
extern crate alloc;

pub mod blob;
pub mod conditions;
pub mod error;
pub mod fs;
pub mod lease;
pub mod queue;
pub mod service;
pub mod sparse;
pub mod table;

pub use error::{LeaseOn, Refusal};
