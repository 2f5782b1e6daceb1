//! From stored rows to what is shown.

use super::records::{Container, Head, Staging};
use super::reply::{BlobView, ContainerView, OfKind, Written};
use zaffre_base::{BlobName, ContainerName, Timestamp};
use zaffre_domain::blob::append::Appendable;
use zaffre_domain::blob::{BlobKind, HttpProperties, Metadata};
use zaffre_domain::lease::{Lease, view};

/// A container as it is at `now`.
pub(crate) fn container(name: ContainerName, record: &Container, now: Timestamp) -> ContainerView {
    ContainerView {
        name,
        written: Written { stamp: record.written },
        metadata: record.metadata.clone(),
        access: record.access(),
        policies: record.policies(),
        lease: view(&record.lease, now),
    }
}

/// A blob as it is at `now`.
pub(crate) fn blob(name: BlobName, head: &Head, now: Timestamp) -> BlobView {
    BlobView {
        name,
        written: Written { stamp: head.written },
        created: head.created,
        length: head.content.length,
        properties: head.properties(),
        metadata: head.metadata.clone(),
        lease: view(&head.lease, now),
        tier: head.tier.as_ref().map(|tier| (tier.name.clone(), tier.since)),
        of_kind: match head.kind() {
            BlobKind::Block => OfKind::Block,
            BlobKind::Append => {
                let Appendable { blocks, sealed, .. } = head.appendable();
                OfKind::Append { blocks, sealed }
            }
            BlobKind::Page => OfKind::Page { sequence_number: head.sequence_number() },
        },
        committed: true,
    }
}

/// A blob that only has staged blocks.
pub(crate) fn uncommitted(name: BlobName, staging: &Staging, now: Timestamp) -> BlobView {
    BlobView {
        name,
        written: Written { stamp: staging.changed },
        created: staging.changed.time(),
        length: 0,
        properties: HttpProperties::default(),
        metadata: Metadata::new(),
        lease: view(&Lease::default(), now),
        tier: None,
        of_kind: OfKind::Block,
        committed: false,
    }
}
