//! What tests share: choices that a seed decides, which seeds to run, running cases side by side;
//! histories of the real binary, recorded and checked; and the client's side of NTLM.
//!
//! Must never be a dependency of anything that ships.

mod histories;
mod linear;
mod models;
pub mod ntlm;
mod planted;
mod random;
mod real;
mod schedules;
mod seeds;
mod subjects;

pub use histories::histories;
pub use random::Random;
pub use schedules::schedules;
pub use seeds::{in_parallel, seeds};
