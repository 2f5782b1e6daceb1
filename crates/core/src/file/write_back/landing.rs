//! A batch on its way into a content: each chunk's pieces become one extent, and a little that lies
//! together a row.
//!
//! Must never write a chunk's pieces apart: they are seen together or not at all.

use super::entry::Batch;
use crate::blob::content::unclaimed::Unclaimed;
use crate::blob::site::Site;
use crate::file::landing::Arrived;
use crate::sparse::{Landed, OfChunk, SparseKeys};
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use futures_util::future::try_join_all;
use std::sync::Arc;
use zaffre_domain::fs::pieces::Stretch;
use zaffre_domain::sparse::{CHUNK_BYTES, Part, first_part};
use zaffre_store::StoreError;

/// The pieces of one chunk: their bytes one behind the other, and where each stretch goes.
struct Gathered {
    chunk: u32,
    bytes: Vec<Bytes>,
    /// Place in the chunk and length, in order.
    stretches: Vec<(u32, u32)>,
}

impl Gathered {
    fn add(&mut self, part: Part, bytes: Bytes) {
        self.bytes.push(bytes);
        match self.stretches.last_mut() {
            // What touches is one stretch.
            Some((at, length)) if *at + *length == part.at => *length += part.length,
            _ => self.stretches.push((part.at, part.length)),
        }
    }

    fn payload(&mut self) -> Bytes {
        if let [only] = &self.bytes[..] {
            return only.clone();
        }
        let length = self.bytes.iter().map(Bytes::len).sum();
        let mut payload = BytesMut::with_capacity(length);
        for bytes in self.bytes.drain(..) {
            payload.extend_from_slice(&bytes);
        }
        payload.freeze()
    }
}

fn by_chunk(batch: &Batch) -> Result<Vec<Gathered>, StoreError> {
    let mut chunks: Vec<Gathered> = Vec::new();
    for (start, piece) in batch.pieces.iter() {
        let (mut offset, end) = (start, start + piece.length());
        while offset < end {
            let part = first_part(offset, end);
            let part = part.ok_or(StoreError::Limit("a content of more than 4 PiB"))?;
            let to = offset + u64::from(part.length);
            let at = |offset: u64| usize::try_from(offset - start).unwrap_or(usize::MAX);
            let bytes = piece.bytes.slice(at(offset)..at(to));
            if chunks.last().is_none_or(|last| last.chunk != part.chunk) {
                let (bytes, stretches) = (Vec::new(), Vec::new());
                chunks.push(Gathered { chunk: part.chunk, bytes, stretches });
            }
            if let Some(chunk) = chunks.last_mut() {
                chunk.add(part, bytes);
            }
            offset = to;
        }
    }
    Ok(chunks)
}

/// Brings the bytes to where a commit can name them.
pub(in crate::file) async fn land(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
    batch: &Batch,
) -> Result<Arrived, Error> {
    let mut chunks = by_chunk(batch)?;
    if let [only] = &mut chunks[..]
        && let [(at, length)] = only.stretches[..]
        && usize::try_from(length).is_ok_and(|l| l <= core.options().layout.inline_bytes)
    {
        let offset = u64::from(only.chunk) * CHUNK_BYTES + u64::from(at);
        let landed = Landed::Small { offset, bytes: only.payload() };
        return Ok(Arrived { landed, extents: Vec::new() });
    }
    let extents = &core.store().extents;
    let open = Arc::new(extents.begin_write());
    // All at once, so that they share a sync.
    let writes = chunks.iter_mut().map(|chunk| {
        let (owner, payload) = (site.owner(keys.owner(chunk.chunk)), chunk.payload());
        let open = Arc::clone(&open);
        async move {
            let at = extents.write(&owner, payload).await?;
            Ok::<_, StoreError>(Unclaimed::new(extents.clone(), at, open))
        }
    });
    let extents = try_join_all(writes).await?;
    let mut runs = Vec::new();
    for (chunk, unclaimed) in chunks.iter().zip(&extents) {
        let extent = unclaimed.extent().ok_or(StoreError::Closed)?;
        let Gathered { chunk, stretches, .. } = chunk;
        runs.push(OfChunk { chunk: *chunk, stretches: stretches.clone(), extent });
    }
    Ok(Arrived { landed: Landed::Runs(runs), extents })
}

#[cfg(test)]
mod tests {
    use super::super::piece::Piece;
    use super::*;

    #[test]
    fn chunks_and_stretches() {
        let mut batch = Batch::default();
        let mib = CHUNK_BYTES;
        for (offset, length) in [(10, 5), (15, 5), (40, 1), (mib - 2, 4), (mib * 7, 1)] {
            batch.pieces.write(offset, Piece::new(Bytes::from(vec![1; length])));
        }
        let chunks = by_chunk(&batch).expect("small");
        let last = u32::try_from(mib).expect("small") - 2;
        let want = [(0, vec![(10, 10), (40, 1), (last, 2)]), (1, vec![(0, 2)]), (7, vec![(0, 1)])];
        assert_eq!(chunks.len(), want.len());
        for (mut chunk, (number, stretches)) in chunks.into_iter().zip(want) {
            assert_eq!((chunk.chunk, &chunk.stretches), (number, &stretches));
            let length: u32 = stretches.iter().map(|(_, length)| length).sum();
            assert_eq!(chunk.payload().len(), usize::try_from(length).expect("small"));
        }
    }
}
