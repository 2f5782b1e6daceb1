//! The order in which the rules are asked: existence, overwriting, lease, conditions.
//!
//! Must never be done outside the deciding transaction alone: a check on a snapshot only saves work.

use super::history::Seen;
use super::records::Head;
use zaffre_auth::Grants;
use zaffre_base::{ApiVersion, Guid, Timestamp};
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::copy::CopyRefusal;
use zaffre_domain::conditions::{Access, Conditions, evaluate};
use zaffre_domain::lease::{LeaseAccess, admits, admits_missing, holds};
use zaffre_domain::{LeaseOn, Refusal};

/// What a request brings along for the rules to look at.
#[derive(Clone, Debug)]
pub(crate) struct Presented {
    pub(crate) lease: Option<Guid>,
    pub(crate) conditions: Conditions,
}

/// Whether a read of the blob may go on.
pub(crate) fn read(
    seen: Option<Seen>,
    presented: &Presented,
    version: ApiVersion,
    now: Timestamp,
) -> Result<Seen, Refusal> {
    let access = Access::Read { version };
    let Some(seen) = seen else { return Err(missing(presented, access)) };
    admits(&seen.head.lease, presented.lease, LeaseAccess::Read, LeaseOn::Blob, now)?;
    evaluate(&presented.conditions, Some(&seen.head.validators()), access)?;
    Ok(seen)
}

/// Whether the content of the blob may be read.
pub(crate) fn read_content(
    seen: Option<Seen>,
    presented: &Presented,
    version: ApiVersion,
    now: Timestamp,
) -> Result<Seen, Refusal> {
    online(seen.as_ref().map(|seen| &*seen.head), now)?;
    read(seen, presented, version, now)
}

/// Refuses what an archived blob does not allow; one that is not there is no such blob.
pub(crate) fn online(head: Option<&Head>, now: Timestamp) -> Result<(), Refusal> {
    match head {
        Some(head) if head.is_archived(now) => Err(Refusal::BlobArchived),
        _ => Ok(()),
    }
}

/// Whether a snapshot may be taken: a lease matters only if the request names one, and a condition
/// that fails is answered as for a write.
pub(crate) fn snapshot(
    head: Option<Head>,
    presented: &Presented,
    now: Timestamp,
) -> Result<Head, Refusal> {
    online(head.as_ref(), now)?;
    retier(head, presented, now)
}

/// Whether the tier may be changed: a lease matters only if the request names one.
pub(crate) fn retier(
    head: Option<Head>,
    presented: &Presented,
    now: Timestamp,
) -> Result<Head, Refusal> {
    let Some(head) = head else { return Err(missing(presented, Access::Modify)) };
    admits(&head.lease, presented.lease, LeaseAccess::Read, LeaseOn::Blob, now)?;
    evaluate(&presented.conditions, Some(&head.validators()), Access::Modify)?;
    changeable(&head)?;
    Ok(head)
}

/// Whether a change of a blob that must be there may go on.
pub(crate) fn modify(
    head: Option<Head>,
    presented: &Presented,
    now: Timestamp,
) -> Result<Head, Refusal> {
    let head = existing(head, presented, now)?;
    changeable(&head)?;
    Ok(head)
}

/// Whether a blob may be deleted.
pub(crate) fn delete(
    head: Option<Head>,
    presented: &Presented,
    now: Timestamp,
) -> Result<Head, Refusal> {
    let head = existing(head, presented, now)?;
    if head.is_copied_to() {
        Err(Refusal::Copy(CopyRefusal::PendingCopyOperation))
    } else {
        Ok(head)
    }
}

fn existing(head: Option<Head>, presented: &Presented, now: Timestamp) -> Result<Head, Refusal> {
    let Some(head) = head else { return Err(missing(presented, Access::Modify)) };
    admits(&head.lease, presented.lease, LeaseAccess::Write, LeaseOn::Blob, now)?;
    evaluate(&presented.conditions, Some(&head.validators()), Access::Modify)?;
    Ok(head)
}

/// Whether a change of what archived and immutable blobs do not let change may go on.
pub(crate) fn rewrite(
    head: Option<Head>,
    presented: &Presented,
    now: Timestamp,
) -> Result<Head, Refusal> {
    online(head.as_ref(), now)?;
    let head = modify(head, presented, now)?;
    head.protection().check(now)?;
    Ok(head)
}

/// Refuses to change a blob that is being copied to, or that incremental copies make.
pub(crate) fn changeable(head: &Head) -> Result<(), Refusal> {
    if head.is_copied_to() {
        return Err(Refusal::Copy(CopyRefusal::PendingCopyOperation));
    }
    match head.incremental {
        None => Ok(()),
        Some(_) => Err(Refusal::Copy(CopyRefusal::OperationNotAllowedOnIncrementalCopyBlob)),
    }
}

/// Whether a change of a blob that must be there, and of this kind, may go on.
pub(crate) fn modify_kind(
    head: Option<Head>,
    kind: BlobKind,
    presented: &Presented,
    now: Timestamp,
) -> Result<Head, Refusal> {
    of_kind(head.as_ref(), kind)?;
    rewrite(head, presented, now)
}

/// Refuses an operation on a blob of another kind; one that is not there is no such blob.
pub(crate) fn of_kind(head: Option<&Head>, kind: BlobKind) -> Result<(), Refusal> {
    head.map_or(Ok(()), |head| head.kind().must_be(kind))
}

/// Whether the blob may be created or replaced. It keeps its kind for as long as it is there.
pub(crate) fn replace(
    head: Option<&Head>,
    kind: BlobKind,
    presented: &Presented,
    grants: Grants,
    version: ApiVersion,
    now: Timestamp,
) -> Result<(), Refusal> {
    let Some(head) = head else {
        admits_missing(presented.lease, version)?;
        let access = Access::CreateOrReplace { holds_lease: false };
        return evaluate(&presented.conditions, None, access);
    };
    may_overwrite(head, kind, presented.lease, grants, now)?;
    let holds_lease = holds(&head.lease, presented.lease, now);
    let access = Access::CreateOrReplace { holds_lease };
    evaluate(&presented.conditions, Some(&head.validators()), access)?;
    changeable(head)
}

/// Whether a block may be staged for the blob: the lease counts, conditions do not.
pub(crate) fn stage(
    head: Option<&Head>,
    lease: Option<Guid>,
    grants: Grants,
    version: ApiVersion,
    now: Timestamp,
) -> Result<(), Refusal> {
    let Some(head) = head else { return admits_missing(lease, version) };
    may_overwrite(head, BlobKind::Block, lease, grants, now)?;
    changeable(head)
}

fn may_overwrite(
    head: &Head,
    kind: BlobKind,
    lease: Option<Guid>,
    grants: Grants,
    now: Timestamp,
) -> Result<(), Refusal> {
    if !grants.overwrite {
        return Err(Refusal::UnauthorizedBlobOverwrite);
    }
    head.kind().must_be(kind)?;
    online(Some(head), now)?;
    admits(&head.lease, lease, LeaseAccess::Write, LeaseOn::Blob, now)
}

/// Whether a blob that only has staged blocks may be deleted: to conditions it is not there.
pub(crate) fn delete_staged(presented: &Presented) -> Result<(), Refusal> {
    admits_missing(presented.lease, ApiVersion::LATEST)?;
    let access = Access::CreateOrReplace { holds_lease: false };
    evaluate(&presented.conditions, None, access)
}

fn missing(presented: &Presented, access: Access) -> Refusal {
    evaluate(&presented.conditions, None, access).err().unwrap_or(Refusal::BlobNotFound)
}
