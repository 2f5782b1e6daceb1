//! What tests share: choices that a seed decides, which seeds to run, running cases side by side.
//!
//! Must never be a dependency of anything that ships.

mod random;
mod seeds;

pub use random::Random;
pub use seeds::{in_parallel, seeds};
