//! Create Share.

use super::op::CreateShare;
use super::records::Share;
use crate::directory::keys::directory;
use crate::directory::{Family, claim_name, register};
use crate::records::Record;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::{Abort, Tx};

/// Creates a share: one commit in the directory, nothing inside.
pub async fn create_share(core: &Core, op: Authorized<CreateShare>) -> Result<Stamp, Error> {
    let (CreateShare { at, metadata, quota_gib, tier }, _) = op.into_parts();
    register(core, &at.account).await?;
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = Family::Shares.row(at.share.as_str());
        if tx.get(&key)?.is_some() {
            return Err(Abort::Fail(FileRefusal::ShareAlreadyExists.into()));
        }
        claim_name::<Share>(tx, at.share.as_str())?;
        let stamp = tx.stamp();
        let mut share = Share::new(stamp);
        share.metadata.clone_from(&metadata);
        share.quota_gib = quota_gib.unwrap_or(share.quota_gib);
        if let Some(tier) = tier {
            share.set_tier(tier, stamp.time());
        }
        share.store(tx, &key)?;
        Ok(stamp)
    };
    core.transact(&placement, body).await
}
