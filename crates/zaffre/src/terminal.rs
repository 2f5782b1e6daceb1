//! What the program says: readiness lines on stdout, complaints on stderr.
//!
//! Must never end the program because nobody listens: a closed pipe is not an error here.

use crate::failure::Failure;
use std::io::{self, Write};

/// Says one line on stdout, at once: tools wait for some of them.
pub(crate) fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Says on stderr why the program ends.
pub(crate) fn complain(failure: &Failure) {
    let _ = writeln!(io::stderr(), "zaffre: {failure}.");
}

/// Says on stderr what the user should know; the log may be elsewhere.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "zaffre: warning: {text}.");
}
