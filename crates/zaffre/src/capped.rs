//! The in-memory disk with a limit on blob bytes: `--extentMemoryLimit`.
//!
//! Only segments count: a metadata write must never fail half-way, and metadata is small. A full
//! disk refuses new bytes and serves everything else.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zaffre_store::disk::{Disk, File, MemDisk, OpenMode};

/// Where blob bytes are.
const COUNTED: &str = "segments/";

/// Memory that holds at most so many bytes of segments.
#[derive(Debug)]
pub(crate) struct CappedDisk {
    inner: MemDisk,
    quota: Arc<Quota>,
}

#[derive(Debug)]
struct Quota {
    limit: u64,
    used: AtomicU64,
}

impl CappedDisk {
    pub(crate) fn new(limit: u64) -> Self {
        let quota = Arc::new(Quota { limit, used: AtomicU64::new(0) });
        Self { inner: MemDisk::new(), quota }
    }
}

impl Disk for CappedDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let inner = self.inner.open(name, mode)?;
        if !name.starts_with(COUNTED) {
            return Ok(inner);
        }
        Ok(Arc::new(CappedFile { inner, quota: self.quota.clone() }))
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.inner.create_dir(name)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.inner.list(dir)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let file = self.inner.open(name, OpenMode::Existing)?;
        self.inner.remove(name)?;
        if name.starts_with(COUNTED) {
            self.quota.used.fetch_sub(file.allocated()?, Ordering::Relaxed);
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock()
    }
}

#[derive(Debug)]
struct CappedFile {
    inner: Arc<dyn File>,
    quota: Arc<Quota>,
}

impl CappedFile {
    /// Runs `change` and counts what it added or gave back.
    fn counted(&self, change: impl FnOnce(&dyn File) -> io::Result<()>) -> io::Result<()> {
        let before = self.inner.allocated()?;
        let result = change(&*self.inner);
        let after = self.inner.allocated()?;
        self.quota.used.fetch_add(after.saturating_sub(before), Ordering::Relaxed);
        self.quota.used.fetch_sub(before.saturating_sub(after), Ordering::Relaxed);
        result
    }
}

impl File for CappedFile {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let more = u64::try_from(data.len()).unwrap_or(u64::MAX);
        if self.quota.used.load(Ordering::Relaxed).saturating_add(more) > self.quota.limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.counted(|file| file.write_at(offset, data))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.counted(|file| file.set_len(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.counted(|file| file.allocate(offset, len))
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.counted(|file| file.punch(offset, len))
    }

    fn allocated(&self) -> io::Result<u64> {
        self.inner.allocated()
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_limited_and_space_comes_back() {
        let disk = CappedDisk::new(64 * 1024);
        let meta = disk.open("meta.redb", OpenMode::New).expect("opened");
        meta.write_at(0, &vec![1; 100_000]).expect("metadata is not counted");
        let segment = disk.open("segments/1", OpenMode::New).expect("opened");
        segment.write_at(0, &vec![1; 64 * 1024]).expect("fits");
        let full = segment.write_at(64 * 1024, &[1]).expect_err("full");
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        segment.punch(0, 32 * 1024).expect("punched");
        segment.write_at(0, &vec![1; 32 * 1024]).expect("fits again");
        disk.remove("segments/1").expect("removed");
        let segment = disk.open("segments/2", OpenMode::New).expect("opened");
        segment.write_at(0, &vec![1; 64 * 1024]).expect("fits once more");
    }
}
