//! How a copy that a head waits for ends: done, failed or aborted, in one commit with its head.
//!
//! Must never end a copy twice: whoever comes first takes its row away.

use super::batch::Batch;
use super::make::{Making, Stopped, attached, ended, still};
use crate::blob::content::claim::Claim;
use crate::blob::content::free::sparse_keys;
use crate::blob::history::Past;
use crate::blob::keys::Keys;
use crate::blob::records::{Content, CopyFrom, Equals, Head, PastKind, PendingCopy, Record, Shape};
use crate::blob::replace::LeftOver;
use crate::blob::site::{Site, alive};
use crate::service::fresh_id;
use crate::sparse;
use zaffre_base::{BlobName, ContentId, Guid};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::copy::{CopyFailure, CopyRefusal, CopyStatus};
use zaffre_store::{Abort, Interrupt, Tx};

/// The head gets what was copied.
pub(super) async fn complete(
    making: &Making,
    batch: Batch,
    shown: Option<ContentId>,
) -> Result<(), Stopped> {
    let (key, before, row) = (making.key(), making.stored(), making.row.clone());
    let (keys, name, id) = (making.site.keys, making.name.clone(), making.id);
    let content = row.content.id;
    let (landing, unclaimed) = batch.land(sparse_keys(&making.site, content));
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        still(tx, &key, before.as_ref())?;
        let mut head = attached(tx, &keys.blob(&name), id)?;
        landing.write(tx)?;
        tx.delete(&key)?;
        let stamp = tx.stamp();
        head.content = row.content;
        head.written = stamp;
        if head.kind() == BlobKind::Append {
            head.set_append_blocks(row.blocks);
        }
        let copy = head.copy.take();
        head.copy = copy.map(|copy| copy.ended(CopyStatus::Success, stamp.time(), None));
        let left = snapshot(tx, keys, &name, &mut head, &row, shown)?;
        head.store(tx, &keys.blob(&name))?;
        Ok(((), left))
    };
    let claim = Claim::holding(&making.core, &making.site, None, content, unclaimed);
    ended(claim.commit(body).await)
}

/// What an incremental copy made is kept as a snapshot.
fn snapshot(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    head: &mut Head,
    row: &PendingCopy,
    source: Option<ContentId>,
) -> Result<LeftOver, Interrupt> {
    let (Some(incremental), CopyFrom::Here(origin)) = (&mut head.incremental, &row.from) else {
        return Ok(LeftOver::Nothing);
    };
    let (written, incarnation) = (origin.written, origin.incarnation);
    incremental.equals = source.map(|content| Equals { content, written, incarnation });
    incremental.snapshot = Some(tx.stamp());
    let mut past = Past::load(tx, keys, name)?;
    past.add(tx, tx.stamp(), PastKind::Snapshot, &head.to_past())?;
    past.finish(tx, None, None)
}

/// The copy comes to nothing.
pub(super) async fn fail(making: &Making, failure: CopyFailure) -> Result<(), Stopped> {
    let (key, before, row) = (making.key(), making.stored(), making.row.clone());
    let (site, name, id) = (making.site.clone(), making.name.clone(), making.id);
    let fresh = fresh_id(&making.core.store().clock)?;
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, site.keys)?;
        still(tx, &key, before.as_ref())?;
        let head = attached(tx, &site.keys.blob(&name), id)?;
        tx.delete(&key)?;
        let status = (CopyStatus::Failed, Some(failure.description()));
        let left = empty(tx, &site, &name, head, row.content, fresh, status)?;
        Ok(((), left))
    };
    match making.core.commit(&making.site, body).await {
        Err(crate::Error::Refused(Refusal::Copy(CopyRefusal::NoPendingCopyOperation))) => {
            Err(Stopped::Ended)
        }
        other => Ok(other?),
    }
}

/// Leaves a blob without bytes where a copy was under way; what was copied goes.
pub(super) fn empty(
    tx: &mut Tx<'_>,
    site: &Site,
    name: &BlobName,
    mut head: Head,
    copied: Content,
    fresh: ContentId,
    (status, description): (CopyStatus, Option<String>),
) -> Result<LeftOver, Abort<Refusal>> {
    let stamp = tx.stamp();
    let shape = match head.kind() {
        BlobKind::Block => Shape::Empty,
        BlobKind::Append => Shape::Blocks { pages: 0 },
        BlobKind::Page => Shape::Sparse,
    };
    head.content = Content { id: fresh, length: 0, shape };
    head.written = stamp;
    let copy = head.copy.take();
    head.copy = copy.map(|copy| copy.ended(status, stamp.time(), description));
    if let Some(incremental) = &mut head.incremental {
        incremental.equals = None;
    }
    if shape == Shape::Sparse {
        let label = sparse::Label::Blob(name.as_str().to_owned());
        sparse::label(tx, sparse_keys(site, fresh), &label)?;
    }
    let mut past = Past::load(tx, site.keys, name)?;
    past.drop_content(copied);
    head.store(tx, &site.keys.blob(name))?;
    Ok(past.finish(tx, None, None)?)
}

/// Gives back what a copy that no head waits for has written.
pub(super) fn discard(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    id: Guid,
) -> Result<LeftOver, Interrupt> {
    let key = keys.copy(name, id);
    let Some(row) = PendingCopy::load(tx, &key)?.filter(|row| !row.attached) else {
        return Ok(LeftOver::Nothing);
    };
    tx.delete(&key)?;
    crate::blob::replace::retire(tx, keys, name, Some(row.content), None, None)
}
