//! What a transaction inside a share keeps: past states for snapshots, the bytes used, and what it
//! takes out of use.
//!
//! Must never be skipped by a write: every change of an entry or an inode goes through here.

use super::keys::Keys;
use super::records::{Entry, Inode, Intent, Retired, State};
use super::tree::{Rows, Tree};
use crate::blob::replace::LeftOver;
use crate::records::Record;
use zaffre_base::limits::FILE_STREAMS;
use zaffre_base::{ContentId, Stamp};
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::Times;
use zaffre_domain::fs::{EntryName, FileId, FileRefusal};
use zaffre_store::{Abort, Interrupt, StoreError, Tx};

/// Refuses inside a transaction.
pub(crate) fn refuse<T>(refusal: impl Into<Refusal>) -> Result<T, Abort<Refusal>> {
    Err(Abort::Fail(refusal.into()))
}

/// Refuses a transaction inside a share that was deleted meanwhile.
pub(crate) fn alive(tx: &mut Tx<'_>, keys: Keys) -> Result<(), Abort<Refusal>> {
    match tx.get(&keys.guard())? {
        None => Ok(()),
        Some(_) => refuse(FileRefusal::ShareNotFound),
    }
}

/// The books of one transaction.
pub(crate) struct Books {
    pub(crate) keys: Keys,
    state: State,
    changed: bool,
    quota: u64,
    retired: Vec<Retired>,
}

impl Books {
    /// Opens the books of a share that is still there. `quota` is in bytes.
    pub(crate) fn open(tx: &mut Tx<'_>, keys: Keys, quota: u64) -> Result<Self, Abort<Refusal>> {
        alive(tx, keys)?;
        let state = State::load(tx, &keys.state())?.unwrap_or_default();
        Ok(Self { keys, state, changed: false, quota, retired: Vec::new() })
    }

    /// The tree as it is.
    pub(crate) fn tree<'a, 't>(&self, tx: &'a mut Tx<'t>) -> Tree<'a, Tx<'t>>
    where
        Tx<'t>: Rows,
    {
        Tree { rows: tx, keys: self.keys, at: None }
    }

    /// Whether a snapshot shows what has been so since a commit.
    fn is_shown(&self, since: Stamp) -> bool {
        self.state.snapshots.last().is_some_and(|newest| since.0 <= *newest)
    }

    /// Counts a file whose size changes.
    pub(crate) fn charge(&mut self, from: u64, to: u64) -> Result<(), Refusal> {
        if from == to {
            return Ok(());
        }
        let used = self.state.used.saturating_sub(from).saturating_add(to);
        if to > from && used > self.quota {
            return Err(FileRefusal::ShareSizeLimitReached.into());
        }
        self.state.used = used;
        self.changed = true;
        Ok(())
    }

    /// Writes an entry in place of what was there.
    pub(crate) fn put_entry(
        &mut self,
        tx: &mut Tx<'_>,
        parent: FileId,
        old: Option<&Entry>,
        new: (&str, FileId, bool),
    ) -> Result<(), Abort<Refusal>> {
        let (name, child, directory) = new;
        let entry = Entry::new(tx.stamp(), name, child, directory);
        let folded = zaffre_domain::fs::name::fold(name);
        if let Some(old) = old {
            self.keep_entry(tx, parent, &folded, old)?;
        }
        entry.store(tx, &self.keys.entry_folded(parent, &folded))?;
        self.touch_directory(tx, parent)
    }

    /// Removes an entry.
    pub(crate) fn remove_entry(
        &mut self,
        tx: &mut Tx<'_>,
        parent: FileId,
        old: &Entry,
    ) -> Result<(), Abort<Refusal>> {
        let folded = zaffre_domain::fs::name::fold(&old.name);
        self.keep_entry(tx, parent, &folded, old)?;
        tx.delete(&self.keys.entry_folded(parent, &folded))?;
        self.touch_directory(tx, parent)
    }

    /// A directory was written to when its entries change; its ETag says nothing of them.
    fn touch_directory(&mut self, tx: &mut Tx<'_>, id: FileId) -> Result<(), Abort<Refusal>> {
        let Some(old) = self.tree(tx).inode(id)? else { return Ok(()) };
        let now = tx.stamp().time();
        let mut new = old.clone();
        new.set_times(Times { last_write: now, change: now, ..old.times() });
        self.put_inode(tx, id, &old, new)?;
        Ok(())
    }

    fn keep_entry(
        &self,
        tx: &mut Tx<'_>,
        parent: FileId,
        folded: &str,
        old: &Entry,
    ) -> Result<(), Interrupt> {
        if !self.is_shown(old.since) {
            return Ok(());
        }
        let until = tx.stamp();
        old.store(tx, &self.keys.past_entries(parent, folded).until(until))
    }

    /// Writes a new inode; its id is that of the commit, so that a transaction makes one at most.
    pub(crate) fn add_inode(
        &mut self,
        tx: &mut Tx<'_>,
        inode: &Inode,
    ) -> Result<FileId, Abort<Refusal>> {
        let id = FileId(tx.stamp().0);
        self.charge(0, inode.length()).map_err(Abort::Fail)?;
        inode.store(tx, &self.keys.inode(id))?;
        Ok(id)
    }

    /// Writes an inode in place of what it was.
    pub(crate) fn put_inode(
        &mut self,
        tx: &mut Tx<'_>,
        id: FileId,
        old: &Inode,
        mut new: Inode,
    ) -> Result<Inode, Abort<Refusal>> {
        let kept = self.keep_inode(tx, id, old)?;
        self.charge(old.length(), new.length()).map_err(Abort::Fail)?;
        let (before, after) = (old.content(), new.content());
        if let Some(content) = before.filter(|before| after.is_none_or(|c| c.id != before.id))
            && !kept
        {
            self.retire(id, content.id);
        }
        new.since = tx.stamp();
        new.store(tx, &self.keys.inode(id))?;
        Ok(new)
    }

    /// Writes an inode of which nothing has changed but what no snapshot shows.
    pub(crate) fn put_lease(
        &self,
        tx: &mut Tx<'_>,
        id: FileId,
        inode: &Inode,
    ) -> Result<(), Interrupt> {
        inode.store(tx, &self.keys.inode(id))
    }

    /// The named streams of something; there are never more than fit in a transaction.
    pub(crate) fn streams(&self, tx: &mut Tx<'_>, id: FileId) -> Result<Vec<Entry>, Interrupt> {
        let range = self.keys.entries(id.streams(), "");
        let rows = tx.scan(&range.start, range.end.as_deref(), FILE_STREAMS)?;
        Ok(rows.iter().map(|row| Entry::from_bytes(&row.value)).collect::<Result<_, _>>()?)
    }

    /// Removes the named streams of something.
    pub(crate) fn remove_streams(
        &mut self,
        tx: &mut Tx<'_>,
        id: FileId,
    ) -> Result<(), Abort<Refusal>> {
        for entry in self.streams(tx, id)? {
            let Some(stream) = self.tree(tx).inode(entry.child())? else {
                let corrupt = StoreError::corrupt("a stream's entry names no inode");
                return Err(Interrupt::from(corrupt).into());
            };
            self.remove_entry(tx, id.streams(), &entry)?;
            self.remove_one(tx, entry.child(), &stream)?;
        }
        Ok(())
    }

    /// Removes an inode, and its named streams with it.
    pub(crate) fn remove_inode(
        &mut self,
        tx: &mut Tx<'_>,
        id: FileId,
        old: &Inode,
    ) -> Result<(), Abort<Refusal>> {
        if old.parent().has_streams_of().is_none() {
            self.remove_streams(tx, id)?;
        }
        self.remove_one(tx, id, old)
    }

    fn remove_one(
        &mut self,
        tx: &mut Tx<'_>,
        id: FileId,
        old: &Inode,
    ) -> Result<(), Abort<Refusal>> {
        let kept = self.keep_inode(tx, id, old)?;
        self.charge(old.length(), 0).map_err(Abort::Fail)?;
        if let Some(content) = old.content().filter(|_| !kept) {
            self.retire(id, content.id);
        }
        Ok(tx.delete(&self.keys.inode(id))?)
    }

    fn keep_inode(&self, tx: &mut Tx<'_>, id: FileId, old: &Inode) -> Result<bool, Interrupt> {
        let shown = self.is_shown(old.since);
        if shown {
            let until = tx.stamp();
            old.store(tx, &self.keys.past_inodes(id).until(until))?;
        }
        Ok(shown)
    }

    /// Takes a content out of use.
    pub(crate) fn retire(&mut self, file: FileId, content: ContentId) {
        self.retired.push(Retired::new(file, content));
    }

    /// Whether a directory has no entries.
    pub(crate) fn is_empty(&self, tx: &mut Tx<'_>, id: FileId) -> Result<bool, Interrupt> {
        let range = self.keys.entries(id, "");
        Ok(tx.scan(&range.start, range.end.as_deref(), 1)?.is_empty())
    }

    /// Writes the books.
    pub(crate) fn close(self, tx: &mut Tx<'_>) -> Result<LeftOver, Interrupt> {
        if self.changed {
            self.state.store(tx, &self.keys.state())?;
        }
        if self.retired.is_empty() {
            return Ok(LeftOver::Nothing);
        }
        let at = tx.stamp();
        Intent::Retired(self.retired).store(tx, &self.keys.intent(at))?;
        Ok(LeftOver::Work)
    }
}

/// The name to store: as it is given, or as the first who gave it wrote it.
pub(crate) fn kept_name(old: Option<&Entry>, given: &EntryName) -> String {
    old.map_or_else(|| given.as_str().to_owned(), |old| old.name.clone())
}
