//! The program: flags, accounts, logs, wiring, signals. Nothing else.
//!
//! Must never hold a rule of the service; what it says to the terminal says what to do as well.

mod accounts;
mod args;
mod capped;
mod certificate;
mod failure;
mod log;
mod serve;
mod signals;
mod terminal;

use args::Args;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    match serve::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::complain(&failure);
            ExitCode::FAILURE
        }
    }
}
