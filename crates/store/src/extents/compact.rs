//! Compaction: rewrites sparse segments by copying what is live and swapping the rows' references.
//!
//! Must never free the old bytes itself: they go to limbo, where readers keep them alive.

use super::owners::{self, Named, Swapped};
use super::upkeep::Upkeep;
use super::walk::Found;
use super::{Extents, Phase, SegmentStatus, segment};
use crate::error::StoreError;
use crate::meta::Meta;
use tokio::task::JoinSet;

/// A sealed segment is rewritten when less than this share of it is live: then at least as much
/// space is won as is written.
pub const SPARSE_PERCENT: u64 = 50;
/// Records moved at once, so that their syncs and commits are shared.
const MOVES: usize = 32;

/// What a compaction did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompactReport {
    /// Segments rewritten.
    pub segments: u64,
    /// Records that have a new place.
    pub moved: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Records whose row changed meanwhile; the copy was given back.
    pub lost_races: u64,
    /// Records that had to stay: open writes, damage, rows that hold no runs.
    pub kept: u64,
}

enum Moved {
    Swapped,
    LostRace,
    Kept,
}

impl Upkeep {
    /// Rewrites up to `limit` sparse segments.
    pub async fn compact(&mut self, limit: usize) -> Result<CompactReport, StoreError> {
        let mut report = CompactReport::default();
        let chosen: Vec<SegmentStatus> = self
            .extents
            .segments()
            .into_iter()
            .filter(|segment| is_sparse(segment) && !self.is_waiting(segment))
            .take(limit)
            .collect();
        for segment in chosen {
            self.rewrite(&segment, &mut report).await?;
        }
        Ok(report)
    }

    /// Whether nothing can be won in this segment for now.
    fn is_waiting(&self, segment: &SegmentStatus) -> bool {
        let live = segment.live.unwrap_or_default().bytes;
        self.limbo.holds_of(segment.number) || self.stuck.get(&segment.number) == Some(&live)
    }

    async fn rewrite(
        &mut self,
        segment: &SegmentStatus,
        report: &mut CompactReport,
    ) -> Result<(), StoreError> {
        let kept_before = report.kept;
        let mut from = Some(0);
        while let Some(at) = from {
            let batch = self.extents.batch(segment.number, at).await?;
            let watermark = self.extents.watermark();
            let live = batch.records.into_iter().filter(|found| !found.released).collect();
            let mut moving = Vec::new();
            for (found, named) in owners::ask(&self.meta, live).await? {
                match named {
                    Named::Yes => moving.push(found),
                    Named::No if found.sequence < watermark => {
                        let since = self.meta.last_stamp();
                        self.limbo.add(found, since);
                    }
                    Named::No | Named::Unreadable => report.kept += 1,
                }
            }
            for part in moving.chunks(MOVES) {
                self.move_part(part, report).await?;
            }
            from = batch.next;
        }
        report.segments += 1;
        if report.kept > kept_before {
            let live = segment.live.unwrap_or_default().bytes;
            self.stuck.insert(segment.number, live);
        }
        Ok(())
    }

    async fn move_part(
        &mut self,
        part: &[Found],
        report: &mut CompactReport,
    ) -> Result<(), StoreError> {
        let mut tasks = JoinSet::new();
        for found in part {
            let (extents, meta, found) = (self.extents.clone(), self.meta.clone(), found.clone());
            tasks.spawn(async move { move_one(&extents, &meta, &found).await.map(|m| (found, m)) });
        }
        let mut failed = None;
        while let Some(joined) = tasks.join_next().await {
            match joined.unwrap_or(Err(StoreError::Closed)) {
                Ok((_, Moved::Kept)) => report.kept += 1,
                Ok((found, moved)) => {
                    match moved {
                        Moved::Swapped => {
                            report.moved += 1;
                            report.bytes += u64::from(found.at.length);
                        }
                        Moved::LostRace | Moved::Kept => report.lost_races += 1,
                    }
                    let since = self.meta.last_stamp();
                    self.limbo.add(found, since);
                }
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

fn is_sparse(status: &SegmentStatus) -> bool {
    let used = status.end.saturating_sub(segment::HEADER as u64);
    let sparse = |live: super::Live| live.bytes * 100 < used * SPARSE_PERCENT;
    status.phase == Phase::Sealed && status.live.is_some_and(sparse)
}

/// Copies one record and swaps its rows' references to the copy.
async fn move_one(extents: &Extents, meta: &Meta, found: &Found) -> Result<Moved, StoreError> {
    let payload = match extents.read(&found.at, 0..found.at.length).await {
        Ok(payload) => payload,
        Err(error @ StoreError::Corrupt { .. }) => {
            // Its row may have gone since, and its bytes with it; otherwise it is damaged.
            let answers = owners::ask(meta, vec![found.clone()]).await?;
            if answers.iter().any(|(_, named)| *named != Named::No) {
                tracing::error!(%error, "a damaged extent cannot be moved");
            }
            return Ok(Moved::Kept);
        }
        Err(error) => return Err(error),
    };
    // The copy is an orphan to every scan until its rows name it.
    let _open = extents.begin_write();
    let copy = extents.write(&found.owner, payload).await?;
    match owners::swap(meta, &found.owner, found.at, copy).await {
        Swapped { rows: 0, failed: None } => {
            extents.release(&[copy]);
            Ok(Moved::LostRace)
        }
        Swapped { failed: None, .. } => Ok(Moved::Swapped),
        Swapped { rows, failed: Some(error) } => {
            let nothing_done =
                rows == 0 && !matches!(error, StoreError::Unknown | StoreError::Poisoned);
            if nothing_done {
                extents.release(&[copy]);
            }
            Err(error)
        }
    }
}
