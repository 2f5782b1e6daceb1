//! The real disk: one host directory. The only file in the project that touches `std::fs`.
//!
//! Must never be given a user's name as a path: callers pass names made by the store.
#![allow(clippy::disallowed_methods, reason = "the one home of the disk")]

use super::{Disk, File, OpenMode};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes per unit of `st_blocks`, whatever the file system's block size.
const STAT_BLOCK: u64 = 512;

/// A directory of the host.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
}

impl RealDisk {
    /// Uses `root`, creating it if it is missing.
    pub fn create(root: &Path) -> io::Result<Self> {
        let missing: Vec<_> = root.ancestors().take_while(|path| !path.exists()).collect();
        fs::create_dir_all(root)?;
        // A new directory is there after a power loss only if its parent was synced.
        for parent in missing.into_iter().rev().filter_map(Path::parent) {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            fs::File::open(parent)?.sync_all()?;
        }
        Ok(Self { root: root.to_owned() })
    }

    /// Uses `root`, which must exist.
    pub fn existing(root: &Path) -> io::Result<Self> {
        if fs::metadata(root)?.is_dir() {
            Ok(Self { root: root.to_owned() })
        } else {
            Err(io::Error::from(io::ErrorKind::NotADirectory))
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

impl Disk for RealDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(mode == OpenMode::Create)
            .create_new(mode == OpenMode::New)
            .truncate(false)
            .open(self.path(name))?;
        Ok(Arc::new(RealFile(file)))
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        fs::create_dir_all(self.path(name))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path(dir))? {
            let entry = entry?;
            if entry.file_type()?.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        fs::File::open(self.path(dir))?.sync_all()
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.path("LOCK"))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(fs::TryLockError::WouldBlock) => Err(io::Error::from(io::ErrorKind::WouldBlock)),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

#[derive(Debug)]
struct RealFile(fs::File);

impl File for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        match fallocate(&self.0, FallocateFlags::empty(), offset, len) {
            // A file system without fallocate: the length is enough, space is then found on write.
            Err(rustix::io::Errno::OPNOTSUPP) => {
                let end = offset.saturating_add(len);
                if self.len()? < end { self.set_len(end) } else { Ok(()) }
            }
            other => other.map_err(io::Error::from),
        }
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.0, flags, offset, len) {
            // Without holes the space comes back only when the whole file goes; zeros keep the
            // promise that the range reads as zeros.
            Err(rustix::io::Errno::OPNOTSUPP) => zero(self, offset, len),
            other => other.map_err(io::Error::from),
        }
    }

    fn allocated(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.blocks() * STAT_BLOCK)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

fn zero(file: &RealFile, offset: u64, len: u64) -> io::Result<()> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut done = 0;
    while done < len {
        let step = (len - done).min(4096);
        let piece = usize::try_from(step).unwrap_or(ZEROS.len());
        file.write_at(offset + done, &ZEROS[..piece])?;
        done += step;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_directories_are_made_and_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("a/b/c");
        for mode in [OpenMode::New, OpenMode::Existing] {
            let disk = RealDisk::create(&root).expect("made or found");
            disk.open("file", mode).expect("opened");
        }
    }
}
