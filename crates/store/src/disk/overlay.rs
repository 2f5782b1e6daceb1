//! A file whose writes stay in memory: lets a checker run code that repairs, on evidence that must
//! not change.

use super::File;
use super::mem::Sparse;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

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
