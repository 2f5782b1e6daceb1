//! When a handle's writes become the file's time of the last write: two seconds after the first, and
//! for the others when the handle is flushed or closed. Closing is then the last that was done to it.
//!
//! Must never change a time that the handle has set or frozen.

use super::handle::FileHandle;
use super::notify;
use crate::server::state::Server;
use std::sync::{Arc, Weak};
use std::time::Duration;
use zaffre_base::Timestamp;
use zaffre_core::Error;
use zaffre_core::file::mount::BasicChange;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;

/// How long the first write may stay unseen.
const DELAY: Duration = Duration::from_secs(2);

/// What a handle has written and not yet told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum WriteTime {
    /// Nothing was written.
    #[default]
    Never,
    /// The first write waits, and the last one was then.
    Waiting(Timestamp),
    /// The first was told; what came after, if anything did, waits for the end.
    Told(Option<Timestamp>),
}

/// Notes a write.
pub(super) fn wrote(server: &Arc<Server>, file: &Arc<FileHandle>) {
    let now = server.now();
    let mut kept = file.scratch.kept();
    if kept.times.last_write {
        return;
    }
    kept.write_time = match kept.write_time {
        WriteTime::Never => {
            let (server, file) = (Arc::downgrade(server), Arc::downgrade(file));
            tokio::spawn(tell_later(server, file));
            WriteTime::Waiting(now)
        }
        WriteTime::Waiting(_) => WriteTime::Waiting(now),
        WriteTime::Told(_) => WriteTime::Told(Some(now)),
    };
}

async fn tell_later(server: Weak<Server>, file: Weak<FileHandle>) {
    tokio::time::sleep(DELAY).await;
    let (Some(server), Some(file)) = (server.upgrade(), file.upgrade()) else { return };
    let waits = matches!(file.scratch.kept().write_time, WriteTime::Waiting(_));
    if waits && let Err(error) = settle(&server, &file).await {
        // Whoever flushes or closes the file hears of it.
        tracing::warn!(%error, "writes that waited could not be committed");
    }
}

/// Makes durable what was written to the file, and tells when this handle wrote.
pub(super) async fn settle(server: &Server, file: &FileHandle) -> Result<(), Error> {
    tell(server, file, None).await
}

/// The same for a handle that is closed now: if it wrote anything, it did so now.
pub(super) async fn settle_closed(server: &Server, file: &FileHandle) -> Result<(), Error> {
    tell(server, file, Some(server.now())).await
}

async fn tell(server: &Server, file: &FileHandle, closed: Option<Timestamp>) -> Result<(), Error> {
    let mount = &file.disk.mount;
    let Some((at, keeps_change)) = untold(file) else {
        return if file.directory { Ok(()) } else { mount.flush(file.file.file, None).await };
    };
    let told = closed.unwrap_or(at);
    let mut change =
        BasicChange { last_write: Some(told), change: Some(told), ..Default::default() };
    if keeps_change {
        change.change = mount.facts(file.file.file).await.ok().map(|facts| facts.times.change);
    }
    match mount.flush(file.file.file, Some(change)).await {
        Ok(()) => {
            notify::modified(server, file, notify::LAST_WRITE);
            Ok(())
        }
        // A file that is gone needs neither bytes nor a time.
        Err(error) if is_gone(&error) => Ok(()),
        Err(error) => {
            tell_again(file, at);
            Err(error)
        }
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Refused(Refusal::File(FileRefusal::ResourceNotFound)))
}

/// The time of the last write that was not told, and whether the time of change stays.
fn untold(file: &FileHandle) -> Option<(Timestamp, bool)> {
    let mut kept = file.scratch.kept();
    let at = match kept.write_time {
        WriteTime::Never => return None,
        WriteTime::Waiting(at) => Some(at),
        WriteTime::Told(at) => at,
    };
    kept.write_time = WriteTime::Told(None);
    at.filter(|_| !kept.times.last_write).map(|at| (at, kept.times.change))
}

/// Takes back that a time was told.
fn tell_again(file: &FileHandle, at: Timestamp) {
    let mut kept = file.scratch.kept();
    if kept.write_time == WriteTime::Told(None) {
        kept.write_time = WriteTime::Told(Some(at));
    }
}
