//! Opening the source of a copy: a read of this very server, checked like any other read.
//!
//! Must never read what the source's own rules do not grant, and never go to another server.

use crate::authorize::Caller;
use crate::body;
use crate::dispatch::Dispatch;
use crate::failure;
use crate::operation::Kind;
use crate::parse;
use crate::route::route;
use crate::target::Target;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode, Uri, Version};
use zaffre_auth::{Action, Authorized, Scope};
use zaffre_base::base64;
use zaffre_core::file::get_file;
use zaffre_core::file::op::{GetFile, ItemPath, Kind as ItemKind};
use zaffre_core::file::reply::CopySource;
use zaffre_domain::Refusal;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::FilePath;
use zaffre_domain::fs::name::TrailingDots;
use zaffre_http::headers::METADATA_PREFIX;
use zaffre_http::source_url::SourceUrl;
use zaffre_http::{
    ApiError, Asked, Destination, Origin, Reply, ReplyBody, Request, RequestHead, codes,
    signed_headers,
};

const COPY_SOURCE: &str = "x-ms-copy-source";
const RENAME_SOURCE: &str = "x-ms-file-rename-source";

/// A header of the copy, and what it is in a read of the source.
const FORWARDED: &[(&str, &str)] = &[
    ("x-ms-source-range", "x-ms-range"),
    ("x-ms-source-lease-id", "x-ms-lease-id"),
    ("x-ms-copy-source-authorization", "authorization"),
    ("x-ms-file-request-intent", "x-ms-file-request-intent"),
    ("x-ms-version", "x-ms-version"),
];

/// Whose right to read a source counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// What the source's URL grants.
    OfUrl,
    /// Also that of whoever asks, if they own the account that both are in.
    OfCaller,
}

/// Opens a source, a file or a blob.
pub(crate) async fn open(
    dispatch: Dispatch<'_>,
    url: &SourceUrl,
    dots: TrailingDots,
    rights: Rights,
) -> Result<CopySource, ApiError> {
    let (host, ports) = (&dispatch.asked.head.host, dispatch.ports);
    let head = head(dispatch.asked, url)?;
    if url.is_ours(host, ports.file) {
        open_file(dispatch, &head, dots, rights).await
    } else if url.is_ours(&blob_host(host, ports.blob), ports.blob) {
        let request = Request { head, content_length: None, body: body::empty() };
        let opened = dispatch.blobs.ask(request).await.map_err(|error| of_source(error, false))?;
        from_blob(opened)
    } else {
        let message = "The copy source is on another server, which this one does not read.";
        Err(cannot_verify(StatusCode::FORBIDDEN, message))
    }
}

/// The name that the Blob service has where the File service is called `host`.
fn blob_host(host: &str, port: u16) -> String {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.to_ascii_lowercase().replacen(".file.", ".blob.", 1);
    if host.contains(':') { format!("{name}:{port}") } else { name }
}

async fn open_file(
    dispatch: Dispatch<'_>,
    head: &RequestHead,
    dots: TrailingDots,
    rights: Rights,
) -> Result<CopySource, ApiError> {
    let to = Destination::read(head, dispatch.always_path_style)?;
    let asked = Asked::new(head, to, None, dispatch.asked.version)?;
    let by_owner = rights == Rights::OfCaller
        && asked.to.account == dispatch.asked.to.account
        && dispatch.caller.owns_account()
        && asked.query("sig").is_none()
        && asked.header("authorization")?.is_none();
    let permitted = permit_read(dispatch, &asked, dots, by_owner).await;
    let op = permitted.map_err(|error| of_source(error, by_owner))?;
    let opened = get_file(dispatch.core, op).await;
    let opened = opened.map_err(|error| of_source(failure::api_error(&error), by_owner))?;
    Ok(CopySource::from(opened))
}

async fn permit_read(
    dispatch: Dispatch<'_>,
    asked: &Asked<'_>,
    dots: TrailingDots,
    by_owner: bool,
) -> Result<Authorized<GetFile>, ApiError> {
    let target = Target::parse(&asked.to.path)?;
    if route(&target, asked)? != Kind::GetFile {
        return Err(ApiError::invalid_header_value(COPY_SOURCE, ""));
    }
    let path = FilePath::parse(target.inside(), dots).map_err(Refusal::from)?;
    let op = parse::source(&target, path.clone(), asked)?;
    if by_owner {
        return dispatch.caller.permit(op);
    }
    let headers = signed_headers(asked.head)?;
    let scope = target.scope_of(&asked.to.account, Some(&path));
    let known = (dispatch.accounts, dispatch.core);
    let reader = Caller::identify(asked, &target, scope, &headers, known).await?;
    reader.check_intent(asked)?;
    reader.permit(op)
}

/// What is to be renamed: in the same share, by somebody who may rename it.
pub(crate) async fn renamed(
    dispatch: Dispatch<'_>,
    url: &SourceUrl,
    dots: TrailingDots,
    at: &ItemPath,
    kind: ItemKind,
) -> Result<FilePath, ApiError> {
    let invalid = || ApiError::invalid_header_value(RENAME_SOURCE, &url.path);
    if !url.is_ours(&dispatch.asked.head.host, dispatch.ports.file) {
        return Err(invalid());
    }
    let head = head(dispatch.asked, url)?;
    let to = Destination::read(&head, dispatch.always_path_style)?;
    let asked = Asked::new(&head, to, None, dispatch.asked.version)?;
    let target = Target::parse(&asked.to.path)?;
    if target.share(&asked.to.account)? != at.share || target.inside().is_empty() {
        return Err(invalid());
    }
    let path = FilePath::parse(target.inside(), dots).map_err(Refusal::from)?;
    let file = Some(&path).filter(|_| kind == ItemKind::File);
    let scope: Scope<'_> = target.scope_of(&asked.to.account, file);
    if asked.query("sig").is_some() {
        let headers = signed_headers(&head)?;
        let known = (dispatch.accounts, dispatch.core);
        let owner = Caller::identify(&asked, &target, scope, &headers, known).await?;
        owner.may(Action::Rename, scope)?;
    } else {
        dispatch.caller.may(Action::Rename, scope)?;
    }
    Ok(path)
}

/// The head of the read that the copy stands for.
fn head(asked: &Asked<'_>, url: &SourceUrl) -> Result<RequestHead, ApiError> {
    let invalid = || ApiError::invalid_header_value(COPY_SOURCE, "");
    let mut headers = HeaderMap::new();
    let host = if url.authority.is_empty() { asked.head.host.as_str() } else { &url.authority };
    headers.insert(HOST, HeaderValue::from_str(host).map_err(|_| invalid())?);
    for (sent, read) in FORWARDED {
        if let Some(text) = asked.header(sent)? {
            let value = HeaderValue::from_str(text)
                .map_err(|_| ApiError::invalid_header_value(sent, ""))?;
            headers.insert(HeaderName::from_static(read), value);
        }
    }
    let target = format!("{}?{}", url.path, url.query);
    let uri: Uri = target.parse().map_err(|_| invalid())?;
    // The source is read by this server for the caller, over the connection the URL names.
    let origin = Origin { peer: asked.head.peer, secure: url.secure, id: asked.head.id };
    RequestHead::decode(Method::GET, &uri, Version::HTTP_11, headers, Vec::new(), &origin)
}

/// What of a blob becomes part of a file.
fn from_blob(reply: Reply) -> Result<CopySource, ApiError> {
    let text = |name: &str| {
        let value = reply.headers.get(name)?;
        std::str::from_utf8(value.as_bytes()).ok().map(str::to_owned)
    };
    let md5 = text("content-md5").filter(|_| reply.status == StatusCode::OK);
    let properties = HttpProperties {
        content_type: text("content-type"),
        content_encoding: text("content-encoding"),
        content_language: text("content-language"),
        content_disposition: text("content-disposition"),
        cache_control: text("cache-control"),
        content_md5: md5.and_then(|text| base64::decode(&text)?.try_into().ok()),
    };
    let metadata = metadata(&reply);
    match reply.into_parts().body {
        ReplyBody::Stream { length, bytes } => {
            let body = body::content(bytes);
            Ok(CopySource { length, properties, metadata, smb: None, body })
        }
        ReplyBody::Empty => {
            let body = body::content(body::empty());
            Ok(CopySource { length: 0, properties, metadata, smb: None, body })
        }
        ReplyBody::Full(_) | ReplyBody::Open { .. } => Err(ApiError::internal_error()),
    }
}

/// Metadata with the case its names have on the wire.
fn metadata(reply: &Reply) -> Metadata {
    let pairs = reply.headers.iter().filter_map(|(name, value)| {
        let lower = name.as_str().strip_prefix(METADATA_PREFIX)?;
        let spelled = reply.spelling.iter().find(|sent| sent.eq_ignore_ascii_case(name.as_str()));
        let spelled = spelled.and_then(|sent| sent.get(METADATA_PREFIX.len()..)).unwrap_or(lower);
        let value = std::str::from_utf8(value.as_bytes()).ok()?;
        Some((spelled.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// The answer to a copy whose source answered `error`. What the source's reader may not know is not
/// told to whoever asked for the copy.
fn of_source(error: ApiError, by_owner: bool) -> ApiError {
    match error.status {
        status if status.is_server_error() => error,
        StatusCode::NOT_FOUND if by_owner => error,
        StatusCode::CONFLICT | StatusCode::RANGE_NOT_SATISFIABLE => error,
        StatusCode::NOT_FOUND => {
            cannot_verify(StatusCode::NOT_FOUND, codes::RESOURCE_NOT_FOUND.message)
        }
        status => cannot_verify(status, &error.message),
    }
}

/// `CannotVerifyCopySource` in the status of the source.
fn cannot_verify(status: StatusCode, message: &str) -> ApiError {
    let mut error = ApiError::from(codes::CANNOT_VERIFY_COPY_SOURCE).saying(message);
    error.status = status;
    error
}
