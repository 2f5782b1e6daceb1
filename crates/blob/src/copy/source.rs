//! Opening the source of a copy: a read of this very server, checked like any other read.
//!
//! Must never read what the source's own rules do not grant, and never go to another server that
//! the operator has not allowed.

use super::failure::{Copying, Read, cannot_verify, of_source};
use super::url::SourceUrl;
use crate::authorize::{Caller, signed_headers};
use crate::dispatch::Dispatch;
use crate::fields::Fields;
use crate::operation::Kind;
use crate::parse::blob::{self as parse, Download};
use crate::request::{Asked, Place};
use crate::route::route;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode, Uri, Version};
use zaffre_auth::Authorized;
use zaffre_core::blob::copy::CopySource;
use zaffre_core::blob::op::{GetBlob, GetBlobTags};
use zaffre_core::blob::reply::GetBlobReply;
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
) -> Result<GetBlobReply, ApiError> {
    let Permitted { op, read } = permit(dispatch, url, copying, tags).await?;
    let opened = zaffre_core::blob::get_blob(dispatch.core, op).await;
    opened.map_err(|error| of_source(crate::failure::api_error(&error), read))
}

/// Opens the source of a copy that goes on by itself.
pub(crate) async fn open_copy(
    dispatch: Dispatch<'_>,
    url: &SourceUrl,
    copying: Copying,
    tags: bool,
) -> Result<CopySource, ApiError> {
    let Permitted { op, read } = permit(dispatch, url, copying, tags).await?;
    let opened = zaffre_core::blob::copy::open_source(dispatch.core, op).await;
    opened.map_err(|error| of_source(crate::failure::api_error(&error), read))
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
    if !is_here(dispatch, url) {
        return Err(cannot_verify(
            StatusCode::FORBIDDEN,
            "The copy source is on another server, which the operator of this one has not allowed.",
        ));
    }
    let head = head(&here.fields, here.head, url)?;
    let place = Place::read(&head, dispatch.service.always_path_style())?;
    let asked = Asked::read(&head, None, place, here.version)?;
    let fields = &here.fields;
    let read = Read {
        copying,
        by_owner: copying == Copying::Later
            && asked.account == here.account
            && dispatch.caller.owns_account(),
        if_match: fields.header("x-ms-source-if-match")?.is_some(),
        if_tags: fields.header("x-ms-source-if-tags")?.is_some(),
    };
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

/// The head of the read that the copy stands for.
fn head(
    fields: &Fields<'_>,
    asked: &RequestHead,
    url: &SourceUrl,
) -> Result<RequestHead, ApiError> {
    let invalid = || ApiError::invalid_header_value("x-ms-copy-source", "");
    let mut headers = HeaderMap::new();
    let host = if url.authority.is_empty() { asked.host.as_str() } else { &url.authority };
    headers.insert(HOST, HeaderValue::from_str(host).map_err(|_| invalid())?);
    for (sent, read) in FORWARDED {
        if let Some(text) = fields.header(sent)? {
            let value = HeaderValue::from_str(text)
                .map_err(|_| ApiError::invalid_header_value(sent, ""))?;
            headers.insert(HeaderName::from_static(read), value);
        }
    }
    let target = format!("{}?{}", url.path, url.query);
    let uri: Uri = target.parse().map_err(|_| invalid())?;
    // The source is read by this server for the caller, over the connection the URL names.
    let origin = Origin { peer: asked.peer, secure: url.secure, id: asked.id };
    RequestHead::decode(Method::GET, &uri, Version::HTTP_11, headers, Vec::new(), &origin)
}
