//! Answers of operations on files: content, properties, writes, copies.

use super::{item, lease, metadata, since, written};
use crate::body;
use crate::parse::file::Framing;
use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use zaffre_auth::ResponseOverrides;
use zaffre_base::{ApiVersion, base64};
use zaffre_core::file::reply::{Copied, FileView, GetFileReply, RangeReply};
use zaffre_domain::blob::HttpProperties;
use zaffre_http::structured::{self, framed};
use zaffre_http::{ApiError, Reply, ReplyBody, header};

/// Get File: 200 with the whole file or 206 with a range of it.
pub(crate) fn content(
    reply: GetFileReply,
    structured: bool,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let view = &reply.file;
    let status = if reply.range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let mut out = headers(Reply::new(status, version), view, overrides, version)?;
    let whole = view.properties.content_md5.map(encoded);
    match reply.range {
        None => out = out.with_some(header!("content-md5"), whole),
        Some((first, last)) => {
            out = out
                .with(
                    header!("content-range"),
                    format_args!("bytes {first}-{last}/{}", view.length),
                )
                .with_some(header!("content-md5"), reply.range_md5.map(encoded));
            if version >= since::MD5_ON_RANGES {
                out = out.with_some(header!("x-ms-content-md5"), whole);
            }
        }
    }
    let (mut length, mut bytes) = (reply.length, body::reply(reply.body));
    if structured {
        out = out
            .with(header!("x-ms-structured-body"), structured::KIND)
            .with(header!("x-ms-structured-content-length"), length);
        bytes = framed::stream(bytes, length);
        length = framed::length(length);
    }
    out.body = ReplyBody::Stream { length, bytes };
    Ok(out)
}

/// An answer to content that came in frames says so.
pub(crate) fn framed(reply: Reply, framing: Framing) -> Reply {
    match framing {
        Framing::Plain => reply,
        Framing::Structured { .. } => reply.with(header!("x-ms-structured-body"), structured::KIND),
    }
}

/// Get File Properties.
pub(crate) fn properties(
    view: &FileView,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let reply = headers(Reply::new(StatusCode::OK, version), view, overrides, version)?;
    Ok(reply
        .with(header!("content-length"), view.length)
        .with_text(header!("x-ms-type"), "File")
        .with_some(header!("content-md5"), view.properties.content_md5.map(encoded)))
}

fn headers(
    reply: Reply,
    view: &FileView,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let reply = metadata(written(reply, view.written), &view.metadata);
    let mut reply =
        item::smb(reply, &view.smb, version).with_text(header!("accept-ranges"), "bytes");
    reply = item::encrypted(reply, header!("x-ms-server-encrypted"), version);
    if version >= since::FILE_LEASES {
        reply = lease(reply, view.lease);
    }
    if let Some(copy) = &view.copy {
        reply = reply
            .with(header!("x-ms-copy-id"), copy.id)
            .with(header!("x-ms-copy-source"), &copy.source)
            .with_text(header!("x-ms-copy-status"), "success")
            .with(header!("x-ms-copy-progress"), format_args!("{0}/{0}", copy.length))
            .with(header!("x-ms-copy-completion-time"), copy.completed.rfc1123());
    }
    content_headers(reply, &view.properties, overrides)
}

/// The stored content headers, or what a SAS says instead.
fn content_headers(
    mut reply: Reply,
    stored: &HttpProperties,
    overrides: &ResponseOverrides,
) -> Result<Reply, ApiError> {
    let shown = [
        ("content-type", "rsct", &overrides.content_type, &stored.content_type),
        ("content-encoding", "rsce", &overrides.content_encoding, &stored.content_encoding),
        ("content-language", "rscl", &overrides.content_language, &stored.content_language),
        ("cache-control", "rscc", &overrides.cache_control, &stored.cache_control),
        (
            "content-disposition",
            "rscd",
            &overrides.content_disposition,
            &stored.content_disposition,
        ),
    ];
    for (name, parameter, instead, stored) in shown {
        let Some(text) = instead.as_ref().or(stored.as_ref()) else { continue };
        // A signed override is still only text from a URL: it must not be able to add a header.
        let value = HeaderValue::from_bytes(text.as_bytes())
            .map_err(|_| ApiError::invalid_query_parameter(parameter, text, ""))?;
        reply.headers.insert(HeaderName::from_static(name), value);
    }
    Ok(reply)
}

/// Put Range.
pub(crate) fn range_written(reply: &RangeReply, version: ApiVersion) -> Reply {
    of_range(reply, version).with_some(header!("content-md5"), reply.md5.map(encoded))
}

/// Put Range from URL.
pub(crate) fn range_copied(reply: &RangeReply, version: ApiVersion) -> Reply {
    let crc64 = reply.crc64.map(|crc64| base64::encode(&crc64));
    of_range(reply, version).with_some(header!("x-ms-content-crc64"), crc64)
}

fn of_range(range: &RangeReply, version: ApiVersion) -> Reply {
    let mut reply = written(Reply::new(StatusCode::CREATED, version), range.written);
    if version >= since::LAST_WRITES {
        reply = reply.with(header!("x-ms-file-last-write-time"), range.last_write.iso7());
    }
    item::encrypted(reply, header!("x-ms-request-server-encrypted"), version)
}

/// Copy File; copies are done when they are answered.
pub(crate) fn copied(copied: &Copied, version: ApiVersion) -> Reply {
    written(Reply::new(StatusCode::ACCEPTED, version), copied.written)
        .with(header!("x-ms-copy-id"), copied.id)
        .with_text(header!("x-ms-copy-status"), "success")
}

fn encoded(md5: [u8; 16]) -> String {
    base64::encode(&md5)
}
