//! Handles as a whole: closed, listed, marked for deletion, left by their clients and taken up again.
//!
//! Must never remove a file: it says that one is to be removed.

use super::state::State;
use super::types::{Closed, FileKey, HandleId, HandleInfo, Listener, Owner, Place, Under};
use super::{Opens, Refused};
use std::sync::Arc;
use std::time::Duration;
use zaffre_base::{Incarnation, Timestamp};
use zaffre_domain::fs::FileId;

/// The last handle of a file marked for deletion is closed: remove the file, then drop this.
/// Until then nobody can open it. A file that is not removed is there again afterwards.
#[derive(Debug)]
pub struct Removal {
    opens: Opens,
    file: FileKey,
}

impl Removal {
    pub(super) fn new(opens: Opens, file: FileKey) -> Self {
        Self { opens, file }
    }

    /// What is to be removed.
    pub fn file(&self) -> FileKey {
        self.file
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        let mut state = self.opens.state();
        if let Some(node) = state.nodes.get_mut(&self.file) {
            node.removing = false;
            node.deletion.set(false);
            node.wake();
        }
        state.tidy(self.file);
    }
}

impl Opens {
    /// Closes a handle.
    pub fn close(&self, handle: HandleId) -> Result<Closed, Refused> {
        let taken = self.state().close(handle, self.monotonic()).ok_or(Refused::NoSuchHandle)?;
        Ok(taken.into_closed(self))
    }

    /// Takes back an open that came to nothing: as if it had not been, also if it was to delete on
    /// close. What others left to be removed meanwhile is left to the next sweep.
    pub fn retract(&self, handle: HandleId) {
        let mut state = self.state();
        if let Some(open) = state.node_of(handle).and_then(|node| node.open_mut(handle)) {
            open.delete_on_close = false;
        }
        let taken = state.close(handle, self.monotonic()).filter(|taken| taken.remove);
        state.unswept.extend(taken);
    }

    /// Closes a handle of `share` against the will of its client, who is told. If it was to delete
    /// on close, it does not: that was to be when its client is done.
    pub fn force_close(&self, share: Incarnation, handle: HandleId) -> Option<Closed> {
        let mut state = self.state();
        state.handles.get(&handle).filter(|file| file.share == share)?;
        state.node_of(handle)?.open_mut(handle)?.delete_on_close = false;
        let taken = state.evict(handle, self.monotonic());
        drop(state);
        taken.map(|taken| taken.into_closed(self))
    }

    /// Closes all handles that are meant against the will of their clients, who are told.
    pub fn force_close_all(&self, share: Incarnation, under: Under) -> Vec<Closed> {
        let handles: Vec<_> = self.handles(share, under).iter().map(|info| info.handle).collect();
        handles.into_iter().filter_map(|handle| self.force_close(share, handle)).collect()
    }

    /// The handles of `share` that are meant, in order of their ids.
    pub fn handles(&self, share: Incarnation, under: Under) -> Vec<HandleInfo> {
        let state = self.state();
        let mut all: Vec<_> =
            state.files(share, under).into_iter().flat_map(|file| state.handles_of(file)).collect();
        all.sort_unstable_by_key(|info| info.handle);
        all
    }

    /// How many handles are open in all.
    pub fn count(&self) -> usize {
        self.state().handles.len()
    }

    /// Whether any handle of what is meant is open.
    pub fn is_open(&self, share: Incarnation, under: Under) -> bool {
        let state = self.state();
        let files = state.files(share, under);
        files.iter().any(|file| state.nodes.get(file).is_some_and(|node| !node.opens.is_empty()))
    }

    /// Whether the file goes with its last handle; listings hide it.
    pub fn is_delete_pending(&self, file: FileKey) -> bool {
        let state = self.state();
        let node = state.nodes.get(&file);
        node.is_some_and(|node| node.removing || node.deletion.is_pending())
    }

    /// Marks what `handle` has open for deletion, or takes the mark back. Whether that is allowed
    /// at all is the caller's to know.
    pub fn set_delete(&self, handle: HandleId, delete: bool) -> Result<(), Refused> {
        let mut state = self.state();
        let node = state.node_of(handle).ok_or(Refused::NoSuchHandle)?;
        node.deletion.set(delete);
        Ok(())
    }

    /// What `file` is called now, after it or a directory above it was moved.
    pub fn moved(&self, file: FileKey, to: &Place) {
        let mut state = self.state();
        for key in state.files(file.share, Under::Tree(file.file)) {
            if let Some(node) = state.nodes.get_mut(&key) {
                node.place =
                    if key == file { to.clone() } else { below(&node.place, file.file, to) };
            }
        }
    }

    /// Where what `handle` has open is now.
    pub fn place(&self, handle: HandleId) -> Option<Place> {
        self.state().node_of(handle).map(|node| node.place.clone())
    }

    /// The client of a handle is gone and may come back until `until` (monotonic). Breaks of what
    /// the handle caches are over at once; an open that would wait for one closes the handle. One whose
    /// client owes an answer already is refused: close it, so that whoever waits goes on.
    pub fn orphan(
        &self,
        handle: HandleId,
        until: Duration,
        listener: Arc<dyn Listener>,
    ) -> Result<(), Refused> {
        let mut state = self.state();
        let node = state.node_of(handle).ok_or(Refused::NoSuchHandle)?;
        if node.owes_answer(handle) {
            return Err(Refused::FlushDelay);
        }
        node.refuse_locks_of(handle);
        let open = node.open_mut(handle).ok_or(Refused::NoSuchHandle)?;
        open.orphaned = Some(until);
        open.owner.listener = listener;
        node.wake();
        Ok(())
    }

    /// The client of a handle came back.
    pub fn adopt(&self, handle: HandleId, owner: Owner, time: Timestamp) -> Result<(), Refused> {
        let mut state = self.state();
        let open = state.node_of(handle).and_then(|node| node.open_mut(handle));
        let open = open.filter(|open| open.orphaned.is_some()).ok_or(Refused::NoSuchHandle)?;
        open.orphaned = None;
        open.owner = owner;
        open.reconnected = Some(time);
        Ok(())
    }

    /// Closes handles whose clients were gone for too long, and gives up on answers that are
    /// overdue. What is to be removed comes back; call it about once a second.
    pub fn sweep(&self, now: Duration) -> Vec<Closed> {
        let mut state = self.state();
        let files: Vec<_> = state.nodes.keys().copied().collect();
        for file in files {
            state.clear(file, now, |_, _| false);
            state.tidy(file);
        }
        let unswept = std::mem::take(&mut state.unswept);
        drop(state);
        unswept.into_iter().map(|taken| taken.into_closed(self)).collect()
    }
}

/// The place of what is below `moved` after that went `to`.
fn below(place: &Place, moved: FileId, to: &Place) -> Place {
    let depth = place.above.iter().position(|id| *id == moved).unwrap_or(0);
    let rest = place.path.splitn(depth + 1, '/').last().unwrap_or_default();
    let above = to.above.iter().chain(&place.above[depth..]).copied().collect();
    Place { above, path: format!("{}/{rest}", to.path) }
}

impl State {
    fn handles_of(&self, file: FileKey) -> Vec<HandleInfo> {
        let Some(node) = self.nodes.get(&file) else { return Vec::new() };
        let parent = node.place.above.last().copied().unwrap_or(FileId::NONE);
        let info = |open: &super::node::Open| HandleInfo {
            handle: open.handle,
            file: file.file,
            parent,
            path: node.place.path.clone(),
            session: open.owner.session,
            client_address: open.owner.client_address.clone(),
            client_name: open.owner.client_name.clone(),
            opened: open.opened,
            reconnected: open.reconnected,
            access: open.access,
        };
        node.opens.iter().map(info).collect()
    }
}
