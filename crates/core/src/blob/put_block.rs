//! Put Block: stages a block; the blob itself stays as it is.

use super::ByteStream;
use super::admit;
use super::content::claim::NewRows;
use super::content::upload::{Expected, is_small, receive};
use super::history::Past;
use super::keys::Keys;
use super::op::PutBlock;
use super::records::{Content, Head, Record, StagedBlock, Staging};
use super::replace::{LeftOver, retire};
use super::reply::PutBlockReply;
use super::site::{Site, alive, find};
use crate::service::fresh_id;
use crate::{Core, Error};
use zaffre_auth::{Authorized, Grants};
use zaffre_base::ContentId;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::block_list::{check_staging, is_block_id};
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::sizes::{check_size, sizes};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Tx};

/// Stages one block.
pub async fn put_block(
    core: &Core,
    op: Authorized<PutBlock>,
    body: ByteStream,
) -> Result<PutBlockReply, Error> {
    let (op, grants) = op.into_parts();
    if !is_block_id(&op.block_id) {
        return Err(Refusal::InvalidBlobOrBlock.into());
    }
    let limit = sizes(op.context.version).block;
    check_size(op.length.unwrap_or(0), limit)?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let encrypted = found.choose(&op.encryption, &core.settings(&op.at.account))?;
    let (site, hold) = found.for_write();
    let fresh = fresh_id(&core.store().clock)?;
    let stage = Stage { op, grants, keys: site.keys, encrypted, fresh };
    stage.refuse_early(core, &site).await?;
    let md5 = stage.op.expect.md5.is_some();
    let expected = Expected { limit, length: stage.op.length, md5 };
    let received = receive(core, &site, hold, body, expected, stage.op.encryption.key()).await?;
    if let Err(mismatch) = stage.op.expect.check(received.md5, received.crc64) {
        received.claim.give_up().await;
        return Err(mismatch.into());
    }
    let (content, rows) = (received.content, received.rows);
    let decide = move |tx: &mut Tx<'_>| stage.decide(tx, content, &rows);
    received.claim.commit(decide).await?;
    Ok(PutBlockReply { md5: received.md5, crc64: received.crc64 })
}

struct Stage {
    op: PutBlock,
    grants: Grants,
    keys: Keys,
    encrypted: Encrypted,
    /// Names the staging area if this is its first block.
    fresh: ContentId,
}

impl Stage {
    /// Saves receiving a large body that will be refused, unless its checksum comes first.
    async fn refuse_early(&self, core: &Core, site: &Site) -> Result<(), Error> {
        let announced = self.op.expect.md5.is_some() || self.op.expect.crc64.is_some();
        if announced || is_small(core, self.op.length) {
            return Ok(());
        }
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let head = Head::peek(&inside, &self.keys.blob(&self.op.at.blob))?;
        let (version, now) = (self.op.context.version, core.now(&inside));
        Ok(admit::stage(head.as_ref(), self.op.lease, self.grants, version, now)?)
    }

    fn decide(
        &self,
        tx: &mut Tx<'_>,
        content: Content,
        rows: &NewRows,
    ) -> Result<((), LeftOver), Abort<Refusal>> {
        alive(tx, self.keys)?;
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let name = &self.op.at.blob;
        let blob_key = self.keys.blob(name);
        let head = Head::load(tx, &blob_key)?;
        admit::stage(head.as_ref(), self.op.lease, self.grants, self.op.context.version, now)
            .map_err(Abort::Fail)?;
        let is_missing = head.is_none();
        if let Some(mut head) = head {
            let lease = after_write(head.lease, now);
            if lease != head.lease {
                head.lease = lease;
                head.store(tx, &blob_key)?;
            }
        }
        let found = Staging::load(tx, &self.keys.staging(name))?;
        let (current, expired) = match found {
            Some(staging) if staging.has_expired(now) => (None, Some(staging)),
            current => (current, None),
        };
        let mut staging = current.unwrap_or(Staging {
            id: self.fresh,
            count: 0,
            id_length: u64::try_from(self.op.block_id.len()).unwrap_or(u64::MAX),
            changed: stamp,
            replaced: stamp,
        });
        let block_key = self.keys.staged(staging.id, &self.op.block_id);
        let replaced = StagedBlock::load(tx, &block_key)?;
        if replaced.is_none() {
            staging.count += 1;
        } else {
            staging.replaced = stamp;
        }
        let id_length = current.and_then(|staging| usize::try_from(staging.id_length).ok());
        check_staging(&self.op.block_id, id_length, staging.count).map_err(Abort::Fail)?;
        staging.changed = stamp;
        // Neither a staged block nor an expired area was ever a part of what a head names.
        let mut left =
            retire(tx, self.keys, name, replaced.map(|b| b.content), expired.as_ref(), None)?;
        if is_missing {
            let mut past = Past::load(tx, self.keys, name)?;
            past.make_room(tx, BlobKind::Block)?;
            left = left.or(past.finish(tx, None, None)?);
        }
        rows.write(tx)?;
        let encrypted = self.encrypted.clone();
        StagedBlock { content, encrypted }.store(tx, &block_key)?;
        staging.store(tx, &self.keys.staging(name))?;
        Ok(((), left))
    }
}
