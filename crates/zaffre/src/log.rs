//! Logs: warnings on stderr, everything in the `--debug` file.
//!
//! Must never be given a secret; requests are logged with their signatures cut.

use crate::args::Args;
use crate::failure::Failure;
use std::env;
use std::fs::OpenOptions;
use std::io;
use std::sync::Mutex;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

const VARIABLE: &str = "ZAFFRE_LOG";
/// What goes to the `--debug` file unless the variable says otherwise.
const DETAILED: &str = "info,zaffre=debug,zaffre_http=debug,zaffre_blob=debug,zaffre_queue=debug,\
                        zaffre_core=debug,zaffre_store=debug,access=info";

/// Starts logging.
pub(crate) fn start(args: &Args) -> Result<(), Failure> {
    let asked = env::var(VARIABLE).ok();
    let filter = |otherwise: &str| EnvFilter::new(asked.as_deref().unwrap_or(otherwise));
    let quiet = if args.silent { LevelFilter::ERROR } else { LevelFilter::WARN };
    let file = match &args.debug {
        None => None,
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            Some(file.map_err(|error| Failure::file("debug log", path, error))?)
        }
    };
    let terminal = fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false);
    // With a file, the terminal keeps to warnings whatever the file is asked to hold.
    let terminal_filter =
        if file.is_some() { EnvFilter::new(quiet.to_string()) } else { filter(&quiet.to_string()) };
    let detailed = file.map(|file| {
        fmt::layer().with_writer(Mutex::new(file)).with_ansi(false).with_filter(filter(DETAILED))
    });
    registry().with(terminal.with_filter(terminal_filter)).with(detailed).init();
    Ok(())
}
