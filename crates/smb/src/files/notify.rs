//! CHANGE_NOTIFY: who watches which directory, and what happens in it.
//!
//! Must never hold more for a watcher than the answer it asked for has room for.

use super::disk::Disk;
use super::handle::FileHandle;
use super::io::{needs, target};
use crate::limits;
use crate::server::exchange::{Exchange, Reply};
use crate::server::state::Server;
use crate::status::{Failure, Status};
use crate::wire::cursor::{Writer, index, length32, utf16_bytes};
use crate::wire::info::{NotifyRequest, buffer_response};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;
use zaffre_base::Incarnation;
use zaffre_domain::fs::access::AccessMask;

pub(crate) const FILE_NAME: u32 = 0x001;
pub(crate) const DIRECTORY_NAME: u32 = 0x002;
pub(crate) const ATTRIBUTES: u32 = 0x004;
pub(crate) const SIZE: u32 = 0x008;
pub(crate) const LAST_WRITE: u32 = 0x010;
pub(crate) const LAST_ACCESS: u32 = 0x020;
pub(crate) const CREATION: u32 = 0x040;

/// What happened to a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    Added,
    Removed,
    Modified,
    OldName,
    NewName,
}

impl Action {
    fn number(self, of_stream: bool) -> u32 {
        match self {
            Self::Added if of_stream => 6,
            Self::Removed if of_stream => 7,
            Self::Modified if of_stream => 8,
            Self::Added => 1,
            Self::Removed => 2,
            Self::Modified => 3,
            Self::OldName => 4,
            Self::NewName => 5,
        }
    }
}

/// What a handle watches; nothing until it asks for the first time.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// What the first request asked for: it stays.
    asked: Option<Asked>,
    events: Vec<(Action, String)>,
    bytes: usize,
    /// More happened than there is room for.
    lost: bool,
    closed: bool,
    /// Requests that wait.
    waiting: usize,
    /// So many events are the answer to one that waits: those there were when it had to wait no
    /// longer, and not what came until it was its turn.
    due: Option<usize>,
}

/// A request that waits, for as long as it does.
struct Waits<'a>(&'a Watch);

impl<'a> Waits<'a> {
    fn begin(watch: &'a Watch) -> Self {
        watch.state().waiting += 1;
        Self(watch)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    tree: bool,
    filter: u32,
    room: usize,
}

/// Bytes of a record before its name.
const RECORD: usize = 12;

impl Watch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle is closed: whoever waits is told.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.wake.notify_waiters();
    }

    fn push(&self, action: Action, filter: u32, name: &str, direct: bool) {
        let mut state = self.state();
        let Some(asked) = state.asked else { return };
        if asked.filter & filter == 0 || !(direct || asked.tree) || state.lost {
            return;
        }
        let repeated = action == Action::Modified
            && state.events.last().is_some_and(|(a, n)| *a == action && n == name);
        if !repeated {
            state.bytes += bytes_of(name);
            if state.bytes > asked.room {
                state.lost = true;
                state.events = Vec::new();
            } else {
                state.events.push((action, name.to_owned()));
            }
            // Half a rename is told to nobody.
            if state.waiting > 0 && action != Action::OldName {
                let there = state.events.len();
                state.due.get_or_insert(there);
            }
        }
        drop(state);
        self.wake.notify_waiters();
    }

    /// What is to be told, if anything is.
    fn take(&self, most: usize) -> Option<Result<Reply, Failure>> {
        let mut state = self.state();
        if state.closed {
            let body = buffer_response(&[]);
            return Some(Ok(Reply { status: Status::NOTIFY_CLEANUP, body }));
        }
        if state.events.is_empty() && !state.lost {
            return None;
        }
        let there = state.events.len();
        let due = state.due.take().unwrap_or(there).min(there);
        let events: Vec<_> = state.events.drain(..due).collect();
        let bytes: usize = events.iter().map(|(_, name)| bytes_of(name)).sum();
        state.bytes = if state.lost { 0 } else { state.bytes - bytes };
        let fits = bytes <= most && !std::mem::take(&mut state.lost);
        if !fits {
            let body = buffer_response(&[]);
            return Some(Ok(Reply { status: Status::NOTIFY_ENUM_DIR, body }));
        }
        Some(Ok(Reply::ok(buffer_response(&records(&events)))))
    }
}

/// What an event takes of an answer.
fn bytes_of(name: &str) -> usize {
    (RECORD + name.encode_utf16().count() * 2).next_multiple_of(4)
}

fn records(events: &[(Action, String)]) -> Vec<u8> {
    let mut to = Writer::new();
    let mut last = None;
    for (action, name) in events {
        to.align(4);
        let start = to.len();
        if let Some(last) = last {
            to.set_u32(last, length32(start - last));
        }
        let of_stream = name.contains(':');
        let name = utf16_bytes(name.replace('/', "\\").encode_utf16());
        to.u32(0).u32(action.number(of_stream)).length(name.len()).bytes(&name);
        last = Some(start);
    }
    to.finish()
}

/// Who watches in which share.
#[derive(Debug, Default)]
pub(crate) struct Watches(Mutex<HashMap<Incarnation, Vec<Weak<FileHandle>>>>);

impl Watches {
    fn lock(&self) -> MutexGuard<'_, HashMap<Incarnation, Vec<Weak<FileHandle>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, file: &Arc<FileHandle>) {
        let mut watches = self.lock();
        let of_share = watches.entry(file.disk.mount.incarnation()).or_default();
        of_share.retain(|watch| watch.strong_count() > 0);
        of_share.push(Arc::downgrade(file));
    }

    fn of(&self, share: Incarnation) -> Vec<Arc<FileHandle>> {
        let mut watches = self.lock();
        let Some(of_share) = watches.get_mut(&share) else { return Vec::new() };
        of_share.retain(|watch| watch.strong_count() > 0);
        let found = of_share.iter().filter_map(Weak::upgrade).collect();
        if of_share.is_empty() {
            watches.remove(&share);
        }
        found
    }
}

/// CHANGE_NOTIFY.
pub(crate) async fn run(x: &mut Exchange<'_>, request: NotifyRequest) -> Result<Reply, Failure> {
    let file = target(x, request.file)?;
    if !file.directory {
        return Err(Status::INVALID_PARAMETER.into());
    }
    needs(&file, AccessMask::READ_DATA)?;
    let room = index(request.output).min(limits::ANSWER_BYTES);
    let first = {
        let mut state = file.scratch.watch.state();
        let first = state.asked.is_none();
        state.asked.get_or_insert(Asked { tree: request.tree, filter: request.filter, room });
        first
    };
    if first {
        x.server.watches.add(&file);
    }
    let watch = &file.scratch.watch;
    let mut cancelled = None;
    let mut waits = None;
    loop {
        // Registered before looking, so that nothing is missed in between.
        let woken = watch.wake.notified();
        tokio::pin!(woken);
        woken.as_mut().enable();
        if let Some(reply) = watch.take(room) {
            return reply;
        }
        if x.server.core.opens().is_delete_pending(file.file) {
            return Err(Status::DELETE_PENDING.into());
        }
        // Before the client hears that it waits: what it does then is what it is told of.
        waits.get_or_insert_with(|| Waits::begin(watch));
        if cancelled.is_none() {
            cancelled = Some(x.pend().await?);
        }
        let Some(cancelled) = &cancelled else { continue };
        tokio::select! {
            () = woken => {}
            () = cancelled.wait() => return Err(Status::CANCELLED.into()),
        }
    }
}

/// Tells everybody who watches what happened to `path`.
fn tell(server: &Server, disk: &Disk, path: &str, action: Action, filter: u32) {
    if filter == 0 || disk.is_snapshot() {
        return;
    }
    let filter = if path.contains(':') { of_stream(filter) } else { filter };
    for watcher in server.watches.of(disk.mount.incarnation()) {
        let Some(place) = server.core.opens().place(watcher.handle) else { continue };
        let below = if place.path.is_empty() {
            Some(path)
        } else {
            path.strip_prefix(place.path.as_str()).and_then(|rest| rest.strip_prefix('/'))
        };
        if let Some(name) = below.filter(|name| !name.is_empty()) {
            watcher.scratch.watch.push(action, filter, name, !name.contains('/'));
        }
    }
}

/// A directory is marked for deletion: those who watch it have nothing more to wait for.
pub(crate) fn marked(server: &Server, directory: &FileHandle) {
    for watcher in server.watches.of(directory.disk.mount.incarnation()) {
        if watcher.file == directory.file {
            watcher.scratch.watch.wake.notify_waiters();
        }
    }
}

/// What watches of streams ask for in place of what watches of files do.
fn of_stream(filter: u32) -> u32 {
    [(FILE_NAME, 0x200), (SIZE, 0x400), (LAST_WRITE, 0x800)]
        .iter()
        .filter(|(bit, _)| filter & bit != 0)
        .fold(0, |all, (_, of_stream)| all | of_stream)
}

fn name_bit(directory: bool) -> u32 {
    if directory { DIRECTORY_NAME } else { FILE_NAME }
}

/// Something has a name now.
pub(crate) fn added(server: &Server, disk: &Disk, directory: bool, path: &str) {
    tell(server, disk, path, Action::Added, name_bit(directory));
}

/// Something is gone.
pub(crate) fn removed(server: &Server, disk: &Disk, directory: bool, path: &str) {
    tell(server, disk, path, Action::Removed, name_bit(directory));
}

/// Something has another name; in another directory it is gone here and new there.
pub(crate) fn renamed(server: &Server, disk: &Disk, directory: bool, from: &str, to: &str) {
    let parent = |path: &str| path.rsplit_once('/').map_or(String::new(), |(p, _)| p.to_owned());
    let bit = name_bit(directory);
    if parent(from) == parent(to) {
        tell(server, disk, from, Action::OldName, bit);
        tell(server, disk, to, Action::NewName, bit);
    } else {
        tell(server, disk, from, Action::Removed, bit);
        tell(server, disk, to, Action::Added, bit);
    }
}

/// Something about a file has changed.
pub(crate) fn modified(server: &Server, file: &FileHandle, filter: u32) {
    if filter == 0 {
        return;
    }
    if let Some(place) = server.core.opens().place(file.handle) {
        tell(server, &file.disk, &place.path, Action::Modified, filter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watching(tree: bool, filter: u32, room: usize) -> Watch {
        let watch = Watch::default();
        watch.state().asked = Some(Asked { tree, filter, room });
        watch
    }

    fn told(watch: &Watch, most: usize) -> Option<(Status, usize)> {
        watch.take(most).map(|reply| {
            let reply = reply.expect("never an error");
            (reply.status, reply.body.len() - 8)
        })
    }

    #[test]
    fn what_was_asked_for_is_told_once() {
        let watch = watching(false, FILE_NAME, 1000);
        assert_eq!(told(&watch, 1000), None);
        watch.push(Action::Added, DIRECTORY_NAME, "d", true);
        watch.push(Action::Added, FILE_NAME, "d/f", false);
        assert_eq!(told(&watch, 1000), None);
        watch.push(Action::Added, FILE_NAME, "f", true);
        watch.push(Action::Removed, FILE_NAME, "f", true);
        assert_eq!(told(&watch, 1000), Some((Status::SUCCESS, 30)));
        assert_eq!(told(&watch, 1000), None);
        watch.close();
        assert_eq!(told(&watch, 1000).map(|t| t.0), Some(Status::NOTIFY_CLEANUP));
    }

    #[test]
    fn who_waits_is_told_what_ended_the_wait() {
        let watch = watching(false, FILE_NAME | LAST_WRITE, 1000);
        let waits = Waits::begin(&watch);
        watch.push(Action::Added, FILE_NAME, "f", true);
        watch.push(Action::Modified, LAST_WRITE, "f", true);
        let one = told(&watch, 1000);
        assert_eq!(one, Some((Status::SUCCESS, 14)), "and not what came after it");
        assert_eq!(told(&watch, 1000), one, "which is the next answer");
        watch.push(Action::OldName, FILE_NAME, "f", true);
        watch.push(Action::NewName, FILE_NAME, "g", true);
        assert_eq!(told(&watch, 1000), Some((Status::SUCCESS, 30)), "a rename as one");
        drop(waits);
        watch.push(Action::Added, FILE_NAME, "f", true);
        watch.push(Action::Removed, FILE_NAME, "f", true);
        assert_eq!(told(&watch, 1000), Some((Status::SUCCESS, 30)), "all since the last answer");
        assert_eq!(watch.state().bytes, 0);
    }

    #[test]
    fn too_much_is_told_as_such() {
        let watch = watching(true, FILE_NAME, 40);
        watch.push(Action::Added, FILE_NAME, "d/f", false);
        assert_eq!(told(&watch, 4).map(|t| t.0), Some(Status::NOTIFY_ENUM_DIR));
        for name in ["a", "b", "c"] {
            watch.push(Action::Added, FILE_NAME, name, true);
        }
        assert_eq!(told(&watch, 1000).map(|t| t.0), Some(Status::NOTIFY_ENUM_DIR));
        assert_eq!(told(&watch, 1000), None);
    }
}
