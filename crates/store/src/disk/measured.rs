//! A disk that counts: how long syncs take, and how much space the files occupy.
//!
//! Must never change what the disk beneath does, nor wait for whoever reads the counts.

use super::{Disk, File, OpenMode};
use crate::clock::Clock;
use std::io;
use std::sync::Arc;
use zaffre_base::measure::Histogram;

/// Upper bounds of the histogram of syncs, in microseconds.
const MICROSECONDS: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000,
];
/// Where bytes are.
const SEGMENTS: &str = "segments";

/// What a file is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// Where commits go first.
    Journal,
    /// Where bytes are.
    Segment,
    /// The tree and the rest.
    Metadata,
}

impl FileKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Journal, Self::Segment, Self::Metadata];

    fn of(name: &str) -> Self {
        if name.starts_with(SEGMENTS) {
            Self::Segment
        } else if name.starts_with("journal") {
            Self::Journal
        } else {
            Self::Metadata
        }
    }

    /// Its name for those who watch.
    pub fn name(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Segment => "segment",
            Self::Metadata => "metadata",
        }
    }
}

#[derive(Debug)]
struct Syncs {
    clock: Clock,
    journal: Histogram,
    segment: Histogram,
    metadata: Histogram,
}

impl Syncs {
    fn of(&self, kind: FileKind) -> &Histogram {
        match kind {
            FileKind::Journal => &self.journal,
            FileKind::Segment => &self.segment,
            FileKind::Metadata => &self.metadata,
        }
    }
}

/// A disk around another; clones share the counts.
#[derive(Clone, Debug)]
pub struct MeasuredDisk {
    inner: Arc<dyn Disk>,
    syncs: Arc<Syncs>,
}

impl MeasuredDisk {
    /// Counts what happens to `inner`, timed by `clock`.
    pub fn new(inner: Arc<dyn Disk>, clock: Clock) -> Self {
        let fresh = || Histogram::new(MICROSECONDS);
        let syncs = Syncs { clock, journal: fresh(), segment: fresh(), metadata: fresh() };
        Self { inner, syncs: Arc::new(syncs) }
    }

    /// How long syncs of such files took, in microseconds.
    pub fn syncs(&self, kind: FileKind) -> &Histogram {
        self.syncs.of(kind)
    }

    /// Bytes that such files occupy now. Looks at every file: not for every request.
    pub fn occupied(&self, kind: FileKind) -> io::Result<u64> {
        let folder = if kind == FileKind::Segment { SEGMENTS } else { "" };
        let mut total = 0;
        for name in self.inner.list(folder)? {
            let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if FileKind::of(&name) != kind {
                continue;
            }
            // One that cannot be opened was removed meanwhile.
            let file = self.inner.open(&name, OpenMode::Existing);
            total += file.and_then(|file| file.allocated()).unwrap_or_default();
        }
        Ok(total)
    }
}

impl Disk for MeasuredDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let inner = self.inner.open(name, mode)?;
        let (syncs, kind) = (Arc::clone(&self.syncs), FileKind::of(name));
        Ok(Arc::new(MeasuredFile { inner, syncs, kind }))
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
        self.inner.remove(name)
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock()
    }
}

#[derive(Debug)]
struct MeasuredFile {
    inner: Arc<dyn File>,
    syncs: Arc<Syncs>,
    kind: FileKind,
}

impl File for MeasuredFile {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.inner.write_at(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.inner.allocate(offset, len)
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.inner.punch(offset, len)
    }

    fn allocated(&self) -> io::Result<u64> {
        self.inner.allocated()
    }

    fn sync(&self) -> io::Result<()> {
        let began = self.syncs.clock.monotonic();
        let synced = self.inner.sync();
        let took = self.syncs.clock.monotonic().saturating_sub(began);
        self.syncs.of(self.kind).add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        synced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemDisk;

    #[test]
    fn syncs_and_space_are_counted_by_kind() {
        let disk = MeasuredDisk::new(Arc::new(MemDisk::new()), Clock::default());
        disk.create_dir(SEGMENTS).expect("made");
        for (name, bytes) in [("meta.redb", 10_000), ("journal-0", 20_000), ("segments/1", 30_000)]
        {
            let file = disk.open(name, OpenMode::New).expect("opened");
            file.write_at(0, &vec![1; bytes]).expect("written");
            file.sync().expect("synced");
        }
        for kind in FileKind::ALL {
            assert_eq!(disk.syncs(kind).read().count, 1, "{kind:?}");
            assert!(disk.occupied(kind).expect("listed") >= 10_000, "{kind:?}");
        }
    }
}
