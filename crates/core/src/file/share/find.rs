//! Looking a share up: its row, one of its snapshots, and where its files are.
//!
//! Must never let a snapshot be found that is not the present share's.

use super::op::{ShareAt, SharePath};
use super::records::{Share, ShareSnapshot};
use super::reply::{DeletedShare, ShareView};
use crate::directory::{Family, Found, Place, keys};
use crate::records::{Policy, Record};
use crate::{Core, Error};
use std::time::Duration;
use zaffre_auth::ContainerAccess;
use zaffre_base::{AccountName, ShareName, Stamp, Timestamp};
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::lease::{LeaseView, view};
use zaffre_store::{Snapshot, StoreError};

const GIB: u64 = 1024 * 1024 * 1024;
const DAY: Duration = Duration::from_hours(24);

/// A share that exists, for an operation inside it.
pub(crate) struct FoundShare {
    /// Where its files are.
    pub(crate) found: Found,
    /// How many bytes it may use.
    pub(crate) quota_bytes: u64,
}

/// Looks a share up for an operation inside it, or inside one of its snapshots.
pub(crate) async fn find(
    core: &Core,
    at: &SharePath,
    snapshot: Option<Stamp>,
) -> Result<FoundShare, Error> {
    let store = core.store();
    let pin = store.pins.enter(store.meta.last_stamp());
    let directory = store.meta.snapshot(&keys::directory(&at.account)).await?;
    let share = row(&directory, at)?;
    if let Some(taken) = snapshot {
        snapshot_row(&directory, at, &share, taken)?;
    }
    let place = place(at, &share);
    let quota_bytes = share.quota_gib.saturating_mul(GIB);
    Ok(FoundShare { found: Found { place, pin }, quota_bytes })
}

/// Where a share's files are.
pub(super) fn place(at: &SharePath, share: &Share) -> Place {
    Place::new(Family::Shares, &at.account, at.share.as_str(), share.incarnation)
}

/// The share's row.
pub(super) fn row(directory: &Snapshot, at: &SharePath) -> Result<Share, Error> {
    let share = Share::peek(directory, &Family::Shares.row(at.share.as_str()))?;
    Ok(share.ok_or(FileRefusal::ShareNotFound)?)
}

/// The row of one of its snapshots.
pub(super) fn snapshot_row(
    directory: &Snapshot,
    at: &SharePath,
    share: &Share,
    taken: Stamp,
) -> Result<ShareSnapshot, Error> {
    let key = Family::Shares.snapshot(at.share.as_str(), share.incarnation, taken);
    let row = ShareSnapshot::peek(directory, &key)?;
    Ok(row.ok_or(FileRefusal::ShareSnapshotNotFound)?)
}

/// What a share, or a snapshot of it, is like.
pub(super) fn shown(directory: &Snapshot, at: &ShareAt, now: Timestamp) -> Result<Shown, Error> {
    let share = row(directory, &at.share)?;
    let name = at.share.share.clone();
    Ok(match at.snapshot {
        None => Shown { lease: share.lease, view: of_share(name, &share, now) },
        Some(taken) => {
            let snapshot = snapshot_row(directory, &at.share, &share, taken)?;
            Shown { lease: snapshot.lease, view: of_snapshot(name, taken, &snapshot, now) }
        }
    })
}

/// A share or snapshot with the lease that its readers are held against.
pub(super) struct Shown {
    pub(super) lease: zaffre_domain::lease::Lease,
    pub(super) view: ShareView,
}

pub(super) fn of_share(name: ShareName, share: &Share, now: Timestamp) -> ShareView {
    ShareView {
        name,
        snapshot: None,
        written: share.written,
        metadata: share.metadata.clone(),
        quota_gib: share.quota_gib,
        tier: share.tier(),
        tier_changed: share.tier_changed,
        // A deleted share shows the lease it cannot have.
        lease: if share.deleted.is_some() { LeaseView::Expired } else { view(&share.lease, now) },
        deleted: share.deleted.map(|deleted| DeletedShare {
            version: deleted.at,
            remaining_days: deleted.until.since(now).as_secs() / DAY.as_secs(),
        }),
    }
}

pub(super) fn of_snapshot(
    name: ShareName,
    taken: Stamp,
    snapshot: &ShareSnapshot,
    now: Timestamp,
) -> ShareView {
    ShareView {
        name,
        snapshot: Some(taken),
        written: snapshot.written,
        metadata: snapshot.metadata.clone(),
        quota_gib: snapshot.quota_gib,
        tier: snapshot.tier(),
        tier_changed: snapshot.tier_changed,
        lease: view(&snapshot.lease, now),
        deleted: None,
    }
}

/// The row of a share that was deleted by the commit `at` and is kept.
pub(super) fn deleted_row(name: &str, at: Stamp) -> Vec<u8> {
    let mut key = Family::Shares.deleted(name);
    key.extend_from_slice(&at.0.to_be_bytes());
    key
}

/// What authorization needs to know of a share; `None` = there is none.
pub async fn share_access(core: &Core, at: &SharePath) -> Result<Option<ContainerAccess>, Error> {
    let directory = core.store().meta.snapshot(&keys::directory(&at.account)).await?;
    let share = Share::peek(&directory, &Family::Shares.row(at.share.as_str()))?;
    let policies = |share: Share| share.policies.iter().map(Policy::shown).collect();
    Ok(share.map(|share| ContainerAccess::of_policies(policies(share))))
}

/// Most names that [`share_names`] gives.
const NAMES: usize = 10_000;

/// The names of an account's shares, in order: what a network neighbourhood shows.
pub async fn share_names(core: &Core, account: &AccountName) -> Result<Vec<ShareName>, Error> {
    let directory = core.store().meta.snapshot(&keys::directory(account)).await?;
    let range = Family::Shares.rows("");
    let rows = directory.scan(&range.start, range.end.as_deref(), NAMES)?;
    let names = rows.iter().map(|row| {
        let name = Family::Shares.name_of(&row.key).and_then(|name| ShareName::parse(&name).ok());
        name.ok_or_else(|| StoreError::corrupt("the key of a share").into())
    });
    names.collect()
}
