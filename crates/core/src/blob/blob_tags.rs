//! Get Blob Tags and Set Blob Tags. Neither changes an ETag.

use super::admit::{self, Presented};
use super::current;
use super::history::{self, Past};
use super::op::{GetBlobTags, Moment, SetBlobTags};
use super::records::PastKind;
use super::site::{alive, find, is_deleted};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_domain::Refusal;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Tx};

/// The tags of a blob.
pub async fn get_blob_tags(core: &Core, op: Authorized<GetBlobTags>) -> Result<Tags, Error> {
    let (op, _) = op.into_parts();
    let version = op.context.version;
    check_combination(&op.conditions, Access::Read { version })?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let inside = core.store().meta.snapshot(&found.site.placement).await?;
    let keys = found.site.keys;
    let now = core.now(&inside);
    let seen = history::peek(&inside, keys, &op.at, now)?;
    if seen.is_none() && is_deleted(&inside, keys)? {
        return Err(Refusal::ContainerNotFound.into());
    }
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let seen = admit::read(seen, &presented, version, now)?;
    Ok(seen.head.tags)
}

/// Replaces all tags of a blob.
pub async fn set_blob_tags(core: &Core, op: Authorized<SetBlobTags>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    check_combination(&op.conditions, Access::Modify)?;
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let keys = site.keys;
    let (at, tags) = (op.at, op.tags);
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let now = tx.stamp().time();
        let (key, old) = history::load(tx, keys, &at)?.unzip();
        let old = admit::modify(old, &presented, now).map_err(Abort::Fail)?;
        let mut head = old.clone();
        head.tags.clone_from(&tags);
        head.lease = after_write(head.lease, now);
        match &at.moment {
            Moment::Version(id) if key.is_some_and(|key| key != keys.blob(&at.blob)) => {
                let past = Past::load(tx, keys, &at.blob)?;
                past.retag(tx, Stamp(id.at.0), PastKind::Version, &old, &head)?;
            }
            _ => current::write(tx, keys, &at.blob, Some(&old), &head)?,
        }
        Ok(())
    };
    core.transact(&site.placement, body).await
}
