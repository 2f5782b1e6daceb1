//! NTLMv2 inside SPNEGO, the accepting side: the password of an account is the text of its key.
//!
//! Must never accept NTLMv1, an anonymous caller or a guest, tell a wrong name from a wrong key,
//! or compare a proof in a time that depends on it. Draws no randomness and reads no clock.

mod acceptor;
mod key_holder;
mod message;
mod proof;
mod spnego;

pub use acceptor::{Accepted, Acceptor, Refused, Step};
pub use key_holder::KeyHolder;
pub use message::{Authenticate, Negotiate};
pub use spnego::{Token, hello};
