//! Get Block List: committed blocks in their order, staged ones by id.

use super::admit;
use super::content::manifest;
use super::history;
use super::keys::Keys;
use super::op::{GetBlockList, Moment};
use super::records::{Record, StagedBlock, Staging};
use super::reply::{BlockListReply, BlockView, Written};
use super::site::{find, is_deleted};
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Timestamp;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::tags::NO_TAGS;
use zaffre_domain::lease::{Lease, LeaseAccess, admits};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Snapshot, StoreError};

/// Staged blocks read at once.
const BATCH: usize = 1_000;

/// Lists the blocks of a blob.
pub async fn get_block_list(
    core: &Core,
    op: Authorized<GetBlockList>,
) -> Result<BlockListReply, Error> {
    let (op, _) = op.into_parts();
    let found = find(core, &op.at.account, &op.at.container).await?;
    let inside = core.store().meta.snapshot(&found.site.placement).await?;
    let now = core.now(&inside);
    let keys = found.site.keys;
    blocking(move || {
        // Held until the rows are read: a staged block's row is freed once nobody can see it.
        let _pin = found.pin;
        list(&op, &inside, keys, now)
    })
    .await
}

fn list(
    op: &GetBlockList,
    inside: &Snapshot,
    keys: Keys,
    now: Timestamp,
) -> Result<BlockListReply, Error> {
    let head = history::peek(inside, keys, &op.at, now)?.map(|seen| *seen.head);
    // Only the blob itself has staged blocks.
    let staging = match op.at.moment {
        Moment::Current => Staging::peek(inside, &keys.staging(&op.at.blob))?,
        Moment::Snapshot(_) | Moment::Version(_) => None,
    };
    let staging = staging.filter(|staging| !staging.has_expired(now));
    if head.is_none() && staging.is_none() {
        let deleted = is_deleted(inside, keys)?;
        let missing = if deleted { Refusal::ContainerNotFound } else { Refusal::BlobNotFound };
        return Err(missing.into());
    }
    admit::of_kind(head.as_ref(), BlobKind::Block)?;
    admit::online(head.as_ref(), now)?;
    let lease = head.as_ref().map_or_else(Lease::default, |head| head.lease);
    admits(&lease, op.lease, LeaseAccess::Read, LeaseOn::Blob, now)?;
    let tags = head.as_ref().map_or(&NO_TAGS, |head| &head.tags);
    if op.conditions.if_tags.as_ref().is_some_and(|predicate| !predicate.matches(tags)) {
        return Err(Refusal::ConditionNotMet.into());
    }
    let mut committed = op.committed.then(Vec::new);
    if let (Some(blocks), Some(head)) = (&mut committed, &head) {
        manifest::for_each(inside, keys, &head.content, |block| {
            blocks.push(BlockView { id: block.id, length: block.content.length });
        })?;
    }
    let uncommitted = match (op.uncommitted, staging) {
        (false, _) => None,
        (true, None) => Some(Vec::new()),
        (true, Some(staging)) => Some(staged(inside, keys, &staging)?),
    };
    let committed_state = head.map(|head| (Written::at(head.written), head.content.length));
    Ok(BlockListReply { committed_state, committed, uncommitted })
}

fn staged(inside: &Snapshot, keys: Keys, staging: &Staging) -> Result<Vec<BlockView>, Error> {
    let range = keys.staged_blocks(staging.id);
    let mut start = range.start;
    let mut blocks = Vec::new();
    loop {
        let rows = inside.scan(&start, range.end.as_deref(), BATCH)?;
        for row in &rows {
            let id = keys.block_of(&row.key).ok_or_else(|| StoreError::corrupt("staged key"))?;
            let length = StagedBlock::from_bytes(&row.value)?.content.length;
            blocks.push(BlockView { id: id.to_vec(), length });
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(blocks),
        }
    }
}
