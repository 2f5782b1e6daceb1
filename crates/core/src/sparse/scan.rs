//! Which ranges of a content are there, or have changed since another commit.

use super::keys::SparseKeys;
use super::load::{self, Clear, Source};
use crate::service::blocking;
use crate::{Core, Error};
use std::ops::Range;
use zaffre_base::Stamp;
use zaffre_domain::sparse::{CHUNK_BYTES, Change, Map, Ranges, changes};
use zaffre_store::{Placement, Snapshot};

/// Chunks looked at by one snapshot.
const CHUNKS: u32 = 1_024;

/// What to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Comparison {
    pub(crate) as_of: Stamp,
    /// Show what differs from then; `None` = show what is there.
    pub(crate) since: Option<Stamp>,
    /// Show whole blocks of so many bytes, each of which is there if any of its bytes is; `None` =
    /// show what was written byte by byte.
    pub(crate) grain: Option<u64>,
}

/// Adds the ranges in `window` to `found`, until that is full or `most` chunks were looked at;
/// returns where to go on in the latter case. Somebody must hold the content as of both commits.
pub(crate) async fn scan(
    core: &Core,
    at: &Placement,
    keys: SparseKeys,
    what: Comparison,
    window: Range<u64>,
    mut found: Ranges,
    most: u32,
) -> Result<(Ranges, Option<u64>), Error> {
    let chunk = |offset: u64| u32::try_from(offset / CHUNK_BYTES).unwrap_or(u32::MAX);
    let mut next = Some(chunk(window.start));
    let mut looked = 0;
    while let Some(from) = next.filter(|from| u64::from(*from) * CHUNK_BYTES < window.end) {
        if found.is_full() {
            break;
        }
        if looked >= most {
            return Ok((found, Some(u64::from(from) * CHUNK_BYTES)));
        }
        let snapshot = core.store().meta.snapshot(at).await?;
        let end = window.end;
        (found, next) = blocking(move || {
            let next = batch(&snapshot, keys, what, from, end, &mut found)?;
            Ok((found, next))
        })
        .await?;
        looked += CHUNKS;
    }
    Ok((found, None))
}

/// Looks at some chunks; returns the first that was not looked at, if there is one.
fn batch(
    snapshot: &Snapshot,
    keys: SparseKeys,
    what: Comparison,
    from: u32,
    end: u64,
    found: &mut Ranges,
) -> Result<Option<u32>, Error> {
    let clears = |as_of: Option<Stamp>| match as_of {
        Some(as_of) => load::clears(snapshot, keys, as_of),
        None => Ok(Vec::new()),
    };
    let (now, then) = (clears(Some(what.as_of))?, clears(what.since)?);
    let mut next = load::next_chunk(snapshot, keys, from)?;
    for _ in 0..CHUNKS {
        let Some(chunk) = next.filter(|chunk| u64::from(*chunk) * CHUNK_BYTES < end) else {
            return Ok(None);
        };
        look(snapshot, keys, what, chunk, (&now, &then), found)?;
        if found.is_full() {
            return Ok(None);
        }
        let Some(after) = chunk.checked_add(1) else { return Ok(None) };
        next = load::next_chunk(snapshot, keys, after)?;
    }
    Ok(next)
}

fn look(
    snapshot: &Snapshot,
    keys: SparseKeys,
    what: Comparison,
    chunk: u32,
    (now, then): (&[Clear], &[Clear]),
    found: &mut Ranges,
) -> Result<(), Error> {
    let start = u64::from(chunk) * CHUNK_BYTES;
    let place = |range: Range<u32>| start + u64::from(range.start)..start + u64::from(range.end);
    let new = load::chunk(snapshot, keys, chunk, what.as_of, now)?.map;
    if let Some(grain) = what.grain {
        let old = match what.since {
            Some(since) => Some(load::chunk(snapshot, keys, chunk, since, then)?.map),
            None => None,
        };
        for (change, range) in in_blocks(old.as_ref(), &new, grain) {
            found.add(change, start + range.start..start + range.end);
        }
        return Ok(());
    }
    match what.since {
        None => {
            for range in new.present() {
                found.add(Change::Written, place(range));
            }
        }
        Some(since) => {
            let old = load::chunk(snapshot, keys, chunk, since, then)?.map;
            for (change, range) in changes(&old, &new) {
                found.add(change, place(range));
            }
        }
    }
    Ok(())
}

/// Blocks of a chunk that are there, or that have changed.
fn in_blocks(
    old: Option<&Map<Source>>,
    new: &Map<Source>,
    grain: u64,
) -> Vec<(Change, Range<u64>)> {
    let count = usize::try_from(CHUNK_BYTES / grain).unwrap_or(0);
    let blocks = |range: &Range<u32>| {
        let from = usize::try_from(u64::from(range.start) / grain).unwrap_or(count);
        let to = usize::try_from(u64::from(range.end).div_ceil(grain)).unwrap_or(count);
        from..to.min(count)
    };
    let mut present = vec![false; count];
    for range in new.present() {
        present[blocks(&range)].fill(true);
    }
    let mut shown = vec![None; count];
    match old {
        None => {
            let written = |there: &bool| there.then_some(Change::Written);
            shown = present.iter().map(written).collect();
        }
        Some(old) => {
            for (_, range) in changes(old, new) {
                for block in blocks(&range) {
                    let there = present[block];
                    shown[block] = Some(if there { Change::Written } else { Change::Cleared });
                }
            }
        }
    }
    let at = |block: usize| u64::try_from(block).unwrap_or(0) * grain;
    let each = shown.iter().enumerate();
    each.filter_map(|(block, change)| Some(((*change)?, at(block)..at(block) + grain))).collect()
}
