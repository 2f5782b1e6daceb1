//! The files for which writes wait.
//!
//! Must never keep the store open: it is kept by whoever commits, for as long as that takes.

use super::entry::Entry;
use super::over::Over;
use crate::Core;
use crate::file::opens::FileKey;
use crate::file::share::SharePath;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zaffre_base::Incarnation;
use zaffre_domain::fs::FileId;

/// The writes that wait.
#[derive(Debug, Default)]
pub(crate) struct WriteBack {
    files: Mutex<HashMap<FileKey, Known>>,
    /// Bytes of all files.
    pub(super) held: AtomicU64,
}

/// A file, and how it is reached once something was written to it.
#[derive(Clone, Debug, Default)]
struct Known {
    entry: Arc<Entry>,
    way: Option<Way>,
}

/// How a file is reached.
#[derive(Clone, Debug)]
pub(in crate::file) struct Way {
    pub(in crate::file) share: SharePath,
    pub(in crate::file) incarnation: Incarnation,
}

impl WriteBack {
    fn files(&self) -> MutexGuard<'_, HashMap<FileKey, Known>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, file: FileKey) -> Option<Arc<Entry>> {
        self.files().get(&file).map(|known| known.entry.clone())
    }

    /// A file that something was written to, and how it is reached.
    pub(super) fn reached(&self, file: FileKey) -> Option<(Arc<Entry>, Way)> {
        let files = self.files();
        let known = files.get(&file)?;
        Some((known.entry.clone(), known.way.clone()?))
    }

    /// The entry of a file, made if there is none.
    pub(super) fn entry(&self, file: FileKey, way: Option<&Way>) -> Arc<Entry> {
        let mut files = self.files();
        let known = files.entry(file).or_default();
        if let (None, Some(way)) = (&known.way, way) {
            known.way = Some(way.clone());
        }
        known.entry.clone()
    }

    /// Forgets an entry that nobody needs.
    pub(super) fn tidy(&self, file: FileKey, entry: &Arc<Entry>) {
        let mut files = self.files();
        let same = files.get(&file).is_some_and(|known| Arc::ptr_eq(&known.entry, entry));
        if same && entry.retire() {
            files.remove(&file);
        }
    }

    /// Whether anything waits for a file.
    pub(in crate::file) fn is_dirty(&self, file: FileKey) -> bool {
        self.find(file).is_some_and(|entry| entry.is_dirty())
    }

    /// Where the writes that wait for a file end.
    pub(in crate::file) fn end(&self, file: FileKey) -> u64 {
        self.find(file).map_or(0, |entry| entry.view(0..0).end)
    }

    /// The same of all files of a share.
    pub(in crate::file) fn ends(&self, share: Incarnation) -> HashMap<FileId, u64> {
        let files = self.files();
        let of_share = files.iter().filter(|(file, _)| file.share == share);
        of_share.map(|(file, known)| (file.file, known.entry.view(0..0).end)).collect()
    }

    /// What waits of a range; none if there is no entry.
    pub(in crate::file) fn over(&self, file: FileKey, range: Range<u64>) -> Option<Over> {
        self.find(file).map(|entry| Over::of(entry, range))
    }

    /// Forgets what waits for a file.
    pub(in crate::file) fn discard(&self, file: FileKey) {
        if let Some(entry) = self.find(file) {
            entry.discard(&self.held);
            self.tidy(file, &entry);
        }
    }

    /// The files for which something waits; those of one share, or all.
    pub(super) fn dirty(&self, share: Option<Incarnation>) -> Vec<FileKey> {
        let files = self.files();
        let meant = |file: &FileKey| share.is_none_or(|share| file.share == share);
        let dirty = files.iter().filter(|(file, known)| meant(file) && known.entry.is_dirty());
        dirty.map(|(file, _)| *file).collect()
    }

    /// The files whose last commit failed.
    pub(super) fn failed(&self) -> Vec<FileKey> {
        let files = self.files();
        files.iter().filter(|(_, known)| known.entry.has_failed()).map(|(file, _)| *file).collect()
    }

    /// The files for which something has waited since before `before`.
    pub(super) fn due(&self, before: Duration) -> Vec<FileKey> {
        let files = self.files();
        let due = files.iter().filter(|(_, known)| known.entry.is_due(before));
        due.map(|(file, _)| *file).collect()
    }
}

/// That no write to a file waits, for as long as it is held.
#[derive(Debug)]
pub(in crate::file) struct Calm {
    core: Core,
    file: FileKey,
    entry: Arc<Entry>,
}

impl Calm {
    /// From now on no new write waits.
    pub(super) fn begin(core: &Core, file: FileKey) -> Self {
        loop {
            let entry = core.write_back().entry(file, None);
            if entry.calm() {
                return Self { core: core.clone(), file, entry };
            }
        }
    }
}

impl Drop for Calm {
    fn drop(&mut self) {
        self.entry.let_wait();
        self.core.write_back().tidy(self.file, &self.entry);
    }
}
