//! Delete Container: the directory row goes, the guard comes, the rest is purged in the background.
//!
//! Removing the directory row decides. From then on nobody finds the container; operations that had
//! found it before may still finish until the guard is set, which is before the answer.

use super::keys;
use super::op::{ContainerPath, DeleteContainer};
use super::records::{Container, Deleted, HeldName, Record};
use crate::directory::{Family, Place, set_guard};
use crate::service::detached;
use crate::{Core, Error, directory};
use std::time::Duration;
use zaffre_auth::Authorized;
use zaffre_base::Timestamp;
use zaffre_domain::conditions::evaluate_container;
use zaffre_domain::lease::{Lease, LeaseAccess, admits};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Abort, Tx};

/// Deletes a container and everything in it, at once or after the account's retention.
pub async fn delete_container(core: &Core, op: Authorized<DeleteContainer>) -> Result<(), Error> {
    let (DeleteContainer { at, lease, conditions }, _) = op.into_parts();
    let admit = move |record: &Container, now: Timestamp| {
        admits(&record.lease, lease, LeaseAccess::Write, LeaseOn::Container, now)?;
        evaluate_container(&conditions, &record.validators())
    };
    match core.settings(&at.account).container_retention() {
        None => directory::delete(core, &at.account, at.container.as_str(), admit).await,
        Some(time) => {
            let core = core.clone();
            detached(async move { keep(&core, at, time, admit).await }).await
        }
    }
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
