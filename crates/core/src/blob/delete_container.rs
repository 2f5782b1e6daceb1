//! Delete Container: the directory row goes, the guard comes, the rest is purged in the background.
//!
//! Removing the directory row decides. From then on nobody finds the container; operations that had
//! found it before may still finish until the guard is set, which is before the answer.

use super::keys;
use super::op::DeleteContainer;
use super::records::{Container, Guard, HeldName, Purge, Record};
use super::site::Site;
use crate::background::purge::{Doomed, wake};
use crate::service::detached;
use crate::{Core, Error};
use std::time::Duration;
use zaffre_auth::Authorized;
use zaffre_domain::conditions::evaluate_container;
use zaffre_domain::lease::{LeaseAccess, admits};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Abort, Tx};

/// Deletes a container and everything in it.
pub async fn delete_container(core: &Core, op: Authorized<DeleteContainer>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    let core = core.clone();
    detached(async move {
        let delay = core.options().container_delete_delay;
        let directory = keys::directory(&op.at.account);
        let account = op.at.account.clone();
        let at = op.at.clone();
        let body = move |tx: &mut Tx<'_>| remove(tx, &op, delay);
        let (incarnation, intent) = core.store().meta.transact(&directory, body).await?;
        let site = Site::new(&at.account, &at.container, incarnation);
        let guard = set_guard(&core, &site).await;
        // Also when the guard could not be set: the background tries again.
        wake(&core, Doomed { account, site, intent });
        guard.map(|_| ())
    })
    .await
}

type Removed = (zaffre_base::Incarnation, Vec<u8>);

fn remove(
    tx: &mut Tx<'_>,
    op: &DeleteContainer,
    delay: Duration,
) -> Result<Removed, Abort<Refusal>> {
    let now = tx.stamp().time();
    let key = keys::container(&op.at.container);
    let record = Container::load(tx, &key)?.ok_or(Abort::Fail(Refusal::ContainerNotFound))?;
    admits(&record.lease, op.lease, LeaseAccess::Write, LeaseOn::Container, now)
        .map_err(Abort::Fail)?;
    evaluate_container(&op.conditions, &record.validators()).map_err(Abort::Fail)?;
    tx.delete(&key)?;
    if !delay.is_zero() {
        HeldName { until: now.plus(delay) }.store(tx, &keys::held_name(&op.at.container))?;
    }
    let intent = keys::purge(tx.stamp());
    let container = op.at.container.as_str().to_owned();
    Purge { container, incarnation: record.incarnation }.store(tx, &intent)?;
    Ok((record.incarnation, intent))
}

/// Makes every later write inside the container fail. Content with finding the guard set already.
pub(crate) async fn set_guard(core: &Core, site: &Site) -> Result<Guard, Error> {
    let keys = site.keys;
    let body = move |tx: &mut Tx<'_>| {
        let key = keys.guard();
        if let Some(guard) = Guard::load(tx, &key)? {
            return Ok(guard);
        }
        let guard = Guard { set: tx.stamp() };
        guard.store(tx, &key)?;
        Ok(guard)
    };
    core.transact(&site.placement, body).await
}
