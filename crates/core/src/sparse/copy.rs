//! Reading a sparse content chunk by chunk, to put the same into another one.
//!
//! Must never tell zeros that were written from zeros that were not by their bytes: what is there
//! is what the layers say.

use super::keys::{Kept, SparseKeys};
use super::load;
use super::read::read;
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use zaffre_base::Stamp;
use zaffre_domain::sparse::changes;
use zaffre_store::{Interrupt, Snapshot, StoreError, Tx};

/// All that is there of a chunk.
pub(crate) struct Packed {
    /// What is there, one after the other.
    pub(crate) bytes: Bytes,
    /// Where each part of it belongs in the chunk.
    pub(crate) places: Vec<Range<u32>>,
}

/// The first chunk from `from` on that anything was written to.
pub(crate) fn next_chunk(
    snapshot: &Snapshot,
    keys: SparseKeys,
    from: u32,
) -> Result<Option<u32>, StoreError> {
    load::next_chunk(snapshot, keys, from)
}

/// A chunk as of a commit; `None` if it is what it was at `since`.
pub(crate) async fn pack(
    core: &Core,
    snapshot: &Snapshot,
    keys: SparseKeys,
    number: u32,
    as_of: Stamp,
    since: Option<Stamp>,
) -> Result<Option<Packed>, Error> {
    let clears = load::clears(snapshot, keys, as_of)?;
    let chunk = load::chunk(snapshot, keys, number, as_of, &clears)?;
    if let Some(since) = since {
        let clears = load::clears(snapshot, keys, since)?;
        let before = load::chunk(snapshot, keys, number, since, &clears)?;
        if changes(&before.map, &chunk.map).is_empty() {
            return Ok(None);
        }
    }
    let places = chunk.map.present();
    if let [place] = places.as_slice() {
        let bytes = read(core, &chunk, place.clone()).await?;
        return Ok(Some(Packed { bytes, places }));
    }
    let mut bytes = BytesMut::new();
    for place in &places {
        bytes.extend_from_slice(&read(core, &chunk, place.clone()).await?);
    }
    Ok(Some(Packed { bytes: bytes.freeze(), places }))
}

/// Puts a layer over a chunk that says all of it. The value names extents whose owner is the chunk.
pub(crate) fn put_whole(
    tx: &mut Tx<'_>,
    keys: SparseKeys,
    chunk: u32,
    value: Bytes,
) -> Result<(), Interrupt> {
    let key = keys.layer(chunk, tx.stamp(), Kept::Whole);
    tx.put_shared(&key, value)
}
