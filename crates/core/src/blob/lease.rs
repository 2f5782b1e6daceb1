//! Lease Blob and Lease Container. Neither changes an ETag.

use super::op::{LeaseBlob, LeaseContainer};
use super::records::{Container, Head, Record};
use super::reply::{LeaseOutcome, Written};
use super::site::{alive, find};
use super::{admit, keys};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::{ApiVersion, Stamp, Timestamp};
use zaffre_domain::conditions::{Access, check_combination, evaluate, evaluate_container};
use zaffre_domain::lease::{Lease, LeaseCommand, LeaseReply, step, step_before_2012};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Abort, Tx};

/// Acquires, renews, changes, releases or breaks the lease of a blob.
pub async fn lease_blob(core: &Core, op: Authorized<LeaseBlob>) -> Result<LeaseOutcome, Error> {
    let (op, _) = op.into_parts();
    check_combination(&op.conditions, Access::Modify)?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let (site, _hold) = found.for_write();
    let keys = site.keys;
    let what = op.at.leased();
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let key = keys.blob(&op.at.blob);
        let mut head = Head::load(tx, &key)?.ok_or(Abort::Fail(Refusal::BlobNotFound))?;
        evaluate(&op.conditions, Some(&head.validators()), Access::Modify).map_err(Abort::Fail)?;
        admit::changeable(&head).map_err(Abort::Fail)?;
        let now = tx.stamp().time();
        let (lease, reply) = apply(head.lease, op.command, LeaseOn::Blob, op.context.version, now)?;
        head.lease = lease;
        head.store(tx, &key)?;
        Ok((outcome(head.written, reply), lease, now))
    };
    let (outcome, lease, now) = core.transact(&site.placement, body).await?;
    core.leases().note(what, &lease, now);
    Ok(outcome)
}

/// Acquires, renews, changes, releases or breaks the lease of a container.
pub async fn lease_container(
    core: &Core,
    op: Authorized<LeaseContainer>,
) -> Result<LeaseOutcome, Error> {
    let (op, _) = op.into_parts();
    let directory = keys::directory(&op.at.account);
    let what = op.at.leased();
    let body = move |tx: &mut Tx<'_>| {
        let key = keys::container(&op.at.container);
        let mut record =
            Container::load(tx, &key)?.ok_or(Abort::Fail(Refusal::ContainerNotFound))?;
        evaluate_container(&op.conditions, &record.validators()).map_err(Abort::Fail)?;
        let now = tx.stamp().time();
        let (lease, reply) =
            apply(record.lease, op.command, LeaseOn::Container, op.context.version, now)?;
        record.lease = lease;
        record.store(tx, &key)?;
        Ok((outcome(record.written, reply), lease, now))
    };
    let (outcome, lease, now) = core.transact(&directory, body).await?;
    core.leases().note(what, &lease, now);
    Ok(outcome)
}

fn apply(
    lease: Lease,
    command: LeaseCommand,
    on: LeaseOn,
    version: ApiVersion,
    now: Timestamp,
) -> Result<(Lease, LeaseReply), Abort<Refusal>> {
    const MODERN: ApiVersion = ApiVersion::new(2012, 2, 12);
    let rules = if version >= MODERN { step } else { step_before_2012 };
    rules(lease, command, on, now).map_err(Abort::Fail)
}

fn outcome(written: Stamp, reply: LeaseReply) -> LeaseOutcome {
    LeaseOutcome { written: Written::at(written), id: reply.id, break_seconds: reply.break_seconds }
}
