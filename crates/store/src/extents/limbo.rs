//! Limbo: extents that no row names any more but a reader may still hold.
//!
//! Must never let one go before the pins allow it and the rows were asked once more.

use super::owners::{self, Named};
use super::walk::Found;
use super::{ExtentRef, Extents};
use crate::error::StoreError;
use crate::meta::Meta;
use crate::pins::Pins;
use std::collections::BTreeMap;
use zaffre_base::Stamp;

/// Extents that may wait; a scan stops for now when there are more.
pub(crate) const LIMIT: usize = 200_000;
/// Extents asked about at once.
const BATCH: usize = 512;

/// What waits, and the stamp of the newest commit when no row named it.
#[derive(Debug, Default)]
pub(crate) struct Limbo(BTreeMap<ExtentRef, (Found, Stamp)>);

impl Limbo {
    /// Adds an extent that no row named when `since` was the newest commit.
    pub(crate) fn add(&mut self, found: Found, since: Stamp) {
        self.0.entry(found.at).or_insert((found, since));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= LIMIT
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn holds(&self, at: &ExtentRef) -> bool {
        self.0.contains_key(at)
    }

    /// Whether any extent of a segment waits.
    pub(crate) fn holds_of(&self, segment: u32) -> bool {
        let first = ExtentRef { segment, offset: 0, length: 0 };
        self.0.range(first..).next().is_some_and(|(at, _)| at.segment == segment)
    }

    /// Releases what no reader can hold any more. Whoever could still bring an extent back into a
    /// row held a pin while doing so; once that is gone the rows are asked again, so such a row is
    /// seen and the extent stays.
    pub(crate) async fn free(
        &mut self,
        extents: &Extents,
        meta: &Meta,
        pins: &Pins,
    ) -> Result<usize, StoreError> {
        let unpinned = |(_, since): &&(Found, Stamp)| pins.may_move(*since);
        let ready: Vec<Found> =
            self.0.values().filter(unpinned).map(|(found, _)| found.clone()).collect();
        let mut freed = 0;
        for batch in ready.chunks(BATCH) {
            let mut refs = Vec::new();
            for (found, named) in owners::ask(meta, batch.to_vec()).await? {
                self.0.remove(&found.at);
                if named == Named::No {
                    refs.push(found.at);
                }
            }
            freed += refs.len();
            extents.release(&refs);
        }
        Ok(freed)
    }
}
