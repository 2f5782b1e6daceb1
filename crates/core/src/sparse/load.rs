//! One chunk as of one commit: its layers, read from one snapshot and put over each other.

use super::keys::{Kept, SparseKeys, chunk_of, cleared_at, moment_of, tags};
use super::rows::{Small, clear_from_bytes};
use crate::directory::keys::KeyRange;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Range;
use zaffre_base::Stamp;
use zaffre_domain::sparse::{CHUNK_BYTES, Map, Piece};
use zaffre_store::extents::{ExtentRef, runs};
use zaffre_store::{Row, Snapshot, StoreError};

/// Rows read at once.
const BATCH: usize = 64;

/// Where bytes of a chunk come from. Two states have the same bytes where they say the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Extent(ExtentRef),
    /// The small write of that commit.
    Small(Stamp),
}

/// A wide clear.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Clear {
    pub(crate) stamp: Stamp,
    pub(crate) bytes: Range<u64>,
}

impl Clear {
    /// What of a chunk it clears.
    pub(crate) fn within(&self, chunk: u32) -> Option<Range<u32>> {
        let start = u64::from(chunk) * CHUNK_BYTES;
        let from = self.bytes.start.max(start);
        let to = self.bytes.end.min(start + CHUNK_BYTES);
        let inside = |offset: u64| u32::try_from(offset - start).ok();
        if from < to { Some(inside(from)?..inside(to)?) } else { None }
    }
}

/// What one commit did to a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) stamp: Stamp,
    pub(crate) key: Vec<u8>,
    pub(crate) what: What,
}

/// How a layer says what it did.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Whole(Vec<runs::Run>),
    Over(Vec<runs::Run>),
    Small(Small),
    /// A wide clear, whose row is the content's.
    Cleared(Range<u32>),
}

/// A chunk with all that is needed to read it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) map: Map<Source>,
    small: BTreeMap<Stamp, Small>,
}

impl Chunk {
    /// A chunk of extents alone.
    pub(crate) fn of(map: Map<Source>) -> Self {
        Self { map, small: BTreeMap::new() }
    }

    /// Puts a layer over what is there.
    pub(crate) fn apply(&mut self, layer: &Layer) -> Result<(), StoreError> {
        match &layer.what {
            What::Whole(runs) => self.map = whole(runs)?,
            What::Over(runs) => {
                for run in runs {
                    self.map.write(piece(run));
                }
            }
            What::Cleared(range) => self.map.clear(range.clone()),
            What::Small(small) if small.bytes.is_none() => {
                self.map.clear(small.at..small.at + small.length);
            }
            What::Small(small) => {
                let (at, length) = (small.at, small.length);
                self.map.write(Piece { at, length, source: Source::Small(layer.stamp), skip: 0 });
                self.small.insert(layer.stamp, small.clone());
            }
        }
        Ok(())
    }

    /// Bytes of a small write.
    pub(crate) fn small(&self, at: Stamp, range: Range<u32>) -> Result<Bytes, StoreError> {
        let held = self.small.get(&at).and_then(|small| small.bytes.as_ref());
        let held = held.ok_or_else(|| StoreError::corrupt("a small write is missing"))?;
        let from = usize::try_from(range.start).unwrap_or(usize::MAX);
        let to = usize::try_from(range.end).unwrap_or(usize::MAX);
        if from > to || to > held.len() {
            return Err(StoreError::corrupt("a small write is too short"));
        }
        Ok(held.slice(from..to))
    }
}

fn piece(run: &runs::Run) -> Piece<Source> {
    let source = Source::Extent(run.extent);
    Piece { at: run.at, length: run.length, source, skip: run.skip }
}

fn whole(runs: &[runs::Run]) -> Result<Map<Source>, StoreError> {
    Map::from_pieces(runs.iter().map(piece).collect())
        .ok_or_else(|| StoreError::corrupt("the layer of a chunk is out of order"))
}

/// All wide clears of a content up to `as_of`, newest first.
pub(crate) fn clears(
    snapshot: &Snapshot,
    keys: SparseKeys,
    as_of: Stamp,
) -> Result<Vec<Clear>, StoreError> {
    let rows = all(snapshot, keys.clears(as_of))?;
    let clear = |row: &Row| {
        let stamp = cleared_at(&row.key).ok_or_else(|| StoreError::corrupt("a clear's key"))?;
        Ok(Clear { stamp, bytes: clear_from_bytes(&row.value)? })
    };
    rows.iter().map(clear).collect()
}

/// A chunk as of a commit.
pub(crate) fn chunk(
    snapshot: &Snapshot,
    keys: SparseKeys,
    number: u32,
    as_of: Stamp,
    clears: &[Clear],
) -> Result<Chunk, StoreError> {
    let mut chunk = Chunk::default();
    for layer in layers(snapshot, keys, number, as_of, clears)?.iter().rev() {
        chunk.apply(layer)?;
    }
    Ok(chunk)
}

/// What a window of a chunk shows as of a commit. What lies elsewhere is left out: a chunk can have
/// many pieces, and a small read needs few of them.
pub(crate) fn window(
    snapshot: &Snapshot,
    keys: SparseKeys,
    number: u32,
    as_of: Stamp,
    clears: &[Clear],
    window: &Range<u32>,
) -> Result<Chunk, StoreError> {
    let mut chunk = Chunk::default();
    let inside = |at: u32, length: u32| at < window.end && at.saturating_add(length) > window.start;
    for mut layer in layers(snapshot, keys, number, as_of, clears)?.into_iter().rev() {
        match &mut layer.what {
            What::Whole(runs) | What::Over(runs) => runs.retain(|run| inside(run.at, run.length)),
            What::Small(small) if !inside(small.at, small.length) => continue,
            What::Small(_) | What::Cleared(_) => {}
        }
        chunk.apply(&layer)?;
    }
    Ok(chunk)
}

/// What can be seen of a chunk as of a commit, newest first, down to the newest whole layer.
pub(crate) fn layers(
    snapshot: &Snapshot,
    keys: SparseKeys,
    number: u32,
    as_of: Stamp,
    clears: &[Clear],
) -> Result<Vec<Layer>, StoreError> {
    let mut found = Vec::new();
    let mut floor = None;
    let mut range = keys.layers(number, as_of);
    'down: loop {
        let rows = snapshot.scan(&range.start, range.end.as_deref(), BATCH)?;
        for row in &rows {
            let layer = layer(row)?;
            let is_whole = matches!(layer.what, What::Whole(_));
            let stamp = layer.stamp;
            found.push(layer);
            if is_whole {
                floor = Some(stamp);
                break 'down;
            }
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => range.start = [&last.key[..], &[0]].concat(),
            _ => break,
        }
    }
    for row in all(snapshot, keys.smalls(number, as_of, floor))? {
        found.push(small(row)?);
    }
    let above = |clear: &&Clear| clear.stamp <= as_of && Some(clear.stamp) > floor;
    for clear in clears.iter().filter(above) {
        if let Some(range) = clear.within(number) {
            let what = What::Cleared(range);
            found.push(Layer { stamp: clear.stamp, key: keys.clear(clear.stamp), what });
        }
    }
    found.sort_by_key(|layer| std::cmp::Reverse(layer.stamp));
    Ok(found)
}

/// A layer from its row.
pub(crate) fn layer(row: &Row) -> Result<Layer, StoreError> {
    let moment = moment_of(&row.key);
    let (stamp, kept) = moment.ok_or_else(|| StoreError::corrupt("the key of a layer"))?;
    let runs = runs::decode(&row.value)?;
    let what = match kept {
        Kept::Whole => What::Whole(runs),
        Kept::Over => What::Over(runs),
    };
    Ok(Layer { stamp, key: row.key.clone(), what })
}

fn small(row: Row) -> Result<Layer, StoreError> {
    let moment = moment_of(&row.key);
    let (stamp, _) = moment.ok_or_else(|| StoreError::corrupt("the key of a small write"))?;
    Ok(Layer { stamp, what: What::Small(Small::from_bytes(row.value)?), key: row.key })
}

/// All rows of a range.
pub(crate) fn all(snapshot: &Snapshot, mut range: KeyRange) -> Result<Vec<Row>, StoreError> {
    let mut found = Vec::new();
    loop {
        let rows = snapshot.scan(&range.start, range.end.as_deref(), BATCH)?;
        let full = rows.len() == BATCH;
        found.extend(rows);
        match found.last() {
            Some(last) if full => range.start = [&last.key[..], &[0]].concat(),
            _ => return Ok(found),
        }
    }
}

/// The first chunk from `from` on that anything was written to.
pub(crate) fn next_chunk(
    snapshot: &Snapshot,
    keys: SparseKeys,
    from: u32,
) -> Result<Option<u32>, StoreError> {
    let mut next = None;
    for tag in [tags::LAYER, tags::SMALL] {
        let range = keys.starting_at(tag, from);
        let rows = snapshot.scan(&range.start, range.end.as_deref(), 1)?;
        let found = match rows.first() {
            Some(row) => {
                Some(chunk_of(&row.key).ok_or_else(|| StoreError::corrupt("a chunk's key"))?)
            }
            None => None,
        };
        next = match (next, found) {
            (Some(a), Some(b)) => Some(std::cmp::min::<u32>(a, b)),
            (a, b) => a.or(b),
        };
    }
    Ok(next)
}
