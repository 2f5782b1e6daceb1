//! What the checks find: a place and a sentence, printed the way editors jump to it.
//!
//! Must never decide what is a fault; it only shows them.

use std::fmt;

/// One fault.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Finding {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// Counted from one; zero for the file as a whole.
    pub(crate) line: usize,
    /// What is wrong and what to do about it.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.path, self.message)
        } else {
            write!(f, "{}:{}: {}", self.path, self.line, self.message)
        }
    }
}
