//! Reading a content from any offset on: only what is needed, one slice ahead.
//!
//! Must never look at a blob's head: it follows one content to its end, whatever happens to the blob
//! meanwhile, so that an answer cannot mix two versions.

use super::free::sparse_keys;
use super::{READ_SLICE, SLICES_TOGETHER, SMALL_SLICE, manifest};
use crate::blob::records::{Block, Content, Page, Shape};
use crate::blob::site::Site;
use crate::blob::{ByteStream, StreamError};
use crate::sparse::{self, CHUNK, ReaderGuard};
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use std::ops::Range;
use tokio::task::JoinHandle;
use zaffre_base::{ContentId, Stamp};
use zaffre_store::extents::runs;
use zaffre_store::pins::{ContentPin, StampPin};
use zaffre_store::{Snapshot, StoreError};

/// Some bytes of one content that is not a list.
#[derive(Clone, Debug)]
struct Slice {
    content: Content,
    bytes: Range<u64>,
    as_of: Stamp,
}

/// A download: which slices are still to come, and the one being read ahead.
pub(crate) struct Download {
    core: Core,
    site: Site,
    content: Content,
    /// What is still to be sent and not being read yet.
    left: Range<u64>,
    page: Option<OpenPage>,
    ahead: Option<Fetch>,
    pin: ContentPin,
    /// Keeps the layers of a sparse content.
    reader: Option<ReaderGuard>,
}

/// A page of the block list, and the block in it where the rest starts.
struct OpenPage {
    number: u32,
    page: Page,
    index: usize,
    /// Where that block starts in the blob.
    start: u64,
}

/// Slices on their way from the disk.
struct Fetch {
    /// No address used by it was read before this commit.
    since: Stamp,
    task: JoinHandle<Result<Bytes, Error>>,
}

impl Download {
    /// A download of some bytes of a pinned content.
    pub(crate) fn new(
        core: &Core,
        site: &Site,
        content: Content,
        bytes: Range<u64>,
        pin: ContentPin,
    ) -> Self {
        let (core, site) = (core.clone(), site.clone());
        Self { core, site, content, left: bytes, page: None, ahead: None, pin, reader: None }
    }

    /// The same of a sparse content, as the reader sees it.
    pub(crate) fn seen_by(mut self, reader: ReaderGuard) -> Self {
        self.reader = Some(reader);
        self
    }

    /// The next bytes; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let current = if let Some(fetch) = self.ahead.take() {
            fetch
        } else {
            let since = self.core.store().meta.last_stamp();
            let slices = self.next_slices().await?;
            if self.left.is_empty() {
                // The end, or all there is: nothing to read ahead, so no task is needed.
                self.pin.renew(since);
                let bytes = fetch(&self.core, &self.site, &slices).await?;
                return Ok(Some(bytes).filter(|bytes| !bytes.is_empty()));
            }
            self.spawn_fetch(since, slices)
        };
        // Only the current slices and the next can hold addresses now.
        self.pin.renew(current.since);
        self.ahead = self.start_fetch().await?;
        let bytes = current.task.await.map_err(|_| StoreError::Closed)??;
        Ok(Some(bytes))
    }

    /// All the bytes at once; only for ranges with a small limit.
    pub(crate) async fn collect(mut self) -> Result<Bytes, Error> {
        let mut all = BytesMut::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }

    /// The bytes as a stream that starts with `first`.
    pub(crate) fn into_stream(self, first: Option<Bytes>) -> ByteStream {
        let state = (first, Some(self));
        Box::pin(stream::unfold(state, |(first, download)| async move {
            let mut download = download?;
            if let Some(first) = first {
                return Some((Ok(first), (None, Some(download))));
            }
            match download.next().await {
                Ok(bytes) => bytes.map(|bytes| (Ok(bytes), (None, Some(download)))),
                Err(error) => {
                    tracing::error!(%error, "a download ends early");
                    Some((Err(StreamError::Corrupt), (None, None)))
                }
            }
        }))
    }

    async fn start_fetch(&mut self) -> Result<Option<Fetch>, Error> {
        let since = self.core.store().meta.last_stamp();
        let slices = self.next_slices().await?;
        Ok(if slices.is_empty() { None } else { Some(self.spawn_fetch(since, slices)) })
    }

    fn spawn_fetch(&self, since: Stamp, slices: Vec<Slice>) -> Fetch {
        let (core, site) = (self.core.clone(), self.site.clone());
        Fetch { since, task: tokio::spawn(async move { fetch(&core, &site, &slices).await }) }
    }

    /// One large slice, or some small ones.
    async fn next_slices(&mut self) -> Result<Vec<Slice>, Error> {
        let mut slices = Vec::new();
        let mut length = 0;
        while length < SMALL_SLICE && slices.len() < SLICES_TOGETHER {
            let Some(slice) = self.next_slice().await? else { break };
            length += slice.bytes.end - slice.bytes.start;
            slices.push(slice);
        }
        Ok(slices)
    }

    async fn next_slice(&mut self) -> Result<Option<Slice>, Error> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let (content, start) = match self.content.shape {
            Shape::Blocks { pages } => self.seek_block(pages).await?,
            _ => (self.content, 0),
        };
        let from = self.left.start - start;
        let to = slice_end(&content, from).min(self.left.end - start);
        if to <= from {
            return Err(StoreError::corrupt("a content is shorter than its head says").into());
        }
        self.left.start = start + to;
        let as_of = self.reader.as_ref().map_or(Stamp(u64::MAX), ReaderGuard::as_of);
        Ok(Some(Slice { content, bytes: from..to, as_of }))
    }

    /// The block that holds the first byte still to come, and where the block starts.
    async fn seek_block(&mut self, pages: u32) -> Result<(Content, u64), Error> {
        let offset = self.left.start;
        loop {
            if let Some(open) = &mut self.page
                && let Some(found) = open.seek(offset)
            {
                return Ok((found.content, open.start));
            }
            let snapshot = self.core.store().meta.snapshot(&self.site.placement).await?;
            let (keys, id) = (self.site.keys, self.content.id);
            let (number, page) = match &self.page {
                None => manifest::page_at(&snapshot, keys, id, pages, offset)?,
                Some(open) if open.number + 1 < pages => {
                    let number = open.number + 1;
                    (number, manifest::page(&snapshot, keys, id, number)?)
                }
                Some(_) => {
                    return Err(StoreError::corrupt("a block list ends early").into());
                }
            };
            let start = page.offset;
            self.page = Some(OpenPage { number, page, index: 0, start });
        }
    }
}

impl OpenPage {
    /// Moves on to the block that holds `offset`; `None` if it lies after this page.
    fn seek(&mut self, offset: u64) -> Option<&Block> {
        while let Some(block) = self.page.blocks.get(self.index) {
            let end = self.start.saturating_add(block.content.length);
            if offset < end {
                break;
            }
            self.start = end;
            self.index += 1;
        }
        self.page.blocks.get(self.index)
    }
}

/// Enters as a reader of a sparse content, before the pin that covers everything is let go.
pub(crate) fn sparse_reader(
    core: &Core,
    site: &Site,
    content: ContentId,
    as_of: Stamp,
    pin: StampPin,
) -> (ReaderGuard, ContentPin) {
    let reader = core.readers().enter(&site.placement, content, as_of);
    (reader, pin.narrow(&site.placement, content))
}

/// Where the slice that starts at `from` ends at the latest.
fn slice_end(content: &Content, from: u64) -> u64 {
    let whole = from.saturating_add(READ_SLICE).min(content.length);
    match content.shape {
        Shape::Pieces { size } => {
            let size = u64::from(size.max(1));
            whole.min((from / size + 1).saturating_mul(size))
        }
        Shape::Sparse => whole.min((from / CHUNK + 1).saturating_mul(CHUNK)),
        _ => content.length,
    }
}

async fn fetch(core: &Core, site: &Site, slices: &[Slice]) -> Result<Bytes, Error> {
    if slices.is_empty() {
        return Ok(Bytes::new());
    }
    let snapshot = core.store().meta.snapshot(&site.placement).await?;
    if let [slice] = slices {
        return fetch_one(core, &snapshot, site, slice).await;
    }
    let mut all = BytesMut::new();
    for slice in slices {
        all.extend_from_slice(&fetch_one(core, &snapshot, site, slice).await?);
    }
    Ok(all.freeze())
}

async fn fetch_one(
    core: &Core,
    snapshot: &Snapshot,
    site: &Site,
    slice: &Slice,
) -> Result<Bytes, Error> {
    match slice.content.shape {
        Shape::Inline => Ok(inline(snapshot, site, &slice.content, slice.bytes.clone())?),
        Shape::Pieces { size } => stored(core, snapshot, site, slice, u64::from(size.max(1))).await,
        Shape::Sparse => {
            let keys = sparse_keys(site, slice.content.id);
            sparse::slice(core, snapshot, keys, slice.as_of, slice.bytes.clone()).await
        }
        Shape::Empty | Shape::Blocks { .. } => {
            Err(StoreError::corrupt("a block's content is not bytes").into())
        }
    }
}

/// Some bytes of an inline content, from a snapshot that has it.
pub(crate) fn inline(
    snapshot: &Snapshot,
    site: &Site,
    content: &Content,
    bytes: Range<u64>,
) -> Result<Bytes, StoreError> {
    let missing = || StoreError::corrupt("inline content is missing or too short");
    let row = snapshot.get(&site.keys.inline(content.id))?.ok_or_else(missing)?;
    let from = usize::try_from(bytes.start).map_err(|_| missing())?;
    let to = usize::try_from(bytes.end).map_err(|_| missing())?;
    if from > to || to > row.len() {
        return Err(missing());
    }
    Ok(row.slice(from..to))
}

async fn stored(
    core: &Core,
    snapshot: &Snapshot,
    site: &Site,
    slice: &Slice,
    piece: u64,
) -> Result<Bytes, Error> {
    let start = slice.bytes.start / piece * piece;
    let wrong = |what: &str| StoreError::corrupt(format!("content at {start}: {what}"));
    let key = site.keys.piece(slice.content.id, start);
    let row = snapshot.get(&key)?.ok_or_else(|| wrong("its row is missing"))?;
    let runs = runs::decode(&row)?;
    let [run] = runs.as_slice() else { return Err(wrong("not exactly one extent").into()) };
    let within = |offset: u64| {
        let offset = u32::try_from(offset - start).ok()?;
        run.skip.checked_add(offset).filter(|_| run.at == 0 && offset <= run.length)
    };
    let from = within(slice.bytes.start).ok_or_else(|| wrong("its extent is too short"))?;
    let to = within(slice.bytes.end).ok_or_else(|| wrong("its extent is too short"))?;
    Ok(core.store().extents.read(&run.extent, from..to).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_never_cross_a_piece() {
        let content = |length, shape| Content { id: ContentId(1), length, shape };
        let mib = 1024 * 1024;
        let pieces = content(3 * mib + 5, Shape::Pieces { size: 1024 * 1024 });
        for (from, want) in [
            (0, READ_SLICE),
            (READ_SLICE, mib),
            (mib - 1, mib),
            (mib, mib + READ_SLICE),
            (3 * mib, 3 * mib + 5),
        ] {
            assert_eq!(slice_end(&pieces, from), want, "{from}");
        }
        assert_eq!(slice_end(&content(100, Shape::Inline), 7), 100);
    }
}
