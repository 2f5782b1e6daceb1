//! Sources on other servers, if the operator has allowed any.
//!
//! Must never send what proves who asked for the copy: only what was given for the source itself.

use super::failure::{Read, cannot_verify, of_source};
use super::url::SourceUrl;
use futures_util::StreamExt;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zaffre_base::limits::PAGE_BLOB_BYTES;
use zaffre_base::{ApiVersion, base64};
use zaffre_core::blob::copy::{Remote, RemoteBlob, RemoteError, RemotePart};
use zaffre_core::blob::{ByteStream, StreamError};
use zaffre_domain::blob::{BlobKind, HttpProperties, Metadata, metadata};
use zaffre_http::outbound::{self, AllowedHosts, Answer, Asked, OutboundError};
use zaffre_http::tls::ClientConfig;
use zaffre_http::{ApiError, BodyError, BodyStream, codes};

/// The largest thing that is copied: no blob is larger.
const LARGEST: u64 = 50_000 * 4_000 * 1024 * 1024;

/// The way to other servers.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    allowed: Arc<AllowedHosts>,
    tls: Option<Arc<ClientConfig>>,
}

/// An answer of another server.
pub(crate) struct Found {
    pub(crate) blob: RemoteBlob,
    /// Bytes of the part that was asked for.
    pub(crate) length: u64,
    pub(crate) body: ByteStream,
}

impl Elsewhere {
    /// To these hosts; without `tls` to those that speak plain HTTP.
    pub fn new(allowed: AllowedHosts, tls: Option<Arc<ClientConfig>>) -> Self {
        Self { allowed: Arc::new(allowed), tls }
    }

    /// Opens a source with the headers of a read of it.
    pub(crate) async fn open(
        &self,
        url: &SourceUrl,
        headers: HeaderMap,
        read: Read,
    ) -> Result<Found, ApiError> {
        let answer = self.get(url, headers).await.map_err(|error| match error {
            OutboundError::NotAllowed => not_allowed(),
            OutboundError::Unreachable => cannot_verify(StatusCode::BAD_GATEWAY, ""),
        })?;
        match answer.status {
            StatusCode::OK | StatusCode::PARTIAL_CONTENT => {
                found(url, answer).ok_or_else(|| cannot_verify(StatusCode::BAD_GATEWAY, ""))
            }
            status => Err(refused(status, read)),
        }
    }

    async fn get(&self, url: &SourceUrl, headers: HeaderMap) -> Result<Answer, OutboundError> {
        let target = if url.query.is_empty() {
            url.path.clone()
        } else {
            format!("{}?{}", url.path, url.query)
        };
        let asked = Asked {
            secure: url.secure,
            host: url.host(),
            port: url.port(),
            authority: &url.authority,
            target: &target,
            headers,
        };
        outbound::get(asked, &self.allowed, self.tls.clone()).await
    }
}

/// The answer to a source that the operator has not allowed.
pub(crate) fn not_allowed() -> ApiError {
    cannot_verify(
        StatusCode::FORBIDDEN,
        "The copy source is on another server, which the operator of this one has not allowed.",
    )
}

/// What another server's refusal becomes. A redirect is one: nobody goes where it points.
fn refused(status: StatusCode, read: Read) -> ApiError {
    let condition = matches!(status, StatusCode::NOT_MODIFIED | StatusCode::PRECONDITION_FAILED);
    let mut error = ApiError::from(if condition {
        codes::CONDITION_NOT_MET
    } else {
        codes::CANNOT_VERIFY_COPY_SOURCE
    });
    error.status = match status {
        status if status.is_redirection() && !condition => StatusCode::FORBIDDEN,
        status if status.is_server_error() => return cannot_verify(StatusCode::BAD_GATEWAY, ""),
        status if status.is_success() => return cannot_verify(StatusCode::BAD_GATEWAY, ""),
        status => status,
    };
    of_source(error, read)
}

/// The source as its server describes it; `None` if that makes no sense.
fn found(url: &SourceUrl, answer: Answer) -> Option<Found> {
    let headers = &answer.headers;
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    // Without a length nobody could say how far a copy is, nor whether it is whole.
    let length: u64 = text("content-length")?.parse().ok().filter(|length| *length <= LARGEST)?;
    if text("content-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked")) {
        return None;
    }
    let kind = match text("x-ms-blob-type").as_deref() {
        Some("PageBlob") if length <= PAGE_BLOB_BYTES && length.is_multiple_of(512) => {
            BlobKind::Page
        }
        Some("AppendBlob") => BlobKind::Append,
        _ => BlobKind::Block,
    };
    let md5 = text("content-md5").and_then(|text| base64::decode(&text));
    let properties = HttpProperties {
        content_type: text("content-type"),
        content_encoding: text("content-encoding"),
        content_language: text("content-language"),
        content_disposition: text("content-disposition"),
        cache_control: text("cache-control"),
        content_md5: md5.and_then(|md5| md5.try_into().ok()),
    };
    let blob = RemoteBlob {
        url: url.whole(),
        etag: text("etag"),
        length,
        kind,
        properties,
        metadata: described(headers),
        sequence_number: text("x-ms-blob-sequence-number")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
    };
    Some(Found { blob, length, body: bytes(answer.body, length) })
}

/// Its metadata, as far as it is any.
fn described(headers: &HeaderMap) -> Metadata {
    let pairs = headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().strip_prefix("x-ms-meta-")?, value.to_str().ok()?))
    });
    metadata::collect(pairs).unwrap_or_default()
}

/// Exactly as many bytes as were announced.
fn bytes(body: BodyStream, length: u64) -> ByteStream {
    let mut left = length;
    Box::pin(body.map(move |piece| {
        let piece = piece.map_err(|error| match error {
            BodyError::Broken => StreamError::Broken,
            BodyError::TooLarge { limit } => StreamError::TooLarge { limit },
        })?;
        let count = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        left = left.checked_sub(count).ok_or(StreamError::TooLarge { limit: length })?;
        Ok(piece)
    }))
}

impl Remote for Elsewhere {
    fn read_on<'a>(
        &'a self,
        url: &'a str,
        etag: Option<&'a str>,
        offset: u64,
    ) -> Pin<Box<dyn Future<Output = Result<RemotePart, RemoteError>> + Send + 'a>> {
        Box::pin(self.rest(url, etag, offset))
    }
}

impl Elsewhere {
    async fn rest(
        &self,
        url: &str,
        etag: Option<&str>,
        offset: u64,
    ) -> Result<RemotePart, RemoteError> {
        let url = SourceUrl::parse(url, ApiVersion::LATEST).ok_or(RemoteError::Refused)?;
        let mut headers = HeaderMap::new();
        let mut put = |name: &'static str, text: &str| {
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        put("x-ms-version", "2021-12-02");
        match etag {
            Some(etag) => put("if-match", etag),
            // What cannot be told from another version cannot be gone on with.
            None if offset > 0 => return Err(RemoteError::Changed),
            None => {}
        }
        if offset > 0 {
            put("range", &format!("bytes={offset}-"));
        }
        let answer = self.get(&url, headers).await.map_err(|error| match error {
            OutboundError::NotAllowed => RemoteError::Refused,
            OutboundError::Unreachable => RemoteError::Unreachable,
        })?;
        let expected = if offset > 0 { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
        match answer.status {
            status if status == expected => {}
            StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::PRECONDITION_FAILED => {
                return Err(RemoteError::Changed);
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => return Err(RemoteError::Gone),
            StatusCode::TOO_MANY_REQUESTS => return Err(RemoteError::Unreachable),
            status if status.is_server_error() => return Err(RemoteError::Unreachable),
            _ => return Err(RemoteError::Refused),
        }
        let range = answer.headers.get("content-range").and_then(|value| value.to_str().ok());
        let starts = |text: &str| text.starts_with(&format!("bytes {offset}-"));
        if offset > 0 && !range.is_some_and(starts) {
            return Err(RemoteError::Changed);
        }
        let found = found(&url, answer).ok_or(RemoteError::Changed)?;
        Ok(RemotePart { length: found.length, body: found.body })
    }
}
