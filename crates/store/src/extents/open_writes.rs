//! Open writes: which records may still be waiting for the row that will name them.
//!
//! Must never let a record count as an orphan while its write can still commit.

use crate::sync::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

#[derive(Debug)]
struct Inner {
    /// The sequence the next record gets.
    next: AtomicU64,
    /// Open writes by the sequence that was next when they began.
    open: Mutex<BTreeMap<u64, usize>>,
}

/// The sequence counter and the writes that are open. Clones share them.
#[derive(Clone, Debug)]
pub struct OpenWrites(Arc<Inner>);

impl OpenWrites {
    /// Counts from `first`, which is above every sequence ever given out before.
    pub fn starting_at(first: u64) -> Self {
        Self(Arc::new(Inner { next: AtomicU64::new(first), open: Mutex::default() }))
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, usize>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives out the sequence of one record.
    pub fn next_sequence(&self) -> u64 {
        self.0.next.fetch_add(1, Ordering::SeqCst)
    }

    /// Begins a write: every record it writes gets a sequence of at least its start.
    #[must_use = "dropping the guard ends the write"]
    pub fn begin(&self) -> WriteGuard {
        let mut open = self.open();
        // Read under the lock: a watermark taken meanwhile would otherwise miss this write.
        let start = self.0.next.load(Ordering::SeqCst);
        *open.entry(start).or_default() += 1;
        drop(open);
        WriteGuard { writes: self.clone(), start }
    }

    /// Every record below this sequence belongs to a write that has ended. Look at the rows AFTER
    /// calling this: what such a write committed is then visible.
    pub fn watermark(&self) -> u64 {
        let open = self.open();
        let next = self.0.next.load(Ordering::SeqCst);
        open.keys().next().copied().unwrap_or(next)
    }
}

/// An open write. Hold it from before the first extent is written until the commit that names the
/// extents has been answered; a record of an open write is never an orphan.
#[derive(Debug)]
pub struct WriteGuard {
    writes: OpenWrites,
    start: u64,
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        let mut open = self.writes.open();
        match open.get_mut(&self.start) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.remove(&self.start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watermark_stays_below_the_oldest_open_write() {
        let writes = OpenWrites::starting_at(100);
        assert_eq!(writes.watermark(), 100);
        let first = writes.begin();
        let twin = writes.begin();
        assert_eq!(writes.next_sequence(), 100);
        let second = writes.begin();
        assert_eq!(writes.next_sequence(), 101);
        assert_eq!(writes.watermark(), 100);
        drop(first);
        assert_eq!(writes.watermark(), 100);
        drop(twin);
        assert_eq!(writes.watermark(), 101);
        drop(second);
        assert_eq!(writes.watermark(), 102);
    }
}
