//! Copying bytes: of a content without blocks as one, of a list block by block.
//!
//! Must never finish a block without its row in the list: the part of a block that is there already
//! stands in the list as a shorter block.

use super::APPENDED_BYTES;
use super::batch::Batch;
use super::make::{Making, Stopped};
use crate::blob::content::manifest;
use crate::blob::content::unclaimed::Unclaimed;
use crate::blob::records::{
    APPENDED_PER_PAGE, BLOCKS_PER_PAGE, Block, Content, Page, Record, Shape,
};
use crate::blob::site::Site;
use crate::blob::{ByteStream, StreamError};
use crate::service::fresh_id;
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::task::JoinHandle;
use zaffre_base::ContentId;
use zaffre_domain::blob::BlobKind;
use zaffre_store::StoreError;
use zaffre_store::extents::WriteGuard;

/// Extents on their way to the disk for one copy.
const IN_FLIGHT: usize = 4;

/// How the bytes of a source are divided.
pub(super) enum Parts {
    /// They are one.
    One,
    /// As the blocks of this list of the source.
    Listed(Site, Content),
    /// Into blocks of one size.
    Cut,
}

impl Parts {
    pub(super) fn of(site: Site, content: Content) -> Self {
        match content.shape {
            Shape::Blocks { .. } => Self::Listed(site, content),
            _ => Self::One,
        }
    }
}

/// Copies the rest of a source; returns what is still to be committed.
pub(super) async fn copy(
    making: &mut Making,
    parts: Parts,
    body: ByteStream,
) -> Result<Batch, Stopped> {
    let total = making.row.content.length;
    let open = Arc::new(making.core.store().extents.begin_write());
    let buffer = BytesMut::new();
    let batch = Batch::default();
    let mut copier = Copier { making, body, buffer, batch, open, writing: VecDeque::new() };
    let list = match parts {
        Parts::One => {
            let (id, done) = (copier.making.row.content.id, copier.making.row.done);
            copier.part(id, done, total, None).await?;
            return Ok(copier.batch);
        }
        Parts::Cut => Source::Cut { total },
        Parts::Listed(site, content) => Source::Listed { site, content, page: None },
    };
    copier.list(list).await?;
    Ok(copier.batch)
}

/// Where the blocks of the copy come from.
enum Source {
    Listed { site: Site, content: Content, page: Option<(u32, Page)> },
    Cut { total: u64 },
}

impl Source {
    /// The id and length of a block; `None` after the last.
    async fn block(
        &mut self,
        core: &Core,
        kind: BlobKind,
        index: u32,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        match self {
            Self::Cut { total } => {
                let left = total.saturating_sub(u64::from(index) * APPENDED_BYTES);
                Ok(Some((Vec::new(), left.min(APPENDED_BYTES))).filter(|_| left > 0))
            }
            Self::Listed { site, content, page } => {
                let (number, at) = place(kind, index);
                let Shape::Blocks { pages } = content.shape else { return Ok(None) };
                if number >= pages {
                    return Ok(None);
                }
                if page.as_ref().is_none_or(|(open, _)| *open != number) {
                    let snapshot = core.store().meta.snapshot(&site.placement).await?;
                    let read = manifest::page(&snapshot, site.keys, content.id, number)?;
                    *page = Some((number, read));
                }
                let block = page.as_ref().and_then(|(_, page)| page.blocks.get(at));
                Ok(block.map(|block| (block.id.clone(), block.content.length)))
            }
        }
    }
}

fn per_page(kind: BlobKind) -> u32 {
    match kind {
        BlobKind::Append => APPENDED_PER_PAGE,
        BlobKind::Block | BlobKind::Page => u32::try_from(BLOCKS_PER_PAGE).unwrap_or(u32::MAX),
    }
}

/// The page of a block, and where it is there.
fn place(kind: BlobKind, index: u32) -> (u32, usize) {
    let per_page = per_page(kind);
    (index / per_page, usize::try_from(index % per_page).unwrap_or(usize::MAX))
}

/// A block that is being copied, and the page it is on.
struct Listed {
    number: u32,
    page: Page,
    block: Vec<u8>,
}

struct Copier<'a> {
    making: &'a mut Making,
    body: ByteStream,
    buffer: BytesMut,
    batch: Batch,
    open: Arc<WriteGuard>,
    /// The keys of pieces that are being written.
    writing: VecDeque<(Vec<u8>, Writing)>,
}

type Writing = JoinHandle<Result<Unclaimed, StoreError>>;

impl Copier<'_> {
    /// All blocks of a list that are not there yet.
    async fn list(&mut self, mut source: Source) -> Result<(), Stopped> {
        let (core, kind) = (self.making.core.clone(), self.making.kind);
        let (mut number, at) = place(kind, self.making.row.blocks);
        let mut page = self.stored_page(number, at).await?;
        let mut begun = page.blocks.get(at).map(|block| block.content);
        page.blocks.truncate(at);
        loop {
            let index = self.making.row.blocks;
            let Some((block, length)) = source.block(&core, kind, index).await? else { break };
            let (on, _) = place(kind, index);
            if on != number {
                (number, page) = (on, Page { offset: self.making.row.done, blocks: Vec::new() });
            }
            let (id, done) = match begun.take() {
                Some(content) => (content.id, content.length),
                None => (fresh_id(&core.store().clock)?, 0),
            };
            let listed = Listed { number, page: page.clone(), block: block.clone() };
            self.part(id, done, length, Some(&listed)).await?;
            let content = Content { id, length, shape: self.shape(length) };
            page.blocks.push(Block { id: block, content });
            self.making.row.blocks += 1;
            let last = page.blocks.len() >= usize::try_from(per_page(kind)).unwrap_or(usize::MAX);
            let full = self.batch.is_full(self.making.step_bytes());
            if last || full {
                self.write_page(number, &page);
            }
            if full {
                self.step().await?;
            }
        }
        self.wait().await?;
        self.write_page(number, &page);
        Ok(())
    }

    /// The page that the next block goes to, as it is stored.
    async fn stored_page(&mut self, number: u32, at: usize) -> Result<Page, Error> {
        let making = &self.making;
        let snapshot = making.core.store().meta.snapshot(&making.site.placement).await?;
        let key = making.site.keys.page(making.row.content.id, number);
        match Page::peek(&snapshot, &key)? {
            Some(page) => Ok(page),
            None if at == 0 => Ok(Page { offset: making.row.done, blocks: Vec::new() }),
            None => Err(StoreError::corrupt("a page of a copied list is missing").into()),
        }
    }

    fn write_page(&mut self, number: u32, page: &Page) {
        if page.blocks.is_empty() {
            return;
        }
        let content = &mut self.making.row.content;
        self.batch.row(self.making.site.keys.page(content.id, number), page.to_bytes().into());
        content.shape = Shape::Blocks { pages: number + 1 };
    }

    /// How a content of this length is kept.
    fn shape(&self, length: u64) -> Shape {
        let layout = self.making.core.options().layout;
        match usize::try_from(length) {
            Ok(0) => Shape::Empty,
            Ok(length) if length <= layout.inline_bytes => Shape::Inline,
            _ => Shape::Pieces { size: layout.piece_bytes },
        }
    }

    /// One content, or the rest of it. With `listed`, steps on the way put it into the list.
    async fn part(
        &mut self,
        id: ContentId,
        mut done: u64,
        length: u64,
        listed: Option<&Listed>,
    ) -> Result<(), Stopped> {
        let keys = self.making.site.keys;
        // A content that was begun goes on as it is, whatever the layout is by now.
        let shape = match (listed, self.making.row.content.shape) {
            (None, shape) => shape,
            (Some(_), _) => self.shape(length),
        };
        let piece = match shape {
            Shape::Pieces { size } => u64::from(size.max(1)),
            _ => length,
        };
        while done < length {
            let bytes = self.exactly(piece.min(length - done)).await?;
            let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            match shape {
                Shape::Inline => self.batch.row(keys.inline(id), bytes),
                _ => self.send(keys.piece(id, done), bytes).await?,
            }
            done += count;
            self.making.row.done += count;
            self.batch.bytes += count;
            if done < length && self.batch.is_full(self.making.step_bytes()) {
                if let Some(listed) = listed {
                    let mut page = listed.page.clone();
                    let content = Content { id, length: done, shape };
                    page.blocks.push(Block { id: listed.block.clone(), content });
                    self.write_page(listed.number, &page);
                }
                self.step().await?;
            }
        }
        if listed.is_none() {
            self.wait().await?;
        }
        Ok(())
    }

    /// Exactly so many bytes of the source.
    async fn exactly(&mut self, count: u64) -> Result<Bytes, Stopped> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        while self.buffer.len() < count {
            match self.body.next().await {
                Some(Ok(bytes)) => self.buffer.extend_from_slice(&bytes),
                Some(Err(StreamError::Corrupt)) => {
                    return Err(StoreError::corrupt("the source of a copy").into());
                }
                // Connections to elsewhere break.
                Some(Err(_)) | None => return Err(StoreError::Busy.into()),
            }
        }
        let bytes = self.buffer.split_to(count).freeze();
        if let Some(sums) = &mut self.making.sums {
            sums.crc64.update(&bytes);
            if let Some(md5) = &mut sums.md5 {
                md5.update(&bytes);
            }
        }
        Ok(bytes)
    }

    /// Sends a piece to the disk.
    async fn send(&mut self, key: Vec<u8>, bytes: Bytes) -> Result<(), Stopped> {
        while self.writing.len() >= IN_FLIGHT {
            self.wait_for_one().await?;
        }
        let owner = self.making.site.owner(key.clone());
        let (extents, open) = (self.making.core.store().extents.clone(), Arc::clone(&self.open));
        let write = async move {
            let at = extents.write(&owner, bytes).await?;
            Ok(Unclaimed::new(extents, at, open))
        };
        self.writing.push_back((key, tokio::spawn(write)));
        Ok(())
    }

    async fn wait_for_one(&mut self) -> Result<(), Stopped> {
        if let Some((key, write)) = self.writing.pop_front() {
            let piece = write.await.map_err(|_| StoreError::Closed)??;
            self.batch.piece(key, piece);
        }
        Ok(())
    }

    async fn wait(&mut self) -> Result<(), Stopped> {
        while !self.writing.is_empty() {
            self.wait_for_one().await?;
        }
        Ok(())
    }

    async fn step(&mut self) -> Result<(), Stopped> {
        self.wait().await?;
        let batch = std::mem::take(&mut self.batch);
        self.making.step(batch).await
    }
}
