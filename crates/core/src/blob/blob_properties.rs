//! Get and set the properties and metadata of a blob.

use super::admit::{self, Presented};
use super::op::{BlobPath, GetBlobProperties, SetBlobMetadata, SetBlobProperties};
use super::records::{Head, Record};
use super::reply::{BlobView, Written};
use super::site::{alive, find, is_deleted};
use super::view;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
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
    let head = Head::peek(&inside, &keys.blob(&op.at.blob))?;
    if head.is_none() && is_deleted(&inside, keys)? {
        return Err(Refusal::ContainerNotFound.into());
    }
    let now = core.now(&inside);
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let head = admit::read(head.as_ref(), &presented, version, now)?;
    Ok(view::blob(op.at.blob, head, now))
}

/// Set Blob Metadata: replaces all of it.
pub async fn set_blob_metadata(
    core: &Core,
    op: Authorized<SetBlobMetadata>,
) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let metadata = op.metadata;
    change(core, op.at, presented, move |head| head.metadata.clone_from(&metadata)).await
}

/// Set Blob Properties: replaces all content headers.
pub async fn set_blob_properties(
    core: &Core,
    op: Authorized<SetBlobProperties>,
) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let properties = op.properties;
    change(core, op.at, presented, move |head| head.set_properties(properties.clone())).await
}

async fn change(
    core: &Core,
    at: BlobPath,
    presented: Presented,
    mut apply: impl FnMut(&mut Head) + Send + 'static,
) -> Result<Written, Error> {
    check_combination(&presented.conditions, Access::Modify)?;
    let (site, _hold) = find(core, &at.account, &at.container).await?.for_write();
    let keys = site.keys;
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let key = keys.blob(&at.blob);
        let stamp = tx.stamp();
        let old = Head::load(tx, &key)?;
        let mut head = admit::modify(old, &presented, stamp.time()).map_err(Abort::Fail)?;
        head.written = stamp;
        head.lease = after_write(head.lease, stamp.time());
        apply(&mut head);
        head.store(tx, &key)?;
        Ok(Written { stamp })
    };
    core.transact(&site.placement, body).await
}
