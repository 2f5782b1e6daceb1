//! The static website of an account: blobs of `$web` as pages, for anybody, on a host of its own.
//!
//! Must never serve anything but `$web`, nor obey anything of a request but its path, its range and
//! its conditions.

use crate::authorize::Caller;
use crate::dispatch::Dispatch;
use crate::operation::Kind;
use crate::parse::{self, At};
use crate::request::{Asked, Place};
use crate::service::BlobService;
use hyper::header::{HeaderMap, HeaderName};
use hyper::{Method, StatusCode};
use std::sync::Arc;
use zaffre_auth::Accounts;
use zaffre_base::{AccountName, ApiVersion, Timestamp};
use zaffre_domain::service::{ServiceProperties, website::Candidate};
use zaffre_http::{ApiError, Reply, RequestHead, header, percent, xml};

/// The version pages are served in, as the service has it.
const VERSION: ApiVersion = ApiVersion::new(2018, 3, 28);
/// All that a reader of a page may say.
const OBEYED: [&str; 6] =
    ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];
/// What a page shows besides its content.
const SHOWN_FROM_BLOB: &str = "x-ms-";

/// The account whose website the host names: `account.web.…` or `account.z6.web.…`.
pub(crate) fn account_of(host: &str) -> Option<AccountName> {
    let mut labels = host.split('.');
    let account = labels.next()?.to_ascii_lowercase();
    let second = labels.next()?;
    let is_web = |label: &str| {
        label.rsplit_once(':').map_or(label, |(name, _)| name).eq_ignore_ascii_case("web")
    };
    let zone = second.starts_with(['z', 'Z']) && labels.next().is_some_and(is_web);
    if is_web(second) || zone { AccountName::parse(&account).ok() } else { None }
}

impl BlobService {
    /// Answers a request for a page.
    pub(crate) async fn page(
        &self,
        head: &RequestHead,
        account: &AccountName,
        accounts: &Accounts,
        properties: &Arc<ServiceProperties>,
    ) -> Result<Reply, ApiError> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return Err(ApiError::unsupported_http_verb());
        }
        let path = percent::decode(head.raw_path.trim_start_matches('/'))
            .ok_or_else(ApiError::url_failed_to_parse)?;
        let known = accounts.get(account);
        let (Some(known), true) = (known, properties.website.enabled) else {
            return Ok(nothing(head, self.wall()));
        };
        for candidate in properties.website.candidates(&path) {
            let page = plain(head, account, &candidate);
            let place = Place::of_page(account, &candidate.blob);
            let Ok(asked) = Asked::read(&page, None, place, VERSION) else { continue };
            let headers = Vec::new();
            let caller = Caller::reader_of_website(&asked, &headers, known, &self.core);
            let found = self.read_page(&caller, &asked, accounts).await;
            match found {
                Err(error) if error.status == StatusCode::NOT_FOUND => {}
                Ok(reply) => return Ok(shown(reply, candidate.missing)),
                Err(error) => return Err(error),
            }
        }
        Ok(nothing(head, self.wall()))
    }

    async fn read_page(
        &self,
        caller: &Caller<'_>,
        asked: &Asked<'_>,
        accounts: &Accounts,
    ) -> Result<Reply, ApiError> {
        let kind =
            if asked.head.method == Method::HEAD { Kind::GetBlobProperties } else { Kind::GetBlob };
        let fresh = || Err(ApiError::internal_error());
        let at = At { account: &asked.account, target: &asked.target, fresh: &fresh };
        let operation = parse::operation(kind, at, &asked.fields)?;
        let dispatch = Dispatch { core: &self.core, caller, asked, service: self, accounts };
        dispatch.perform(operation, Box::pin(futures_util::stream::empty())).await
    }
}

/// The request with only what a page obeys; the page for what is not there is always sent whole.
fn plain(head: &RequestHead, account: &AccountName, candidate: &Candidate) -> RequestHead {
    let mut headers = HeaderMap::new();
    for name in OBEYED.map(HeaderName::from_static) {
        if let Some(value) = head.headers.get(&name).filter(|_| !candidate.missing) {
            headers.insert(name, value.clone());
        }
    }
    RequestHead {
        headers,
        query: Vec::new(),
        raw_query: String::new(),
        metadata_names: Vec::new(),
        raw_path: format!("/{account}"),
        ..head.clone()
    }
}

fn shown(mut reply: Reply, missing: bool) -> Reply {
    let own: Vec<HeaderName> = reply
        .headers
        .keys()
        .filter(|name| name.as_str().starts_with(SHOWN_FROM_BLOB))
        .cloned()
        .collect();
    for name in own {
        reply.headers.remove(name);
    }
    reply.spelling.clear();
    if missing {
        reply.status = StatusCode::NOT_FOUND;
    }
    reply
}

/// The service's own page for what is not there.
fn nothing(head: &RequestHead, now: Timestamp) -> Reply {
    const CODE: &str = "WebContentNotFound";
    const TEXT: &str = "The requested content does not exist.";
    let (id, time) = (head.id, now.iso7());
    let host = xml::escape(&head.host);
    let page = format!(
        "<!DOCTYPE html><html><head><title>{CODE}</title></head><body><h1>{TEXT}</h1><p><ul>\
         <li>HttpStatusCode: 404</li><li>ErrorCode: {CODE}</li><li>Host: {host}</li>\
         <li>RequestId : {id}</li><li>TimeStamp : {time}</li></ul></p></body></html>"
    );
    Reply::new(StatusCode::NOT_FOUND, VERSION)
        .with(header!("x-ms-error-code"), CODE)
        .with_body("text/html", page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (host, want) in [
            ("acct.web.localhost:10000", Some("acct")),
            ("ACCT.z6.web.core.windows.net", Some("acct")),
            ("acct.web", Some("acct")),
            ("acct.web:80", Some("acct")),
            ("acct.blob.localhost", None),
            ("acct.blob.web", None),
            ("acct.z6.blob.core.windows.net", None),
            ("web.localhost", None),
            ("127.0.0.1:10000", None),
            ("localhost", None),
            ("a.web.localhost", None),
        ] {
            let found = account_of(host).map(|account| account.to_string());
            assert_eq!(found.as_deref(), want, "{host}");
        }
    }
}
