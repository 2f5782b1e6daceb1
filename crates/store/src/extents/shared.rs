//! What the handle, the writers and the maintenance share.
//!
//! Must never hold the queues: the threads end when the last handle drops those.

use super::files::Files;
use super::open_writes::OpenWrites;
use super::table::Table;
use crate::directory::Lock;
use crate::disk::Disk;
use crate::error::StoreError;
use crate::poison::Poison;
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

/// How extents are kept.
#[derive(Clone, Debug)]
pub struct ExtentOptions {
    /// Size of a segment; a record that needs more gets a segment of its own.
    pub segment_bytes: u64,
    /// Segments that are appended to at the same time, each by its own thread.
    pub writers: usize,
    /// Segment files kept open for reading.
    pub open_files: usize,
}

impl Default for ExtentOptions {
    fn default() -> Self {
        Self { segment_bytes: 256 * 1024 * 1024, writers: 2, open_files: 256 }
    }
}

/// The state behind an `Extents` handle.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: ExtentOptions,
    pub(crate) poison: Poison,
    pub(crate) files: Files,
    pub(crate) table: Table,
    pub(crate) writes: OpenWrites,
    pub(crate) next_number: AtomicU32,
    /// Held by whoever marks records as released or counts them, so that counts are exact.
    pub(crate) maintenance: Mutex<()>,
    /// Here and not in the handle: work off the runtime's threads outlives the handle.
    pub(crate) _lock: Lock,
}

impl Shared {
    /// The result of a write. A full disk is the caller's to handle: what was not synced was not
    /// acknowledged. Any other failure poisons.
    pub(crate) fn written<T>(
        &self,
        doing: &'static str,
        result: io::Result<T>,
    ) -> Result<T, StoreError> {
        match result {
            Ok(value) => Ok(value),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                Err(StoreError::Full { doing })
            }
            Err(error) => Err(self.poisoned(doing, &error)),
        }
    }

    /// The result of a sync. Every failure poisons, a full disk too: the kernel may have dropped
    /// what it could not write.
    pub(crate) fn synced<T>(
        &self,
        doing: &'static str,
        result: io::Result<T>,
    ) -> Result<T, StoreError> {
        result.map_err(|error| self.poisoned(doing, &error))
    }

    fn poisoned(&self, doing: &'static str, error: &io::Error) -> StoreError {
        tracing::error!(doing, %error, "the disk failed; no write is accepted until a restart");
        self.poison.set();
        StoreError::Poisoned
    }
}
