//! Answers of Snapshot, Delete and Undelete Blob, and what tells the states of a blob apart.

use super::{since, written};
use hyper::StatusCode;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_core::blob::reply::{DeleteReply, MomentView, SnapshotReply};
use zaffre_http::{Reply, header};

/// Snapshot Blob. The service says that it encrypted nothing: no bytes were written.
pub fn snapshot(snapshot: &SnapshotReply, version: ApiVersion) -> Reply {
    let reply = Reply::new(StatusCode::CREATED, version);
    let reply = written(reply, snapshot.written, version)
        .with(header!("x-ms-snapshot"), snapshot.snapshot.iso7());
    let reply = version_id(reply, snapshot.written.version, version);
    if version >= since::ENCRYPTION {
        reply.with(header!("x-ms-request-server-encrypted"), "false")
    } else {
        reply
    }
}

/// Delete Blob.
pub fn deleted(reply: DeleteReply, version: ApiVersion) -> Reply {
    let out = Reply::new(StatusCode::ACCEPTED, version);
    if version >= since::DELETE_TYPE {
        out.with(
            header!("x-ms-delete-type-permanent"),
            if reply.permanent { "true" } else { "false" },
        )
    } else {
        out
    }
}

/// Undelete Blob.
pub fn undeleted(version: ApiVersion) -> Reply {
    Reply::new(StatusCode::OK, version)
}

/// `x-ms-version-id` of the version that an operation made.
pub(super) fn version_id(reply: Reply, id: Option<Timestamp>, version: ApiVersion) -> Reply {
    let id = id.filter(|_| version >= since::VERSIONS);
    reply.with_some(header!("x-ms-version-id"), id.map(Timestamp::iso7))
}

/// Which state of the blob a read shows.
pub(super) fn moment(reply: Reply, moment: MomentView, version: ApiVersion) -> Reply {
    match moment {
        MomentView::Current { version: Some(id) } if version >= since::VERSIONS => {
            version_id(reply, Some(id), version).with(header!("x-ms-is-current-version"), "true")
        }
        MomentView::Version { at, .. } => version_id(reply, Some(at), version),
        MomentView::Current { .. }
        | MomentView::Snapshot { .. }
        | MomentView::Deleted(_)
        | MomentView::VersionsOnly => reply,
    }
}
