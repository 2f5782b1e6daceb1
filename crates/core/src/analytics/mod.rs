//! Storage analytics: lines of answered requests, gathered in memory and written to the `$logs`
//! container as block blobs.
//!
//! ```text
//!   request ─► line ─► buffer (bounded) ─► $logs/blob/2026/11/15/0900/000000.log
//! ```
//! Must never hold a request up: when the buffer is full, lines are lost and counted. The service
//! promises no more of its own logs.

mod buffer;
mod retention;
mod write;

pub(crate) use buffer::Buffer;

use crate::{Core, Error};
use std::time::Duration;
use zaffre_auth::Service;
use zaffre_base::AccountName;
use zaffre_domain::service::Logging;
use zaffre_domain::service::log::{Effect, LogEntry};

/// How long lines wait for others before they are written.
const EVERY: Duration = Duration::from_secs(5);
/// How often old logs are looked for.
const RETENTION_EVERY: Duration = Duration::from_hours(1);

impl Core {
    /// Notes an answered request if `logging` asks for it.
    pub fn log_request(
        &self,
        account: &AccountName,
        service: Service,
        logging: &Logging,
        entry: &LogEntry,
    ) {
        let wanted = match entry.effect {
            Effect::Read => logging.read,
            Effect::Write => logging.write,
            Effect::Delete => logging.delete,
        };
        if wanted && entry.is_logged() {
            let line = entry.line(logging.version);
            self.logs().push(account, service, logging.version, entry, &line);
        }
    }

    /// Writes all lines that wait. What cannot be written is lost, and the program's log says so.
    pub async fn flush_logs(&self) {
        for (account, batch) in self.logs().take() {
            if let Err(error) = write::write(self, &account, &batch).await {
                tracing::warn!(%error, %account, lines = batch.lines, "log lines were lost");
            }
        }
    }
}

/// Writes and removes logs for as long as it runs.
pub(crate) async fn run(core: &Core) {
    let mut next_look = tokio::time::Instant::now();
    loop {
        tokio::select! {
            () = core.logs().full() => {}
            () = tokio::time::sleep(EVERY) => {}
        }
        core.flush_logs().await;
        if tokio::time::Instant::now() >= next_look {
            next_look = tokio::time::Instant::now() + RETENTION_EVERY;
            if let Err(error) = core.remove_old_logs().await {
                tracing::warn!(%error, "old logs could not be looked for");
            }
        }
    }
}

impl Core {
    /// Removes logs that are older than their account's retention policies say.
    pub async fn remove_old_logs(&self) -> Result<usize, Error> {
        retention::remove_old(self).await
    }
}
