//! Looking through everything: after a start, and now and then, for work that nobody has announced.
//!
//! Must never change a container that is not due: each change looks again inside its transaction.

use super::ended;
use super::purge::Doomed;
use crate::blob::keys;
use crate::blob::records::{Container, HeldName, Record, Staging};
use crate::blob::replace::retire;
use crate::blob::site::Site;
use crate::directory::keys::{
    account_of, directory as directory_of, registered_accounts, registry,
};
use crate::directory::{Family, KeyRange, Place, doom, doomed_place};
use crate::file::share::{self, records::Share};
use crate::queue::reclaim;
use crate::queue::records::Queue;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_base::{AccountName, BlobName};
use zaffre_store::{Placement, Row, StoreError, Tx};

/// Rows looked at by one snapshot.
const BATCH: usize = 256;

/// Marks everything that has work waiting.
pub(super) async fn look(core: &Core) -> Result<(), Error> {
    let mut accounts = Scan::new(registry(), registered_accounts());
    while let Some(rows) = accounts.next(core).await? {
        for row in rows {
            if let Some(account) = account_of(&row.key) {
                look_at_account(core, &account).await?;
            }
        }
    }
    Ok(())
}

async fn look_at_account(core: &Core, account: &AccountName) -> Result<(), Error> {
    let directory = directory_of(account);
    for family in Family::ALL {
        let mut purges = Scan::new(directory.clone(), family.purges());
        while let Some(rows) = purges.next(core).await? {
            for row in rows {
                let place = doomed_place(family, account, &row.value)?;
                core.pending().doom(Doomed { account: account.clone(), place, intent: row.key });
            }
        }
        forget_held_names(core, &directory, family).await?;
    }
    let mut queues = Scan::new(directory.clone(), Family::Queues.rows(""));
    while let Some(rows) = queues.next(core).await? {
        for row in rows {
            let name = Family::Queues.name_of(&row.key);
            let name = name.ok_or_else(|| StoreError::corrupt("the key of a queue"))?;
            let incarnation = Queue::from_bytes(&row.value)?.incarnation;
            let place = Place::new(Family::Queues, account, &name, incarnation);
            if let Some(next) = reclaim::next(core, &place).await? {
                core.pending().expires(&place, next);
            }
        }
    }
    let mut shares = Scan::new(directory.clone(), Family::Shares.rows(""));
    while let Some(rows) = shares.next(core).await? {
        for row in rows {
            let name = Family::Shares.name_of(&row.key);
            let name = name.ok_or_else(|| StoreError::corrupt("the key of a share"))?;
            let incarnation = Share::from_bytes(&row.value)?.incarnation;
            let place = Place::new(Family::Shares, account, &name, incarnation);
            crate::file::reclaim::look(core, &Site::from(place)).await?;
        }
    }
    drop_deleted_containers(core, account).await?;
    share::drop_deleted(core, account).await?;
    share::reconcile(core, account).await?;
    let mut containers = Scan::new(directory, keys::containers(""));
    while let Some(rows) = containers.next(core).await? {
        for row in rows {
            let name = keys::container_of(&row.key)
                .ok_or_else(|| StoreError::corrupt("the key of a container"))?;
            let incarnation = Container::from_bytes(&row.value)?.incarnation;
            look_at_container(core, &Site::new(account, &name, incarnation)).await?;
        }
    }
    Ok(())
}

/// Dooms containers that were deleted and kept, once their time is over.
async fn drop_deleted_containers(core: &Core, account: &AccountName) -> Result<(), Error> {
    let directory = directory_of(account);
    let mut deleted = Scan::new(directory.clone(), keys::deleted_containers(""));
    while let Some(rows) = deleted.next(core).await? {
        for row in rows {
            let (name, _) = keys::deleted_container_of(&row.key)
                .ok_or_else(|| StoreError::corrupt("the key of a deleted container"))?;
            let until = Container::from_bytes(&row.value)?.deleted.map(|deleted| deleted.until);
            if until.is_some_and(|until| core.store().clock.now() < until) {
                continue;
            }
            let (called, key) = (name.clone(), row.key);
            let body = move |tx: &mut Tx<'_>| {
                let now = tx.stamp().time();
                let is_over = |kept: &Container| kept.deleted.is_none_or(|d| d.until <= now);
                let Some(kept) = Container::load(tx, &key)?.filter(is_over) else {
                    return Ok(None);
                };
                tx.delete(&key)?;
                let family = Family::Containers;
                let intent = doom(tx, family, called.as_str(), kept.incarnation, None)?;
                Ok(Some((kept.incarnation, intent)))
            };
            if let Some((incarnation, intent)) = core.transact(&directory, body).await? {
                let place = Place::new(Family::Containers, account, name.as_str(), incarnation);
                core.pending().doom(Doomed { account: account.clone(), place, intent });
            }
        }
    }
    Ok(())
}

async fn forget_held_names(
    core: &Core,
    directory: &Placement,
    family: Family,
) -> Result<(), Error> {
    let mut held = Scan::new(directory.clone(), family.held_names());
    while let Some(rows) = held.next(core).await? {
        let body = move |tx: &mut Tx<'_>| {
            let now = tx.stamp().time();
            for row in &rows {
                let due = HeldName::load(tx, &row.key)?.is_some_and(|held| held.until <= now);
                if due {
                    tx.delete(&row.key)?;
                }
            }
            Ok(())
        };
        core.transact(directory, body).await?;
    }
    Ok(())
}

async fn look_at_container(core: &Core, site: &Site) -> Result<(), Error> {
    crate::sparse::look(core, site).await?;
    crate::blob::copy::look(core, site).await?;
    let inside = core.store().meta.snapshot(&site.placement).await?;
    for left in [site.keys.intents(), site.keys.leftovers().starting_with("")] {
        if !inside.scan(&left.start, left.end.as_deref(), 1)?.is_empty() {
            core.pending().mark(site);
        }
    }
    ended::drop_ended(core, site).await?;
    let space = site.keys.stagings();
    let mut stagings = Scan::new(site.placement.clone(), space.starting_with(""));
    while let Some(rows) = stagings.next(core).await? {
        let now = core.store().clock.now();
        for row in rows {
            if Staging::from_bytes(&row.value)?.has_expired(now) {
                let name = space.name_of(&row.key).and_then(|name| BlobName::parse(&name).ok());
                let name = name.ok_or_else(|| StoreError::corrupt("the key of a staging area"))?;
                drop_expired(core, site, name).await?;
            }
        }
    }
    Ok(())
}

async fn drop_expired(core: &Core, site: &Site, name: BlobName) -> Result<(), Error> {
    let keys = site.keys;
    let body = move |tx: &mut Tx<'_>| {
        let now = tx.stamp().time();
        let staging = Staging::load(tx, &keys.staging(&name))?;
        if let Some(staging) = staging.filter(|staging| staging.has_expired(now)) {
            retire(tx, keys, &name, None, Some(&staging), None)?;
        }
        Ok(())
    };
    core.transact(&site.placement, body).await?;
    core.pending().mark(site);
    Ok(())
}

/// Rows of a range, in batches, each from a snapshot of its own.
struct Scan {
    placement: Placement,
    range: KeyRange,
    ended: bool,
}

impl Scan {
    fn new(placement: Placement, range: KeyRange) -> Self {
        Self { placement, range, ended: false }
    }

    async fn next(&mut self, core: &Core) -> Result<Option<Vec<Row>>, Error> {
        if self.ended {
            return Ok(None);
        }
        let snapshot = core.store().meta.snapshot(&self.placement).await?;
        let KeyRange { start, end } = self.range.clone();
        let rows = blocking(move || Ok(snapshot.scan(&start, end.as_deref(), BATCH)?)).await?;
        match rows.last() {
            Some(last) if rows.len() == BATCH => {
                self.range.start = [last.key.as_slice(), &[0]].concat();
            }
            _ => self.ended = true,
        }
        Ok(Some(rows).filter(|rows| !rows.is_empty()))
    }
}
