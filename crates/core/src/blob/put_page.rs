//! Put Page: writes or clears pages of a page blob, all or none.
//!
//! Must never cost more the more was written before: a write adds a layer and the head.

use super::ByteStream;
use super::admit::{self, Presented};
use super::content::claim::Claim;
use super::content::free::sparse_keys;
use super::content::unclaimed::Unclaimed;
use super::content::upload::{Expected, is_small};
use super::op::{Encryption, ExpectedChecksum, PageWrite, PutPage};
use super::records::{Head, Record};
use super::replace::LeftOver;
use super::reply::{PageReply, Written};
use super::site::{Site, alive, find, is_deleted};
use crate::sparse::{self, Landed, Payload, Sums, TooManyClears};
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use zaffre_auth::Authorized;
use zaffre_base::limits::PAGE_WRITE_BYTES;
use zaffre_base::{BlobName, ContentId};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::pages::{SequenceConditions, check_inside};
use zaffre_domain::blob::sizes::check_size;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_domain::sparse::Part;
use zaffre_store::xts::BLOCK_BYTES;
use zaffre_store::{Abort, StoreError, TransactError, Tx};

/// How often bytes are written again because the blob was replaced meanwhile.
const ATTEMPTS: usize = 8;

/// Writes or clears pages.
pub async fn put_page(
    core: &Core,
    op: Authorized<PutPage>,
    body: ByteStream,
) -> Result<PageReply, Error> {
    let (op, _) = op.into_parts();
    check_combination(&op.conditions, Access::Modify)?;
    let (site, hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let write = Write {
        name: op.at.blob,
        pages: op.pages,
        sequence: op.sequence,
        presented: Presented { lease: op.lease, conditions: op.conditions },
        encryption: op.encryption,
    };
    let done = match op.write {
        PageWrite::Clear => write.clear(core, &site).await,
        PageWrite::Update(expect) => write.update(core, &site, expect, body).await,
    };
    drop(hold);
    done
}

#[derive(Clone)]
struct Write {
    name: BlobName,
    pages: Range<u64>,
    sequence: SequenceConditions,
    presented: Presented,
    encryption: Encryption,
}

/// Why a transaction did not write.
enum Stopped {
    Refused(Refusal),
    /// The blob has another content now.
    Moved(ContentId),
    /// Clears must be worked into this content first.
    Clears(ContentId),
}

/// What a transaction did: the commit, the sequence number, the content, the chunks touched.
type Done = (Written, u64, ContentId, Vec<(u32, usize)>);

impl Write {
    fn admit(&self, head: Option<Head>, now: zaffre_base::Timestamp) -> Result<Head, Refusal> {
        let head = admit::modify_kind(head, BlobKind::Page, &self.presented, now)?;
        head.encrypted.admits(&self.encryption.shown())?;
        self.sequence.check(head.sequence_number())?;
        check_inside(&self.pages, head.content.length)?;
        Ok(head)
    }

    /// The content to write to, unless the write would be refused.
    async fn content(&self, core: &Core, site: &Site) -> Result<ContentId, Error> {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let head = Head::peek(&inside, &site.keys.blob(&self.name))?;
        if head.is_none() && is_deleted(&inside, site.keys)? {
            return Err(Refusal::ContainerNotFound.into());
        }
        Ok(self.admit(head, core.now(&inside))?.content.id)
    }

    async fn update(
        &self,
        core: &Core,
        site: &Site,
        expect: ExpectedChecksum,
        body: ByteStream,
    ) -> Result<PageReply, Error> {
        let length = self.pages.end - self.pages.start;
        check_size(length, PAGE_WRITE_BYTES)?;
        // What is small goes into a row whose key is made when it is written, unless it must be
        // encrypted for one content.
        let key = self.encryption.key();
        let small = key.is_none() && is_small(core, Some(length));
        let mut content = if small { ContentId(0) } else { self.content(core, site).await? };
        let expected = Expected { limit: length, length: Some(length), md5: expect.md5.is_some() };
        let offset = self.pages.start;
        let keys = sparse_keys(site, content);
        let incoming =
            sparse::receive_sealed(core, site, keys, offset, body, expected, key).await?;
        let (mut bytes, _, Sums { md5, crc64 }) = incoming.checked(&expect).await?;
        for _ in 0..ATTEMPTS {
            let landed = Landed::of(&bytes, offset);
            match self.commit(core, site, landed, content, taken(bytes)).await? {
                Ok((written, sequence_number)) => {
                    return Ok(PageReply { written, sequence_number, md5, crc64: Some(crc64) });
                }
                Err((now, written)) => {
                    bytes = self.again(core, site, (content, now), offset, written).await?;
                    content = now;
                }
            }
        }
        Err(StoreError::Busy.into())
    }

    /// Puts what arrived into the blob; or says which content it has now, and gives back what was
    /// written for another.
    async fn commit(
        &self,
        core: &Core,
        site: &Site,
        landed: Landed,
        content: ContentId,
        unclaimed: Vec<Unclaimed>,
    ) -> Result<Result<(Written, u64), (ContentId, Landed)>, Error> {
        let (write, at, again) = (self.clone(), site.clone(), landed.clone());
        let free = matches!(landed, Landed::Small { .. }) && self.encryption.key().is_none();
        let body = move |tx: &mut Tx<'_>| {
            let mut head = write.load(tx, &at)?;
            let found = head.content.id;
            if !free && found != content {
                return Err(Abort::Fail(Stopped::Moved(found)));
            }
            let touched = sparse::land(tx, sparse_keys(&at, found), &landed)?;
            Ok((write.finish(tx, &at, &mut head, touched)?, LeftOver::Nothing))
        };
        // Read again before they are released: only then is it known that they are needed.
        let claim = Claim::holding(core, site, None, content, Vec::new());
        let pledged = crate::blob::content::unclaimed::Pledged::new(unclaimed);
        let outcome = claim.commit(body).await;
        match outcome {
            Err(TransactError::Body(Stopped::Moved(now))) => {
                let copies = read_back(core, again).await;
                pledged.release();
                Ok(Err((now, copies?)))
            }
            other => {
                pledged.settle(&other);
                self.settle(core, site, other).await.map(Ok)
            }
        }
    }

    /// Writes bytes once more, for the content that the blob has now.
    async fn again(
        &self,
        core: &Core,
        site: &Site,
        (before, now): (ContentId, ContentId),
        offset: u64,
        bytes: Landed,
    ) -> Result<Payload, Error> {
        let mut bytes = match bytes {
            Landed::Small { bytes, .. } => bytes,
            Landed::Extents(_) | Landed::Runs(_) => Bytes::new(),
        };
        let key = self.encryption.key();
        if let Some(key) = key {
            let mut open = BytesMut::from(bytes.as_ref());
            key.cipher(before).open(offset / BLOCK_BYTES, &mut open);
            bytes = open.freeze();
        }
        sparse::write_sealed(core, site, sparse_keys(site, now), offset, [bytes], key).await
    }

    async fn clear(&self, core: &Core, site: &Site) -> Result<PageReply, Error> {
        for _ in 0..ATTEMPTS {
            let (write, at) = (self.clone(), site.clone());
            let body = move |tx: &mut Tx<'_>| {
                let mut head = write.load(tx, &at)?;
                let content = head.content.id;
                let keys = sparse_keys(&at, content);
                match sparse::clear(tx, keys, write.pages.clone())? {
                    Ok(touched) => Ok(write.finish(tx, &at, &mut head, touched)?),
                    Err(TooManyClears) => Err(Abort::Fail(Stopped::Clears(content))),
                }
            };
            match core.store().meta.transact(&site.placement, body).await {
                Err(TransactError::Body(Stopped::Clears(content))) => {
                    sparse::fold_clears(core, site, sparse_keys(site, content)).await?;
                }
                outcome => {
                    let (written, sequence_number) = self.settle(core, site, outcome).await?;
                    return Ok(PageReply { written, sequence_number, md5: None, crc64: None });
                }
            }
        }
        Err(StoreError::Busy.into())
    }

    fn load(&self, tx: &mut Tx<'_>, site: &Site) -> Result<Head, Abort<Stopped>> {
        alive(tx, site.keys).map_err(refused)?;
        let now = tx.stamp().time();
        let head = Head::load(tx, &site.keys.blob(&self.name))?;
        self.admit(head, now).map_err(|refusal| Abort::Fail(Stopped::Refused(refusal)))
    }

    fn finish(
        &self,
        tx: &mut Tx<'_>,
        site: &Site,
        head: &mut Head,
        touched: Vec<(u32, usize)>,
    ) -> Result<Done, Abort<Stopped>> {
        let stamp = tx.stamp();
        head.written = stamp;
        head.lease = after_write(head.lease, stamp.time());
        head.store(tx, &site.keys.blob(&self.name))?;
        Ok((Written::at(stamp), head.sequence_number(), head.content.id, touched))
    }

    /// Tells who folds what was written, and waits for them if they fall behind.
    async fn settle(
        &self,
        core: &Core,
        site: &Site,
        outcome: Result<Done, TransactError<Stopped>>,
    ) -> Result<(Written, u64), Error> {
        let (written, sequence_number, content, touched) = match outcome {
            Ok(done) => done,
            Err(TransactError::Body(Stopped::Refused(refusal))) => return Err(refusal.into()),
            Err(TransactError::Body(_)) => return Err(StoreError::Busy.into()),
            Err(TransactError::Store(error)) => return Err(error.into()),
        };
        let keys = sparse_keys(site, content);
        if touched.is_empty() {
            core.folding().note_clear(core, site, keys);
        }
        core.folding().note(core, site, keys, &touched);
        for (chunk, _) in touched {
            // The write is done; what goes wrong here is no failure of it.
            if let Err(error) = sparse::wait_if_heavy(core, site, keys, chunk).await {
                tracing::warn!(%error, "a chunk could not be folded");
            }
        }
        Ok((written, sequence_number))
    }
}

fn refused(abort: Abort<Refusal>) -> Abort<Stopped> {
    match abort {
        Abort::Interrupt(interrupt) => Abort::Interrupt(interrupt),
        Abort::Fail(refusal) => Abort::Fail(Stopped::Refused(refusal)),
    }
}

fn taken(payload: Payload) -> Vec<Unclaimed> {
    match payload {
        Payload::Small(_) => Vec::new(),
        Payload::Written(written) => written.into_iter().map(|(_, piece)| piece).collect(),
    }
}

/// The bytes of extents that were written for a content the blob no longer has.
async fn read_back(core: &Core, landed: Landed) -> Result<Landed, Error> {
    let Landed::Extents(extents) = landed else { return Ok(landed) };
    let offset = extents.first().map_or(0, |(part, _): &(Part, _)| part.offset());
    let mut bytes = BytesMut::new();
    for (_, extent) in &extents {
        bytes.extend_from_slice(&core.store().extents.read(extent, 0..extent.length).await?);
    }
    Ok(Landed::Small { offset, bytes: bytes.freeze() })
}
