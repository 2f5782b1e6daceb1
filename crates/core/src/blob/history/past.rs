//! The history of one blob inside one transaction: rows come, change and go, the counts follow.
//!
//! Must never be left without [`Past::finish`] after a change, and never touch more rows than one
//! transaction may: what concerns all of them is decided at once and written in steps.

use super::BASE_AT;
use crate::blob::keys::{Keys, moment_of};
use crate::blob::records::{
    Content, Cut, Deleted, Fate, Head, History, Leftover, PastKind, Record, Shape, Staging, Sweep,
};
use crate::blob::replace::{LeftOver, retire};
use crate::settings::Keeping;
use zaffre_base::{BlobName, Stamp, Timestamp};
use zaffre_domain::blob::BlobKind;
use zaffre_store::{Interrupt, StoreError, Tx};

/// Rows that one step of a change of all rows looks at; each has up to ten tags in the index.
const ROWS_PER_STEP: usize = 40;

/// Ids tried for a version that has none of its own.
const IDS: u64 = 8;

/// The history of one blob while a transaction changes it.
pub(crate) struct Past {
    keys: Keys,
    name: BlobName,
    before: Option<History>,
    history: History,
    /// Content that a row named and no longer does; another may.
    dropped: Vec<Content>,
}

impl Past {
    pub(crate) fn load(tx: &mut Tx<'_>, keys: Keys, name: &BlobName) -> Result<Self, Interrupt> {
        let before = History::load(tx, &keys.history(name))?;
        let history = before.clone().unwrap_or_default();
        Ok(Self { keys, name: name.clone(), before, history, dropped: Vec::new() })
    }

    /// Whether every row says what was decided about it.
    pub(crate) fn is_settled(&self) -> bool {
        self.history.cut.is_none()
    }

    /// Whether there are snapshots that are not deleted. Only of a settled history.
    pub(crate) fn has_snapshots(&self) -> bool {
        self.history.snapshots > 0
    }

    /// Whether there is any history.
    pub(crate) fn is_empty(&self) -> bool {
        self.history.rows == 0
    }

    /// One moment, unless it is gone.
    pub(crate) fn find(
        &self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
    ) -> Result<Option<Head>, Interrupt> {
        let now = tx.stamp().time();
        let head = Head::load(tx, &self.keys.past(&self.name, at, kind))?;
        Ok(head.and_then(|head| self.history.see(at, kind, head, now)))
    }

    /// A content goes out of use with the current state.
    pub(crate) fn drop_content(&mut self, content: Content) {
        self.dropped.push(content);
    }

    /// A moment comes.
    pub(crate) fn add(
        &mut self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        head: &Head,
    ) -> Result<(), Interrupt> {
        self.history.rows += 1;
        self.history.versions += u64::from(kind == PastKind::Version);
        self.history.snapshots += u64::from(is_live_snapshot(kind, head));
        head.store(tx, &self.keys.past(&self.name, at, kind))?;
        for (tag, value) in tags_found(kind, head) {
            tx.put(&self.keys.tagged_version(tag, value, &self.name, at), &[])?;
        }
        self.mark_end(tx, at, kind, head)
    }

    /// A moment goes; its content stays, for whoever takes it over.
    pub(crate) fn take(
        &mut self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        head: &Head,
    ) -> Result<(), Interrupt> {
        let count = &mut self.history;
        count.rows = count.rows.saturating_sub(1);
        count.versions = count.versions.saturating_sub(u64::from(kind == PastKind::Version));
        count.snapshots = count.snapshots.saturating_sub(u64::from(is_live_snapshot(kind, head)));
        tx.delete(&self.keys.past(&self.name, at, kind))?;
        for (tag, value) in tags_found(kind, head) {
            tx.delete(&self.keys.tagged_version(tag, value, &self.name, at))?;
        }
        self.unmark_end(tx, at, kind, head)
    }

    /// A moment goes with its content.
    pub(crate) fn remove(
        &mut self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        head: &Head,
    ) -> Result<(), Interrupt> {
        self.dropped.push(head.content);
        self.take(tx, at, kind, head)
    }

    /// The tags of a moment are replaced.
    pub(crate) fn retag(
        mut self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        old: &Head,
        head: &Head,
    ) -> Result<(), Interrupt> {
        self.take(tx, at, kind, old)?;
        self.add(tx, at, kind, head)
    }

    /// A moment is deleted or comes back.
    fn change(
        &mut self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        head: &Head,
        deleted: Option<Deleted>,
    ) -> Result<(), Interrupt> {
        self.take(tx, at, kind, head)?;
        self.add(tx, at, kind, &head.clone().with_deleted(deleted))
    }

    /// A moment is deleted: kept for a while, or gone. Says whether it is gone.
    pub(crate) fn delete(
        &mut self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        head: &Head,
        keeping: Keeping,
    ) -> Result<bool, Interrupt> {
        let deleted = deletion(tx, keeping);
        match deleted {
            Some(_) => self.change(tx, at, kind, head, deleted)?,
            None => self.remove(tx, at, kind, head)?,
        }
        Ok(deleted.is_none())
    }

    /// The current state is replaced: it becomes a version, is kept for a while, or goes.
    pub(crate) fn supersede(
        &mut self,
        tx: &mut Tx<'_>,
        old: &Head,
        keeping: Keeping,
    ) -> Result<(), Interrupt> {
        if !self.keep(tx, old, keeping)? {
            self.drop_content(old.content);
        }
        Ok(())
    }

    /// The current state is replaced by another one with the same content. Says whether it is kept.
    pub(crate) fn keep(
        &mut self,
        tx: &mut Tx<'_>,
        old: &Head,
        keeping: Keeping,
    ) -> Result<bool, Interrupt> {
        let protected = old.protection().holds(tx.stamp().time());
        if keeping.versions || old.version.is_some() || protected {
            self.add_version(tx, old)?;
            return Ok(true);
        }
        let archived = old.is_archived(tx.stamp().time());
        let deleted = deletion(tx, keeping).filter(|_| !archived);
        if deleted.is_some() {
            let head = old.to_past().with_deleted(deleted);
            self.add(tx, tx.stamp(), PastKind::Snapshot, &head)?;
        }
        Ok(deleted.is_some())
    }

    /// The current state becomes a version.
    pub(crate) fn add_version(&mut self, tx: &mut Tx<'_>, old: &Head) -> Result<(), Interrupt> {
        let mut id = old.version_id();
        if old.version.is_none() {
            // A time can be taken by an older version that had no id either.
            let mut tries = 0..IDS;
            while tx.get(&self.keys.past(&self.name, id, PastKind::Version))?.is_some() {
                id = if tries.next().is_some() { Stamp(id.0 + 1) } else { tx.stamp() };
            }
        }
        let head = old.to_past().with_version(Some(id));
        self.add(tx, id, PastKind::Version, &head)
    }

    /// The current state is deleted. Says whether it is gone.
    pub(crate) fn bury(
        &mut self,
        tx: &mut Tx<'_>,
        old: &Head,
        keeping: Keeping,
    ) -> Result<bool, Interrupt> {
        if keeping.versions {
            self.add_version(tx, old)?;
            return Ok(false);
        }
        let deleted = deletion(tx, keeping);
        if deleted.is_some() {
            let head = old.to_past().with_deleted(deleted);
            self.add(tx, BASE_AT, PastKind::Base, &head)?;
        } else {
            self.drop_content(old.content);
        }
        Ok(deleted.is_none())
    }

    /// The deleted blob that can be brought back.
    pub(crate) fn deleted_base(&self, tx: &mut Tx<'_>) -> Result<Option<Head>, Interrupt> {
        if self.is_empty() { Ok(None) } else { self.find(tx, BASE_AT, PastKind::Base) }
    }

    /// Something new gets the name of a deleted blob, which becomes a deleted snapshot; of another
    /// kind of blob nothing that is deleted stays.
    pub(crate) fn make_room(&mut self, tx: &mut Tx<'_>, kind: BlobKind) -> Result<(), Interrupt> {
        if self.is_empty() {
            return Ok(());
        }
        let base = Head::load(tx, &self.keys.past(&self.name, BASE_AT, PastKind::Base))?;
        let Some(base) = base else { return Ok(()) };
        if base.deleted.is_some_and(|deleted| deleted.until <= tx.stamp().time()) {
            return self.remove(tx, BASE_AT, PastKind::Base, &base);
        }
        if base.kind() != kind {
            self.remove(tx, BASE_AT, PastKind::Base, &base)?;
            return self.drop_deleted(tx);
        }
        self.take(tx, BASE_AT, PastKind::Base, &base)?;
        self.add(tx, tx.stamp(), PastKind::Snapshot, &base)
    }

    /// What is deleted goes, once an earlier change of all rows is written. One that takes too long
    /// leaves it to its own end.
    fn drop_deleted(&mut self, tx: &mut Tx<'_>) -> Result<(), Interrupt> {
        const STEPS: usize = 4;
        for _ in 0..STEPS {
            if self.is_settled() {
                return self.sweep(tx, Sweep::DropDeleted, None);
            }
            self.step(tx)?;
        }
        Ok(())
    }

    /// Decides something about all rows and writes it to the first of them.
    pub(crate) fn sweep(
        &mut self,
        tx: &mut Tx<'_>,
        sweep: Sweep,
        until: Option<Timestamp>,
    ) -> Result<(), Interrupt> {
        if self.is_empty() {
            return Ok(());
        }
        let next = self.keys.past_of(&self.name).start;
        self.history.cut = Some(Cut { at: tx.stamp(), sweep, until, next });
        self.step(tx)
    }

    /// Writes what was decided about all rows to some more of them.
    pub(crate) fn step(&mut self, tx: &mut Tx<'_>) -> Result<(), Interrupt> {
        let Some(cut) = self.history.cut.clone() else { return Ok(()) };
        let end = self.keys.past_of(&self.name).end;
        let rows = tx.scan(&cut.next, end.as_deref(), ROWS_PER_STEP)?;
        let space = self.keys.histories();
        for row in &rows {
            let moment = space.split(&row.key).and_then(|(_, rest)| moment_of(rest));
            let (at, kind) = moment.ok_or_else(|| StoreError::corrupt("the key of a moment"))?;
            let head = Head::from_bytes(&row.value)?;
            match cut.fate(at, kind, &head) {
                Fate::Same => {}
                Fate::Becomes(deleted) => self.change(tx, at, kind, &head, deleted)?,
                Fate::Goes => self.remove(tx, at, kind, &head)?,
            }
        }
        self.history.cut = match rows.last() {
            Some(last) if rows.len() == ROWS_PER_STEP => {
                Some(Cut { next: [last.key.as_slice(), &[0]].concat(), ..cut })
            }
            _ => None,
        };
        Ok(())
    }

    /// Writes the counts, and what is left over for the background.
    pub(crate) fn finish(
        mut self,
        tx: &mut Tx<'_>,
        staging: Option<&Staging>,
        successor: Option<Content>,
    ) -> Result<LeftOver, Interrupt> {
        let (keys, name) = (self.keys, &self.name);
        if self.before.is_none() && self.is_empty() {
            // Without a history nobody shares the content with anybody.
            return retire(tx, keys, name, self.dropped.pop(), staging, successor);
        }
        let changed = self.before.as_ref() != Some(&self.history);
        if changed {
            self.history.store(tx, &keys.history(name))?;
        }
        if staging.is_some() {
            tx.delete(&keys.staging(name))?;
        }
        self.dropped.retain(|content| content.shape != Shape::Empty);
        // The background writes the rest, and removes the counts once there is nothing to count.
        let waits = changed && (!self.is_settled() || self.is_empty());
        if self.dropped.is_empty() && staging.is_none() && !waits {
            return Ok(LeftOver::Nothing);
        }
        let staging = staging.map(|staging| staging.id);
        Leftover { contents: self.dropped, staging }.store(tx, &keys.leftover(name, tx.stamp()))?;
        Ok(LeftOver::Work)
    }

    fn mark_end(
        &self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        head: &Head,
    ) -> Result<(), Interrupt> {
        match head.deleted {
            Some(Deleted { until, .. }) => {
                tx.put(&self.keys.end_of(until, &self.name, at, kind), &[1])
            }
            None => Ok(()),
        }
    }

    fn unmark_end(
        &self,
        tx: &mut Tx<'_>,
        at: Stamp,
        kind: PastKind,
        head: &Head,
    ) -> Result<(), Interrupt> {
        match head.deleted {
            Some(Deleted { until, .. }) => {
                tx.delete(&self.keys.end_of(until, &self.name, at, kind))
            }
            None => Ok(()),
        }
    }
}

/// The tags by which a moment can be found: those of a version that is not deleted.
fn tags_found(kind: PastKind, head: &Head) -> impl Iterator<Item = (&String, &String)> {
    let found = kind == PastKind::Version && head.deleted.is_none();
    head.tags.iter().filter(move |_| found)
}

fn is_live_snapshot(kind: PastKind, head: &Head) -> bool {
    kind == PastKind::Snapshot && head.deleted.is_none()
}

/// What a deletion now leaves behind on what it deletes; `None` = nothing is kept.
fn deletion(tx: &Tx<'_>, keeping: Keeping) -> Option<Deleted> {
    let at = tx.stamp();
    keeping.deleted.map(|time| Deleted { at, until: at.time().plus(time) })
}
