//! Lease Share: of a share, or of one of its snapshots. Does not change an ETag.

use super::op::LeaseShare;
use super::records::{Share, ShareSnapshot};
use super::reply::ShareLeased;
use crate::directory::Family;
use crate::directory::keys::directory;
use crate::records::Record;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_domain::LeaseOn;
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::lease::{LeaseReply, step};
use zaffre_store::{Abort, Tx};

/// Acquires, renews, changes, releases or breaks a lease.
pub async fn lease_share(core: &Core, op: Authorized<LeaseShare>) -> Result<ShareLeased, Error> {
    let (LeaseShare { at, command }, _) = op.into_parts();
    let placement = directory(&at.share.account);
    let what = at.leased();
    let body = move |tx: &mut Tx<'_>| {
        let name = at.share.share.as_str();
        let key = Family::Shares.row(name);
        let fail = |refusal: FileRefusal| Abort::Fail(refusal.into());
        let now = tx.stamp().time();
        let mut share = Share::load(tx, &key)?.ok_or_else(|| fail(FileRefusal::ShareNotFound))?;
        let Some(taken) = at.snapshot else {
            let (lease, reply) =
                step(share.lease, command, LeaseOn::Share, now).map_err(Abort::Fail)?;
            share.lease = lease;
            share.store(tx, &key)?;
            return Ok((leased(share.written, reply), lease, now));
        };
        let key = Family::Shares.snapshot(name, share.incarnation, taken);
        let missing = || fail(FileRefusal::ShareSnapshotNotFound);
        let mut snapshot = ShareSnapshot::load(tx, &key)?.ok_or_else(missing)?;
        let (lease, reply) =
            step(snapshot.lease, command, LeaseOn::Share, now).map_err(Abort::Fail)?;
        snapshot.lease = lease;
        snapshot.store(tx, &key)?;
        Ok((leased(snapshot.written, reply), lease, now))
    };
    let (reply, lease, now) = core.transact(&placement, body).await?;
    core.leases().note(what, &lease, now);
    Ok(reply)
}

fn leased(written: Stamp, reply: LeaseReply) -> ShareLeased {
    ShareLeased { written, id: reply.id, break_seconds: reply.break_seconds }
}
