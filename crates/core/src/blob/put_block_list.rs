//! Put Block List: makes a blob of blocks that are staged or already in it.
//!
//! The list is laid out in pages from a snapshot. The deciding transaction compares what the pages
//! rest on with what is there now and swaps the content, whatever the number of blocks; if something
//! relevant changed in between, everything starts again.

use super::admit::{self, Presented};
use super::content::claim::{Claim, NewRows};
use super::content::manifest::{self, NewManifest};
use super::keys::Keys;
use super::op::PutBlockList;
use super::protection::protect;
use super::records::{Block, Content, Head, Record, StagedBlock, Staging};
use super::replace::{LeftOver, overwrite};
use super::reply::Written;
use super::site::{alive, find, is_deleted};
use crate::service::blocking;
use crate::settings::{AccountSettings, Keeping};
use crate::{Core, Error};
use std::collections::HashMap;
use std::sync::Arc;
use zaffre_auth::{Authorized, Grants};
use zaffre_base::{ContentId, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::block_list::{Found, check_entries, resolve};
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::tier::Tier;
use zaffre_domain::blob::{BlobKind, BlockSource};
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Snapshot, StoreError, TransactError, Tx};

/// How often a list is laid out again because blocks changed meanwhile.
const ATTEMPTS: usize = 16;

/// Pages that the deciding transaction writes itself; more are written before it.
const PAGES_PER_COMMIT: usize = 4;

/// Pages written by one transaction ahead of the deciding one.
const PAGES_AHEAD: usize = 32;

/// Commits a list of blocks.
pub async fn put_block_list(core: &Core, op: Authorized<PutBlockList>) -> Result<Written, Error> {
    let (op, grants) = op.into_parts();
    check_combination(&op.conditions, Access::CreateOrReplace { holds_lease: false })?;
    check_entries(&op.blocks)?;
    let settings = core.settings_now(&op.at.account).await?;
    let commit = Arc::new(Commit::new(op, grants, &settings));
    for _ in 0..ATTEMPTS {
        match attempt(core, &commit).await {
            Ok(written) => return Ok(written),
            Err(Failed::Stale) => {}
            Err(Failed::Error(error)) => return Err(error),
        }
    }
    Err(StoreError::Busy.into())
}

enum Failed {
    Error(Error),
    /// What the pages rest on has changed.
    Stale,
}

impl<E: Into<Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

struct Commit {
    op: PutBlockList,
    presented: Presented,
    grants: Grants,
    keeping: Keeping,
    /// The account offers policies and holds.
    immutability: bool,
}

/// A part of the state that a layout may rest on.
#[derive(Clone, Copy)]
enum Rests<T> {
    Nowhere,
    On(Option<T>),
}

/// What a layout rests on: if this still holds, the layout is still right.
#[derive(Clone, Copy)]
struct Basis {
    /// The content whose committed blocks are used.
    committed: Rests<ContentId>,
    /// The staging area that was looked into.
    staging: Rests<Staging>,
    /// It matters that some blocks were not staged, so no new ones may have come.
    absence_matters: bool,
}

impl Basis {
    fn holds(&self, head: Option<&Head>, staging: Option<&Staging>) -> bool {
        let committed = match self.committed {
            Rests::Nowhere => true,
            Rests::On(id) => id == head.map(|head| head.content.id),
        };
        let staged = match (self.staging, staging) {
            (Rests::Nowhere, _) | (Rests::On(None), None) => true,
            (Rests::On(None), Some(_)) => !self.absence_matters,
            (Rests::On(Some(_)), None) => false,
            (Rests::On(Some(basis)), Some(now)) => {
                basis.id == now.id
                    && basis.replaced == now.replaced
                    && (!self.absence_matters || basis.changed == now.changed)
            }
        };
        committed && staged
    }
}

async fn attempt(core: &Core, commit: &Arc<Commit>) -> Result<Written, Failed> {
    let at = &commit.op.at;
    let found = find(core, &at.account, &at.container).await?;
    let encrypted = found.choose(&commit.op.encryption, &core.settings(&at.account))?;
    let (site, hold) = found.for_write();
    let inside = core.store().meta.snapshot(&site.placement).await?;
    let now = core.now(&inside);
    let planning = Arc::clone(commit);
    let keys = site.keys;
    let wanted = encrypted.clone();
    let (blocks, basis) = blocking(move || planning.plan(&inside, keys, &wanted, now)).await?;
    let mut claim = Claim::begin(core, &site, hold)?;
    let NewManifest { content, mut rows } = manifest::build(keys, claim.content(), blocks)?;
    if rows.len() > PAGES_PER_COMMIT {
        while !rows.is_empty() {
            let page_rows = rows.drain(..rows.len().min(PAGES_AHEAD)).collect();
            if let Err(error) = claim.write_ahead(page_rows, Vec::new()).await {
                claim.give_up().await;
                return Err(error.into());
            }
        }
    }
    let rows = NewRows::new(rows, claim.provisional());
    let deciding = Arc::clone(commit);
    let decide =
        move |tx: &mut Tx<'_>| deciding.decide(tx, keys, (content, &encrypted), &rows, &basis);
    match claim.commit(decide).await {
        Ok(written) => Ok(written),
        Err(TransactError::Body(Decline::Stale)) => Err(Failed::Stale),
        Err(TransactError::Body(Decline::Refused(refusal))) => Err(refusal.into()),
        Err(TransactError::Store(error)) => Err(error.into()),
    }
}

/// Why the deciding transaction wrote nothing.
enum Decline {
    Refused(Refusal),
    Stale,
}

fn refuse(refusal: Refusal) -> Abort<Decline> {
    Abort::Fail(Decline::Refused(refusal))
}

fn declined(abort: Abort<Refusal>) -> Abort<Decline> {
    match abort {
        Abort::Interrupt(interrupt) => Abort::Interrupt(interrupt),
        Abort::Fail(refusal) => refuse(refusal),
    }
}

impl Commit {
    fn new(mut op: PutBlockList, grants: Grants, settings: &AccountSettings) -> Self {
        let conditions = std::mem::take(&mut op.conditions);
        let presented = Presented { lease: op.lease, conditions };
        let (keeping, immutability) = (settings.keeping(), settings.version_immutability);
        Self { op, presented, grants, keeping, immutability }
    }

    /// Finds every listed block. Refuses here what would be refused by the deciding transaction.
    fn plan(
        &self,
        inside: &Snapshot,
        keys: Keys,
        encrypted: &Encrypted,
        now: Timestamp,
    ) -> Result<(Vec<Block>, Basis), Error> {
        if is_deleted(inside, keys)? {
            return Err(Refusal::ContainerNotFound.into());
        }
        let name = &self.op.at.blob;
        let head = Head::peek(inside, &keys.blob(name))?;
        let version = self.op.context.version;
        let (kind, presented) = (BlobKind::Block, &self.presented);
        admit::replace(head.as_ref(), kind, presented, self.grants, version, now)?;
        let staging = Staging::peek(inside, &keys.staging(name))?.filter(|s| !s.has_expired(now));
        let committed = self.committed_blocks(inside, keys, head.as_ref())?;
        let mut failed = None;
        let find_staged = |id: &[u8]| {
            let staged = StagedBlock::peek(inside, &keys.staged(staging?.id, id));
            let staged = staged.unwrap_or_else(|error| {
                failed = Some(Error::from(error));
                None
            })?;
            if let Err(other) = staged.encrypted.joins(encrypted) {
                failed = Some(other.into());
            }
            Some(staged.content)
        };
        let find_committed = |id: &[u8]| committed.get(id).copied();
        let found = resolve(&self.op.blocks, find_committed, find_staged);
        if let Some(error) = failed {
            return Err(error);
        }
        let found = found?;
        let mut basis =
            Basis { committed: Rests::Nowhere, staging: Rests::Nowhere, absence_matters: false };
        let mut blocks = Vec::with_capacity(found.len());
        for (entry, found) in self.op.blocks.iter().zip(found) {
            if let (Found::Committed, Some(head)) = (found.found, &head) {
                head.encrypted.joins(encrypted)?;
            }
            if found.found == Found::Committed {
                basis.committed = Rests::On(head.as_ref().map(|head| head.content.id));
                basis.absence_matters |= entry.source == BlockSource::Latest;
            }
            if entry.source != BlockSource::Committed {
                basis.staging = Rests::On(staging);
            }
            blocks.push(Block { id: entry.id.clone(), content: found.block });
        }
        Ok((blocks, basis))
    }

    /// The blocks of the blob as it is, by id; empty when the list cannot need any.
    fn committed_blocks(
        &self,
        inside: &Snapshot,
        keys: Keys,
        head: Option<&Head>,
    ) -> Result<HashMap<Vec<u8>, Content>, Error> {
        let mut blocks = HashMap::new();
        let needed = self.op.blocks.iter().any(|e| e.source != BlockSource::Uncommitted);
        if let Some(head) = head.filter(|_| needed) {
            manifest::for_each(inside, keys, &head.content, |block| {
                blocks.insert(block.id, block.content);
            })?;
        }
        Ok(blocks)
    }

    fn decide(
        &self,
        tx: &mut Tx<'_>,
        keys: Keys,
        (content, encrypted): (Content, &Encrypted),
        rows: &NewRows,
        basis: &Basis,
    ) -> Result<(Written, LeftOver), Abort<Decline>> {
        alive(tx, keys).map_err(declined)?;
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let name = &self.op.at.blob;
        let key = keys.blob(name);
        let old = Head::load(tx, &key)?;
        let version = self.op.context.version;
        let (kind, presented) = (BlobKind::Block, &self.presented);
        admit::replace(old.as_ref(), kind, presented, self.grants, version, now).map_err(refuse)?;
        let staging = Staging::load(tx, &keys.staging(name))?;
        let live = staging.filter(|staging| !staging.has_expired(now));
        if !basis.holds(old.as_ref(), live.as_ref()) {
            return Err(Abort::Fail(Decline::Stale));
        }
        rows.write(tx)?;
        let mut head = Head::block_blob(stamp, content);
        if let Some(old) = &old {
            head.lease = after_write(old.lease, now);
            head.set_tier(old.tier().at(now));
        }
        head.set_properties(self.op.properties.clone());
        head.metadata = self.op.metadata.clone();
        head.tags = self.op.tags.clone();
        head.encrypted = encrypted.clone();
        if let Some(tier) = self.op.tier {
            head.set_tier(Tier::named(tier, now));
        }
        protect(tx, keys, name, &mut head, self.op.protection, self.immutability)
            .map_err(declined)?;
        let (old, staging) = (old.as_ref(), staging.as_ref());
        Ok(overwrite(tx, keys, name, old, head, staging, self.keeping)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::Shape;
    use super::*;
    use zaffre_base::Stamp;

    fn head(id: u128) -> Head {
        let content = Content { id: ContentId(id), length: 0, shape: Shape::Empty };
        Head::block_blob(Stamp(1), content)
    }

    fn staging(id: u128, changed: u64, replaced: u64) -> Staging {
        let (changed, replaced) = (Stamp(changed), Stamp(replaced));
        Staging { id: ContentId(id), count: 1, id_length: 1, changed, replaced }
    }

    #[test]
    fn a_layout_stands_while_what_it_rests_on_does() {
        let s = |changed, replaced| Some(staging(1, changed, replaced));
        let old = Rests::On(s(5, 3));
        for (rests, absence_matters, now, holds) in [
            (Rests::Nowhere, false, s(9, 9), true),
            (old, false, s(5, 3), true),
            (old, false, s(6, 3), true),
            (old, true, s(6, 3), false),
            (old, false, s(6, 6), false),
            (old, false, Some(staging(2, 5, 3)), false),
            (old, false, None, false),
            (Rests::On(None), false, s(5, 3), true),
            (Rests::On(None), true, s(5, 3), false),
            (Rests::On(None), true, None, true),
        ] {
            let basis = Basis { committed: Rests::Nowhere, staging: rests, absence_matters };
            assert_eq!(basis.holds(None, now.as_ref()), holds, "{now:?} {absence_matters}");
        }
        for (rests, now, holds) in [
            (Rests::Nowhere, Some(head(2)), true),
            (Rests::On(Some(ContentId(1))), Some(head(1)), true),
            (Rests::On(Some(ContentId(1))), Some(head(2)), false),
            (Rests::On(Some(ContentId(1))), None, false),
        ] {
            let basis = Basis { committed: rests, staging: Rests::Nowhere, absence_matters: false };
            assert_eq!(basis.holds(now.as_ref(), None), holds);
        }
    }
}
