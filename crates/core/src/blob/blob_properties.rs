//! Get and set the properties and metadata of a blob.

use super::admit::{self, Presented};
use super::history;
use super::op::{GetBlobProperties, SetBlobMetadata, SetBlobProperties};
use super::records::{Head, Record};
use super::replace::restate;
use super::reply::{BlobView, PropertiesSet, Written};
use super::site::{alive, find, is_deleted};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Tx};

/// Get Blob Properties and Get Blob Metadata.
pub async fn get_blob_properties(
    core: &Core,
    op: Authorized<GetBlobProperties>,
) -> Result<BlobView, Error> {
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
    seen.head.encrypted.admits(&op.encryption.shown())?;
    Ok(seen.view(op.at.blob, now))
}

/// Set Blob Metadata: replaces all of it; where versions are kept, that makes one.
pub async fn set_blob_metadata(
    core: &Core,
    op: Authorized<SetBlobMetadata>,
) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let (metadata, shown) = (op.metadata, op.encryption.shown());
    check_combination(&presented.conditions, Access::Modify)?;
    let keeping = core.settings(&op.at.account).keeping();
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let (keys, name) = (site.keys, op.at.blob);
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let stamp = tx.stamp();
        let old = Head::load(tx, &keys.blob(&name))?;
        let old = admit::rewrite(old, &presented, stamp.time()).map_err(Abort::Fail)?;
        old.encrypted.admits(&shown).map_err(Abort::Fail)?;
        let mut head = old.clone();
        head.written = stamp;
        head.lease = after_write(old.lease, stamp.time());
        head.metadata.clone_from(&metadata);
        head.copy = None;
        Ok(restate(tx, keys, &name, &old, head, keeping)?)
    };
    core.commit(&site, body).await
}

/// Set Blob Properties: replaces all content headers.
pub async fn set_blob_properties(
    core: &Core,
    op: Authorized<SetBlobProperties>,
) -> Result<PropertiesSet, Error> {
    let (op, _) = op.into_parts();
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    check_combination(&presented.conditions, Access::Modify)?;
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let keys = site.keys;
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let key = keys.blob(&op.at.blob);
        let stamp = tx.stamp();
        let old = Head::load(tx, &key)?;
        let mut head = admit::rewrite(old, &presented, stamp.time()).map_err(Abort::Fail)?;
        head.written = stamp;
        head.lease = after_write(head.lease, stamp.time());
        head.set_properties(op.properties.clone());
        head.copy = None;
        head.store(tx, &key)?;
        let page = head.kind() == BlobKind::Page;
        let sequence_number = page.then(|| head.sequence_number());
        Ok(PropertiesSet { written: Written::at(stamp), sequence_number })
    };
    core.transact(&site.placement, body).await
}
