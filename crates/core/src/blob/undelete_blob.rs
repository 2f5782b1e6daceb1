//! Undelete Blob: brings back a deleted blob, and every deleted snapshot and version of it.

use super::current;
use super::history::{BASE_AT, Past, settle};
use super::keys::Keys;
use super::op::UndeleteBlob;
use super::records::{Head, PastKind, Record, Sweep};
use super::replace::LeftOver;
use super::site::{alive, find};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::BlobName;
use zaffre_domain::Refusal;
use zaffre_store::{Abort, StoreError, Tx};

/// How often the history is written to the end because another change of all of it came first.
const ATTEMPTS: usize = 16;

/// Brings a blob back. Nothing to bring back is no mistake, as long as there is something there.
pub async fn undelete_blob(core: &Core, op: Authorized<UndeleteBlob>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let keys = site.keys;
    for _ in 0..ATTEMPTS {
        let name = op.at.blob.clone();
        let body = move |tx: &mut Tx<'_>| {
            alive(tx, keys)?;
            bring_back(tx, keys, &name)
        };
        if core.commit(&site, body).await? {
            return Ok(());
        }
        settle(core, &site, &op.at.blob).await?;
    }
    Err(StoreError::Busy.into())
}

/// Says whether it is done; if not, an earlier change of all rows has to be written first.
fn bring_back(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
) -> Result<(bool, LeftOver), Abort<Refusal>> {
    let current = Head::load(tx, &keys.blob(name))?;
    let mut past = Past::load(tx, keys, name)?;
    if !past.is_settled() {
        return Ok((false, LeftOver::Nothing));
    }
    if current.is_none() && past.is_empty() {
        return Err(Abort::Fail(Refusal::BlobNotFound));
    }
    let base = past.deleted_base(tx)?;
    if let (None, Some(base)) = (current, base) {
        past.take(tx, BASE_AT, PastKind::Base, &base)?;
        current::write(tx, keys, name, None, &base.with_deleted(None))?;
    }
    past.sweep(tx, Sweep::Restore, None)?;
    Ok((true, past.finish(tx, None, None)?))
}
