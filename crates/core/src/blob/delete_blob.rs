//! Delete Blob: the blob and its staged blocks, or a blob that only has staged blocks.

use super::admit::{self, Presented};
use super::keys::Keys;
use super::op::DeleteBlob;
use super::records::{Head, Record, Staging};
use super::replace::{LeftOver, retire};
use super::site::{alive, find};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::BlobName;
use zaffre_domain::Refusal;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_store::{Abort, Tx};

/// Deletes a blob.
pub async fn delete_blob(core: &Core, op: Authorized<DeleteBlob>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    check_combination(&op.conditions, Access::Modify)?;
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let keys = site.keys;
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let name = op.at.blob;
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        Ok(((), remove(tx, keys, &name, &presented)?))
    };
    core.commit(&site, body).await
}

fn remove(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    presented: &Presented,
) -> Result<LeftOver, Abort<Refusal>> {
    let now = tx.stamp().time();
    let key = keys.blob(name);
    let head = Head::load(tx, &key)?;
    let staging = Staging::load(tx, &keys.staging(name))?;
    let staged = staging.is_some_and(|staging| !staging.has_expired(now));
    let content = if head.is_none() && staged {
        admit::delete_staged(presented).map_err(Abort::Fail)?;
        None
    } else {
        Some(admit::modify(head, presented, now).map_err(Abort::Fail)?.content)
    };
    tx.delete(&key)?;
    Ok(retire(tx, keys, name, content, staging.as_ref(), None)?)
}
