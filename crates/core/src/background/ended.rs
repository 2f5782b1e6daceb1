//! What was deleted and kept, once its time is over.
//!
//! Must never drop what came back meanwhile: each row is looked at again inside the transaction.

use crate::blob::history::{Past, settle};
use crate::blob::keys::Keys;
use crate::blob::records::{Head, PastKind, Record};
use crate::blob::replace::LeftOver;
use crate::blob::site::Site;
use crate::{Core, Error};
use std::collections::BTreeMap;
use std::sync::Arc;
use zaffre_base::{BlobName, Stamp};
use zaffre_store::{Interrupt, StoreError, Tx};

/// Rows dropped by one transaction.
const BATCH: usize = 64;

/// What has ended, by name: the key that says so, and the moment.
type Ended = BTreeMap<String, Vec<(Vec<u8>, Stamp, PastKind)>>;

/// Drops everything whose time is over.
pub(super) async fn drop_ended(core: &Core, site: &Site) -> Result<(), Error> {
    loop {
        let range = site.keys.ended(core.store().clock.now());
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let rows = inside.scan(&range.start, range.end.as_deref(), BATCH)?;
        drop(inside);
        if rows.is_empty() {
            return Ok(());
        }
        let mut ended = Ended::new();
        for row in rows {
            let (name, at, kind) = site
                .keys
                .ended_of(&row.key)
                .ok_or_else(|| StoreError::corrupt("the key of an end"))?;
            ended.entry(name.as_str().to_owned()).or_default().push((row.key, at, kind));
        }
        let (keys, ended) = (site.keys, Arc::new(ended));
        let body = move |tx: &mut Tx<'_>| Ok(drop_all(tx, keys, &ended)?);
        if let Some(unsettled) = core.commit(site, body).await? {
            settle(core, site, &unsettled).await?;
        }
    }
}

/// Drops a batch, unless a change of all rows of one of the blobs has to be written first.
fn drop_all(
    tx: &mut Tx<'_>,
    keys: Keys,
    ended: &Ended,
) -> Result<(Option<BlobName>, LeftOver), Interrupt> {
    let now = tx.stamp().time();
    let mut pasts = Vec::new();
    for (name, moments) in ended {
        let name = BlobName::parse(name).map_err(|_| StoreError::corrupt("the name of an end"))?;
        let past = Past::load(tx, keys, &name)?;
        if !past.is_settled() {
            return Ok((Some(name), LeftOver::Nothing));
        }
        pasts.push((name, past, moments));
    }
    let mut left = LeftOver::Nothing;
    for (name, mut past, moments) in pasts {
        for (key, at, kind) in moments {
            tx.delete(key)?;
            let head = Head::load(tx, &keys.past(&name, *at, *kind))?;
            let is_over = |head: &Head| head.deleted.is_some_and(|deleted| deleted.until <= now);
            if let Some(head) = head.filter(is_over) {
                past.remove(tx, *at, *kind, &head)?;
            }
        }
        left = left.or(past.finish(tx, None, None)?);
    }
    Ok((None, left))
}
