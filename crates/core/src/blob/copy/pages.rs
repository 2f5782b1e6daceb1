//! Copying pages: chunk by chunk, each as one layer that says all of it.
//!
//! Must never write pages that the source does not have: what is not there reads as zeros, and
//! page ranges of the copy are those of the source.

use super::batch::Batch;
use super::make::{Making, Stopped};
use super::source::{Here, SparseSource};
use crate::blob::content::free::sparse_keys;
use crate::blob::content::unclaimed::Unclaimed;
use crate::blob::records::Equals;
use crate::blob::{ByteStream, history_views};
use crate::sparse::{self, SparseKeys};
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::ops::Range;
use std::sync::Arc;
use zaffre_base::limits::PAGE_BYTES;
use zaffre_base::{BlobName, Stamp};
use zaffre_domain::sparse::CHUNK_BYTES;
use zaffre_store::StoreError;
use zaffre_store::extents::runs::Run;

/// Copies the rest of a source's pages; returns what is still to be committed.
pub(super) async fn copy(making: &mut Making, source: Here) -> Result<Batch, Stopped> {
    let Some(mut source) = source.sparse(&making.core) else {
        return Err(StoreError::corrupt("a page blob without pages").into());
    };
    // Held as of both commits until the end, and before it is asked whether the first is there.
    let _before = making.row.since.map(|since| {
        making.core.readers().enter(&source.site.placement, source.content.id, since.written)
    });
    let since = comparable(&making.core, &source, &making.row.from, making.row.since).await?;
    if since.is_none() && making.row.since.take().is_some() {
        // What it was compared with is gone: everything is copied, from the start.
        making.row.done = 0;
    }
    let (core, keys) = (making.core.clone(), sparse_keys(&source.site, source.content.id));
    let to = sparse_keys(&making.site, making.row.content.id);
    let mut batch = Batch::default();
    loop {
        source.pin.renew(core.store().meta.last_stamp());
        let snapshot = core.store().meta.snapshot(&source.site.placement).await?;
        let from = u32::try_from(making.row.done / CHUNK_BYTES).unwrap_or(u32::MAX);
        let mut next = sparse::next_chunk(&snapshot, keys, from)?;
        if since.is_none() {
            // What the destination has and the source has not goes.
            let inside = core.store().meta.snapshot(&making.site.placement).await?;
            let there = sparse::next_chunk(&inside, to, from)?;
            next = next.into_iter().chain(there).min();
        }
        let Some(chunk) = next else { break };
        let as_of = source.reader.as_of();
        if let Some(packed) = sparse::pack(&core, &snapshot, keys, chunk, as_of, since).await? {
            let length = u64::try_from(packed.bytes.len()).unwrap_or(u64::MAX);
            put(making, &mut batch, to, chunk, packed.bytes, &packed.places).await?;
            batch.bytes += length;
        }
        making.row.done = u64::from(chunk).saturating_add(1).saturating_mul(CHUNK_BYTES);
        if batch.is_full(making.step_bytes()) {
            making.row.done = making.row.done.min(making.row.content.length);
            making.step(std::mem::take(&mut batch)).await?;
        }
    }
    making.row.done = making.row.content.length;
    Ok(batch)
}

/// Copies the rest of a page blob that comes as bytes: pages of zeros are left out.
pub(super) async fn copy_stream(
    making: &mut Making,
    mut body: ByteStream,
) -> Result<Batch, Stopped> {
    let to = sparse_keys(&making.site, making.row.content.id);
    let mut batch = Batch::default();
    let mut buffer = BytesMut::new();
    while making.row.done < making.row.content.length {
        let left = making.row.content.length - making.row.done;
        let length = CHUNK_BYTES.min(left);
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        while buffer.len() < wanted {
            match body.next().await {
                Some(Ok(bytes)) => buffer.extend_from_slice(&bytes),
                Some(Err(_)) | None => return Err(StoreError::Busy.into()),
            }
        }
        let bytes = buffer.split_to(wanted).freeze();
        let chunk = u32::try_from(making.row.done / CHUNK_BYTES).unwrap_or(u32::MAX);
        let (bytes, places) = without_zeros(&bytes);
        if !places.is_empty() {
            put(making, &mut batch, to, chunk, bytes, &places).await?;
        }
        making.row.done += length;
        batch.bytes += length;
        if batch.is_full(making.step_bytes()) {
            making.step(std::mem::take(&mut batch)).await?;
        }
    }
    Ok(batch)
}

/// The pages that are not all zeros, one after the other, and where they belong.
fn without_zeros(bytes: &Bytes) -> (Bytes, Vec<Range<u32>>) {
    let page = usize::try_from(PAGE_BYTES).unwrap_or(512);
    let mut packed = BytesMut::new();
    let mut places: Vec<Range<u32>> = Vec::new();
    let mut at = 0_u32;
    for page in bytes.chunks(page) {
        let end = at + u32::try_from(page.len()).unwrap_or(0);
        if page.iter().any(|byte| *byte != 0) {
            packed.extend_from_slice(page);
            match places.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ => places.push(at..end),
            }
        }
        at = end;
    }
    (packed.freeze(), places)
}

/// Writes a chunk's bytes as one extent.
async fn put(
    making: &Making,
    batch: &mut Batch,
    to: SparseKeys,
    chunk: u32,
    bytes: Bytes,
    places: &[Range<u32>],
) -> Result<(), Stopped> {
    if bytes.is_empty() {
        batch.chunk(chunk, &[], None);
        return Ok(());
    }
    let extents = making.core.store().extents.clone();
    let open = Arc::new(extents.begin_write());
    let extent = extents.write(&making.site.owner(to.owner(chunk)), bytes).await?;
    let mut skip = 0;
    let mut runs = Vec::with_capacity(places.len());
    for place in places {
        let length = place.end - place.start;
        runs.push(Run { at: place.start, length, extent, skip });
        skip += length;
    }
    batch.chunk(chunk, &runs, Some(Unclaimed::new(extents, extent, open)));
    Ok(())
}

/// As of which commit the source shows what the destination has, if anything still shows it.
async fn comparable(
    core: &Core,
    source: &SparseSource,
    from: &crate::blob::records::CopyFrom,
    since: Option<Equals>,
) -> Result<Option<Stamp>, Error> {
    let Some(since) = since else { return Ok(None) };
    let crate::blob::records::CopyFrom::Here(origin) = from else { return Ok(None) };
    let same = since.incarnation == source.site.keys.0 && since.content == source.content.id;
    let Ok(name) = BlobName::parse(&origin.blob) else { return Ok(None) };
    if !same || since.written > source.head.written {
        return Ok(None);
    }
    let inside = core.store().meta.snapshot(&source.site.placement).await?;
    let views = history_views(&inside, source.site.keys, &name, since.content)?;
    Ok(Some(since.written).filter(|written| views.contains(written)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_left_out() {
        let page = |byte: u8| vec![byte; 512];
        let bytes: Bytes = [page(0), page(1), page(2), page(0), page(3)].concat().into();
        let (packed, places) = without_zeros(&bytes);
        assert_eq!(places, [512..1536, 2048..2560]);
        assert_eq!(packed, [page(1), page(2), page(3)].concat());
        let (packed, places) = without_zeros(&Bytes::from(page(0)));
        assert!(packed.is_empty() && places.is_empty());
    }
}
