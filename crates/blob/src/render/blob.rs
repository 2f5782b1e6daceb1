//! Answers of reads of a blob: content, properties, metadata.

use super::{
    STRUCTURED_BODY, blob_type, copy, encryption, history, lease, metadata, protection, since,
    tier, written,
};
use crate::body::{framed, stream};
use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use zaffre_auth::ResponseOverrides;
use zaffre_base::{ApiVersion, Timestamp, base64};
use zaffre_core::blob::reply::{BlobView, GetBlobReply, OfKind, PropertiesSet, Written};
use zaffre_domain::blob::HttpProperties;
use zaffre_http::{ApiError, Reply, ReplyBody, header};

/// Get Blob: 200 with the whole blob or 206 with a range of it.
pub fn content(
    reply: GetBlobReply,
    structured: bool,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let view = &reply.blob;
    let status = if reply.range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let mut out = headers(Reply::new(status, version), view, overrides, version)?;
    match reply.range {
        None => {
            out = out.with_some(header!("content-md5"), view.properties.content_md5.map(encoded));
        }
        Some((first, last)) => {
            out = out
                .with(
                    header!("content-range"),
                    format_args!("bytes {first}-{last}/{}", view.length),
                )
                .with_some(header!("content-md5"), reply.range_md5.map(encoded))
                .with_some(
                    header!("x-ms-content-crc64"),
                    reply.range_crc64.map(|c| base64::encode(&c)),
                );
            if version >= since::BLOB_MD5_ON_RANGES {
                let whole = view.properties.content_md5.map(encoded);
                out = out.with_some(header!("x-ms-blob-content-md5"), whole);
            }
        }
    }
    if version >= since::TIERS_ON_GET {
        out = tier::headers(out, view, version);
    }
    let (mut length, mut bytes) = (reply.length, stream::reply(reply.body));
    if structured {
        out = out
            .with(header!("x-ms-structured-body"), STRUCTURED_BODY)
            .with(header!("x-ms-structured-content-length"), length);
        bytes = framed::stream(bytes, length);
        length = framed::length(length);
    }
    out.body = ReplyBody::Stream { length, bytes };
    Ok(out)
}

/// An answer that describes the blob it was made of, without its length.
pub fn described(
    view: &BlobView,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    headers(Reply::new(StatusCode::OK, version), view, overrides, version)
}

/// Get Blob Properties.
pub fn properties(
    view: &BlobView,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let reply = headers(Reply::new(StatusCode::OK, version), view, overrides, version)?
        .with(header!("content-length"), view.length)
        .with_some(header!("content-md5"), view.properties.content_md5.map(encoded));
    Ok(if version >= since::TIERS { tier::headers(reply, view, version) } else { reply })
}

/// Get Blob Metadata.
pub fn only_metadata(view: &BlobView, version: ApiVersion) -> Reply {
    let reply = written(Reply::new(StatusCode::OK, version), view.written, version);
    metadata(reply, &view.metadata)
}

/// Set Blob Metadata.
pub fn metadata_set(commit: Written, version: ApiVersion) -> Reply {
    let reply = written(Reply::new(StatusCode::OK, version), commit, version);
    let reply = history::version_id(reply, commit.version, version);
    if version >= since::ENCRYPTION {
        reply.with(header!("x-ms-request-server-encrypted"), "true")
    } else {
        reply
    }
}

/// Set Blob Properties.
pub fn properties_set(set: PropertiesSet, version: ApiVersion) -> Reply {
    written(Reply::new(StatusCode::OK, version), set.written, version)
        .with_some(header!("x-ms-blob-sequence-number"), set.sequence_number)
}

/// What Get Blob and Get Blob Properties show alike.
fn headers(
    reply: Reply,
    view: &BlobView,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let mut reply =
        written(reply, view.written, version).with(header!("x-ms-blob-type"), blob_type(view));
    reply = of_kind(reply, view.of_kind, version);
    reply = history::moment(metadata(reply, &view.metadata), view.moment, version);
    if view.moment.is_current() {
        reply = lease(reply, view.lease, version);
    }
    if version >= since::ACCEPT_RANGES {
        reply = reply.with_text(header!("accept-ranges"), "bytes");
    }
    if version >= since::ENCRYPTION {
        reply = reply.with_text(header!("x-ms-server-encrypted"), "true");
    }
    if version >= since::CREATION_TIME {
        reply = reply.with(header!("x-ms-creation-time"), view.created.rfc1123());
    }
    if version >= since::TAGS && !view.tags.is_empty() {
        reply = reply.with(header!("x-ms-tag-count"), view.tags.len());
    }
    reply = protection::headers(reply, view.protection, version);
    reply = copy::headers(reply, view, version);
    reply = encryption::headers(reply, &view.encrypted, version);
    if version >= since::LAST_ACCESS {
        let at = view.last_access.map(Timestamp::rfc1123);
        reply = reply.with_some(header!("x-ms-last-access-time"), at);
    }
    content_headers(reply, &view.properties, overrides, version)
}

/// What only blobs of one kind show.
fn of_kind(reply: Reply, of_kind: OfKind, version: ApiVersion) -> Reply {
    match of_kind {
        OfKind::Block => reply,
        OfKind::Append { blocks, sealed } => {
            let reply = reply.with(header!("x-ms-blob-committed-block-count"), blocks);
            let shown = sealed && version >= since::SEALED;
            reply.with_some(header!("x-ms-blob-sealed"), shown.then_some("true"))
        }
        OfKind::Page { sequence_number } => {
            reply.with(header!("x-ms-blob-sequence-number"), sequence_number)
        }
    }
}

/// The stored content headers, or what a SAS says instead.
fn content_headers(
    mut reply: Reply,
    stored: &HttpProperties,
    overrides: &ResponseOverrides,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let disposition = stored.content_disposition.as_ref();
    let shown = [
        ("content-type", "rsct", &overrides.content_type, stored.content_type.as_ref()),
        ("content-encoding", "rsce", &overrides.content_encoding, stored.content_encoding.as_ref()),
        ("content-language", "rscl", &overrides.content_language, stored.content_language.as_ref()),
        ("cache-control", "rscc", &overrides.cache_control, stored.cache_control.as_ref()),
        (
            "content-disposition",
            "rscd",
            &overrides.content_disposition,
            disposition.filter(|_| version >= since::DISPOSITION),
        ),
    ];
    for (name, parameter, instead, stored) in shown {
        let Some(text) = instead.as_ref().or(stored) else { continue };
        // A signed override is still only text from a URL: it must not be able to add a header.
        let value = HeaderValue::from_bytes(text.as_bytes())
            .map_err(|_| ApiError::invalid_query_parameter(parameter, text, ""))?;
        reply.headers.insert(HeaderName::from_static(name), value);
    }
    Ok(reply)
}

fn encoded(md5: [u8; 16]) -> String {
    base64::encode(&md5)
}
