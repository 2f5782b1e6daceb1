//! Reading bytes of one chunk; what was never written, or was cleared, is zeros.

use super::keys::SparseKeys;
use super::load::{self, Source};
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use zaffre_base::Stamp;
use zaffre_domain::sparse::{CHUNK_BYTES, first_part};
use zaffre_store::{Snapshot, StoreError};

/// Bytes in a chunk.
pub(crate) const CHUNK: u64 = CHUNK_BYTES;

/// Some bytes of one chunk as of a commit.
pub(crate) async fn slice(
    core: &Core,
    snapshot: &Snapshot,
    keys: SparseKeys,
    as_of: Stamp,
    bytes: Range<u64>,
) -> Result<Bytes, Error> {
    let part = first_part(bytes.start, bytes.end);
    let part = part.filter(|part| u64::from(part.length) == bytes.end - bytes.start);
    let part = part.ok_or_else(|| StoreError::corrupt("a slice of more than one chunk"))?;
    let clears = load::clears(snapshot, keys, as_of)?;
    let window = part.at..part.at + part.length;
    let chunk = load::window(snapshot, keys, part.chunk, as_of, &clears, &window)?;
    read(core, &chunk, window).await
}

/// Some bytes of a loaded chunk.
pub(super) async fn read(
    core: &Core,
    chunk: &load::Chunk,
    window: Range<u32>,
) -> Result<Bytes, Error> {
    let length = usize::try_from(window.end - window.start).unwrap_or(0);
    let mut out: Option<BytesMut> = None;
    for piece in chunk.map.within(window.clone()) {
        let wanted = piece.skip..piece.skip + piece.length;
        let bytes = match piece.source {
            Source::Extent(at) => core.store().extents.read(&at, wanted).await?,
            Source::Small(at) => chunk.small(at, wanted)?,
        };
        if bytes.len() == length {
            return Ok(bytes);
        }
        let from = usize::try_from(piece.at - window.start).unwrap_or(usize::MAX);
        let out = out.get_or_insert_with(|| BytesMut::zeroed(length));
        let place = out.get_mut(from..from.saturating_add(bytes.len()));
        let place = place.ok_or_else(|| StoreError::corrupt("a piece outside its chunk"))?;
        place.copy_from_slice(&bytes);
    }
    Ok(out.map_or_else(|| zeros(length), BytesMut::freeze))
}

/// As many zeros, without memory of their own.
fn zeros(length: usize) -> Bytes {
    static ZEROS: [u8; 1024 * 1024] = [0; 1024 * 1024];
    ZEROS.get(..length).map_or_else(|| BytesMut::zeroed(length).freeze(), Bytes::from_static)
}
