//! The bytes of a file that a handle is held of.
//!
//! Must never acknowledge a write that is not durable: every write is a commit.

use super::properties::put;
use super::{Mount, NodeFacts, inode_in};
use crate::blob::content::free::sparse_keys;
use crate::blob::content::read::Download;
use crate::file::books::Books;
use crate::file::file_properties::resize;
use crate::file::found::{TRIES, Writing};
use crate::file::landing::{Arrived, Outcome, Stopped, commit, settle, stopped};
use crate::file::records::Inode;
use crate::sparse::{self, Comparison, SparseKeys};
use crate::{Core, Error};
use bytes::Bytes;
use zaffre_base::limits::{FILE_BLOCK_BYTES, FILE_BYTES};
use zaffre_base::{ContentId, Timestamp};
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
        let reading = self.reading().await?;
        let inode = self.inode_of(&reading, id)?;
        let content = inode.content().ok_or(FileRefusal::ResourceTypeMismatch)?;
        let end = offset.saturating_add(length).min(content.length);
        if offset >= end {
            return Ok(Bytes::new());
        }
        let site = reading.site();
        // As a reader before the pin is let go, so that what is read stays.
        let reader = self.core.readers().enter(&site.placement, content.id, inode.since);
        let pin = reading.pin.narrow(&site.placement, content.id);
        let download = Download::new(&self.core, &site, content, offset..end, pin);
        download.seen_by(reader).collect().await
    }

    /// Writes bytes; a file that is too short grows.
    pub async fn write(
        &self,
        id: FileId,
        offset: u64,
        bytes: Bytes,
        kept: KeptTimes,
    ) -> Result<NodeFacts, Error> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let end = offset.checked_add(length).filter(|end| *end <= FILE_BYTES);
        let end = end.ok_or(FileRefusal::FileTooLarge)?;
        if bytes.is_empty() {
            return self.facts(id).await;
        }
        for _ in 0..TRIES {
            let reading = self.reading().await?;
            let content = content_of(&self.inode_of(&reading, id)?)?;
            let Writing { site, keys, quota, hold, .. } = self.writing().await?;
            let sparse = sparse_keys(&site, content);
            let payload = sparse::write(&self.core, &site, sparse, offset, [bytes.clone()]).await?;
            let Arrived { landed, extents } = Arrived::new(payload, offset);
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
                touch(&mut new, kept, tx.stamp().time());
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
        self.resized(id, size, false, move |new, now| touch(new, kept, now)).await
    }

    /// Empties a file, and gives it these attributes; its named streams go.
    pub async fn overwrite(&self, id: FileId, attributes: Attributes) -> Result<NodeFacts, Error> {
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

async fn fold(
    core: &Core,
    site: &crate::blob::site::Site,
    content: ContentId,
) -> Result<(), Error> {
    sparse::fold_clears(core, site, sparse_keys(site, content)).await?;
    Ok(())
}
