//! Set Blob Properties of a page blob: content headers, size and sequence number.

use super::admit::{self, Presented};
use super::content::free::sparse_keys;
use super::op::SetPageProperties;
use super::records::{Head, Record};
use super::reply::{PropertiesSet, Written};
use super::site::{Site, alive, find};
use crate::sparse::{self, TooManyClears};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::ContentId;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, StoreError, Tx};

/// How often clears are worked in before a shrink gives up.
const ATTEMPTS: usize = 8;

/// Resizes a page blob, changes its sequence number, or both; its content headers if any was sent.
pub async fn set_page_properties(
    core: &Core,
    op: Authorized<SetPageProperties>,
) -> Result<PropertiesSet, Error> {
    let (op, _) = op.into_parts();
    check_combination(&op.conditions, Access::Modify)?;
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    for _ in 0..ATTEMPTS {
        let (change, at) = (op.clone(), site.clone());
        let body = move |tx: &mut Tx<'_>| apply(tx, &at, &change);
        let (set, clears) = core.transact(&site.placement, body).await?;
        match (set, clears) {
            (Some(set), Some(content)) => {
                core.folding().note_clear(core, &site, sparse_keys(&site, content));
                return Ok(set);
            }
            (Some(set), None) => return Ok(set),
            (None, content) => {
                let keys = sparse_keys(&site, content.unwrap_or(ContentId(0)));
                sparse::fold_clears(core, &site, keys).await?;
            }
        }
    }
    Err(StoreError::Busy.into())
}

/// What was done, if it could be, and the content that has clears to be worked in.
type Applied = (Option<PropertiesSet>, Option<ContentId>);

fn apply(tx: &mut Tx<'_>, site: &Site, op: &SetPageProperties) -> Result<Applied, Abort<Refusal>> {
    alive(tx, site.keys)?;
    let stamp = tx.stamp();
    let key = site.keys.blob(&op.at.blob);
    let presented = Presented { lease: op.lease, conditions: op.conditions.clone() };
    let head = Head::load(tx, &key)?;
    let mut head =
        admit::modify_kind(head, BlobKind::Page, &presented, stamp.time()).map_err(Abort::Fail)?;
    if let Some(action) = op.sequence {
        let number = action.apply(head.sequence_number()).map_err(Abort::Fail)?;
        head.set_sequence_number(number);
    }
    let content = head.content.id;
    let mut clears = None;
    if let Some(length) = op.length {
        // What was cut off must read as zeros if the blob grows again.
        let cut = length..head.content.length;
        if !cut.is_empty() {
            match sparse::clear(tx, sparse_keys(site, content), cut)? {
                Ok(touched) if touched.is_empty() => clears = Some(content),
                Ok(_) => {}
                Err(TooManyClears) => return Ok((None, Some(content))),
            }
        }
        head.content.length = length;
    }
    if let Some(properties) = &op.properties {
        head.set_properties(properties.clone());
    }
    head.written = stamp;
    head.copy = None;
    head.lease = after_write(head.lease, stamp.time());
    head.store(tx, &key)?;
    let sequence_number = Some(head.sequence_number());
    Ok((Some(PropertiesSet { written: Written::at(stamp), sequence_number }), clears))
}
