//! Signatures of real SDKs, and everything that must not get in.

mod attacks;
mod bearer;
mod claims;
mod delegation;
mod fixture;
mod known_answers;
mod matrix;
mod mutations;
mod policies;
mod queue_table;
mod random;
