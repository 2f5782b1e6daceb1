//! What is known about each segment: its phase and how much of it is live. Statistics in memory.
//!
//! Must never decide what is live: rows do. A segment that was not counted since the start has no
//! figures and is neither removed nor compacted.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a segment is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// There when the store was opened, not looked at yet.
    Found,
    /// A writer appends to it.
    Active,
    /// Complete, with its footer.
    Sealed,
    /// Its header is damaged: readable record by record, never touched.
    Damaged,
}

/// How much of a segment rows still name (as far as is known), header and padding included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Live {
    /// Records that were not released.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// One segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentStatus {
    /// Its number.
    pub number: u32,
    /// Where it is in its life.
    pub phase: Phase,
    /// Offset behind its last durable record; 0 while only found.
    pub end: u64,
    /// What of it is live; `None` until it has been counted.
    pub live: Option<Live>,
}

impl SegmentStatus {
    /// Whether it can go: complete, and no record of it is in use.
    pub(crate) fn is_empty(&self) -> bool {
        self.phase == Phase::Sealed && self.live.is_some_and(|live| live.records == 0)
    }
}

/// All segments by number.
#[derive(Debug, Default)]
pub(crate) struct Table(Mutex<BTreeMap<u32, SegmentStatus>>);

impl Table {
    fn segments(&self) -> MutexGuard<'_, BTreeMap<u32, SegmentStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a segment in the given phase. What this process creates it counts from the start.
    pub(crate) fn add(&self, number: u32, phase: Phase, end: u64) {
        let live = (phase == Phase::Active).then(Live::default);
        self.segments().insert(number, SegmentStatus { number, phase, end, live });
    }

    /// Forgets a removed segment.
    pub(crate) fn remove(&self, number: u32) {
        self.segments().remove(&number);
    }

    /// One segment.
    pub(crate) fn get(&self, number: u32) -> Option<SegmentStatus> {
        self.segments().get(&number).copied()
    }

    /// All segments in order.
    pub(crate) fn all(&self) -> Vec<SegmentStatus> {
        self.segments().values().copied().collect()
    }

    fn change(&self, number: u32, change: impl FnOnce(&mut SegmentStatus)) {
        if let Some(segment) = self.segments().get_mut(&number) {
            change(segment);
        }
    }

    /// Records became durable.
    pub(crate) fn appended(&self, number: u32, end: u64, more: Live) {
        self.change(number, |segment| {
            segment.end = end;
            if let Some(live) = &mut segment.live {
                live.records += more.records;
                live.bytes += more.bytes;
            }
        });
    }

    /// Records were marked as released.
    pub(crate) fn released(&self, number: u32, less: Live) {
        self.change(number, |segment| {
            if let Some(live) = &mut segment.live {
                live.records = live.records.saturating_sub(less.records);
                live.bytes = live.bytes.saturating_sub(less.bytes);
            }
        });
    }

    /// The segment is in a new phase.
    pub(crate) fn moved_to(&self, number: u32, phase: Phase, end: u64) {
        self.change(number, |segment| {
            segment.phase = phase;
            segment.end = end;
        });
    }

    /// The segment was walked. Only while no record of it can be released.
    pub(crate) fn counted(&self, number: u32, live: Live) {
        self.change(number, |segment| segment.live = Some(live));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sealed_counted_segment_without_live_records_is_empty() {
        let table = Table::default();
        let is_empty = |number| table.get(number).is_some_and(|s| s.is_empty());
        table.add(1, Phase::Active, 64);
        table.appended(1, 200, Live { records: 2, bytes: 136 });
        assert!(!is_empty(1));
        table.released(1, Live { records: 2, bytes: 136 });
        assert!(!is_empty(1), "still active");
        table.moved_to(1, Phase::Sealed, 200);
        assert!(is_empty(1));
        table.add(2, Phase::Found, 0);
        table.moved_to(2, Phase::Sealed, 500);
        table.released(2, Live { records: 9, bytes: 9 });
        assert!(!is_empty(2), "never counted");
        table.counted(2, Live::default());
        assert!(is_empty(2));
    }
}
