//! A disk whose changes stay in memory: lets a checker run code that repairs, on evidence that must
//! not change.

use super::mem::{Sparse, names_in, not_found};
use super::{Disk, File, MemDisk, OpenMode};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

const PAGE: u64 = 4096;

/// Reads through to `inner` except where something was written since.
#[derive(Debug)]
pub struct OverlayFile {
    inner: Arc<dyn File>,
    state: RwLock<State>,
}

#[derive(Debug)]
struct State {
    written: Sparse,
    pages: BTreeSet<u64>,
    len: u64,
}

impl OverlayFile {
    /// Covers `inner`, which is never written to.
    pub fn new(inner: Arc<dyn File>) -> io::Result<Self> {
        let len = inner.len()?;
        let state = State { written: Sparse::default(), pages: BTreeSet::new(), len };
        Ok(Self { inner, state: RwLock::new(state) })
    }

    /// Reads one whole page, from memory if it was written, else from below; zeros past the end.
    fn page(&self, state: &State, page: u64) -> io::Result<[u8; 4096]> {
        let mut bytes = [0; 4096];
        let at = page * PAGE;
        if state.pages.contains(&page) {
            state.written.read(at, &mut bytes)?;
            return Ok(bytes);
        }
        let below = self.inner.len()?.min(state.len);
        let there = usize::try_from(below.saturating_sub(at).min(PAGE)).unwrap_or(0);
        if there > 0 {
            self.inner.read_at(at, &mut bytes[..there])?;
        }
        Ok(bytes)
    }

    /// Applies `change` to each page of the range with the part of it that is concerned.
    fn change(
        &self,
        offset: u64,
        len: u64,
        mut change: impl FnMut(&mut [u8], u64),
    ) -> io::Result<()> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let end = offset.saturating_add(len);
        let mut at = offset;
        while at < end {
            let page = at / PAGE;
            let stop = end.min((page + 1) * PAGE);
            let mut bytes = self.page(&state, page)?;
            let from = usize::try_from(at % PAGE).unwrap_or(0);
            let to = from + usize::try_from(stop - at).unwrap_or(0);
            change(&mut bytes[from..to], at - offset);
            state.written.write(page * PAGE, &bytes);
            state.pages.insert(page);
            at = stop;
        }
        state.len = state.len.max(end);
        Ok(())
    }
}

impl File for OverlayFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state.read().unwrap_or_else(PoisonError::into_inner).len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let end = offset.saturating_add(out.len() as u64);
        if end > state.len {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        let mut at = offset;
        while at < end {
            let stop = end.min((at / PAGE + 1) * PAGE);
            let bytes = self.page(&state, at / PAGE)?;
            let from = usize::try_from(at % PAGE).unwrap_or(0);
            let length = usize::try_from(stop - at).unwrap_or(0);
            let target = usize::try_from(at - offset).unwrap_or(0);
            out[target..target + length].copy_from_slice(&bytes[from..from + length]);
            at = stop;
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(offset, data.len() as u64, |part, from| {
            let from = usize::try_from(from).unwrap_or(0);
            part.copy_from_slice(&data[from..from + part.len()]);
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let old = self.len()?;
        if len < old {
            self.punch(len, old - len)?;
        }
        self.state.write().unwrap_or_else(PoisonError::into_inner).len = len;
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.len = state.len.max(offset.saturating_add(len));
        Ok(())
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.change(offset, len, |part, _| part.fill(0))
    }

    fn allocated(&self) -> io::Result<u64> {
        self.inner.allocated()
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A disk that reads through to another one and keeps every change in memory.
#[derive(Debug)]
pub struct OverlayDisk {
    inner: Arc<dyn Disk>,
    /// Files opened or made here; `None` = removed.
    files: Mutex<BTreeMap<String, Option<Arc<OverlayFile>>>>,
}

impl OverlayDisk {
    /// Covers `inner`, which is never changed.
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        Self { inner, files: Mutex::default() }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Option<Arc<OverlayFile>>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The covered file of that name, if there is one.
    fn existing(&self, name: &str) -> io::Result<Arc<OverlayFile>> {
        let mut files = self.files();
        match files.get(name) {
            Some(Some(file)) => Ok(Arc::clone(file)),
            Some(None) => Err(not_found(name)),
            None => {
                let file = Arc::new(OverlayFile::new(self.inner.open(name, OpenMode::Existing)?)?);
                files.insert(name.to_owned(), Some(Arc::clone(&file)));
                Ok(file)
            }
        }
    }
}

impl Disk for OverlayDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        match (self.existing(name), mode) {
            (Ok(_), OpenMode::New) => Err(io::ErrorKind::AlreadyExists.into()),
            (Ok(file), _) => Ok(file),
            (Err(error), OpenMode::Create | OpenMode::New)
                if error.kind() == io::ErrorKind::NotFound =>
            {
                let empty = MemDisk::new().open(name, OpenMode::New)?;
                let file = Arc::new(OverlayFile::new(empty)?);
                self.files().insert(name.to_owned(), Some(Arc::clone(&file)));
                Ok(file)
            }
            (Err(error), _) => Err(error),
        }
    }

    fn create_dir(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let below = match self.inner.list(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let files = self.files();
        let full = |name: &String| {
            if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") }
        };
        let mut names: BTreeSet<String> = below
            .into_iter()
            .filter(|name| !matches!(files.get(&full(name)), Some(None)))
            .collect();
        names.extend(names_in(files.iter().filter(|(_, f)| f.is_some()).map(|(n, _)| n), dir));
        Ok(names.into_iter().collect())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.existing(from)?;
        let mut files = self.files();
        files.insert(from.to_owned(), None);
        files.insert(to.to_owned(), Some(file));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.existing(name)?;
        self.files().insert(name.to_owned(), None);
        Ok(())
    }

    fn sync_dir(&self, _dir: &str) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock()
    }
}
