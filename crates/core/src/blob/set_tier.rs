//! Set Blob Tier, of a blob, a snapshot or a version. It changes no ETag and makes no version.

use super::admit::{self, Presented};
use super::history;
use super::op::SetBlobTier;
use super::records::Record;
use super::site::{alive, find};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::ApiVersion;
use zaffre_domain::blob::tier::{TierChange, TierSet};
use zaffre_store::{Abort, Tx};

/// From this version on a rehydration that is under way can be hurried.
const HURRY_SINCE: ApiVersion = ApiVersion::new(2020, 6, 12);

/// Sets the tier, or starts the way back from the archive.
pub async fn set_blob_tier(core: &Core, op: Authorized<SetBlobTier>) -> Result<TierSet, Error> {
    let (op, _) = op.into_parts();
    let settings = core.settings(&op.at.account);
    let (premium, standard) = (settings.sku.is_premium(), settings.rehydration);
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let keys = site.keys;
    let may_hurry = op.context.version >= HURRY_SINCE;
    let asked = TierChange { tier: op.tier, priority: op.priority, may_hurry };
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let at = op.at;
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let now = tx.stamp().time();
        let (key, head) = history::load(tx, keys, &at)?.unzip();
        let mut head = admit::retier(head, &presented, now).map_err(Abort::Fail)?;
        let key = key.unwrap_or_else(|| keys.blob(&at.blob));
        let blob = head.tiered(premium, key == keys.blob(&at.blob));
        let (tier, set) = head.tier().change(asked, blob, now, standard).map_err(Abort::Fail)?;
        if tier != head.tier() {
            // No tag changes, so that the row alone says it all.
            head.set_tier(tier);
            head.store(tx, &key)?;
        }
        Ok(set)
    };
    core.transact(&site.placement, body).await
}
