//! redb's file on our disk trait, so that every crash and I/O error can be played on it.
//!
//! Must never let a failed sync pass unnoticed: it throws the store's poison switch.

use crate::disk::File;
use crate::poison::Poison;
use redb::StorageBackend;
use std::io;
use std::sync::Arc;

/// One file of the disk as redb wants it.
#[derive(Debug)]
pub(crate) struct RedbBackend {
    pub(crate) file: Arc<dyn File>,
    pub(crate) poison: Poison,
}

impl StorageBackend for RedbBackend {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync().inspect_err(|_| self.poison.set())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)
    }
}
