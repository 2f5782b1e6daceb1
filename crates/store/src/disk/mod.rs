//! The only door to the disk: one narrow trait with real, in-memory, encrypted, crashing and
//! failing implementations, so that fault injection is a constructor argument.
//!
//! Must never interpret what it stores. Names are ours (`meta.redb`, `segments/…`), never a user's.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

/// How to open a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenMode {
    /// It must exist.
    Existing,
    /// It is created if missing.
    Create,
    /// It must not exist.
    New,
}

/// A directory with files in it and in its direct subdirectories.
pub trait Disk: Send + Sync + Debug {
    /// Opens a file. A created file's name is durable only after `sync_dir`.
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>>;
    /// Makes a subdirectory (and is content if it exists).
    fn create_dir(&self, name: &str) -> io::Result<()>;
    /// The files directly in `dir` ("" = the root), in no order.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Renames within the disk, replacing the target; durable after `sync_dir`.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file; durable after `sync_dir`. Open handles stay usable.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and removals in `dir` durable.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// Takes the exclusive lock of the directory; `WouldBlock` if another process has it.
    /// Held until the returned guard is dropped.
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>>;
}

/// A file read and written at offsets. All methods may be called from any thread.
pub trait File: Send + Sync + Debug {
    /// Its length.
    fn len(&self) -> io::Result<u64>;
    /// Whether it is empty.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Fills `out`; `UnexpectedEof` if the file ends before.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// Writes all of `data`; on an error any part of it may have been written.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Cuts or extends (with zeros).
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Reserves space so that later writes there cannot fail for want of it; extends the length.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;
    /// Gives space back; the range reads as zeros. Length stays.
    fn punch(&self, offset: u64, len: u64) -> io::Result<()>;
    /// Bytes the file really occupies.
    fn allocated(&self) -> io::Result<u64>;
    /// Makes all completed writes durable (fdatasync).
    fn sync(&self) -> io::Result<()>;
}

mod crash;
mod encrypted;
mod fail;
mod measured;
mod mem;
mod overlay;
mod real;

pub use crash::{CrashDisk, Survival};
pub(crate) use encrypted::MAGIC as SEALED;
pub use encrypted::{DiskKey, EncryptedDisk};
pub use fail::{FailDisk, Fault, FaultPlan};
pub use measured::{FileKind, MeasuredDisk};
pub use mem::MemDisk;
pub use overlay::{OverlayDisk, OverlayFile};
pub use real::RealDisk;
