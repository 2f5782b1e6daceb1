//! Reading a content from any offset on: only what is needed, one slice ahead.
//!
//! Must never look at a blob's head: it follows one content to its end, whatever happens to the blob
//! meanwhile, so that an answer cannot mix two versions.

use super::free::sparse_keys;
use super::{READ_SLICE, SLICES_TOGETHER, SMALL_SLICE, manifest};
use crate::blob::op::CustomerKey;
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
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::pins::{ContentPin, StampPin};
use zaffre_store::xts::{BLOCK_BYTES, Xts};
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
    key: Option<CustomerKey>,
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
        Self {
            core,
            site,
            content,
            left: bytes,
            page: None,
            ahead: None,
            pin,
            reader: None,
            key: None,
        }
    }

    /// The same of a sparse content, as the reader sees it.
    pub(crate) fn seen_by(mut self, reader: ReaderGuard) -> Self {
        self.reader = Some(reader);
        self
    }

    /// The same of content that is encrypted with a customer's key.
    pub(crate) fn decrypted_by(mut self, key: Option<CustomerKey>) -> Self {
        self.key = key;
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
                let bytes = fetch(&self.core, &self.site, &slices, self.key.as_ref()).await?;
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
        let (core, site, key) = (self.core.clone(), self.site.clone(), self.key.clone());
        let task = async move { fetch(&core, &site, &slices, key.as_ref()).await };
        Fetch { since, task: tokio::spawn(task) }
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

async fn fetch(
    core: &Core,
    site: &Site,
    slices: &[Slice],
    key: Option<&CustomerKey>,
) -> Result<Bytes, Error> {
    if slices.is_empty() {
        return Ok(Bytes::new());
    }
    let snapshot = core.store().meta.snapshot(&site.placement).await?;
    if let [slice] = slices {
        return fetch_one(core, &snapshot, site, slice, key).await;
    }
    let mut all = BytesMut::new();
    for slice in slices {
        all.extend_from_slice(&fetch_one(core, &snapshot, site, slice, key).await?);
    }
    Ok(all.freeze())
}

async fn fetch_one(
    core: &Core,
    snapshot: &Snapshot,
    site: &Site,
    slice: &Slice,
    key: Option<&CustomerKey>,
) -> Result<Bytes, Error> {
    let content = &slice.content;
    let cipher = key.map(|key| key.cipher(content.id));
    match content.shape {
        Shape::Inline => Ok(inline(snapshot, site, content, slice.bytes.clone(), key)?),
        Shape::Pieces { size } => {
            let piece = Piece::find(snapshot, site, slice, u64::from(size.max(1)))?;
            piece.read(core, slice, cipher.as_ref()).await
        }
        Shape::Sparse => {
            let keys = sparse_keys(site, content.id);
            let Some(cipher) = cipher else {
                return sparse::slice(core, snapshot, keys, slice.as_of, slice.bytes.clone()).await;
            };
            let whole = whole_blocks(&slice.bytes, content.length);
            let bytes = sparse::slice(core, snapshot, keys, slice.as_of, whole.clone()).await?;
            opened(&bytes, &whole, &slice.bytes, whole.start / BLOCK_BYTES, &cipher)
        }
        Shape::Empty | Shape::Blocks { .. } => {
            Err(StoreError::corrupt("a block's content is not bytes").into())
        }
    }
}

/// The blocks that hold these bytes, of something of that length.
fn whole_blocks(bytes: &Range<u64>, length: u64) -> Range<u64> {
    let start = bytes.start / BLOCK_BYTES * BLOCK_BYTES;
    start..bytes.end.next_multiple_of(BLOCK_BYTES).min(length)
}

/// Decrypts `whole`, the first block of which has that number, and keeps what is wanted of it.
fn opened(
    sealed: &Bytes,
    whole: &Range<u64>,
    wanted: &Range<u64>,
    first: u64,
    cipher: &Xts,
) -> Result<Bytes, Error> {
    let mut bytes = BytesMut::from(sealed.as_ref());
    cipher.open(first, &mut bytes);
    let at = |offset: u64| usize::try_from(offset - whole.start).unwrap_or(usize::MAX);
    let (from, to) = (at(wanted.start), at(wanted.end));
    if from > to || to > bytes.len() {
        return Err(StoreError::corrupt("encrypted content is too short").into());
    }
    Ok(bytes.freeze().slice(from..to))
}

/// Some bytes of an inline content, from a snapshot that has it.
pub(crate) fn inline(
    snapshot: &Snapshot,
    site: &Site,
    content: &Content,
    bytes: Range<u64>,
    key: Option<&CustomerKey>,
) -> Result<Bytes, StoreError> {
    let missing = || StoreError::corrupt("inline content is missing or too short");
    let mut row = snapshot.get(&site.keys.inline(content.id))?.ok_or_else(missing)?;
    if let Some(key) = key {
        let mut open = BytesMut::from(row.as_ref());
        key.cipher(content.id).open(0, &mut open);
        row = open.freeze();
    }
    let from = usize::try_from(bytes.start).map_err(|_| missing())?;
    let to = usize::try_from(bytes.end).map_err(|_| missing())?;
    if from > to || to > row.len() {
        return Err(missing());
    }
    Ok(row.slice(from..to))
}

/// One extent of a content.
struct Piece {
    /// Where it starts in the content.
    start: u64,
    run: Run,
}

impl Piece {
    fn find(
        snapshot: &Snapshot,
        site: &Site,
        slice: &Slice,
        bytes: u64,
    ) -> Result<Self, StoreError> {
        let start = slice.bytes.start / bytes * bytes;
        let wrong = |what: &str| StoreError::corrupt(format!("content at {start}: {what}"));
        let key = site.keys.piece(slice.content.id, start);
        let row = snapshot.get(&key)?.ok_or_else(|| wrong("its row is missing"))?;
        let runs = runs::decode(&row)?;
        match runs.as_slice() {
            [run] => Ok(Self { start, run: *run }),
            _ => Err(wrong("not exactly one extent")),
        }
    }

    async fn read(&self, core: &Core, slice: &Slice, cipher: Option<&Xts>) -> Result<Bytes, Error> {
        let Some(cipher) = cipher else { return self.raw(core, &slice.bytes).await };
        let inside = slice.bytes.start - self.start..slice.bytes.end - self.start;
        let whole = whole_blocks(&inside, u64::from(self.run.length));
        let raw = self.raw(core, &(self.start + whole.start..self.start + whole.end)).await?;
        opened(&raw, &whole, &inside, self.start + whole.start / BLOCK_BYTES, cipher)
    }

    async fn raw(&self, core: &Core, bytes: &Range<u64>) -> Result<Bytes, Error> {
        let (start, run) = (self.start, &self.run);
        let short = || StoreError::corrupt(format!("content at {start}: its extent is too short"));
        let within = |offset: u64| {
            let offset = u32::try_from(offset - start).ok()?;
            run.skip.checked_add(offset).filter(|_| run.at == 0 && offset <= run.length)
        };
        let from = within(bytes.start).ok_or_else(short)?;
        let to = within(bytes.end).ok_or_else(short)?;
        Ok(core.store().extents.read(&run.extent, from..to).await?)
    }
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
