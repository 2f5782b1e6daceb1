//! Answers of the operations on append blobs, and of creating blobs without content.

use super::upload::{checksum, started};
use super::{since, written};
use crate::parse::put::Framing;
use hyper::StatusCode;
use zaffre_base::ApiVersion;
use zaffre_core::blob::reply::{AppendReply, Written};
use zaffre_http::{Reply, header};

/// Put Blob of an append blob or a page blob.
pub fn created(commit: Written, version: ApiVersion) -> Reply {
    written(started(Framing::Plain, version), commit, version)
}

/// Append Block.
pub fn appended(reply: &AppendReply, framing: Framing, version: ApiVersion) -> Reply {
    let out = written(started(framing, version), reply.written, version)
        .with(header!("x-ms-blob-append-offset"), reply.offset)
        .with(header!("x-ms-blob-committed-block-count"), reply.blocks);
    checksum(out, reply.md5, reply.crc64, version)
}

/// Append Blob Seal.
pub fn sealed(commit: Written, version: ApiVersion) -> Reply {
    let reply = written(Reply::new(StatusCode::OK, version), commit, version);
    if version >= since::SEALED { reply.with(header!("x-ms-blob-sealed"), "true") } else { reply }
}
