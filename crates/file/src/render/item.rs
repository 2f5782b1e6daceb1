//! What answers about files and directories have in common: ETags, properties, metadata.

use super::{metadata, since, written};
use hyper::StatusCode;
use zaffre_base::{ApiVersion, Stamp};
use zaffre_core::file::reply::{Changed, DirectoryView, SmbView};
use zaffre_domain::blob::Metadata;
use zaffre_http::{HeaderName, Reply, header};

/// The properties that SMB clients see.
pub(super) fn smb(reply: Reply, smb: &SmbView, version: ApiVersion) -> Reply {
    if version < since::SMB {
        return reply;
    }
    reply
        .with(header!("x-ms-file-permission-key"), smb.permission)
        .with(header!("x-ms-file-attributes"), smb.attributes.text())
        .with(header!("x-ms-file-creation-time"), smb.times.created.iso7())
        .with(header!("x-ms-file-last-write-time"), smb.times.last_write.iso7())
        .with(header!("x-ms-file-change-time"), smb.times.change.iso7())
        .with(header!("x-ms-file-id"), smb.id)
        .with(header!("x-ms-file-parent-id"), smb.parent)
}

/// After something was made, changed or renamed.
pub(crate) fn changed(status: StatusCode, made: &Changed, version: ApiVersion) -> Reply {
    let reply = written(Reply::new(status, version), made.written);
    encrypted(smb(reply, &made.smb, version), header!("x-ms-request-server-encrypted"), version)
}

/// After metadata was set.
pub(crate) fn metadata_set(set: &Changed, version: ApiVersion) -> Reply {
    let reply = written(Reply::new(StatusCode::OK, version), set.written);
    encrypted(reply, header!("x-ms-request-server-encrypted"), version)
}

/// Get Directory Properties.
pub(crate) fn directory(view: &DirectoryView, version: ApiVersion) -> Reply {
    let reply = only_metadata(view.written, &view.metadata, version);
    encrypted(smb(reply, &view.smb, version), header!("x-ms-server-encrypted"), version)
}

/// Get Directory Metadata and Get File Metadata.
pub(crate) fn only_metadata(at: Stamp, shown: &Metadata, version: ApiVersion) -> Reply {
    metadata(written(Reply::new(StatusCode::OK, version), at), shown)
}

/// That what is stored is encrypted.
pub(super) fn encrypted(reply: Reply, name: HeaderName, version: ApiVersion) -> Reply {
    if version < since::ENCRYPTION {
        return reply;
    }
    reply.with_text(name, "true")
}
