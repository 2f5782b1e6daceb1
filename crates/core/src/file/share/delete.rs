//! Delete Share: its row goes, or moves to where deleted shares are kept; then the guard comes.
//!
//! ```text
//!   no retention:  row and snapshots go, an intent to purge comes (one commit) ─► guard ─► answer
//!   retention:     row moves; snapshots stay, named by the incarnation ─► guard ─► answer
//!   a snapshot:    its row goes ─► the share forgets its stamp ─► answer
//! ```
//! Must never leave a snapshot's row behind a share that is gone for good.

use super::find::{deleted_row, place, row};
use super::op::{DeleteShare, DeleteShareSnapshots, ShareAt, SharePath};
use super::records::{Share, ShareSnapshot};
use crate::background::purge::{Doomed, wake};
use crate::blob::records::Deleted;
use crate::directory::keys::directory;
use crate::directory::{Family, Place, doom, set_guard};
use crate::file::state;
use crate::records::{HeldName, Record};
use crate::service::detached;
use crate::{Core, Error};
use std::time::Duration;
use zaffre_auth::{Authorized, Service};
use zaffre_base::limits::SHARE_SNAPSHOTS;
use zaffre_base::{AccountName, Guid, Incarnation, Stamp, Timestamp};
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::lease::{Lease, LeaseAccess, admits, view};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Abort, Interrupt, Row, StoreError, Tx};

/// Deletes a share and everything in it, at once or after the retention, or one of its snapshots;
/// gives the bytes that the share used.
pub async fn delete_share(core: &Core, op: Authorized<DeleteShare>) -> Result<u64, Error> {
    let (op, _) = op.into_parts();
    let core = core.clone();
    detached(async move {
        let inside = core.store().meta.snapshot(&directory(&op.at.share.account)).await?;
        let place = place(&op.at.share, &row(&inside, &op.at.share)?);
        drop(inside);
        let usage = state::usage(&core, &place).await?;
        let at = op.at.clone();
        match op.at.snapshot {
            Some(taken) => delete_snapshot(&core, op.at, taken, op.lease).await?,
            None => delete_all(&core, op).await?,
        }
        core.leases().forget_at(&at.leased());
        Ok(usage)
    })
    .await
}

async fn delete_snapshot(
    core: &Core,
    at: ShareAt,
    taken: Stamp,
    lease: Option<Guid>,
) -> Result<(), Error> {
    let path = at.share.clone();
    let body = move |tx: &mut Tx<'_>| {
        let (mut share, key) = load(tx, &path)?;
        let row = Family::Shares.snapshot(path.share.as_str(), share.incarnation, taken);
        let missing = || Abort::Fail(FileRefusal::ShareSnapshotNotFound.into());
        let snapshot = ShareSnapshot::load(tx, &row)?.ok_or_else(missing)?;
        admit(&snapshot.lease, lease, tx.stamp().time())?;
        tx.delete(&row)?;
        share.snapshots = share.snapshots.saturating_sub(1);
        share.store(tx, &key)?;
        Ok(place(&path, &share))
    };
    let place = core.transact(&directory(&at.share.account), body).await?;
    state::snapshot_forget(core, &place, taken).await
}

async fn delete_all(core: &Core, op: DeleteShare) -> Result<(), Error> {
    let account = op.at.share.account.clone();
    let kept = retention(core, &account).await?;
    let delay = core.options().container_delete_delay;
    let body = move |tx: &mut Tx<'_>| remove(tx, &op, kept, delay);
    let (place, intent) = core.transact(&directory(&account), body).await?;
    let guard = set_guard(core, &place).await;
    if let Some(intent) = intent {
        // Also when the guard could not be set: the background tries again.
        wake(core, Doomed { account, place, intent });
    }
    guard.map(|_| ())
}

/// How long deleted shares are kept, if they are.
async fn retention(core: &Core, account: &AccountName) -> Result<Option<Duration>, Error> {
    const HOURS: u64 = 24;
    let properties = core.service_properties(account, Service::File).await?;
    let days = properties.delete_retention.and_then(|kept| kept.retention.get());
    Ok(days.map(|days| Duration::from_hours(HOURS * u64::from(days))))
}

type Removed = (Place, Option<Vec<u8>>);

fn remove(
    tx: &mut Tx<'_>,
    op: &DeleteShare,
    kept: Option<Duration>,
    delay: Duration,
) -> Result<Removed, Abort<Refusal>> {
    let (mut share, key) = load(tx, &op.at.share)?;
    let (stamp, now) = (tx.stamp(), tx.stamp().time());
    let name = op.at.share.share.as_str();
    admit(&share.lease, op.lease, now)?;
    let snapshots = snapshots(tx, name, share.incarnation)?;
    check_snapshots(&snapshots, op.snapshots, now)?;
    tx.delete(&key)?;
    let place = place(&op.at.share, &share);
    let until = (!delay.is_zero()).then(|| now.plus(delay));
    let Some(time) = kept else {
        for row in &snapshots {
            tx.delete(&row.key)?;
        }
        let intent = doom(tx, Family::Shares, name, share.incarnation, until)?;
        return Ok((place, Some(intent)));
    };
    share.deleted = Some(Deleted { at: stamp, until: now.plus(time) });
    share.lease = Lease::default();
    share.store(tx, &deleted_row(name, stamp))?;
    if let Some(until) = until {
        HeldName { until }.store(tx, &Family::Shares.held_name(name))?;
    }
    Ok((place, None))
}

fn load(tx: &mut Tx<'_>, at: &SharePath) -> Result<(Share, Vec<u8>), Abort<Refusal>> {
    let key = Family::Shares.row(at.share.as_str());
    let missing = || Abort::Fail(FileRefusal::ShareNotFound.into());
    Ok((Share::load(tx, &key)?.ok_or_else(missing)?, key))
}

fn admit(lease: &Lease, presented: Option<Guid>, now: Timestamp) -> Result<(), Abort<Refusal>> {
    admits(lease, presented, LeaseAccess::Write, LeaseOn::Share, now).map_err(Abort::Fail)
}

fn snapshots(tx: &mut Tx<'_>, name: &str, incarnation: Incarnation) -> Result<Vec<Row>, Interrupt> {
    let range = Family::Shares.snapshots(name, incarnation);
    tx.scan(&range.start, range.end.as_deref(), SHARE_SNAPSHOTS)
}

fn check_snapshots(
    rows: &[Row],
    asked: DeleteShareSnapshots,
    now: Timestamp,
) -> Result<(), Abort<Refusal>> {
    let fail = |refusal: FileRefusal| Err(Abort::Fail(refusal.into()));
    match asked {
        DeleteShareSnapshots::Refuse if !rows.is_empty() => fail(FileRefusal::ShareHasSnapshots),
        DeleteShareSnapshots::Include => {
            for row in rows {
                let snapshot = ShareSnapshot::from_bytes(&row.value).map_err(Interrupt::from)?;
                if view(&snapshot.lease, now).is_locked() {
                    return fail(FileRefusal::DeleteShareWhenSnapshotLeased);
                }
            }
            Ok(())
        }
        DeleteShareSnapshots::Refuse | DeleteShareSnapshots::IncludeLeased => Ok(()),
    }
}

/// Deleted shares looked at by one snapshot of the directory.
const BATCH: usize = 256;

/// Dooms shares that were deleted and kept, once their time is over.
pub(crate) async fn drop_deleted(core: &Core, account: &AccountName) -> Result<(), Error> {
    let directory = directory(account);
    let range = Family::Shares.all_deleted("");
    let mut start = range.start;
    loop {
        let inside = core.store().meta.snapshot(&directory).await?;
        let rows = inside.scan(&start, range.end.as_deref(), BATCH)?;
        drop(inside);
        for row in &rows {
            let until = Share::from_bytes(&row.value)?.deleted.map(|deleted| deleted.until);
            if until.is_none_or(|until| until <= core.store().clock.now()) {
                drop_one(core, account, &row.key).await?;
            }
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(()),
        }
    }
}

async fn drop_one(core: &Core, account: &AccountName, key: &[u8]) -> Result<(), Error> {
    let (name, _) = Family::Shares
        .deleted_name_of(key)
        .ok_or_else(|| StoreError::corrupt("the key of a deleted share"))?;
    let (called, key) = (name.clone(), key.to_vec());
    let body = move |tx: &mut Tx<'_>| {
        let now = tx.stamp().time();
        let is_over = |share: &Share| share.deleted.is_none_or(|deleted| deleted.until <= now);
        let Some(share) = Share::load(tx, &key)?.filter(is_over) else { return Ok(None) };
        tx.delete(&key)?;
        for row in snapshots(tx, &called, share.incarnation)? {
            tx.delete(&row.key)?;
        }
        let intent = doom(tx, Family::Shares, &called, share.incarnation, None)?;
        Ok(Some((share.incarnation, intent)))
    };
    if let Some((incarnation, intent)) = core.transact(&directory(account), body).await? {
        let place = Place::new(Family::Shares, account, &name, incarnation);
        wake(core, Doomed { account: account.clone(), place, intent });
    }
    Ok(())
}
