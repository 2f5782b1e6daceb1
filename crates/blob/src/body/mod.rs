//! Bodies that the Blob service reads itself: XML, and the frames around uploaded content.
//!
//! Must never hold content whole: only XML is collected, and that is bounded.

pub mod block_list;
mod checked;
pub mod query;
pub mod stream;
pub mod tags;

pub use checked::{Verified, verify};
pub use zaffre_http::structured::{decoder as structured, framed};
