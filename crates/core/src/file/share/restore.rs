//! Restore Share: a deleted share that is kept comes back with its snapshots and files.
//!
//! The guard goes first. Until the directory has the row again nobody finds the share; a write that
//! found it before its deletion may still happen then, as if it had come before the deletion.

use super::find::{deleted_row, place};
use super::op::{RestoreShare, SharePath};
use super::records::Share;
use crate::directory::keys::{directory, guard};
use crate::directory::{Family, set_guard};
use crate::records::Record;
use crate::service::detached;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::{Stamp, Timestamp};
use zaffre_domain::fs::FileRefusal;
use zaffre_store::{Abort, Tx};

/// Brings a share back.
pub async fn restore_share(core: &Core, op: Authorized<RestoreShare>) -> Result<Stamp, Error> {
    let (RestoreShare { at, version }, _) = op.into_parts();
    let version = version.ok_or(FileRefusal::ShareNotFound)?;
    let core = core.clone();
    detached(async move {
        let name = at.share.as_str();
        let inside = core.store().meta.snapshot(&directory(&at.account)).await?;
        let now = core.now(&inside);
        let share = Share::peek(&inside, &deleted_row(name, version))?;
        let share = share.filter(|share| is_kept(share, now)).ok_or(FileRefusal::ShareNotFound)?;
        if inside.get(&Family::Shares.row(name))?.is_some() {
            return Err(FileRefusal::ShareAlreadyExists.into());
        }
        drop(inside);
        let place = place(&at, &share);
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

fn is_kept(share: &Share, now: Timestamp) -> bool {
    share.deleted.is_some_and(|deleted| now < deleted.until)
}

async fn bring_back(core: &Core, at: SharePath, version: Stamp) -> Result<Stamp, Error> {
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let name = at.share.as_str();
        let fail = |refusal: FileRefusal| Abort::Fail(refusal.into());
        let stamp = tx.stamp();
        let (key, from) = (Family::Shares.row(name), deleted_row(name, version));
        let share = Share::load(tx, &from)?.filter(|share| is_kept(share, stamp.time()));
        let mut share = share.ok_or_else(|| fail(FileRefusal::ShareNotFound))?;
        if tx.get(&key)?.is_some() {
            return Err(fail(FileRefusal::ShareAlreadyExists));
        }
        tx.delete(&from)?;
        tx.delete(&Family::Shares.held_name(name))?;
        (share.deleted, share.written) = (None, stamp);
        share.store(tx, &key)?;
        Ok(stamp)
    };
    core.transact(&placement, body).await
}
