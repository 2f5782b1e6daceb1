//! From stored rows to what is shown.

use super::records::{Container, Content, CopyState, Deleted, Head, PastKind, Shape, Staging};
use super::reply::{
    BlobView, ContainerView, CopyView, DeletedView, IncrementalView, MomentView, OfKind, Written,
};
use zaffre_base::{BlobName, ContainerName, ContentId, Stamp, Timestamp};
use zaffre_domain::blob::append::Appendable;
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::Tier;
use zaffre_domain::blob::{BlobKind, HttpProperties, Metadata};
use zaffre_domain::lease::{Lease, LeaseView, view};

/// A container as it is at `now`.
pub(crate) fn container(
    name: ContainerName,
    record: &Container,
    version_immutability: bool,
    now: Timestamp,
) -> ContainerView {
    ContainerView {
        name,
        written: Written::at(record.written),
        metadata: record.metadata.clone(),
        access: record.access(),
        policies: record.policies(),
        version_immutability,
        scopes: record.scopes(),
        // A deleted container shows the lease it cannot have.
        lease: if record.deleted.is_some() { LeaseView::Expired } else { view(&record.lease, now) },
        deleted: record.deleted.map(|deleted| (self::deleted(deleted, now), deleted.at)),
    }
}

/// A blob as it is at `now`.
pub(crate) fn blob(name: BlobName, head: &Head, now: Timestamp) -> BlobView {
    BlobView {
        name,
        written: Written::at(head.written),
        created: head.created,
        length: head.content.length,
        properties: head.properties(),
        metadata: head.metadata.clone(),
        tags: head.tags.clone(),
        lease: view(&head.lease, now),
        tier: head.tier().at(now),
        protection: head.protection(),
        encrypted: head.encrypted.clone(),
        last_access: head.last_access,
        of_kind: match head.kind() {
            BlobKind::Block => OfKind::Block,
            BlobKind::Append => {
                let Appendable { blocks, sealed, .. } = head.appendable();
                OfKind::Append { blocks, sealed }
            }
            BlobKind::Page => OfKind::Page { sequence_number: head.sequence_number() },
        },
        committed: true,
        moment: MomentView::Current { version: head.version.map(Stamp::time) },
        copy: head.copy.as_ref().map(copy),
        incremental: head
            .incremental
            .as_ref()
            .map(|incremental| IncrementalView { snapshot: incremental.snapshot.map(Stamp::time) }),
    }
}

fn copy(state: &CopyState) -> CopyView {
    CopyView {
        id: state.id,
        source: state.source.clone(),
        status: state.status(),
        done: state.done,
        total: state.total,
        completed: state.completed,
        description: state.description.clone(),
    }
}

/// A snapshot, a version or a deleted blob as it is at `now`.
pub(crate) fn past(
    name: BlobName,
    at: Stamp,
    kind: PastKind,
    head: &Head,
    now: Timestamp,
) -> BlobView {
    let deleted = head.deleted.map(|deleted| self::deleted(deleted, now));
    let moment = match (kind, deleted) {
        (PastKind::Snapshot, deleted) => MomentView::Snapshot { at: at.time(), deleted },
        (PastKind::Version, deleted) => MomentView::Version { at: at.time(), deleted },
        (PastKind::Base, Some(deleted)) => MomentView::Deleted(deleted),
        // Only a deletion makes such a row.
        (PastKind::Base, None) => MomentView::Current { version: None },
    };
    BlobView { moment, ..blob(name, head, now) }
}

/// A name that has versions and no current one.
pub(crate) fn versions_only(name: BlobName, now: Timestamp) -> BlobView {
    let content = Content { id: ContentId(0), length: 0, shape: Shape::Empty };
    let head = Head::block_blob(Stamp(now.0), content);
    BlobView { moment: MomentView::VersionsOnly, committed: false, ..blob(name, &head, now) }
}

/// A deletion as it is at `now`.
pub(crate) fn deleted(deleted: Deleted, now: Timestamp) -> DeletedView {
    const DAY: u64 = 24 * 60 * 60;
    let left = deleted.until.since(now).as_secs();
    DeletedView { at: deleted.at.time(), remaining_days: left / DAY }
}

/// A blob that only has staged blocks.
pub(crate) fn uncommitted(name: BlobName, staging: &Staging, now: Timestamp) -> BlobView {
    BlobView {
        name,
        written: Written::at(staging.changed),
        created: staging.changed.time(),
        length: 0,
        properties: HttpProperties::default(),
        metadata: Metadata::new(),
        tags: Tags::new(),
        lease: view(&Lease::default(), now),
        tier: Tier::default(),
        protection: Protection::default(),
        encrypted: Encrypted::ByAccount,
        last_access: None,
        of_kind: OfKind::Block,
        committed: false,
        moment: MomentView::Current { version: None },
        copy: None,
        incremental: None,
    }
}
