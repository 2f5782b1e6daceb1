//! Signing, encryption and the keys for both.
//!
//! Must never compare a signature or a tag in a time that depends on it, or use a nonce twice.

pub mod cipher;
pub mod keys;
pub mod signing;

pub use cipher::{Cipher, Seal};
pub use keys::{Preauth, SessionKeys};
pub use signing::Algorithm;
