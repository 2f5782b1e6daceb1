//! JSON in and out: a bounded reader that keeps the order and the text of numbers, and a writer.

mod reader;
mod writer;

pub use reader::{JsonError, Member, Members, members};
pub use writer::Object;
pub(crate) use writer::quoted;
