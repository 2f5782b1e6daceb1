//! Opening the source of a copy: a read of this very server, checked like any other read.
//!
//! Must never read what the source's own rules do not grant, and never go to another server that
//! the operator has not allowed.

use super::elsewhere::{Found, not_allowed};
use super::failure::{Copying, Read, of_source};
use super::url::SourceUrl;
use crate::authorize::{Caller, signed_headers};
use crate::dispatch::Dispatch;
use crate::fields::Fields;
use crate::operation::Kind;
use crate::parse::blob::{self as parse, Download};
use crate::request::{Asked, Place};
use crate::route::route;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri, Version};
use zaffre_auth::Authorized;
use zaffre_core::blob::ByteStream;
use zaffre_core::blob::copy::CopySource;
use zaffre_core::blob::op::{GetBlob, GetBlobTags};
use zaffre_core::blob::reply::BlobView;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::conditions::Conditions;
use zaffre_http::{ApiError, Origin, RequestHead};

/// A header of the copy, and what it is in a read of the source.
const FORWARDED: &[(&str, &str)] = &[
    ("x-ms-source-if-match", "if-match"),
    ("x-ms-source-if-none-match", "if-none-match"),
    ("x-ms-source-if-modified-since", "if-modified-since"),
    ("x-ms-source-if-unmodified-since", "if-unmodified-since"),
    ("x-ms-source-if-tags", "x-ms-if-tags"),
    ("x-ms-source-lease-id", "x-ms-lease-id"),
    ("x-ms-source-range", "x-ms-range"),
    ("x-ms-source-encryption-key", "x-ms-encryption-key"),
    ("x-ms-source-encryption-key-sha256", "x-ms-encryption-key-sha256"),
    ("x-ms-source-encryption-algorithm", "x-ms-encryption-algorithm"),
    ("x-ms-copy-source-authorization", "authorization"),
    ("x-ms-version", "x-ms-version"),
];

/// A source whose bytes are wanted now.
pub(crate) struct Opened {
    /// Bytes of the part that was asked for.
    pub(crate) length: u64,
    pub(crate) properties: HttpProperties,
    pub(crate) metadata: Metadata,
    pub(crate) tags: Tags,
    pub(crate) body: ByteStream,
}

/// A source that may be read, and how its failures are told.
pub(crate) struct Permitted {
    pub(crate) op: Authorized<GetBlob>,
    pub(crate) read: Read,
}

/// Opens the source of a copy whose bytes are wanted now; `tags` too, if they are to be copied.
pub(crate) async fn open(
    dispatch: Dispatch<'_>,
    url: &SourceUrl,
    copying: Copying,
    tags: bool,
) -> Result<Opened, ApiError> {
    if !is_here(dispatch, url) {
        let Found { blob, length, body } = open_elsewhere(dispatch, url, copying, tags).await?;
        let (properties, metadata) = (blob.properties, blob.metadata);
        return Ok(Opened { length, properties, metadata, tags: Tags::new(), body });
    }
    let Permitted { op, read } = permit(dispatch, url, copying, tags).await?;
    let opened = zaffre_core::blob::get_blob(dispatch.core, op).await;
    let opened = opened.map_err(|error| of_source(crate::failure::api_error(&error), read))?;
    let BlobView { properties, metadata, tags, .. } = opened.blob;
    Ok(Opened { length: opened.length, properties, metadata, tags, body: opened.body })
}

/// Opens the source of a copy that goes on by itself.
pub(crate) async fn open_copy(
    dispatch: Dispatch<'_>,
    url: &SourceUrl,
    copying: Copying,
    tags: bool,
) -> Result<CopySource, ApiError> {
    if !is_here(dispatch, url) {
        let found = open_elsewhere(dispatch, url, copying, tags).await?;
        return Ok(CopySource::elsewhere(found.blob, found.body));
    }
    let Permitted { op, read } = permit(dispatch, url, copying, tags).await?;
    let opened = zaffre_core::blob::copy::open_source(dispatch.core, op).await;
    opened.map_err(|error| of_source(crate::failure::api_error(&error), read))
}

/// Asks another server, if the operator has allowed that.
async fn open_elsewhere(
    dispatch: Dispatch<'_>,
    url: &SourceUrl,
    copying: Copying,
    tags: bool,
) -> Result<Found, ApiError> {
    let elsewhere = dispatch.service.elsewhere().ok_or_else(not_allowed)?;
    if tags {
        // Nobody there could be asked for them with one request.
        return Err(ApiError::invalid_header_value("x-ms-copy-source-tag-option", "COPY"));
    }
    let fields = &dispatch.asked.fields;
    let headers = forwarded(fields)?;
    elsewhere.open(url, headers, told(fields, copying, false)?).await
}

/// Whether a source is on this server.
pub(crate) fn is_here(dispatch: Dispatch<'_>, url: &SourceUrl) -> bool {
    url.is_ours(&dispatch.asked.head.host, dispatch.service.port())
}

/// Lets the source be read, or says why not.
pub(crate) async fn permit(
    dispatch: Dispatch<'_>,
    url: &SourceUrl,
    copying: Copying,
    tags: bool,
) -> Result<Permitted, ApiError> {
    let here = dispatch.asked;
    let head = head(&here.fields, here.head, url)?;
    let place = Place::read(&head, dispatch.service.always_path_style())?;
    let asked = Asked::read(&head, None, place, here.version)?;
    let by_owner = copying == Copying::Later
        && asked.account == here.account
        && dispatch.caller.owns_account();
    let read = told(&here.fields, copying, by_owner)?;
    let permitted = permit_read(dispatch, &asked, read.by_owner, tags).await;
    Ok(Permitted { op: permitted.map_err(|error| of_source(error, read))?, read })
}

async fn permit_read(
    dispatch: Dispatch<'_>,
    asked: &Asked<'_>,
    by_owner: bool,
    tags: bool,
) -> Result<Authorized<GetBlob>, ApiError> {
    if route(&asked.target, &asked.fields)? != Kind::GetBlob {
        return Err(ApiError::invalid_header_value("x-ms-copy-source", ""));
    }
    let at = asked.target.blob(&asked.account)?;
    let Download { op, .. } = parse::get(&asked.fields, at)?;
    let signed = asked.fields.query("sig").is_some();
    let authorization = asked.fields.header("authorization")?.is_some();
    if by_owner && !signed && !authorization {
        return dispatch.caller.permit(op);
    }
    let headers = signed_headers(asked.head)?;
    let reader = Caller::identify(asked, &headers, dispatch.accounts, dispatch.core).await?;
    if tags {
        let (at, context) = (op.at.clone(), op.context);
        let conditions = Conditions::default();
        reader.permit(GetBlobTags { at, lease: None, conditions, context })?;
    }
    reader.permit(op)
}

/// How failures of the source are told.
fn told(fields: &Fields<'_>, copying: Copying, by_owner: bool) -> Result<Read, ApiError> {
    Ok(Read {
        copying,
        by_owner,
        if_match: fields.header("x-ms-source-if-match")?.is_some(),
        if_tags: fields.header("x-ms-source-if-tags")?.is_some(),
    })
}

/// What is said about the source, as headers of a read of it.
fn forwarded(fields: &Fields<'_>) -> Result<HeaderMap, ApiError> {
    let mut headers = HeaderMap::new();
    for (sent, read) in FORWARDED {
        if let Some(text) = fields.header(sent)? {
            let value = HeaderValue::from_str(text)
                .map_err(|_| ApiError::invalid_header_value(sent, ""))?;
            headers.insert(HeaderName::from_static(read), value);
        }
    }
    Ok(headers)
}

/// The head of the read that the copy stands for.
fn head(
    fields: &Fields<'_>,
    asked: &RequestHead,
    url: &SourceUrl,
) -> Result<RequestHead, ApiError> {
    let invalid = || ApiError::invalid_header_value("x-ms-copy-source", "");
    let mut headers = forwarded(fields)?;
    let host = if url.authority.is_empty() { asked.host.as_str() } else { &url.authority };
    headers.insert(HOST, HeaderValue::from_str(host).map_err(|_| invalid())?);
    let target = format!("{}?{}", url.path, url.query);
    let uri: Uri = target.parse().map_err(|_| invalid())?;
    // The source is read by this server for the caller, over the connection the URL names.
    let origin = Origin { peer: asked.peer, secure: url.secure, id: asked.id };
    RequestHead::decode(Method::GET, &uri, Version::HTTP_11, headers, Vec::new(), &origin)
}
