//! When to stop: SIGINT or SIGTERM. A second one does not wait for anybody.

use crate::failure::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the program.
pub(crate) struct Stops {
    interrupt: Signal,
    terminate: Signal,
}

/// What shells report for a program that was interrupted.
const INTERRUPTED: i32 = 130;

impl Stops {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let open = |kind| {
            signal(kind).map_err(|error| Failure::System { doing: "listening for signals", error })
        };
        Ok(Self {
            interrupt: open(SignalKind::interrupt())?,
            terminate: open(SignalKind::terminate())?,
        })
    }

    /// Ready when the program is asked to stop.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// From now on the next signal ends the program at once; nothing acknowledged is lost by it.
    pub(crate) fn end_on_next(mut self) {
        tokio::spawn(async move {
            self.wait().await;
            std::process::exit(INTERRUPTED);
        });
    }
}
