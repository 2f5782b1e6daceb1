//! Orphans: records that no row names, left by writes that never committed.
//!
//! Must never take a record of an open write, nor one that a reader may hold.

use super::owners::{self, Named};
use super::upkeep::Upkeep;
use super::{Phase, SegmentStatus};
use crate::error::StoreError;

/// What a scan saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OrphanReport {
    /// Records looked at.
    pub records: u64,
    /// Those that no row names; they are freed as soon as no reader can hold them.
    pub orphans: u64,
    /// Those whose write may still be open; a later scan decides.
    pub open: u64,
    /// Whether the scan came to the end of the last segment; the next one starts over.
    pub finished: bool,
}

impl Upkeep {
    /// Goes on with the scan for at least `records` records. Run it to the end once after every
    /// start that followed a crash, and now and then.
    pub async fn scan_orphans(&mut self, records: u64) -> Result<OrphanReport, StoreError> {
        let mut report = OrphanReport::default();
        while report.records < records && !self.limbo.is_full() {
            let Some(segment) = self.next_segment() else {
                self.cursor = (0, 0);
                report.finished = true;
                break;
            };
            let from = if segment == self.cursor.0 { self.cursor.1 } else { 0 };
            let next = self.scan_batch(segment, from, &mut report).await?;
            self.cursor = next.map_or((segment.saturating_add(1), 0), |next| (segment, next));
        }
        Ok(report)
    }

    /// The segment at or behind the cursor.
    fn next_segment(&self) -> Option<u32> {
        let walkable = |s: &SegmentStatus| matches!(s.phase, Phase::Active | Phase::Sealed);
        let segments = self.extents.segments().into_iter();
        segments.filter(walkable).map(|s| s.number).find(|number| *number >= self.cursor.0)
    }

    async fn scan_batch(
        &mut self,
        segment: u32,
        from: u64,
        report: &mut OrphanReport,
    ) -> Result<Option<u64>, StoreError> {
        let batch = self.extents.batch(segment, from).await?;
        // The watermark before the snapshots: a write that ended before it is seen by them.
        let watermark = self.extents.watermark();
        report.records += batch.records.len() as u64;
        let (closed, open): (Vec<_>, Vec<_>) = batch
            .records
            .into_iter()
            .filter(|found| !found.released && !self.limbo.holds(&found.at))
            .partition(|found| found.sequence < watermark);
        report.open += open.len() as u64;
        let answers = owners::ask(&self.meta, closed).await?;
        let since = self.meta.last_stamp();
        for (found, named) in answers {
            if named == Named::No {
                report.orphans += 1;
                self.limbo.add(found, since);
            }
        }
        Ok(batch.next)
    }
}
