//! Abort Copy Blob: the copy under way ends, and a blob without bytes is left.

use super::end::empty;
use super::op::AbortCopy;
use crate::blob::records::{Head, PendingCopy, Record};
use crate::blob::site::{alive, find};
use crate::service::fresh_id;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::blob::copy::{CopyStatus, admits_abort};
use zaffre_domain::lease::{LeaseAccess, admits};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::{Abort, Tx};

/// Ends a copy that is under way.
pub async fn abort_copy(core: &Core, op: Authorized<AbortCopy>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let fresh = fresh_id(&core.store().clock)?;
    let at = site.clone();
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, at.keys)?;
        let (now, name) = (tx.stamp().time(), &op.at.blob);
        let head = Head::load(tx, &at.keys.blob(name))?;
        let head = head.ok_or(Abort::Fail(Refusal::BlobNotFound))?;
        admits(&head.lease, op.lease, LeaseAccess::Write, LeaseOn::Blob, now)
            .map_err(Abort::Fail)?;
        let pending = head.copy.as_ref().filter(|_| head.is_copied_to()).map(|copy| copy.id);
        admits_abort(pending, op.id).map_err(Abort::Fail)?;
        let key = at.keys.copy(name, op.id);
        let row = PendingCopy::load(tx, &key)?;
        let copied = row.map_or(head.content, |row| row.content);
        tx.delete(&key)?;
        let left = empty(tx, &at, name, head, copied, fresh, (CopyStatus::Aborted, None))?;
        Ok(((), left))
    };
    core.commit(&site, body).await
}
