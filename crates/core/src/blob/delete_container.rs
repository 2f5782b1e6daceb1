//! Delete Container: the directory row goes, the guard comes, the rest is purged in the background.
//!
//! A container that may hold immutable blobs is deleted only while it is empty.
//! Removing the directory row decides. From then on nobody finds the container; operations that had
//! found it before may still finish until the guard is set, which is before the answer.

use super::keys::{self, Keys};
use super::op::{ContainerPath, DeleteContainer};
use super::records::{Container, Deleted, HeldName, History, Record};
use crate::directory::keys::guard;
use crate::directory::{Family, Place, set_guard};
use crate::records::Guard;
use crate::service::detached;
use crate::{Core, Error, directory};
use std::time::Duration;
use zaffre_auth::Authorized;
use zaffre_base::Timestamp;
use zaffre_domain::blob::KeptRefusal;
use zaffre_domain::conditions::evaluate_container;
use zaffre_domain::lease::{Lease, LeaseAccess, admits};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Abort, Interrupt, Tx};

/// Deletes a container and everything in it, at once or after the account's retention.
pub async fn delete_container(core: &Core, op: Authorized<DeleteContainer>) -> Result<(), Error> {
    let (DeleteContainer { at, lease, conditions }, _) = op.into_parts();
    let admit = move |record: &Container, now: Timestamp| {
        admits(&record.lease, lease, LeaseAccess::Write, LeaseOn::Container, now)?;
        evaluate_container(&conditions, &record.validators())
    };
    let core = core.clone();
    detached(async move {
        let closed = close_empty(&core, &at, &admit).await?;
        let (account, name) = (at.account.clone(), at.container.clone());
        let deleted = match core.settings(&at.account).container_retention() {
            None => directory::delete(&core, &at.account, at.container.as_str(), admit).await,
            Some(time) => keep(&core, at, time, admit).await,
        };
        if let (Err(Error::Refused(_)), Some(place)) = (&deleted, closed) {
            let guard = guard(place.incarnation);
            core.transact(&place.placement, move |tx| Ok(tx.delete(&guard)?)).await?;
        }
        if deleted.is_ok() {
            core.leases().forget_inside(LeaseOn::Container, &account, name.as_str());
        }
        deleted
    })
    .await
}

/// Closes a container that may hold immutable blobs, if it is empty, before it is deleted: nothing
/// can come in between. Says what was closed.
async fn close_empty(
    core: &Core,
    at: &ContainerPath,
    admit: &impl Fn(&Container, Timestamp) -> Result<(), Refusal>,
) -> Result<Option<Place>, Error> {
    let directory = core.store().meta.snapshot(&keys::directory(&at.account)).await?;
    let record = Container::peek(&directory, &keys::container(&at.container))?;
    let record = record.ok_or(Refusal::ContainerNotFound)?;
    admit(&record, core.now(&directory))?;
    let name = at.container.as_str();
    let place = Place::new(Family::Containers, &at.account, name, record.incarnation);
    let keys = Keys(record.incarnation);
    let always = core.settings(&at.account).version_immutability;
    let inside = core.store().meta.snapshot(&place.placement).await?;
    let marks = keys.all_protected();
    let marked = !inside.scan(&marks.start, marks.end.as_deref(), 1)?.is_empty();
    drop(inside);
    if !always && !marked {
        return Ok(None);
    }
    let body = move |tx: &mut Tx<'_>| {
        if !is_empty(tx, keys)? {
            let refusal = KeptRefusal::ContainerImmutableStorageWithVersioningEnabled.into();
            return Err(Abort::Fail(refusal));
        }
        let key = keys.guard();
        if Guard::load(tx, &key)?.is_none() {
            Guard { set: tx.stamp() }.store(tx, &key)?;
        }
        Ok(())
    };
    core.transact(&place.placement, body).await?;
    Ok(Some(place))
}

/// Whether there is neither a blob nor a state of the past. Counts that have come to nothing go in
/// the background; of more than a few, one may count something.
fn is_empty(tx: &mut Tx<'_>, keys: Keys) -> Result<bool, Interrupt> {
    const COUNTS: usize = 64;
    let blobs = keys.blobs().starting_with("");
    if !tx.scan(&blobs.start, blobs.end.as_deref(), 1)?.is_empty() {
        return Ok(false);
    }
    let past = keys.histories().starting_with("");
    let rows = tx.scan(&past.start, past.end.as_deref(), COUNTS)?;
    for row in &rows {
        let moment = keys.histories().split(&row.key).is_none_or(|(_, rest)| !rest.is_empty());
        if moment || History::from_bytes(&row.value)?.rows > 0 {
            return Ok(false);
        }
    }
    Ok(rows.len() < COUNTS)
}

/// Deletes a container so that it can be brought back: its row moves, what is inside stays.
async fn keep(
    core: &Core,
    at: ContainerPath,
    time: Duration,
    mut admit: impl FnMut(&Container, Timestamp) -> Result<(), Refusal> + Send + 'static,
) -> Result<(), Error> {
    let delay = core.options().container_delete_delay;
    let name = at.container.clone();
    let body = move |tx: &mut Tx<'_>| {
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let key = keys::container(&name);
        let mut record =
            Container::load(tx, &key)?.ok_or(Abort::Fail(Refusal::ContainerNotFound))?;
        admit(&record, now).map_err(Abort::Fail)?;
        tx.delete(&key)?;
        record.deleted = Some(Deleted { at: stamp, until: now.plus(time) });
        record.lease = Lease::default();
        record.store(tx, &keys::deleted_container(&name, stamp))?;
        if !delay.is_zero() {
            let held = Family::Containers.held_name(name.as_str());
            HeldName { until: now.plus(delay) }.store(tx, &held)?;
        }
        Ok(record.incarnation)
    };
    let incarnation = core.transact(&keys::directory(&at.account), body).await?;
    let place = Place::new(Family::Containers, &at.account, at.container.as_str(), incarnation);
    set_guard(core, &place).await.map(|_| ())
}
