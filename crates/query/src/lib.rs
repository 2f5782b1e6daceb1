//! Query Blob Contents as a pure machine: bytes of CSV or JSON go in, framed answers come out.
//!
//! Must never do I/O, read a clock, know HTTP, or hold more than one record and one piece of output.

mod aggregate;
mod avro;
mod csv;
mod dates;
mod engine;
mod evaluate;
mod functions;
mod json;
pub mod limits;
mod output;
mod splitter;
mod sql;
mod value;

pub use avro::{Frames, SCHEMA};
pub use csv::CsvFormat;
pub use engine::{Engine, Input, Output};
pub use sql::{Select, parse};

/// Why a query stopped or a record was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// A short name.
    pub name: &'static str,
    /// What is wrong.
    pub description: String,
}

impl Fault {
    pub(crate) fn new(name: &'static str, description: impl Into<String>) -> Self {
        Self { name, description: description.into() }
    }

    pub(crate) fn conversion(text: &str, to: &str) -> Self {
        let shown: String = text.chars().take(64).collect();
        Self::new("InvalidTypeConversion", format!("'{shown}' cannot be read as {to}."))
    }

    pub(crate) fn syntax(description: impl Into<String>) -> Self {
        Self::new("ParseError", description)
    }
}
