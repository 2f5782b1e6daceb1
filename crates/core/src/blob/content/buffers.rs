//! Memory for the pieces of bodies on their way to the disk, used again and again.
//!
//! A piece is filled by one thread and let go by another, and an allocator keeps what comes back so:
//! uploads then hold twice the memory they need, and pay for the pages of new memory all the time.
//!
//! Must never hand out what somebody can still read: a buffer comes back when the last of those who
//! share it has let it go, and not before.

use bytes::Bytes;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers kept for the next piece; eight uploads at full speed have no more on their way.
const KEPT: usize = 24;

/// Buffers that are free.
pub(crate) struct Buffers {
    /// Bytes of each.
    size: usize,
    free: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// Keeps buffers of `size` bytes.
    pub(crate) fn new(size: usize) -> Arc<Self> {
        Arc::new(Self { size, free: Mutex::default() })
    }

    /// An empty buffer with room for `size` bytes.
    pub(crate) fn get(self: &Arc<Self>, size: usize) -> Buffer {
        if size != self.size {
            return Buffer { bytes: Vec::with_capacity(size), home: None };
        }
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = free.unwrap_or_else(|| Vec::with_capacity(size));
        Buffer { bytes, home: Some(Arc::clone(self)) }
    }

    fn give_back(&self, mut bytes: Vec<u8>) {
        bytes.clear();
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // The newest is used first: what is not needed for long may be swapped out.
        if free.len() < KEPT && bytes.capacity() == self.size {
            free.push(bytes);
        }
    }
}

/// Bytes that are being put together.
#[derive(Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    home: Option<Arc<Buffers>>,
}

impl Buffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn extend(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
    }

    /// What was put together, to be shared and no longer changed.
    pub(crate) fn share(mut self) -> Bytes {
        match self.home {
            None => mem::take(&mut self.bytes).into(),
            Some(_) => Bytes::from_owner(self),
        }
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            home.give_back(mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(buffers: &Buffers) -> usize {
        buffers.free.lock().expect("no panic").len()
    }

    #[test]
    fn a_buffer_is_free_when_nobody_reads_it_any_more() {
        let buffers = Buffers::new(64);
        let mut filled = buffers.get(64);
        filled.extend(b"piece");
        let shared = filled.share();
        let part = shared.slice(1..3);
        drop(shared);
        assert_eq!((&part[..], free(&buffers)), (&b"ie"[..], 0), "somebody still reads it");
        drop(part);
        assert_eq!(free(&buffers), 1);
        let again = buffers.get(64);
        assert!(again.is_empty() && free(&buffers) == 0, "nothing of the last piece is in it");
    }

    #[test]
    fn only_so_many_of_one_size_are_kept() {
        let buffers = Buffers::new(64);
        let mut small = buffers.get(5);
        small.extend(b"small");
        assert_eq!(&small.share()[..], b"small");
        assert_eq!(free(&buffers), 0, "not for a piece");
        let mut grown = buffers.get(64);
        grown.extend(&[0; 65]);
        drop(grown);
        assert_eq!(free(&buffers), 0, "too large");
        let many: Vec<Buffer> = (0..KEPT + 3).map(|_| buffers.get(64)).collect();
        drop(many);
        assert_eq!(free(&buffers), KEPT);
    }
}
