//! The Blob service: one file per operation, each load → decide → commit.
//!
//! Must never know HTTP, and never decide a rule itself: rules live in `zaffre_domain`.

use bytes::Bytes;
use futures_core::Stream;
use std::pin::Pin;

pub mod op;
pub mod reply;

/// Bytes on their way in or out, in pieces; never collected whole.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, StreamError>> + Send>>;

/// Why a stream of bytes ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StreamError {
    /// The other side went away, was too slow, or sent less than announced.
    Broken,
    /// More than the limit arrived.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// Stored bytes could not be read or failed their checksum; the log says which.
    Corrupt,
}
