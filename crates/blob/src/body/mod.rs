//! Bodies that the Blob service reads itself: XML, and the frames around uploaded content.
//!
//! Must never hold content whole: only XML is collected, and that is bounded.

pub mod block_list;
mod checked;
pub mod framed;
pub mod query;
pub mod stream;
pub mod structured;
pub mod tags;

pub use checked::{Verified, verify};
