//! Get and set the properties, metadata and ACL of a container.

use super::create_container::check_access;
use super::keys;
use super::op::{
    ContainerPath, GetContainer, GetContainerAcl, SetContainerAcl, SetContainerMetadata,
};
use super::records::{Container, Record};
use super::reply::{ContainerView, Written};
use super::view;
use crate::{Core, Error};
use zaffre_auth::{Authorized, ContainerAccess};
use zaffre_base::{Guid, Stamp};
use zaffre_domain::conditions::{Conditions, evaluate_container};
use zaffre_domain::lease::{LeaseAccess, admits};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Abort, Tx};

/// What authorization needs to know of a container; `None` = there is none.
pub async fn container_access(
    core: &Core,
    at: &ContainerPath,
) -> Result<Option<ContainerAccess>, Error> {
    let directory = core.store().meta.snapshot(&keys::directory(&at.account)).await?;
    let record = Container::peek(&directory, &keys::container(&at.container))?;
    Ok(record.map(|c| ContainerAccess { access: c.access(), policies: c.policies() }))
}

/// Get Container Properties and Get Container Metadata.
pub async fn get_container(
    core: &Core,
    op: Authorized<GetContainer>,
) -> Result<ContainerView, Error> {
    let (op, _) = op.into_parts();
    read(core, op.at, op.lease).await
}

/// Get Container ACL.
pub async fn get_container_acl(
    core: &Core,
    op: Authorized<GetContainerAcl>,
) -> Result<ContainerView, Error> {
    let (op, _) = op.into_parts();
    read(core, op.at, op.lease).await
}

async fn read(core: &Core, at: ContainerPath, lease: Option<Guid>) -> Result<ContainerView, Error> {
    let directory = core.store().meta.snapshot(&keys::directory(&at.account)).await?;
    let record = Container::peek(&directory, &keys::container(&at.container))?
        .ok_or(Refusal::ContainerNotFound)?;
    let now = core.now(&directory);
    admits(&record.lease, lease, LeaseAccess::Read, LeaseOn::Container, now)?;
    let immutability = core.settings(&at.account).version_immutability;
    Ok(view::container(at.container, &record, immutability, now))
}

/// Set Container Metadata: replaces all of it.
pub async fn set_container_metadata(
    core: &Core,
    op: Authorized<SetContainerMetadata>,
) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    let metadata = op.metadata;
    change(core, op.at, op.lease, op.conditions, move |record| {
        record.metadata.clone_from(&metadata);
    })
    .await
}

/// Set Container ACL: replaces access level and policies.
pub async fn set_container_acl(
    core: &Core,
    op: Authorized<SetContainerAcl>,
) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    check_access(core, &op.at.account, op.access)?;
    let (access, policies) = (op.access, op.policies);
    change(core, op.at, op.lease, op.conditions, move |record| {
        record.set_access(access);
        record.set_policies(&policies);
    })
    .await
}

async fn change(
    core: &Core,
    at: ContainerPath,
    lease: Option<Guid>,
    conditions: Conditions,
    mut apply: impl FnMut(&mut Container) + Send + 'static,
) -> Result<Written, Error> {
    let directory = keys::directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = keys::container(&at.container);
        let stamp = tx.stamp();
        let mut record = admitted(tx, &key, lease, &conditions, stamp)?;
        record.written = stamp;
        apply(&mut record);
        record.store(tx, &key)?;
        Ok(Written::at(stamp))
    };
    core.transact(&directory, body).await
}

fn admitted(
    tx: &mut Tx<'_>,
    key: &[u8],
    lease: Option<Guid>,
    conditions: &Conditions,
    stamp: Stamp,
) -> Result<Container, Abort<Refusal>> {
    let record = Container::load(tx, key)?.ok_or(Abort::Fail(Refusal::ContainerNotFound))?;
    admits(&record.lease, lease, LeaseAccess::Read, LeaseOn::Container, stamp.time())
        .map_err(Abort::Fail)?;
    evaluate_container(conditions, &record.validators()).map_err(Abort::Fail)?;
    Ok(record)
}
