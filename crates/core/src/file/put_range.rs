//! Put Range: writes or clears bytes of a file, all or none; never changes its size.
//!
//! Must never cost more the more was written before: a write adds a layer and the inode.

use super::admit::{self, Use};
use super::books::Books;
use super::found::{Existing, Subject, TRIES, Writing, again, existing};
use super::landing::{Arrived, Outcome, Stopped, commit, settle, stopped};
use super::op::{Kind, PutRange, RangeWrite};
use super::records::Inode;
use super::reply::RangeReply;
use super::settings::touch;
use crate::blob::ByteStream;
use crate::blob::content::free::sparse_keys;
use crate::blob::content::upload::Expected;
use crate::blob::op::ExpectedChecksum;
use crate::sparse::{self, Landed, SparseKeys, Sums};
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::limits::FILE_RANGE_BYTES;
use zaffre_base::{ContentId, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::sizes::check_size;
use zaffre_domain::fs::rest::RestOp;
use zaffre_store::{Abort, StoreError, Tx};

/// Writes or clears a range.
pub async fn put_range(
    core: &Core,
    op: Authorized<PutRange>,
    body: ByteStream,
) -> Result<RangeReply, Error> {
    let (op, _) = op.into_parts();
    let op = Arc::new(op);
    match &op.write {
        RangeWrite::Clear => clear(core, &op).await,
        RangeWrite::Update(expect) => update(core, &op, expect, true, body).await,
        RangeWrite::Copy(expect) => update(core, &op, expect, expect.md5.is_some(), body).await,
    }
}

/// What a write did: the commit, the time of the last write, the chunks that got a small write.
type Done = (Stamp, Timestamp, Vec<(u32, usize)>);

async fn update(
    core: &Core,
    op: &Arc<PutRange>,
    expect: &ExpectedChecksum,
    md5: bool,
    body: ByteStream,
) -> Result<RangeReply, Error> {
    let length = op.bytes.end - op.bytes.start;
    check_size(length, FILE_RANGE_BYTES)?;
    let mut target = existing(core, &op.at, Kind::File, RestOp::PutRange, op.patience).await?;
    check(&target.inode, op, core.store().clock.now())?;
    let (site, mut content) = (target.writing.site.clone(), content_of(&target.inode)?);
    let expected = Expected { limit: length, length: Some(length), md5 };
    let (offset, keys) = (op.bytes.start, sparse_keys(&site, content));
    let incoming = sparse::receive(core, &site, keys, offset, body, expected).await?;
    // A digest that is only for the answer is finished while the bytes are committed.
    let (bytes, digest, mut sums) = incoming.checked(expect).await?;
    let mut arrived = Arrived::new(bytes, offset);
    for _ in 0..TRIES {
        let Existing { writing, id, entered, .. } = target;
        let Writing { site, keys, quota, hold, .. } = writing;
        let (op, landed) = (Arc::clone(op), arrived.landed.clone());
        let (at, wait) = (op.at.clone(), op.patience);
        let body = move |tx: &mut Tx<'_>| {
            let _ = (&hold, &entered);
            let mut books = Books::open(tx, keys, quota).map_err(stopped)?;
            let subject = again(tx, &books, &op.at.path, Kind::File, id).map_err(stopped)?;
            let moved = || Abort::Fail(Stopped::Moved);
            let same = |s: &Subject| s.inode.content().is_some_and(|c| c.id == content);
            let subject = subject.filter(same).ok_or_else(moved)?;
            let done = write(tx, &mut books, &op, &subject, &landed).map_err(stopped)?;
            Ok((done, books.close(tx)?))
        };
        match commit(core, &site, std::mem::take(&mut arrived.extents), body).await? {
            Outcome::Done((written, last_write, touched)) => {
                settle(core, &site, sparse_keys(&site, content), touched).await;
                if let Some(digest) = digest {
                    sums.md5 = Some(digest.finish().await?);
                }
                let Sums { md5, crc64 } = sums;
                return Ok(RangeReply { written, last_write, md5, crc64: Some(crc64) });
            }
            Outcome::Moved(back) => {
                arrived.extents = back;
                target = existing(core, &at, Kind::File, RestOp::PutRange, wait).await?;
                let now = content_of(&target.inode)?;
                if now != content {
                    let site = &target.writing.site;
                    arrived = arrived.again(core, site, sparse_keys(site, now)).await?;
                    content = now;
                }
            }
        }
    }
    Err(StoreError::Busy.into())
}

fn content_of(inode: &Inode) -> Result<ContentId, Error> {
    let content = inode.content().ok_or_else(|| StoreError::corrupt("a file without content"))?;
    Ok(content.id)
}

/// Whether the write may go on.
fn check(inode: &Inode, op: &PutRange, now: Timestamp) -> Result<(), Refusal> {
    admit::write(inode, op.lease, Use::Content, now)?;
    let length = inode.length();
    if op.bytes.end > length {
        return Err(Refusal::InvalidRange { length });
    }
    Ok(())
}

fn write(
    tx: &mut Tx<'_>,
    books: &mut Books,
    op: &PutRange,
    subject: &Subject,
    landed: &Landed,
) -> Result<Done, Abort<Refusal>> {
    check(&subject.inode, op, tx.stamp().time()).map_err(Abort::Fail)?;
    let content = subject.inode.content().map_or(ContentId(0), |content| content.id);
    let keys = SparseKeys { incarnation: books.keys.0, content };
    let touched = sparse::land(tx, keys, landed)?;
    finish(tx, books, op, subject, touched)
}

fn finish(
    tx: &mut Tx<'_>,
    books: &mut Books,
    op: &PutRange,
    subject: &Subject,
    touched: Vec<(u32, usize)>,
) -> Result<Done, Abort<Refusal>> {
    let stamp = tx.stamp();
    let mut new = subject.inode.clone();
    touch(&mut new, op.last_write, stamp.time());
    admit::written(&mut new, stamp.time());
    new.written = stamp;
    let new = books.put_inode(tx, subject.id, &subject.inode, new)?;
    Ok((stamp, new.times().last_write, touched))
}

async fn clear(core: &Core, op: &Arc<PutRange>) -> Result<RangeReply, Error> {
    for _ in 0..TRIES {
        let target = existing(core, &op.at, Kind::File, RestOp::PutRange, op.patience).await?;
        let Existing { writing, id, inode, entered } = target;
        let content = content_of(&inode)?;
        let Writing { site, keys, quota, hold, .. } = writing;
        let op = Arc::clone(op);
        let body = move |tx: &mut Tx<'_>| {
            let _ = (&hold, &entered);
            let mut books = Books::open(tx, keys, quota).map_err(stopped)?;
            let subject = again(tx, &books, &op.at.path, Kind::File, id).map_err(stopped)?;
            let Some(subject) = subject else { return Err(Abort::Fail(Stopped::Moved)) };
            let now = tx.stamp().time();
            check(&subject.inode, &op, now)
                .map_err(|refusal| Abort::Fail(Stopped::Refused(refusal)))?;
            let content = subject.inode.content().map_or(ContentId(0), |content| content.id);
            let at = SparseKeys { incarnation: keys.0, content };
            let Ok(touched) = sparse::clear(tx, at, op.bytes.clone())? else {
                return Err(Abort::Fail(Stopped::Moved));
            };
            let wide = touched.is_empty().then_some(content);
            let done = finish(tx, &mut books, &op, &subject, touched).map_err(stopped)?;
            Ok(((done, wide, content), books.close(tx)?))
        };
        match commit(core, &site, Vec::new(), body).await? {
            Outcome::Done(((written, last_write, touched), wide, content)) => {
                let keys = sparse_keys(&site, content);
                if wide.is_some() {
                    core.folding().note_clear(core, &site, keys);
                }
                settle(core, &site, keys, touched).await;
                return Ok(RangeReply { written, last_write, md5: None, crc64: None });
            }
            // Replaced meanwhile, or too many clears wait to be worked in.
            Outcome::Moved(_) => {
                sparse::fold_clears(core, &site, sparse_keys(&site, content)).await?;
            }
        }
    }
    Err(StoreError::Busy.into())
}
