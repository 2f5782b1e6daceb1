//! XML in and out: a bounded reader for request bodies, a small writer for replies.

mod reader;
mod writer;

pub use reader::{Event, Reader, collect};
pub use writer::{Writer, escape};
