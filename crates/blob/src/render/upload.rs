//! Answers of Put Blob, Put Block and Put Block List: what was stored, and its checksums.

use super::{STRUCTURED_BODY, history, since, written};
use crate::body::Verified;
use crate::parse::put::Framing;
use hyper::StatusCode;
use zaffre_base::{ApiVersion, base64};
use zaffre_core::blob::reply::{PutBlobReply, PutBlockReply, Written};
use zaffre_http::{Reply, header};

/// Put Blob shows both checksums.
pub fn blob(reply: &PutBlobReply, framing: Framing, version: ApiVersion) -> Reply {
    let out = written(started(framing, version), reply.written, version)
        .with(header!("content-md5"), base64::encode(&reply.md5));
    let out = history::version_id(out, reply.written.version, version);
    crc64(out, reply.crc64, version)
}

/// Put Block shows the MD5 if the request gave one, the CRC64 otherwise.
pub fn block(reply: &PutBlockReply, framing: Framing, version: ApiVersion) -> Reply {
    checksum(started(framing, version), reply.md5, reply.crc64, version)
}

/// The MD5 if the request gave one, the CRC64 otherwise.
pub(super) fn checksum(
    reply: Reply,
    md5: Option<[u8; 16]>,
    crc: [u8; 8],
    version: ApiVersion,
) -> Reply {
    match md5 {
        Some(md5) => reply.with(header!("content-md5"), base64::encode(&md5)),
        None => crc64(reply, crc, version),
    }
}

/// Put Block List shows the checksum of its XML, by the same rule.
pub fn block_list(commit: Written, body: Verified, version: ApiVersion) -> Reply {
    let out = written(started(Framing::Plain, version), commit, version);
    let out = history::version_id(out, commit.version, version);
    match body {
        Verified::Md5(md5) => out.with(header!("content-md5"), base64::encode(&md5)),
        Verified::Crc64(value) => crc64(out, value, version),
    }
}

pub(super) fn started(framing: Framing, version: ApiVersion) -> Reply {
    let mut reply = Reply::new(StatusCode::CREATED, version);
    if version >= since::ENCRYPTION {
        reply = reply.with_text(header!("x-ms-request-server-encrypted"), "true");
    }
    match framing {
        Framing::Plain => reply,
        Framing::Structured { .. } => reply.with(header!("x-ms-structured-body"), STRUCTURED_BODY),
    }
}

fn crc64(reply: Reply, value: [u8; 8], version: ApiVersion) -> Reply {
    if version >= since::CRC64 {
        reply.with(header!("x-ms-content-crc64"), base64::encode(&value))
    } else {
        reply
    }
}
