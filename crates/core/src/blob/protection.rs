//! Immutability policies and legal holds: set, taken away, and given along with a new blob.
//!
//! Must never let a protected state be found unprotected: every name that ever had one is marked,
//! and what goes by rows that nobody looks at asks the mark first.

use super::admit::{self, Presented};
use super::history;
use super::keys::Keys;
use super::op::{
    BlobPath, DeleteBlobImmutabilityPolicy, SetBlobImmutabilityPolicy, SetBlobLegalHold,
};
use super::records::{Head, PastKind, Record};
use super::site::{alive, find};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::{BlobName, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::KeptRefusal;
use zaffre_domain::blob::immutability::{ImmutabilityPolicy, Protection};
use zaffre_domain::conditions::Conditions;
use zaffre_store::{Abort, Interrupt, StoreError, Tx};

/// Rows of a history that are looked at before its snapshots are deleted together.
const ROWS: usize = 400;

/// Set Blob Immutability Policy.
pub async fn set_immutability_policy(
    core: &Core,
    op: Authorized<SetBlobImmutabilityPolicy>,
) -> Result<ImmutabilityPolicy, Error> {
    let (op, _) = op.into_parts();
    let policy = op.policy;
    let change = move |protection: Protection, now: Timestamp| protection.with_policy(policy, now);
    change_protection(core, op.at, op.conditions, change).await?;
    Ok(policy)
}

/// Delete Blob Immutability Policy.
pub async fn delete_immutability_policy(
    core: &Core,
    op: Authorized<DeleteBlobImmutabilityPolicy>,
) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    let change = |protection: Protection, _: Timestamp| protection.without_policy();
    change_protection(core, op.at, Conditions::default(), change).await
}

/// Set Blob Legal Hold.
pub async fn set_legal_hold(core: &Core, op: Authorized<SetBlobLegalHold>) -> Result<bool, Error> {
    let (op, _) = op.into_parts();
    let hold = op.hold;
    let change = move |protection: Protection, _: Timestamp| {
        Ok(Protection { legal_hold: Some(hold), ..protection })
    };
    change_protection(core, op.at, Conditions::default(), change).await?;
    Ok(hold)
}

/// Changes what keeps one state of a blob; neither its ETag nor anything else of it.
async fn change_protection(
    core: &Core,
    at: BlobPath,
    conditions: Conditions,
    change: impl Fn(Protection, Timestamp) -> Result<Protection, Refusal> + Send + 'static,
) -> Result<(), Error> {
    let supported = core.settings(&at.account).version_immutability;
    let (site, _hold) = find(core, &at.account, &at.container).await?.for_write();
    let keys = site.keys;
    let presented = Presented { lease: None, conditions };
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let now = tx.stamp().time();
        let (key, head) = history::load(tx, keys, &at)?.unzip();
        let mut head = admit::retier(head, &presented, now).map_err(Abort::Fail)?;
        let key = key.unwrap_or_else(|| keys.blob(&at.blob));
        let before = head.protection();
        let after = change(before, now).map_err(Abort::Fail)?;
        // What is protected already can be changed though the account no longer offers it.
        may_protect(after, supported || before.is_some())?;
        head.set_protection(after);
        mark(tx, keys, &at.blob, after)?;
        Ok(head.store(tx, &key)?)
    };
    core.transact(&site.placement, body).await
}

/// Gives a new state the protection that came with it.
pub(crate) fn protect(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    head: &mut Head,
    asked: Protection,
    supported: bool,
) -> Result<(), Abort<Refusal>> {
    may_protect(asked, supported)?;
    if let Some(policy) = asked.policy {
        Protection::default().with_policy(policy, tx.stamp().time()).map_err(Abort::Fail)?;
    }
    head.set_protection(asked);
    Ok(mark(tx, keys, name, asked)?)
}

fn may_protect(asked: Protection, supported: bool) -> Result<(), Abort<Refusal>> {
    if asked.is_some() && !supported {
        return Err(Abort::Fail(KeptRefusal::ImmutabilityNotEnabled.into()));
    }
    Ok(())
}

fn mark(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    protection: Protection,
) -> Result<(), Interrupt> {
    if protection.is_some() { tx.put(&keys.protected(name), &[1]) } else { Ok(()) }
}

/// Refuses to delete the snapshots of a blob together while one of them must stay. Of more than
/// can be looked at in one transaction, one may.
pub(crate) fn check_snapshots(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
) -> Result<(), Abort<Refusal>> {
    if tx.get(&keys.protected(name))?.is_none() {
        return Ok(());
    }
    let now = tx.stamp().time();
    let past = keys.past_of(name);
    let rows = tx.scan(&past.start, past.end.as_deref(), ROWS)?;
    let space = keys.histories();
    for row in &rows {
        let moment = space.split(&row.key).and_then(|(_, rest)| super::keys::moment_of(rest));
        let (_, kind) =
            moment.ok_or_else(|| Interrupt::from(StoreError::corrupt("the key of a moment")))?;
        if kind == PastKind::Snapshot {
            let head = Head::from_bytes(&row.value).map_err(Interrupt::from)?;
            head.protection().check(now).map_err(Abort::Fail)?;
        }
    }
    if rows.len() == ROWS {
        return Err(Abort::Fail(KeptRefusal::BlobImmutableDueToPolicy.into()));
    }
    Ok(())
}
