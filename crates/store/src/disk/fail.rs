//! A disk that fails on purpose: at the n-th call, in a chosen way, once or for ever after.
//!
//! Wraps any other disk, so that crash and failure can be combined.

use super::{Disk, File, OpenMode};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How a call fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// EIO, nothing done.
    Eio,
    /// ENOSPC, nothing done. Only calls that need space fail so; others pass.
    Enospc,
    /// Half of the data is written, then EIO. Other calls fail with EIO.
    ShortWrite,
    /// A sync fails and what it should have kept may be lost. Other calls pass.
    FailedSync,
}

/// Which calls fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultPlan {
    /// How.
    pub fault: Fault,
    /// The first call that fails, counted from 0 over all files of the disk.
    pub from: u64,
    /// How many calls from there on fail; `u64::MAX` = all.
    pub count: u64,
}

#[derive(Debug, Default)]
struct Control {
    calls: AtomicU64,
    hits: AtomicU64,
    plan: Mutex<Option<FaultPlan>>,
}

impl Control {
    /// Counts a call of one kind and tells whether and how it must fail.
    fn next(&self, kind: Kind) -> Option<Fault> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let plan = (*self.plan.lock().unwrap_or_else(PoisonError::into_inner))?;
        if call < plan.from || call - plan.from >= plan.count || !kind.suffers(plan.fault) {
            return None;
        }
        self.hits.fetch_add(1, Ordering::SeqCst);
        Some(plan.fault)
    }

    fn check(&self, kind: Kind) -> io::Result<()> {
        self.next(kind).map_or(Ok(()), |fault| Err(error(fault)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Space,
    Change,
    Sync,
}

impl Kind {
    fn suffers(self, fault: Fault) -> bool {
        match fault {
            Fault::Eio | Fault::ShortWrite => true,
            Fault::Enospc => self == Self::Space,
            Fault::FailedSync => self == Self::Sync,
        }
    }
}

fn error(fault: Fault) -> io::Error {
    match fault {
        Fault::Enospc => io::Error::from(io::ErrorKind::StorageFull),
        _ => io::Error::other("injected disk error"),
    }
}

/// The failing disk.
#[derive(Debug)]
pub struct FailDisk {
    inner: Arc<dyn Disk>,
    control: Arc<Control>,
}

impl FailDisk {
    /// Wraps `inner`; nothing fails until a plan is set.
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        Self { inner, control: Arc::default() }
    }

    /// Sets or clears the plan; calls already made stay counted.
    pub fn set_plan(&self, plan: Option<FaultPlan>) {
        *self.control.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    /// Calls made so far.
    pub fn calls(&self) -> u64 {
        self.control.calls.load(Ordering::SeqCst)
    }

    /// Calls that were made to fail.
    pub fn hits(&self) -> u64 {
        self.control.hits.load(Ordering::SeqCst)
    }
}

impl Disk for FailDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let kind = if mode == OpenMode::Existing { Kind::Read } else { Kind::Space };
        self.control.check(kind)?;
        let inner = self.inner.open(name, mode)?;
        Ok(Arc::new(FailFile { inner, control: Arc::clone(&self.control) }))
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.control.check(Kind::Space)?;
        self.inner.create_dir(name)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.control.check(Kind::Read)?;
        self.inner.list(dir)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.control.check(Kind::Change)?;
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.control.check(Kind::Change)?;
        self.inner.remove(name)
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.control.check(Kind::Sync)?;
        self.inner.sync_dir(dir)
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock()
    }
}

#[derive(Debug)]
struct FailFile {
    inner: Arc<dyn File>,
    control: Arc<Control>,
}

impl File for FailFile {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.control.check(Kind::Read)?;
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match self.control.next(Kind::Space) {
            None => self.inner.write_at(offset, data),
            Some(fault) => {
                if fault == Fault::ShortWrite {
                    self.inner.write_at(offset, &data[..data.len() / 2])?;
                }
                Err(error(fault))
            }
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.control.check(Kind::Space)?;
        self.inner.set_len(len)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.control.check(Kind::Space)?;
        self.inner.allocate(offset, len)
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.control.check(Kind::Change)?;
        self.inner.punch(offset, len)
    }

    fn allocated(&self) -> io::Result<u64> {
        self.inner.allocated()
    }

    fn sync(&self) -> io::Result<()> {
        self.control.check(Kind::Sync)?;
        self.inner.sync()
    }
}
