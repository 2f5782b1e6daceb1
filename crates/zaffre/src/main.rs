//! The program: flags, accounts, logs, wiring, signals. Nothing else.
//!
//! Must never hold a rule of the service; what it says to the terminal says what to do as well.

mod access_log;
mod accounts;
mod args;
mod capped;
mod certificate;
mod check;
mod console;
mod descriptors;
mod endpoints;
mod failure;
mod import;
mod lanes;
mod log;
mod names;
mod oauth;
mod paper;
#[cfg(test)]
mod reference;
mod sealed;
mod serve;
mod services;
mod settings;
mod signals;
mod smb;
mod sources;
mod terminal;
mod traces;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

/// Many short requests on few threads: with the system's allocator a small write takes 6 % more of the
/// processor's time (ADR 23).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match &args.command {
        None => serve::run(&args).map(|()| true),
        Some(Command::Check { dir, key_file }) => check::run(dir, key_file.as_deref()),
        Some(Command::Import { command }) => import::run(command),
        Some(Command::Completions { shell }) => paper::completions(*shell),
        Some(Command::Man) => paper::manual(),
        Some(Command::Health { remote }) => console::health(remote),
        Some(Command::Clock { remote, command }) => console::clock(remote, command),
        Some(Command::Fault { remote, command }) => console::fault(remote, command),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            terminal::complain(&failure);
            ExitCode::FAILURE
        }
    }
}
