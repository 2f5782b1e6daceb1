//! What packagers install beside the program: shell completions and a man page.
//!
//! Must never be written by hand: both come from the flags themselves.

use crate::args::Args;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};

/// Writes the completions of a shell to stdout.
pub(crate) fn completions(shell: Shell) -> Result<bool, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "zaffre", &mut text);
    put(&text)
}

/// Writes the man page to stdout.
pub(crate) fn manual() -> Result<bool, Failure> {
    let mut text = Vec::new();
    let made = clap_mangen::Man::new(Args::command()).render(&mut text);
    made.map_err(|error| Failure::System { doing: "writing the manual", error })?;
    put(&text)
}

fn put(text: &[u8]) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        // Whoever reads only the beginning has what it wanted.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::System { doing: "writing to stdout", error })
        }
        _ => Ok(true),
    }
}
