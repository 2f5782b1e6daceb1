//! Restore Container: a deleted container that is kept comes back with everything in it.
//!
//! The guard goes first. Until the directory has the row again nobody finds the container; a write
//! that found it before its deletion may still happen then, as if it had come before the deletion.

use super::keys;
use super::op::{ContainerPath, RestoreContainer};
use super::records::{Container, Record};
use super::reply::Written;
use crate::directory::keys::guard;
use crate::directory::{Family, Place, set_guard};
use crate::service::detached;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::{Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_store::{Abort, Tx};

/// Brings a container back.
pub async fn restore_container(
    core: &Core,
    op: Authorized<RestoreContainer>,
) -> Result<Written, Error> {
    let (RestoreContainer { at, version }, _) = op.into_parts();
    let version = version.ok_or(Refusal::ContainerNotFound)?;
    let core = core.clone();
    detached(async move {
        let directory = core.store().meta.snapshot(&keys::directory(&at.account)).await?;
        let key = keys::deleted_container(&at.container, version);
        let now = core.now(&directory);
        let record = Container::peek(&directory, &key)?.filter(|record| is_kept(record, now));
        let record = record.ok_or(Refusal::ContainerNotFound)?;
        if directory.get(&keys::container(&at.container))?.is_some() {
            return Err(Refusal::ContainerAlreadyExists.into());
        }
        drop(directory);
        let name = at.container.as_str();
        let place = Place::new(Family::Containers, &at.account, name, record.incarnation);
        let guard = guard(place.incarnation);
        core.transact(&place.placement, move |tx| Ok(tx.delete(&guard)?)).await?;
        let restored = bring_back(&core, at, version).await;
        if let Err(Error::Refused(_)) = restored {
            set_guard(&core, &place).await?;
        }
        restored
    })
    .await
}

fn is_kept(record: &Container, now: Timestamp) -> bool {
    record.deleted.is_some_and(|deleted| now < deleted.until)
}

async fn bring_back(core: &Core, at: ContainerPath, version: Stamp) -> Result<Written, Error> {
    let directory = keys::directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let stamp = tx.stamp();
        let key = keys::container(&at.container);
        let from = keys::deleted_container(&at.container, version);
        let record = Container::load(tx, &from)?.filter(|record| is_kept(record, stamp.time()));
        let mut record = record.ok_or(Abort::Fail(Refusal::ContainerNotFound))?;
        if tx.get(&key)?.is_some() {
            return Err(Abort::Fail(Refusal::ContainerAlreadyExists));
        }
        tx.delete(&from)?;
        tx.delete(&Family::Containers.held_name(at.container.as_str()))?;
        (record.deleted, record.written) = (None, stamp);
        record.store(tx, &key)?;
        Ok(Written::at(stamp))
    };
    core.transact(&directory, body).await
}
