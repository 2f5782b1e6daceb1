//! Get and set the properties, metadata and ACL of a share, and what it uses.

use super::find::{place, row, shown};
use super::op::{
    GetShare, GetShareAcl, GetShareStats, SetShareAcl, SetShareMetadata, SetShareProperties,
    SharePath,
};
use super::records::Share;
use super::reply::{ShareAcl, ShareStats, ShareView};
use crate::directory::Family;
use crate::directory::keys::directory;
use crate::file::state;
use crate::records::{Policy, Record};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::{Guid, Stamp, Timestamp};
use zaffre_domain::LeaseOn;
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::lease::{Lease, LeaseAccess, admits};
use zaffre_store::{Abort, Tx};

/// Get Share Properties and Get Share Metadata, also of a snapshot.
pub async fn get_share(core: &Core, op: Authorized<GetShare>) -> Result<ShareView, Error> {
    let (GetShare { at, lease }, _) = op.into_parts();
    let inside = core.store().meta.snapshot(&directory(&at.share.account)).await?;
    let now = core.now(&inside);
    let found = shown(&inside, &at, now)?;
    reads(&found.lease, lease, now)?;
    Ok(found.view)
}

/// Get Share ACL.
pub async fn get_share_acl(core: &Core, op: Authorized<GetShareAcl>) -> Result<ShareAcl, Error> {
    let (GetShareAcl { at, lease }, _) = op.into_parts();
    let share = read(core, &at, lease).await?;
    let policies = share.policies.iter().map(Policy::shown).collect();
    Ok(ShareAcl { written: share.written, policies })
}

/// Get Share Stats.
pub async fn get_share_stats(
    core: &Core,
    op: Authorized<GetShareStats>,
) -> Result<ShareStats, Error> {
    let (GetShareStats { at, lease }, _) = op.into_parts();
    let share = read(core, &at, lease).await?;
    let usage = state::usage(core, &place(&at, &share)).await?;
    Ok(ShareStats { written: share.written, usage })
}

async fn read(core: &Core, at: &SharePath, lease: Option<Guid>) -> Result<Share, Error> {
    let inside = core.store().meta.snapshot(&directory(&at.account)).await?;
    let share = row(&inside, at)?;
    reads(&share.lease, lease, core.now(&inside))?;
    Ok(share)
}

fn reads(lease: &Lease, presented: Option<Guid>, now: Timestamp) -> Result<(), Error> {
    Ok(admits(lease, presented, LeaseAccess::Read, LeaseOn::Share, now)?)
}

/// Set Share Properties: quota and access tier. A quota below what is used is taken; nothing more
/// fits then.
pub async fn set_share_properties(
    core: &Core,
    op: Authorized<SetShareProperties>,
) -> Result<Stamp, Error> {
    let (SetShareProperties { at, lease, quota_gib, tier }, _) = op.into_parts();
    change(core, at, lease, move |share| {
        share.quota_gib = quota_gib.unwrap_or(share.quota_gib);
        if let Some(tier) = tier {
            share.set_tier(tier, share.written.time());
        }
    })
    .await
}

/// Set Share Metadata: replaces all of it.
pub async fn set_share_metadata(
    core: &Core,
    op: Authorized<SetShareMetadata>,
) -> Result<Stamp, Error> {
    let (SetShareMetadata { at, lease, metadata }, _) = op.into_parts();
    change(core, at, lease, move |share| share.metadata.clone_from(&metadata)).await
}

/// Set Share ACL: replaces all policies.
pub async fn set_share_acl(core: &Core, op: Authorized<SetShareAcl>) -> Result<Stamp, Error> {
    let (SetShareAcl { at, lease, policies }, _) = op.into_parts();
    change(core, at, lease, move |share| {
        share.policies = policies.iter().map(Policy::from).collect();
    })
    .await
}

async fn change(
    core: &Core,
    at: SharePath,
    lease: Option<Guid>,
    mut apply: impl FnMut(&mut Share) + Send + 'static,
) -> Result<Stamp, Error> {
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = Family::Shares.row(at.share.as_str());
        let missing = || Abort::Fail(FileRefusal::ShareNotFound.into());
        let mut share = Share::load(tx, &key)?.ok_or_else(missing)?;
        let stamp = tx.stamp();
        admits(&share.lease, lease, LeaseAccess::Write, LeaseOn::Share, stamp.time())
            .map_err(Abort::Fail)?;
        share.written = stamp;
        apply(&mut share);
        share.store(tx, &key)?;
        Ok(stamp)
    };
    core.transact(&placement, body).await
}
