//! The bytes of a file that a handle is held of.
//!
//! Must never give other bytes than those of the last write that was acknowledged, committed or not.

use super::properties::{BasicChange, put};
use super::streams::holder_in;
use super::{Mount, NodeFacts, inode_in};
use crate::blob::content::free::sparse_keys;
use crate::file::books::Books;
use crate::file::file_properties::resize;
use crate::file::found::{Reading, TRIES, Writing};
use crate::file::landing::{Arrived, Outcome, Stopped, commit, settle, stopped};
use crate::file::records::Inode;
use crate::file::write_back::{Batch, Kept, Piece, land};
use crate::sparse::{self, CHUNK, Comparison, SparseKeys};
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use zaffre_base::limits::{FILE_BLOCK_BYTES, FILE_BYTES};
use zaffre_base::{ContentId, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::Times;
use zaffre_domain::fs::{Attributes, FileId, FileRefusal};
use zaffre_domain::sparse::Ranges;
use zaffre_store::{Abort, StoreError, Tx};

/// Ranges that one answer holds at most.
const RANGES: usize = 4096;

/// What a change of the content does to the times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeptTimes {
    /// The time of the last write stays.
    pub last_write: bool,
    /// The time of the last change stays.
    pub change: bool,
}

fn touch(inode: &mut Inode, kept: KeptTimes, now: Timestamp) {
    let times = inode.times();
    inode.set_times(Times {
        last_write: if kept.last_write { times.last_write } else { now },
        change: if kept.change { times.change } else { now },
        ..times
    });
}

fn content_of(inode: &Inode) -> Result<ContentId, FileRefusal> {
    inode.content().map(|content| content.id).ok_or(FileRefusal::ResourceTypeMismatch)
}

impl Mount {
    /// Bytes of a file; what was never written reads as zeros, and the end of the file ends it.
    pub async fn read(&self, id: FileId, offset: u64, length: u64) -> Result<Bytes, Error> {
        let asked = offset..offset.saturating_add(length);
        let Some((reading, over)) = self.over(id, asked.clone()).await? else {
            let reading = self.reading().await?;
            let inode = self.inode_of(&reading, id)?;
            return self.read_committed(reading, &inode, asked).await;
        };
        let inode = self.inode_of(&reading, id)?;
        let end = asked.end.min(inode.length().max(over.end));
        if offset >= end {
            return Ok(Bytes::new());
        }
        if let Some(bytes) = over.alone(offset..end) {
            return Ok(bytes);
        }
        let below = self.read_committed(reading, &inode, offset..end).await?;
        Ok(over.put_over(&below, offset..end))
    }

    async fn read_committed(
        &self,
        reading: Reading,
        inode: &Inode,
        asked: Range<u64>,
    ) -> Result<Bytes, Error> {
        let content = inode.content().ok_or(FileRefusal::ResourceTypeMismatch)?;
        let bytes = asked.start..asked.end.min(content.length);
        if bytes.is_empty() {
            return Ok(Bytes::new());
        }
        let site = reading.site();
        // As a reader before the pin is let go, so that what is read stays.
        let reader = self.core.readers().enter(&site.placement, content.id, inode.since);
        let _pin = reading.pin.narrow(&site.placement, content.id);
        let keys = sparse_keys(&site, content.id);
        let slice = |part: Range<u64>| {
            sparse::slice(&self.core, &reading.inside, keys, reader.as_of(), part)
        };
        let first = bytes.start..bytes.end.min((bytes.start / CHUNK + 1) * CHUNK);
        if first.end == bytes.end {
            return slice(first).await;
        }
        let length = usize::try_from(bytes.end - bytes.start).unwrap_or(usize::MAX);
        let mut all = BytesMut::with_capacity(length);
        let mut part = first;
        while !part.is_empty() {
            all.extend_from_slice(&slice(part.clone()).await?);
            part = part.end..bytes.end.min(part.end + CHUNK);
        }
        Ok(all.freeze())
    }

    /// Writes bytes; a file that is too short grows. It is seen at once and durable after the next
    /// [`Mount::flush`] of the file, whoever asks for that.
    pub async fn write(&self, id: FileId, offset: u64, bytes: Bytes) -> Result<(), Error> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let end = offset.checked_add(length).filter(|end| *end <= FILE_BYTES);
        end.ok_or(FileRefusal::FileTooLarge)?;
        if self.snapshot.is_some() {
            return Err(FileRefusal::ShareSnapshotOperationNotSupported.into());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let piece = Piece::new(bytes);
        match self.keep(id, offset, &piece).await? {
            Kept::Waits => Ok(()),
            Kept::Not => {
                let alone = Batch::of(offset, piece);
                self.commit_batch(id, &alone, None).await.map(drop)
            }
        }
    }

    /// Commits writes that waited, all or none, with a change of times.
    pub(in crate::file) async fn commit_batch(
        &self,
        id: FileId,
        batch: &Batch,
        also: Option<BasicChange>,
    ) -> Result<NodeFacts, Error> {
        let end = batch.pieces.span().map_or(0, |span| span.end);
        for _ in 0..TRIES {
            let reading = self.reading().await?;
            let content = content_of(&self.inode_of(&reading, id)?)?;
            let Writing { site, keys, quota, hold, .. } = reading.for_write();
            let sparse = sparse_keys(&site, content);
            let Arrived { landed, extents } = land(&self.core, &site, sparse, batch).await?;
            let body = move |tx: &mut Tx<'_>| {
                let _ = &hold;
                let mut books = Books::open(tx, keys, quota).map_err(stopped)?;
                let old = inode_in(tx, &books, id).map_err(stopped)?;
                if content_of(&old) != Ok(content) {
                    return Err(Abort::Fail(Stopped::Moved));
                }
                let touched = sparse::land(tx, sparse, &landed)?;
                let mut new = old.clone();
                if let Some(file) = &mut new.file {
                    file.content.length = file.content.length.max(end);
                }
                if let Some(change) = also {
                    told(tx, &mut books, (id, &old), &mut new, change).map_err(stopped)?;
                }
                let facts = put(tx, &mut books, id, &old, new).map_err(stopped)?;
                Ok(((facts, touched), books.close(tx)?))
            };
            // Replaced meanwhile: the bytes are written once more, for the new content.
            if let Outcome::Done((facts, touched)) =
                commit(&self.core, &site, extents, body).await?
            {
                settle(&self.core, &site, sparse, touched).await;
                return Ok(facts);
            }
        }
        Err(StoreError::Busy.into())
    }

    /// Gives a file another size.
    pub async fn set_size(
        &self,
        id: FileId,
        size: u64,
        kept: KeptTimes,
    ) -> Result<NodeFacts, Error> {
        let _calm = self.calm(id).await?;
        self.resized(id, size, false, move |new, now| touch(new, kept, now)).await
    }

    /// Empties a file, and gives it these attributes; its named streams go.
    pub async fn overwrite(&self, id: FileId, attributes: Attributes) -> Result<NodeFacts, Error> {
        let _calm = self.calm(id).await?;
        self.resized(id, 0, true, move |new, now| {
            touch(new, KeptTimes::default(), now);
            new.set_attributes(attributes);
            if let Some(file) = &mut new.file {
                file.set_sparse(false);
            }
        })
        .await
    }

    async fn resized<F>(
        &self,
        id: FileId,
        length: u64,
        without_streams: bool,
        also: F,
    ) -> Result<NodeFacts, Error>
    where
        F: Fn(&mut Inode, Timestamp) + Clone + Send + 'static,
    {
        for _ in 0..TRIES {
            let also = also.clone();
            let applied = self
                .change(id, move |tx, books, old| {
                    let mut new = old.clone();
                    let Some(file) = &mut new.file else {
                        return Err(Abort::Fail(FileRefusal::ResourceTypeMismatch.into()));
                    };
                    let clears = match resize(tx, books.keys, file, length)? {
                        Ok(clears) => clears,
                        Err(content) => return Ok(Err(content)),
                    };
                    also(&mut new, tx.stamp().time());
                    if without_streams && old.parent().has_streams_of().is_none() {
                        books.remove_streams(tx, id)?;
                    }
                    Ok(Ok((put(tx, books, id, old, new)?, clears)))
                })
                .await?;
            let site = self.reading().await?.site();
            match applied {
                Ok((facts, clears)) => {
                    if let Some(content) = clears {
                        let keys = sparse_keys(&site, content);
                        self.core.folding().note_clear(&self.core, &site, keys);
                    }
                    return Ok(facts);
                }
                Err(content) => fold(&self.core, &site, content).await?,
            }
        }
        Err(StoreError::Busy.into())
    }

    /// Makes a range read as zeros; the size stays.
    pub async fn clear(
        &self,
        id: FileId,
        offset: u64,
        end: u64,
        kept: KeptTimes,
    ) -> Result<NodeFacts, Error> {
        let _calm = self.calm(id).await?;
        for _ in 0..TRIES {
            let applied = self
                .change(id, move |tx, books, old| {
                    let content = match content_of(old) {
                        Ok(content) => content,
                        Err(refusal) => return Err(Abort::Fail(refusal.into())),
                    };
                    let mut new = old.clone();
                    let range = offset..end.min(old.length());
                    let mut touched = Vec::new();
                    let mut wide = None;
                    if !range.is_empty() {
                        let at = SparseKeys { incarnation: books.keys.0, content };
                        let Ok(narrow) = sparse::clear(tx, at, range)? else {
                            return Ok(Err(content));
                        };
                        wide = narrow.is_empty().then_some(content);
                        touched = narrow;
                    }
                    touch(&mut new, kept, tx.stamp().time());
                    Ok(Ok((put(tx, books, id, old, new)?, content, touched, wide)))
                })
                .await?;
            let site = self.reading().await?.site();
            match applied {
                Ok((facts, content, touched, wide)) => {
                    let keys = sparse_keys(&site, content);
                    if wide.is_some() {
                        self.core.folding().note_clear(&self.core, &site, keys);
                    }
                    settle(&self.core, &site, keys, touched).await;
                    return Ok(facts);
                }
                Err(content) => fold(&self.core, &site, content).await?,
            }
        }
        Err(StoreError::Busy.into())
    }

    /// Which bytes were written, in order, and whether there are more than fit.
    pub async fn ranges(
        &self,
        id: FileId,
        offset: u64,
        end: u64,
    ) -> Result<(Vec<(u64, u64)>, bool), Error> {
        self.flush(id, None).await?;
        let reading = self.reading().await?;
        let inode = self.inode_of(&reading, id)?;
        let content = inode.content().ok_or(FileRefusal::ResourceTypeMismatch)?;
        let window = offset..end.min(content.length);
        if window.is_empty() {
            return Ok((Vec::new(), false));
        }
        let site = reading.site();
        let grain = Some(FILE_BLOCK_BYTES);
        let what = Comparison { as_of: inode.since, since: None, grain };
        let _reader = self.core.readers().enter(&site.placement, content.id, what.as_of);
        let _pin = reading.pin.narrow(&site.placement, content.id);
        let ranges = Ranges::new(window.clone(), RANGES);
        let keys = sparse_keys(&site, content.id);
        let at = &site.placement;
        let (found, more) =
            sparse::scan(&self.core, at, keys, what, window, ranges, u32::MAX).await?;
        let (ranges, next) = found.finish();
        let written =
            ranges.into_iter().map(|found| (found.bytes.start, found.bytes.end)).collect();
        Ok((written, next.or(more).is_some()))
    }
}

/// Tells the times of a write to what keeps them: the file itself, or what it is a stream of.
fn told(
    tx: &mut Tx<'_>,
    books: &mut Books,
    (id, old): (FileId, &Inode),
    new: &mut Inode,
    change: BasicChange,
) -> Result<(), Abort<Refusal>> {
    let now = tx.stamp().time();
    let (holder, kept) = holder_in(tx, books, id, old)?;
    if holder == id {
        change.apply(new, now);
        return Ok(());
    }
    let mut later = kept.clone();
    change.apply(&mut later, now);
    put(tx, books, holder, &kept, later).map(drop)
}

async fn fold(
    core: &Core,
    site: &crate::blob::site::Site,
    content: ContentId,
) -> Result<(), Error> {
    sparse::fold_clears(core, site, sparse_keys(site, content)).await?;
    Ok(())
}
