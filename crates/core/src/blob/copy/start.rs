//! Copy Blob and Copy Blob From URL: at once if the source is small or the answer must wait for it,
//! otherwise begun here and finished by the background.

use super::decide::{Destination, Made};
use super::end::discard;
use super::make::{Making, Stopped, Sums, still};
use super::op::{CopyBlob, When};
use super::remote::RemoteBlob;
use super::source::{CopySource, Here, Inner, Traits};
use crate::blob::ByteStream;
use crate::blob::admit::Presented;
use crate::blob::content::claim::Claim;
use crate::blob::content::free::sparse_keys;
use crate::blob::op::ExpectedChecksum;
use crate::blob::records::{Content, CopyFrom, Elsewhere, Head, PendingCopy, Record, Shape};
use crate::blob::reply::CopyReply;
use crate::blob::site::{alive, find, is_deleted, writers_pin};
use crate::service::fresh_id;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::ContentId;
use zaffre_base::checksum::{Crc64, Md5};
use zaffre_base::limits::SYNC_COPY_BYTES;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::copy::{CopyRefusal, CopyStatus};
use zaffre_domain::blob::tier::AccessTier;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_store::pins::ContentPin;
use zaffre_store::{StoreError, Tx};

/// Copies a blob.
pub async fn copy_blob(
    core: &Core,
    op: Authorized<CopyBlob>,
    source: CopySource,
) -> Result<CopyReply, Error> {
    let (mut op, grants) = op.into_parts();
    check_combination(&op.conditions, Access::CreateOrReplace { holds_lease: false })?;
    let traits = source.traits();
    check_source(&op, &traits)?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let settings = core.settings_now(&op.at.account).await?;
    let encrypted = found.choose(&op.encryption, &settings)?;
    let (site, hold) = found.for_write();
    let (keeping, premium) = (settings.keeping(), settings.sku.is_premium());
    let (rehydration, immutability) = (settings.rehydration, settings.version_immutability);
    let conditions = std::mem::take(&mut op.conditions);
    let presented = Presented { lease: op.lease, conditions };
    let to = Destination {
        op,
        presented,
        grants,
        site,
        keeping,
        traits,
        encrypted,
        immutability,
        premium,
        rehydration,
    };
    refuse_early(core, &to).await?;
    match source.0 {
        Inner::Here(here) if is_itself(&here, &to) => in_place(core, to).await,
        Inner::Here(here) => {
            let at_once = to.traits.length <= core.options().copies.at_once_bytes
                || to.op.when != When::Later;
            let layout = core.options().layout.inline_bytes;
            let row = begun(core, &to, CopyFrom::Here(here.origin.clone()), &here.head, layout)?;
            if at_once {
                at_once_from(core, to, row, *here, hold).await
            } else {
                begin(core, to, row).await
            }
        }
        Inner::There(blob, body) => {
            let row = begun_elsewhere(core, &to, &blob)?;
            match to.op.when {
                When::Later => begin(core, to, row).await,
                When::Now(_) => wait_for(core, to, row, body, hold).await,
            }
        }
    }
}

/// Refuses a source that cannot be copied in the way asked for.
fn check_source(op: &CopyBlob, source: &Traits) -> Result<(), Refusal> {
    if source.archived && op.tier.is_none_or(|tier| tier == AccessTier::Archive) {
        return Err(Refusal::BlobArchived);
    }
    if op.when == When::Later {
        return Ok(());
    }
    if source.kind != BlobKind::Block {
        return Err(Refusal::Copy(CopyRefusal::InvalidSourceBlobType));
    }
    if source.length > SYNC_COPY_BYTES {
        Err(Refusal::Copy(CopyRefusal::CopySourceTooLarge))
    } else {
        Ok(())
    }
}

/// Saves copying what will be refused.
async fn refuse_early(core: &Core, to: &Destination) -> Result<(), Error> {
    let inside = core.store().meta.snapshot(&to.site.placement).await?;
    let head = Head::peek(&inside, &to.site.keys.blob(&to.op.at.blob))?;
    if head.is_none() && is_deleted(&inside, to.site.keys)? {
        return Err(Refusal::ContainerNotFound.into());
    }
    Ok(to.admit(head.as_ref(), core.now(&inside))?)
}

fn is_itself(here: &Here, to: &Destination) -> bool {
    let (origin, at) = (&here.origin, &to.op.at);
    here.current
        && origin.incarnation == to.site.keys.0
        && origin.account == at.account.as_str()
        && origin.container == at.container.as_str()
        && origin.blob == at.blob.as_str()
}

async fn in_place(core: &Core, to: Destination) -> Result<CopyReply, Error> {
    let site = to.site.clone();
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, to.site.keys)?;
        to.write_in_place(tx)
    };
    core.commit(&site, body).await
}

/// A copy before its first byte.
fn begun(
    core: &Core,
    to: &Destination,
    from: CopyFrom,
    source: &Head,
    inline: usize,
) -> Result<PendingCopy, Error> {
    let shape = match (to.traits.kind, source.content.shape) {
        (BlobKind::Page, _) => Shape::Sparse,
        (BlobKind::Append, _) | (_, Shape::Blocks { .. }) => Shape::Blocks { pages: 0 },
        (BlobKind::Block, _) => flat(core, to.traits.length, inline),
    };
    row(core, to, from, shape)
}

fn begun_elsewhere(core: &Core, to: &Destination, blob: &RemoteBlob) -> Result<PendingCopy, Error> {
    let there = Elsewhere { url: blob.url.clone(), etag: blob.etag.clone() };
    let shape = match blob.kind {
        BlobKind::Page => Shape::Sparse,
        BlobKind::Append => Shape::Blocks { pages: 0 },
        BlobKind::Block => flat(core, blob.length, core.options().layout.inline_bytes),
    };
    row(core, to, CopyFrom::There(there), shape)
}

/// How content without blocks is kept.
fn flat(core: &Core, length: u64, inline: usize) -> Shape {
    match usize::try_from(length) {
        Ok(0) => Shape::Empty,
        Ok(length) if length <= inline => Shape::Inline,
        _ => Shape::Pieces { size: core.options().layout.piece_bytes },
    }
}

fn row(core: &Core, to: &Destination, from: CopyFrom, shape: Shape) -> Result<PendingCopy, Error> {
    let clock = &core.store().clock;
    let content = Content { id: fresh_id(clock)?, length: to.traits.length, shape };
    Ok(PendingCopy {
        from,
        content,
        done: 0,
        blocks: 0,
        attached: false,
        started: clock.now(),
        since: None,
    })
}

/// Writes the head that waits, and the row that says what is to be done.
async fn begin(core: &Core, to: Destination, mut row: PendingCopy) -> Result<CopyReply, Error> {
    row.attached = true;
    let (site, name, id) = (to.site.clone(), to.op.at.blob.clone(), to.op.id);
    let key = site.keys.copy(&name, id);
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, to.site.keys)?;
        still(tx, &key, None)?;
        row.store(tx, &key)?;
        let made =
            Made { content: placeholder(row.content), blocks: 0, status: CopyStatus::Pending };
        to.write(tx, made)
    };
    let reply = core.commit(&site, body).await?;
    core.copies().mark(&site, &name, id);
    Ok(reply)
}

/// What the head names meanwhile: no bytes, or nothing but zeros.
pub(super) fn placeholder(content: Content) -> Content {
    match content.shape {
        Shape::Sparse => content,
        Shape::Blocks { .. } => Content { length: 0, shape: Shape::Blocks { pages: 0 }, ..content },
        _ => Content { length: 0, shape: Shape::Empty, ..content },
    }
}

/// Copies and then names the copy.
async fn at_once_from(
    core: &Core,
    to: Destination,
    row: PendingCopy,
    here: Here,
    hold: ContentPin,
) -> Result<CopyReply, Error> {
    let own = own_pin(core, &to, row.content.id);
    let mut making = making(core, &to, row);
    let made = making.go_on_here(here).await;
    finish(core, to, making, made, (hold, own)).await
}

/// The same from another server.
async fn wait_for(
    core: &Core,
    to: Destination,
    row: PendingCopy,
    body: ByteStream,
    hold: ContentPin,
) -> Result<CopyReply, Error> {
    let own = own_pin(core, &to, row.content.id);
    let mut making = making(core, &to, row);
    let made = making.go_on_with(body).await;
    finish(core, to, making, made, (hold, own)).await
}

fn own_pin(core: &Core, to: &Destination, content: ContentId) -> ContentPin {
    let store = core.store();
    let pin = store.pins.enter(store.meta.last_stamp());
    writers_pin(pin, &to.site.placement, content)
}

fn making(core: &Core, to: &Destination, row: PendingCopy) -> Making {
    let (name, id, kind) = (&to.op.at.blob, to.op.id, to.traits.kind);
    let mut making = Making::new(core, &to.site, name, id, kind, row, false);
    if let When::Now(expect) = to.op.when {
        let md5 = expect.md5.map(|_| Md5::default());
        making.sums = Some(Sums { crc64: Crc64::default(), md5 });
    }
    making
}

async fn finish(
    core: &Core,
    to: Destination,
    mut making: Making,
    made: Result<super::batch::Batch, Stopped>,
    pins: (ContentPin, ContentPin),
) -> Result<CopyReply, Error> {
    let sums = making.sums.take().map(|sums| (sums.md5.map(Md5::finish), sums.crc64.finish()));
    let reply = match made {
        Ok(batch) => match check(&to.op, sums) {
            Ok(()) => name(core, to, &making, batch).await,
            Err(refusal) => Err(refusal.into()),
        },
        Err(Stopped::Error(error)) => Err(error),
        Err(Stopped::Failed(_)) => Err(Refusal::BlobNotFound.into()),
        Err(Stopped::Ended) => Err(StoreError::Busy.into()),
    };
    if reply.is_err() && making.stored().is_some() {
        give_up(core, &making).await;
    }
    drop(pins);
    let mut reply = reply?;
    if let Some((md5, crc64)) = sums {
        (reply.md5, reply.crc64) = (md5, Some(crc64));
    }
    Ok(reply)
}

fn check(op: &CopyBlob, sums: Option<(Option<[u8; 16]>, [u8; 8])>) -> Result<(), Refusal> {
    match (op.when, sums) {
        (When::Now(ExpectedChecksum { md5, crc64 }), Some((found, crc))) => {
            ExpectedChecksum { md5, crc64 }.check(found, crc)
        }
        _ => Ok(()),
    }
}

/// The commit that makes the copy count.
async fn name(
    core: &Core,
    to: Destination,
    making: &Making,
    batch: super::batch::Batch,
) -> Result<CopyReply, Error> {
    let (key, before, row) = (making.key(), making.stored(), making.row.clone());
    let (site, content) = (to.site.clone(), row.content.id);
    let (landing, unclaimed) = batch.land(sparse_keys(&site, content));
    let made = Made { content: row.content, blocks: row.blocks, status: CopyStatus::Success };
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, to.site.keys)?;
        still(tx, &key, before.as_ref())?;
        if before.is_some() {
            tx.delete(&key)?;
        }
        landing.write(tx)?;
        to.write(tx, made)
    };
    let claim = Claim::holding(core, &site, None, content, unclaimed);
    Ok(claim.commit(body).await?)
}

/// Frees what was written before the copy came to nothing.
async fn give_up(core: &Core, making: &Making) {
    let (keys, name, id) = (making.site.keys, making.name.clone(), making.id);
    let body = move |tx: &mut Tx<'_>| Ok(((), discard(tx, keys, &name, id)?));
    if let Err(error) = core.commit(&making.site, body).await {
        // Its row is still there; the background finds it.
        tracing::warn!(%error, "could not take back a copy at once");
    }
}
