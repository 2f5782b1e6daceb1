//! Segment files: cached open handles, creation, removal.
//!
//! Must never let a segment be used before its header and its name are durable.

use super::segment::{self, FOLDER, FOOTER, HEADER, Header};
use super::shared::Shared;
use crate::disk::{Disk, File, OpenMode};
use crate::error::StoreError;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct Cache {
    open: HashMap<u32, (Arc<dyn File>, u64)>,
    uses: u64,
}

/// Open handles, the least recently used of which are closed when there are too many.
#[derive(Debug)]
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    limit: usize,
    cache: Mutex<Cache>,
}

impl Files {
    pub(crate) fn new(disk: Arc<dyn Disk>, limit: usize) -> Self {
        Self { disk, limit: limit.max(1), cache: Mutex::default() }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of a segment that must exist: whoever asks has a reference to it.
    pub(crate) fn get(&self, number: u32) -> Result<Arc<dyn File>, StoreError> {
        let mut cache = self.cache();
        cache.uses += 1;
        let now = cache.uses;
        if let Some((file, used)) = cache.open.get_mut(&number) {
            *used = now;
            return Ok(Arc::clone(file));
        }
        drop(cache);
        match self.disk.open(&segment::name(number), OpenMode::Existing) {
            Ok(file) => {
                self.put(number, &file);
                Ok(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::corrupt(format!("segment {number} is missing")))
            }
            Err(error) => Err(StoreError::io("opening a segment", error)),
        }
    }

    fn put(&self, number: u32, file: &Arc<dyn File>) {
        let mut cache = self.cache();
        cache.uses += 1;
        let now = cache.uses;
        cache.open.insert(number, (Arc::clone(file), now));
        if cache.open.len() > self.limit {
            let oldest = cache.open.iter().min_by_key(|(_, (_, used))| *used).map(|(n, _)| *n);
            if let Some(oldest) = oldest {
                cache.open.remove(&oldest);
            }
        }
    }

    /// Deletes a segment. Readers that have it open read on.
    pub(crate) fn remove(&self, number: u32) -> io::Result<()> {
        self.cache().open.remove(&number);
        self.disk.remove(&segment::name(number))?;
        // A reader may have opened it again in between; its handle must not shadow the removal.
        self.cache().open.remove(&number);
        self.disk.sync_dir(FOLDER)
    }
}

/// A segment to append to.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) header: Header,
    pub(crate) file: Arc<dyn File>,
    /// Where records must end, so that the footer still fits.
    pub(crate) capacity: u64,
    /// Space reserved so far.
    reserved: u64,
}

/// Space is reserved in steps of this size: a sync that also has to find blocks is slow, and a
/// whole segment at once would make a small store look large.
const RESERVE: u64 = 16 * 1024 * 1024;

impl Fresh {
    /// Reserves space up to `end` at the least. A full disk changes nothing.
    pub(crate) fn reserve(&mut self, end: u64) -> Result<(), StoreError> {
        if end <= self.reserved {
            return Ok(());
        }
        let more = (end - self.reserved).next_multiple_of(RESERVE);
        let more = more.min((self.capacity + FOOTER as u64).saturating_sub(self.reserved));
        self.file
            .allocate(self.reserved, more)
            .map_err(|e| StoreError::io("reserving space for a segment", e))?;
        self.reserved += more;
        Ok(())
    }
}

/// Creates a segment that holds at least one record of `record` bytes: reserved, with its header,
/// durable. A full disk leaves nothing behind and poisons nothing.
pub(crate) fn create(shared: &Shared, record: u64) -> Result<Fresh, StoreError> {
    let number = shared.next_number.fetch_add(1, Ordering::SeqCst);
    let made = fill(shared, number, record);
    if made.is_err() {
        // Best effort: what remains is an empty segment that the next start removes.
        let _ = shared.disk.remove(&segment::name(number));
    }
    made
}

fn fill(shared: &Shared, number: u32, record: u64) -> Result<Fresh, StoreError> {
    let frame = (HEADER + FOOTER) as u64;
    let size = shared.options.segment_bytes.max(record + frame);
    let salt = getrandom::u64()
        .map_err(|e| StoreError::io("drawing a segment's salt", io::Error::other(e)))?;
    let header = Header { number, salt };
    let file = shared
        .disk
        .open(&segment::name(number), OpenMode::New)
        .map_err(|e| StoreError::io("creating a segment", e))?;
    let mut fresh = Fresh { header, file, capacity: size - FOOTER as u64, reserved: 0 };
    fresh.reserve(record + frame)?;
    let file = &fresh.file;
    shared.written("writing a segment's header", file.write_at(0, &header.encode()))?;
    shared.synced("syncing a new segment", file.sync())?;
    shared.synced("syncing the segments' folder", shared.disk.sync_dir(FOLDER))?;
    shared.files.put(number, file);
    Ok(fresh)
}
