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
use zaffre_core::file::mount::BasicChange;

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
    if waits {
        settle(&server, &file).await;
    }
}

/// Tells what was written.
pub(super) async fn settle(server: &Server, file: &FileHandle) {
    tell(server, file, None).await;
}

/// Tells that something was written, if it was, by a handle that is closed now.
pub(super) async fn settle_closed(server: &Server, file: &FileHandle) {
    tell(server, file, Some(server.now())).await;
}

async fn tell(server: &Server, file: &FileHandle, closed: Option<Timestamp>) {
    let (at, keeps_change) = {
        let mut kept = file.scratch.kept();
        let at = match kept.write_time {
            WriteTime::Never => return,
            WriteTime::Waiting(at) => Some(at),
            WriteTime::Told(at) => at,
        };
        kept.write_time = WriteTime::Told(None);
        (at.filter(|_| !kept.times.last_write), kept.times.change)
    };
    let Some(at) = at.map(|at| closed.unwrap_or(at)) else { return };
    let mut change = BasicChange { last_write: Some(at), change: Some(at), ..Default::default() };
    let mount = &file.disk.mount;
    if keeps_change {
        change.change = mount.facts(file.file.file).await.ok().map(|facts| facts.times.change);
    }
    // The bytes are durable; a file that is gone needs no time.
    if mount.set_basic(file.file.file, change).await.is_ok() {
        notify::modified(server, file, notify::LAST_WRITE);
    }
}
