//! Upkeep: the background work on segments, in small steps that its owner paces.
//!
//! Must never run twice at the same time on one store: one `Upkeep` belongs to one task.

use super::Extents;
use super::limbo::Limbo;
use super::walk::{Found, Frame, Step};
use crate::error::StoreError;
use crate::meta::Meta;
use crate::pins::Pins;
use std::collections::BTreeMap;
use std::ops::Range;

/// Records walked at once.
pub(crate) const BATCH: usize = 256;

/// Frees, scans and compacts.
#[derive(Debug)]
pub struct Upkeep {
    pub(crate) extents: Extents,
    pub(crate) meta: Meta,
    pub(crate) pins: Pins,
    pub(crate) limbo: Limbo,
    /// Where the orphan scan goes on: a segment and an offset in it.
    pub(crate) cursor: (u32, u64),
    /// Segments that could not be emptied, with their live bytes then: not tried again before
    /// something changed.
    pub(crate) stuck: BTreeMap<u32, u64>,
}

impl Upkeep {
    /// The upkeep of a store.
    pub fn new(extents: Extents, meta: Meta, pins: Pins) -> Self {
        let limbo = Limbo::default();
        Self { extents, meta, pins, limbo, cursor: (0, 0), stuck: BTreeMap::new() }
    }

    /// Releases what was found unused and no reader holds any more. Returns how many extents.
    pub async fn free(&mut self) -> Result<usize, StoreError> {
        self.limbo.free(&self.extents, &self.meta, &self.pins).await
    }

    /// Extents that wait for a reader to end.
    pub fn waiting(&self) -> usize {
        self.limbo.len()
    }
}

/// Some records of a segment.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Found>,
    pub(crate) gaps: Vec<Range<u64>>,
    /// Where to go on; `None` at the end.
    pub(crate) next: Option<u64>,
}

impl Extents {
    /// Walks up to [`BATCH`] steps of a segment from `from` on.
    pub(crate) async fn batch(&self, segment: u32, from: u64) -> Result<Batch, StoreError> {
        self.blocking(move |shared| {
            let mut batch = Batch { records: Vec::new(), gaps: Vec::new(), next: None };
            let Some(frame) = Frame::load(shared, segment)? else { return Ok(batch) };
            let mut walker = frame.walk(from);
            for _ in 0..BATCH {
                match walker.next()? {
                    Some(Step::Record(found)) => batch.records.push(found),
                    Some(Step::Gap(gap)) => batch.gaps.push(gap),
                    None => return Ok(batch),
                }
            }
            batch.next = Some(walker.at());
            Ok(batch)
        })
        .await
    }
}
