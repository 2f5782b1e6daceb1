//! Answers of copies, and what a blob shows of the one that made it.

use super::upload::checksum;
use super::{history, since, written};
use hyper::StatusCode;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_core::blob::reply::{BlobView, CopyReply, CopyView};
use zaffre_domain::blob::copy::CopyStatus;
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, header};

/// Copy Blob, Copy Blob From URL, Incremental Copy Blob.
pub fn started(reply: &CopyReply, version: ApiVersion) -> Reply {
    let status = if version >= since::COPIES { StatusCode::ACCEPTED } else { StatusCode::CREATED };
    let mut out = written(Reply::new(status, version), reply.written, version);
    out = history::version_id(out, reply.written.version, version);
    if let Some(crc64) = reply.crc64 {
        out = checksum(out, reply.md5, crc64, version);
        if version >= since::ENCRYPTION {
            out = out.with_text(header!("x-ms-request-server-encrypted"), "true");
        }
    }
    if version < since::COPIES {
        return out;
    }
    out.with(header!("x-ms-copy-id"), reply.id)
        .with_text(header!("x-ms-copy-status"), status_text(reply.status))
}

/// Abort Copy Blob.
pub fn aborted(version: ApiVersion) -> Reply {
    Reply::new(StatusCode::NO_CONTENT, version)
}

/// The headers of a read.
pub(super) fn headers(mut reply: Reply, view: &BlobView, version: ApiVersion) -> Reply {
    if version < since::COPIES {
        return reply;
    }
    if let Some(copy) = &view.copy {
        reply = reply
            .with(header!("x-ms-copy-id"), copy.id)
            .with(header!("x-ms-copy-source"), &copy.source)
            .with_text(header!("x-ms-copy-status"), status_text(copy.status))
            .with(header!("x-ms-copy-progress"), progress(copy))
            .with_some(header!("x-ms-copy-completion-time"), copy.completed.map(Timestamp::rfc1123))
            .with_some(header!("x-ms-copy-status-description"), copy.description.as_ref());
    }
    if let Some(incremental) = view.incremental.filter(|_| version >= since::INCREMENTAL) {
        reply = reply.with_text(header!("x-ms-incremental-copy"), "true").with_some(
            header!("x-ms-copy-destination-snapshot"),
            incremental.snapshot.map(Timestamp::iso7),
        );
    }
    reply
}

/// The properties of an entry of a listing.
pub(super) fn elements(xml: &mut Writer, view: &BlobView, version: ApiVersion) {
    if let Some(copy) = &view.copy {
        xml.element("CopyId", copy.id)
            .element("CopySource", &copy.source)
            .element("CopyStatus", status_text(copy.status))
            .element("CopyProgress", progress(copy))
            .optional("CopyCompletionTime", copy.completed.map(Timestamp::rfc1123))
            .optional("CopyStatusDescription", copy.description.as_ref());
    }
    if let Some(incremental) = view.incremental.filter(|_| version >= since::INCREMENTAL) {
        xml.element("IncrementalCopy", "true")
            .optional("CopyDestinationSnapshot", incremental.snapshot.map(Timestamp::iso7));
    }
}

fn progress(copy: &CopyView) -> String {
    format!("{}/{}", copy.done, copy.total)
}

fn status_text(status: CopyStatus) -> &'static str {
    match status {
        CopyStatus::Pending => "pending",
        CopyStatus::Success => "success",
        CopyStatus::Aborted => "aborted",
        CopyStatus::Failed => "failed",
    }
}
