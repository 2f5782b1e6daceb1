//! Snapshot Share: the share remembers a stamp, then the directory gets the snapshot's row.
//!
//! A crash in between leaves a stamp without a row: nobody finds it, and [`reconcile`] makes the
//! share forget it. Must never give the row first: a snapshot that is found must have its state.

use super::find::{place, row};
use super::op::{SharePath, SnapshotShare};
use super::records::Share;
use super::reply::SnapshotTaken;
use crate::directory::keys::directory;
use crate::directory::{Family, Place};
use crate::file::state;
use crate::file::write_back::before_snapshot;
use crate::records::Record;
use crate::service::detached;
use crate::{Core, Error};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use zaffre_auth::Authorized;
use zaffre_base::limits::SHARE_SNAPSHOTS;
use zaffre_base::{AccountName, ShareName, Stamp};
use zaffre_domain::blob::Metadata;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::{Abort, StoreError, Tx};

/// The shares of which a snapshot is being taken.
#[derive(Debug, Default)]
pub(crate) struct InProgress(Mutex<BTreeSet<Place>>);

/// That nobody else takes a snapshot of the share, for as long as it is held.
struct Turn {
    core: Core,
    place: Place,
}

impl Turn {
    fn take(core: &Core, place: &Place) -> Option<Self> {
        let mut taken = core.snapshotting().0.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = || Self { core: core.clone(), place: place.clone() };
        taken.insert(place.clone()).then(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let taken = &self.core.snapshotting().0;
        taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.place);
    }
}

/// Takes a snapshot of a share.
pub async fn snapshot_share(
    core: &Core,
    op: Authorized<SnapshotShare>,
) -> Result<SnapshotTaken, Error> {
    let (SnapshotShare { at, metadata }, _) = op.into_parts();
    let core = core.clone();
    detached(async move {
        let inside = core.store().meta.snapshot(&directory(&at.account)).await?;
        let share = row(&inside, &at)?;
        drop(inside);
        let place = place(&at, &share);
        let _turn = Turn::take(&core, &place).ok_or(FileRefusal::ShareSnapshotInProgress)?;
        if usize::try_from(share.snapshots).is_ok_and(|taken| taken >= SHARE_SNAPSHOTS) {
            return Err(FileRefusal::ShareSnapshotCountExceeded.into());
        }
        before_snapshot(&core, place.incarnation).await?;
        let taken = state::snapshot_begin(&core, &place).await?;
        let listed = list(&core, at, &place, taken, metadata).await;
        if let Err(Error::Refused(_)) = listed {
            state::snapshot_forget(&core, &place, taken).await?;
        }
        listed
    })
    .await
}

async fn list(
    core: &Core,
    at: SharePath,
    place: &Place,
    taken: Stamp,
    metadata: Option<Metadata>,
) -> Result<SnapshotTaken, Error> {
    let incarnation = place.incarnation;
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let name = at.share.as_str();
        let key = Family::Shares.row(name);
        let share = Share::load(tx, &key)?.filter(|share| share.incarnation == incarnation);
        let missing = || Abort::Fail(FileRefusal::ShareNotFound.into());
        let mut share = share.ok_or_else(missing)?;
        let mut snapshot = share.snapshot();
        if let Some(own) = &metadata {
            snapshot.metadata.clone_from(own);
            snapshot.written = taken;
        }
        snapshot.store(tx, &Family::Shares.snapshot(name, incarnation, taken))?;
        share.snapshots = share.snapshots.saturating_add(1);
        share.store(tx, &key)?;
        Ok(SnapshotTaken { snapshot: taken, written: snapshot.written })
    };
    core.transact(&placement, body).await
}

/// Shares looked at by one snapshot of the directory.
const BATCH: usize = 256;

/// Makes every share of an account forget snapshots that have no row: of those that a crash kept
/// from being listed, and from being forgotten when they were deleted.
pub(crate) async fn reconcile(core: &Core, account: &AccountName) -> Result<(), Error> {
    let range = Family::Shares.rows("");
    let mut start = range.start;
    loop {
        let inside = core.store().meta.snapshot(&directory(account)).await?;
        let rows = inside.scan(&start, range.end.as_deref(), BATCH)?;
        drop(inside);
        for row in &rows {
            let name = Family::Shares.name_of(&row.key).and_then(|n| ShareName::parse(&n).ok());
            let share = name.ok_or_else(|| StoreError::corrupt("the key of a share"))?;
            let at = SharePath { account: account.clone(), share };
            reconcile_one(core, &at, &Share::from_bytes(&row.value)?).await?;
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(()),
        }
    }
}

async fn reconcile_one(core: &Core, at: &SharePath, share: &Share) -> Result<(), Error> {
    let place = place(at, share);
    // Whoever takes one now will list it, or forget it.
    let Some(_turn) = Turn::take(core, &place) else { return Ok(()) };
    let remembered = state::snapshots(core, &place).await?;
    // Read after: what is listed meanwhile was remembered before.
    let inside = core.store().meta.snapshot(&directory(&at.account)).await?;
    for taken in remembered {
        let key = Family::Shares.snapshot(at.share.as_str(), share.incarnation, taken);
        if inside.get(&key)?.is_none() {
            state::snapshot_forget(core, &place, taken).await?;
        }
    }
    Ok(())
}
