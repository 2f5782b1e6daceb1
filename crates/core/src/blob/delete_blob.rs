//! Delete Blob: the blob with its staged blocks, its snapshots, or one snapshot or version of it.

use super::admit::{self, Presented};
use super::current;
use super::history::{Past, settle};
use super::keys::Keys;
use super::op::{DeleteBlob, DeleteSnapshots, Moment};
use super::protection::check_snapshots;
use super::records::{Head, PastKind, Record, Staging, Sweep};
use super::replace::LeftOver;
use super::reply::DeleteReply;
use super::site::{alive, find};
use crate::settings::AccountSettings;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_domain::Refusal;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_store::{Abort, StoreError, Tx};

/// How often the history is written to the end because another change of all of it came first.
const ATTEMPTS: usize = 16;

/// Deletes a blob, or a part of its history.
pub async fn delete_blob(core: &Core, op: Authorized<DeleteBlob>) -> Result<DeleteReply, Error> {
    let (op, _) = op.into_parts();
    remove_blob(core, op).await
}

/// The same for what the service itself removes.
pub(crate) async fn remove_blob(core: &Core, mut op: DeleteBlob) -> Result<DeleteReply, Error> {
    check_combination(&op.conditions, Access::Modify)?;
    let settings = core.settings_now(&op.at.account).await?;
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let conditions = std::mem::take(&mut op.conditions);
    let presented = Presented { lease: op.lease, conditions };
    let deletion = Arc::new(Deletion { op, presented, settings, keys: site.keys });
    for _ in 0..ATTEMPTS {
        let deciding = Arc::clone(&deletion);
        let body = move |tx: &mut Tx<'_>| deciding.decide(tx);
        if let Some(reply) = core.commit(&site, body).await? {
            let op = &deletion.op;
            if op.at.moment == Moment::Current && op.snapshots != DeleteSnapshots::Only {
                core.leases().forget(&op.at.leased());
            }
            return Ok(reply);
        }
        settle(core, &site, &deletion.op.at.blob).await?;
    }
    Err(StoreError::Busy.into())
}

struct Deletion {
    op: DeleteBlob,
    presented: Presented,
    settings: AccountSettings,
    keys: Keys,
}

/// `None`: an earlier change of all rows has to be written first.
type Decided = Result<(Option<DeleteReply>, LeftOver), Abort<Refusal>>;

impl Deletion {
    fn decide(&self, tx: &mut Tx<'_>) -> Decided {
        alive(tx, self.keys)?;
        let past = Past::load(tx, self.keys, &self.op.at.blob)?;
        if !past.is_settled() {
            return Ok((None, LeftOver::Nothing));
        }
        match &self.op.at.moment {
            Moment::Current => self.blob(tx, past),
            Moment::Snapshot(id) => self.moment(tx, past, Stamp(id.at.0), PastKind::Snapshot),
            Moment::Version(id) => self.moment(tx, past, Stamp(id.at.0), PastKind::Version),
        }
    }

    fn blob(&self, tx: &mut Tx<'_>, mut past: Past) -> Decided {
        let now = tx.stamp().time();
        let (keys, name) = (self.keys, &self.op.at.blob);
        let keeping = self.settings.keeping();
        let head = Head::load(tx, &keys.blob(name))?;
        let staging = Staging::load(tx, &keys.staging(name))?;
        let staged = staging.is_some_and(|staging| !staging.has_expired(now));
        if head.is_none() && staged {
            admit::delete_staged(&self.presented).map_err(Abort::Fail)?;
            let left = past.finish(tx, staging.as_ref(), None)?;
            return Ok((Some(DeleteReply { permanent: true }), left));
        }
        let head = admit::delete(head, &self.presented, now).map_err(Abort::Fail)?;
        self.op.tier_conditions.check(head.tier_changed()).map_err(Abort::Fail)?;
        if self.op.snapshots != DeleteSnapshots::Only {
            head.protection().check(now).map_err(Abort::Fail)?;
        }
        if self.op.snapshots != DeleteSnapshots::Refuse {
            check_snapshots(tx, keys, name)?;
        }
        match self.op.snapshots {
            DeleteSnapshots::Refuse if past.has_snapshots() => {
                return Err(Abort::Fail(Refusal::SnapshotsPresent));
            }
            DeleteSnapshots::Include | DeleteSnapshots::Only if past.has_snapshots() => {
                match keeping.deleted {
                    None => past.sweep(tx, Sweep::DropSnapshots, None)?,
                    Some(time) => past.sweep(tx, Sweep::KeepDeleted, Some(now.plus(time)))?,
                }
            }
            DeleteSnapshots::Refuse | DeleteSnapshots::Include | DeleteSnapshots::Only => {}
        }
        if self.op.snapshots == DeleteSnapshots::Only {
            let permanent = keeping.deleted.is_none();
            return Ok((Some(DeleteReply { permanent }), past.finish(tx, None, None)?));
        }
        let permanent = past.bury(tx, &head, keeping)?;
        current::delete(tx, keys, name, Some(&head))?;
        let left = past.finish(tx, staging.as_ref(), None)?;
        Ok((Some(DeleteReply { permanent }), left))
    }

    fn moment(&self, tx: &mut Tx<'_>, mut past: Past, at: Stamp, kind: PastKind) -> Decided {
        let now = tx.stamp().time();
        let found = past.find(tx, at, kind)?;
        if self.op.permanent {
            return self.for_good(tx, past, at, kind, found);
        }
        let found = found.filter(|head| head.deleted.is_none());
        if found.is_none() && kind == PastKind::Version {
            let current = Head::load(tx, &self.keys.blob(&self.op.at.blob))?;
            if current.is_some_and(|head| head.version == Some(at)) {
                return Err(Abort::Fail(Refusal::OperationNotAllowedOnRootBlob));
            }
        }
        let head = admit::delete(found, &self.presented, now).map_err(Abort::Fail)?;
        self.op.tier_conditions.check(head.tier_changed()).map_err(Abort::Fail)?;
        head.protection().check(now).map_err(Abort::Fail)?;
        let permanent = past.delete(tx, at, kind, &head, self.settings.keeping())?;
        Ok((Some(DeleteReply { permanent }), past.finish(tx, None, None)?))
    }

    /// What was deleted before goes now and not when its time is over.
    fn for_good(
        &self,
        tx: &mut Tx<'_>,
        mut past: Past,
        at: Stamp,
        kind: PastKind,
        found: Option<Head>,
    ) -> Decided {
        if !self.settings.permanent_delete {
            return Err(Abort::Fail(Refusal::PermanentDeleteIsOff));
        }
        let head = found.ok_or(Abort::Fail(Refusal::BlobNotFound))?;
        if head.deleted.is_none() {
            return Err(Abort::Fail(Refusal::BlobNotDeleted));
        }
        past.remove(tx, at, kind, &head)?;
        Ok((Some(DeleteReply { permanent: true }), past.finish(tx, None, None)?))
    }
}
