//! All that is open, found by file, by handle and by lease.
//!
//! Must never be seen unlocked, and never wait.

use super::node::{CacheKey, Node, Open};
use super::types::{FileKey, HandleId, LeaseId, Place, Under};
use super::{Opens, Removal};
use crate::file::opens::types::{Closed, Event};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use zaffre_base::Incarnation;
use zaffre_domain::fs::FileId;
use zaffre_domain::fs::deletion::AfterClose;
use zaffre_domain::fs::oplock::Cause;

/// The table.
#[derive(Debug)]
pub(super) struct State {
    pub(super) nodes: HashMap<FileKey, Node>,
    pub(super) handles: BTreeMap<HandleId, FileKey>,
    pub(super) leases: HashMap<LeaseId, FileKey>,
    /// The open streams of files.
    pub(super) streams: HashMap<FileKey, Vec<FileKey>>,
    /// Files that are to be removed and that nobody has been told of.
    pub(super) unswept: Vec<Taken>,
    next: u64,
}

/// A handle that was taken out, and whether its file is to be removed now.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) handle: HandleId,
    pub(super) file: FileKey,
    pub(super) remove: bool,
}

impl Taken {
    /// The same with the duty to remove as a value.
    pub(super) fn into_closed(self, opens: &Opens) -> Closed {
        let removal = self.remove.then(|| Removal::new(opens.clone(), self.file));
        Closed { handle: self.handle, file: self.file, removal }
    }
}

impl State {
    /// An empty table whose ids start at `first`.
    pub(super) fn new(first: u64) -> Self {
        Self {
            nodes: HashMap::new(),
            handles: BTreeMap::new(),
            leases: HashMap::new(),
            streams: HashMap::new(),
            unswept: Vec::new(),
            next: first,
        }
    }

    pub(super) fn draw_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The node of `file`, made if there is none.
    pub(super) fn node(&mut self, file: FileKey) -> &mut Node {
        let nowhere = || Place { above: Arc::from([]), path: String::new() };
        self.nodes.entry(file).or_insert_with(|| Node::new(nowhere(), false))
    }

    /// The node of a handle.
    pub(super) fn node_of(&mut self, handle: HandleId) -> Option<&mut Node> {
        let file = self.handles.get(&handle)?;
        self.nodes.get_mut(file)
    }

    /// Drops the node when nobody needs it; who still waits is woken by that.
    pub(super) fn tidy(&mut self, file: FileKey) {
        let Some(node) = self.nodes.get(&file) else { return };
        // What is marked goes with its last stream, and must be known as marked until then.
        let waits = node.deletion.is_pending() && self.streams.contains_key(&file);
        if !node.is_idle() || waits {
            return;
        }
        let gone = self.nodes.remove(&file);
        if let Some(base) = gone.and_then(|node| node.base) {
            self.forget_stream(base, file);
            self.tidy(base);
        }
    }

    /// Closes a handle: its locks and its caching go, and whoever waited looks again.
    pub(super) fn close(&mut self, handle: HandleId, now: Duration) -> Option<Taken> {
        let file = self.handles.remove(&handle)?;
        let of_streams = self.open_streams(file);
        let node = self.nodes.get_mut(&file)?;
        let open = node.take_open(handle)?;
        let lease_left = node.caches.iter().map(|cache| cache.key).collect::<Vec<_>>();
        node.locks.release(handle);
        node.refuse_locks_of(handle);
        let after = node.deletion.close(open.delete_on_close, node.opens.len() + of_streams);
        let base = node.base;
        let base = self.base_goes(base);
        let node = self.nodes.get_mut(&file)?;
        // A stream goes with its file, not by itself.
        let remove = after == AfterClose::Remove && base.is_none();
        node.removing |= remove;
        if open.delete_on_close && !remove {
            // Those who only cache a handle may let it go, so that the file can.
            node.break_caches(Cause::NameChange, None, false, now);
        }
        node.wake();
        self.forget_lease(&open, &lease_left);
        self.tidy(file);
        match base {
            Some(base) => Some(Taken { handle, file: base, remove: true }),
            None => Some(Taken { handle, file, remove }),
        }
    }

    fn forget_lease(&mut self, open: &Open, left: &[CacheKey]) {
        if let Some(key @ CacheKey::Lease(lease)) = open.cache
            && !left.contains(&key)
        {
            self.leases.remove(&lease);
        }
    }

    /// Closes a handle whose owner did not ask for it, and tells the owner.
    pub(super) fn evict(&mut self, handle: HandleId, now: Duration) -> Option<Taken> {
        let open = self.node_of(handle)?.open(handle)?;
        open.owner.listener.clone().tell(Event::Closed { handle });
        self.close(handle, now)
    }

    /// Makes room on `file`: gives up on answers that are overdue, and closes handles whose clients
    /// are gone for too long, or are gone and `in_the_way`.
    pub(super) fn clear(
        &mut self,
        file: FileKey,
        now: Duration,
        in_the_way: impl Fn(&Node, &Open) -> bool,
    ) {
        let Some(node) = self.nodes.get_mut(&file) else { return };
        node.expire_breaks(now);
        let node = &*node;
        let goes = |open: &&Open| match open.orphaned {
            Some(until) => until <= now || in_the_way(node, open),
            None => false,
        };
        let gone: Vec<_> = node.opens.iter().filter(goes).map(|open| open.handle).collect();
        for handle in gone {
            let taken = self.evict(handle, now);
            self.unswept.extend(taken.filter(|taken| taken.remove));
        }
    }

    /// The files of `share` that are meant, in order.
    pub(super) fn files(&self, share: Incarnation, under: Under) -> Vec<FileKey> {
        if let Under::Only(file) = under {
            // Asked by every REST operation: not by looking through the whole table.
            let key = FileKey { share, file };
            return self.nodes.contains_key(&key).then_some(key).into_iter().collect();
        }
        let meant = |file: &FileId, node: &Node| match under {
            Under::Only(only) => only == *file,
            Under::Tree(top) => top == *file || node.place.above.contains(&top),
            Under::All => true,
        };
        let mut files: Vec<_> = self
            .nodes
            .iter()
            .filter(|(key, node)| key.share == share && meant(&key.file, node))
            .map(|(key, _)| *key)
            .collect();
        files.sort_unstable();
        files
    }
}
