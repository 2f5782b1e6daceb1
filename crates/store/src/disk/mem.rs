//! The in-memory disk: the same store without a directory, and the body of the crashing disk.
//!
//! Must never lose a completed write; there is nothing to sync.

use super::{Disk, File, OpenMode};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Size of the pieces content is kept in; absent pieces are zeros.
const PAGE: usize = 16 * 1024;
const PAGE_U64: u64 = 16 * 1024;

/// Sparse bytes: what a file holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse {
    pages: HashMap<u64, Box<[u8]>>,
    len: u64,
}

/// Splits `offset..offset+len` into (page number, start in page, start in buffer, length).
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let at = offset + done as u64;
        let start = usize::try_from(at % PAGE_U64).unwrap_or(0);
        let step = (PAGE - start).min(len - done);
        let piece = (at / PAGE_U64, start, done, step);
        done += step;
        Some(piece)
    })
}

impl Sparse {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn allocated(&self) -> u64 {
        self.pages.len() as u64 * PAGE_U64
    }

    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset.saturating_add(out.len() as u64) > self.len {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        for (page, start, from, step) in pieces(offset, out.len()) {
            let target = &mut out[from..from + step];
            match self.pages.get(&page) {
                Some(bytes) => target.copy_from_slice(&bytes[start..start + step]),
                None => target.fill(0),
            }
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        for (page, start, from, step) in pieces(offset, data.len()) {
            let bytes = self.pages.entry(page).or_insert_with(|| vec![0; PAGE].into_boxed_slice());
            bytes[start..start + step].copy_from_slice(&data[from..from + step]);
        }
        self.len = self.len.max(offset + data.len() as u64);
    }

    pub(crate) fn set_len(&mut self, len: u64) {
        if len < self.len {
            let (old, from) = (self.len, len);
            self.punch(from, old - from);
        }
        self.len = len;
    }

    pub(crate) fn extend_to(&mut self, end: u64) {
        self.len = self.len.max(end);
    }

    pub(crate) fn punch(&mut self, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        let whole = offset.div_ceil(PAGE_U64)..end / PAGE_U64;
        self.pages.retain(|page, _| !whole.contains(page));
        for page in [offset / PAGE_U64, end / PAGE_U64] {
            if let Some(bytes) = self.pages.get_mut(&page) {
                let base = page * PAGE_U64;
                let within = |at: u64| usize::try_from(at.clamp(base, base + PAGE_U64) - base);
                if let (Ok(from), Ok(to)) = (within(offset), within(end)) {
                    bytes[from..to].fill(0);
                }
            }
        }
    }
}

/// A disk that lives in memory.
#[derive(Debug, Default)]
pub struct MemDisk {
    files: Mutex<BTreeMap<String, Arc<MemFile>>>,
    locked: Arc<Mutex<bool>>,
}

impl MemDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Arc<MemFile>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every file's name, for tests that flip bytes.
    pub fn names(&self) -> Vec<String> {
        self.files().keys().cloned().collect()
    }
}

/// The names directly in `dir`, without it.
pub(crate) fn names_in<'a>(names: impl Iterator<Item = &'a String>, dir: &str) -> Vec<String> {
    let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
    names
        .filter_map(|name| name.strip_prefix(&prefix))
        .filter(|rest| !rest.contains('/'))
        .map(ToOwned::to_owned)
        .collect()
}

pub(crate) fn not_found(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("no file {name}"))
}

/// Frees a lock flag when dropped.
pub(crate) struct LockGuard(pub(crate) Arc<Mutex<bool>>);

impl Drop for LockGuard {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

pub(crate) fn take_lock(flag: &Arc<Mutex<bool>>) -> io::Result<Box<dyn Send + Sync>> {
    let mut taken = flag.lock().unwrap_or_else(PoisonError::into_inner);
    if *taken {
        return Err(io::Error::from(io::ErrorKind::WouldBlock));
    }
    *taken = true;
    Ok(Box::new(LockGuard(Arc::clone(flag))))
}

impl Disk for MemDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut files = self.files();
        match (files.get(name), mode) {
            (Some(_), OpenMode::New) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
            (Some(file), _) => Ok(Arc::<MemFile>::clone(file)),
            (None, OpenMode::Existing) => Err(not_found(name)),
            (None, _) => {
                let file = Arc::new(MemFile::default());
                files.insert(name.to_owned(), Arc::clone(&file));
                Ok(file)
            }
        }
    }

    fn create_dir(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        Ok(names_in(self.files().keys(), dir))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.files();
        let file = files.remove(from).ok_or_else(|| not_found(from))?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files().remove(name).map(|_| ()).ok_or_else(|| not_found(name))
    }

    fn sync_dir(&self, _dir: &str) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        take_lock(&self.locked)
    }
}

#[derive(Debug, Default)]
struct MemFile(RwLock<Sparse>);

impl MemFile {
    fn read<T>(&self, f: impl FnOnce(&Sparse) -> T) -> T {
        f(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, f: impl FnOnce(&mut Sparse)) {
        f(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl File for MemFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.read(Sparse::len))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read(|bytes| bytes.read(offset, out))
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write(|bytes| bytes.write(offset, data));
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.write(|bytes| bytes.set_len(len));
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.write(|bytes| bytes.extend_to(offset.saturating_add(len)));
        Ok(())
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.write(|bytes| {
            let end = offset.saturating_add(len).min(bytes.len());
            bytes.punch(offset.min(end), end.saturating_sub(offset));
        });
        Ok(())
    }

    fn allocated(&self) -> io::Result<u64> {
        Ok(self.read(Sparse::allocated))
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_bytes_match_a_plain_vector() {
        let mut sparse = Sparse::default();
        let mut plain: Vec<u8> = Vec::new();
        let mut state = 7_u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for step in 0..2_000_u64 {
            let offset = next(100_000);
            let len = usize::try_from(next(40_000)).unwrap_or(0);
            let at = usize::try_from(offset).unwrap_or(0);
            match next(4) {
                0 => {
                    sparse.set_len(offset);
                    plain.resize(at, 0);
                }
                1 => {
                    let end = (at + len).min(plain.len());
                    sparse.punch(offset.min(end as u64), end.saturating_sub(at) as u64);
                    plain[at.min(end)..end].fill(0);
                }
                _ => {
                    let data = vec![u8::try_from(step % 251).unwrap_or(0); len];
                    sparse.write(offset, &data);
                    if plain.len() < at + len {
                        plain.resize(at + len, 0);
                    }
                    plain[at..at + len].copy_from_slice(&data);
                }
            }
            let mut out = vec![1; plain.len()];
            assert_eq!(sparse.len(), plain.len() as u64);
            sparse.read(0, &mut out).expect("in range");
            assert!(out == plain, "step {step}");
        }
    }
}
