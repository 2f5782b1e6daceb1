//! Incremental Copy Blob: a snapshot of a page blob into a blob that follows its source, of which
//! only what differs from the last one is copied. Each copy leaves a snapshot of its own.

use super::make::still;
use super::op::IncrementalCopy;
use super::source::{CopySource, Here, Inner, identity};
use crate::blob::admit::{self, Presented};
use crate::blob::content::free::sparse_keys;
use crate::blob::current;
use crate::blob::records::{
    Content, CopyFrom, CopyState, Head, Incremental, PendingCopy, Record, Shape, Staging,
};
use crate::blob::replace::{LeftOver, overwrite};
use crate::blob::reply::{CopyReply, Written};
use crate::blob::site::{Site, alive, find};
use crate::service::fresh_id;
use crate::settings::Keeping;
use crate::{Core, Error, sparse};
use zaffre_auth::{Authorized, Grants};
use zaffre_base::{ContentId, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::copy::{CopyRefusal, CopyStatus, admits_snapshot};
use zaffre_domain::conditions::{Access, check_combination, evaluate};
use zaffre_store::{Abort, Tx};

/// Begins an incremental copy; the background does it.
pub async fn incremental_copy(
    core: &Core,
    op: Authorized<IncrementalCopy>,
    source: CopySource,
) -> Result<CopyReply, Error> {
    let (mut op, grants) = op.into_parts();
    check_combination(&op.conditions, Access::CreateOrReplace { holds_lease: false })?;
    let Inner::Here(source) = source.0 else {
        return Err(Refusal::Copy(CopyRefusal::IncrementalCopySourceMustBeSnapshot).into());
    };
    let snapshot =
        source.snapshot().ok_or(Refusal::Copy(CopyRefusal::IncrementalCopySourceMustBeSnapshot))?;
    if source.head.kind() != BlobKind::Page {
        return Err(Refusal::Copy(CopyRefusal::InvalidSourceBlobType).into());
    }
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let keeping = core.settings_now(&op.at.account).await?.keeping();
    let conditions = std::mem::take(&mut op.conditions);
    let presented = Presented { lease: None, conditions };
    let fresh = fresh_id(&core.store().clock)?;
    let (name, id) = (op.at.blob.clone(), op.id);
    let follow =
        Follow { op, presented, grants, site: site.clone(), keeping, source, snapshot, fresh };
    let body = move |tx: &mut Tx<'_>| follow.decide(tx);
    let reply = core.commit(&site, body).await?;
    core.copies().mark(&site, &name, id);
    Ok(reply)
}

struct Follow {
    op: IncrementalCopy,
    presented: Presented,
    grants: Grants,
    site: Site,
    keeping: Keeping,
    source: Box<Here>,
    snapshot: Timestamp,
    fresh: ContentId,
}

impl Follow {
    fn decide(&self, tx: &mut Tx<'_>) -> Result<(CopyReply, LeftOver), Abort<Refusal>> {
        let keys = self.site.keys;
        alive(tx, keys)?;
        let (stamp, name) = (tx.stamp(), &self.op.at.blob);
        let old = Head::load(tx, &keys.blob(name))?;
        let head = match &old {
            Some(old) => self.next(old, stamp).map_err(Abort::Fail)?,
            None => self.first(tx)?,
        };
        let key = keys.copy(name, self.op.id);
        still(tx, &key, None)?;
        PendingCopy {
            from: CopyFrom::Here(self.source.origin.clone()),
            content: head.content,
            done: 0,
            blocks: 0,
            attached: true,
            started: stamp.time(),
            since: head.incremental.as_ref().and_then(|incremental| incremental.equals),
        }
        .store(tx, &key)?;
        let (written, left) = if let Some(old) = &old {
            current::write(tx, keys, name, Some(old), &head)?;
            (Written::at(stamp), LeftOver::Nothing)
        } else {
            let staging = Staging::load(tx, &keys.staging(name))?;
            overwrite(tx, keys, name, None, head, staging.as_ref(), self.keeping)?
        };
        let (id, status) = (self.op.id, CopyStatus::Pending);
        Ok((CopyReply { written, id, status, md5: None, crc64: None }, left))
    }

    /// A destination that does not exist.
    fn first(&self, tx: &mut Tx<'_>) -> Result<Head, Abort<Refusal>> {
        let access = Access::CreateOrReplace { holds_lease: false };
        evaluate(&self.presented.conditions, None, access).map_err(Abort::Fail)?;
        let content = Content { id: self.fresh, length: 0, shape: Shape::Sparse };
        let label = sparse::Label::Blob(self.op.at.blob.as_str().to_owned());
        sparse::label(tx, sparse_keys(&self.site, self.fresh), &label)?;
        let mut head = Head::new(BlobKind::Page, tx.stamp(), content);
        let source = identity(&self.source.origin);
        head.incremental =
            Some(Incremental { source, last: self.snapshot, equals: None, snapshot: None });
        Ok(self.dressed(head))
    }

    /// A destination that follows its source already.
    fn next(&self, old: &Head, stamp: Stamp) -> Result<Head, Refusal> {
        if !self.grants.overwrite {
            return Err(Refusal::UnauthorizedBlobOverwrite);
        }
        old.kind().must_be(BlobKind::Page)?;
        let mut head = admit::delete(Some(old.clone()), &self.presented, stamp.time())?;
        let Some(followed) = &old.incremental else {
            return Err(Refusal::Copy(CopyRefusal::IncrementalCopyBlobMismatch));
        };
        let same = followed.source == identity(&self.source.origin);
        admits_snapshot(same, followed.last, self.snapshot)?;
        head.incremental = Some(Incremental { last: self.snapshot, ..followed.clone() });
        head.written = stamp;
        Ok(self.dressed(head))
    }

    /// With what it takes over from its source.
    fn dressed(&self, mut head: Head) -> Head {
        let source = &self.source.head;
        head.content.length = source.content.length;
        head.set_properties(source.properties());
        head.set_sequence_number(source.sequence_number());
        head.metadata.clone_from(&source.metadata);
        let shown = self.op.shown_source.clone();
        head.copy = Some(CopyState::pending(self.op.id, shown, source.content.length));
        head
    }
}
