//! The head of a request, decoded once.
//!
//! Must never be decoded a second time below; signatures use the raw parts kept here.

use crate::error::ApiError;
use crate::limits::QUERY_PARAMETERS;
use crate::message::RequestHead;
use crate::percent;
use hyper::header::{HOST, HeaderMap};
use hyper::{Method, Uri, Version};
use std::net::SocketAddr;
use zaffre_base::Guid;

/// What the connection knows about a request besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The socket's other end.
    pub peer: SocketAddr,
    /// Over TLS.
    pub secure: bool,
    /// Our id for the request.
    pub id: Guid,
}

impl RequestHead {
    /// Decodes a head. Refuses broken escapes, text that is not UTF-8, and a missing or repeated
    /// Host, which HTTP/1.1 demands.
    pub fn decode(
        method: Method,
        uri: &Uri,
        version: Version,
        headers: HeaderMap,
        metadata_names: Vec<String>,
        origin: &Origin,
    ) -> Result<Self, ApiError> {
        let host = host(uri, version, &headers)?;
        let raw_query = uri.query().unwrap_or_default().to_owned();
        let query = decode_query(&raw_query)?;
        let raw_path = uri.path().to_owned();
        let Origin { peer, secure, id } = *origin;
        Ok(Self {
            method,
            raw_path,
            query,
            raw_query,
            headers,
            metadata_names,
            host,
            peer,
            secure,
            id,
            encounter: None,
        })
    }

    /// The first value of a query parameter; names ignore case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(sent, _)| sent.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The query string as it may be logged: signatures cut.
    pub fn loggable_query(&self) -> String {
        redact(&self.raw_query)
    }

    /// A head for tests: `target` is a path with an optional query.
    pub fn sample(method: &str, target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self {
            method: Method::from_bytes(method.as_bytes()).unwrap_or_default(),
            raw_path: path.to_owned(),
            query: decode_query(query).unwrap_or_default(),
            raw_query: query.to_owned(),
            headers: HeaderMap::new(),
            metadata_names: Vec::new(),
            host: "127.0.0.1:10000".to_owned(),
            peer: SocketAddr::from(([127, 0, 0, 1], 50_000)),
            secure: false,
            id: Guid(1),
            encounter: None,
        }
    }
}

fn host(uri: &Uri, version: Version, headers: &HeaderMap) -> Result<String, ApiError> {
    let mut sent = headers.get_all(HOST).iter();
    let (first, second) = (sent.next(), sent.next());
    if second.is_some() || (first.is_none() && version == Version::HTTP_11) {
        return Err(ApiError::invalid_header_value("Host", ""));
    }
    if let Some(authority) = uri.authority() {
        return Ok(authority.as_str().to_owned());
    }
    let Some(value) = first else { return Ok(String::new()) };
    value.to_str().map(str::to_owned).map_err(|_| ApiError::invalid_header_value("Host", ""))
}

fn decode_query(raw: &str) -> Result<Vec<(String, String)>, ApiError> {
    let mut parameters = Vec::new();
    for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
        if parameters.len() == QUERY_PARAMETERS {
            return Err(ApiError::url_failed_to_parse());
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = percent::decode_query(name).ok_or_else(ApiError::url_failed_to_parse)?;
        let value = percent::decode_query(value).ok_or_else(ApiError::url_failed_to_parse)?;
        parameters.push((name, value));
    }
    Ok(parameters)
}

/// Cuts the values of `sig`, however it is spelled.
fn redact(raw_query: &str) -> String {
    let shown = raw_query.split('&').map(|pair| {
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        let plain = percent::decode_query(name).unwrap_or_default().to_ascii_lowercase();
        // What cannot be decoded may hide anything, so it is cut as well.
        let secret = plain == "sig" || plain.is_empty() || percent::decode_query(pair).is_none();
        if secret && !pair.is_empty() { format!("{name}=...") } else { pair.to_owned() }
    });
    shown.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries() {
        let pairs = |raw: &str| decode_query(raw).map_err(|error| error.code);
        let owned = |n: &str, v: &str| (n.to_owned(), v.to_owned());
        assert_eq!(pairs(""), Ok(vec![]));
        assert_eq!(pairs("a=1&&b"), Ok(vec![owned("a", "1"), owned("b", "")]));
        assert_eq!(pairs("a=x+y%2Bz=="), Ok(vec![owned("a", "x y+z==")]));
        assert_eq!(pairs("%61=%252F"), Ok(vec![owned("a", "%2F")]));
        assert_eq!(pairs("a=%"), Err("RequestUrlFailedToParse"));
        assert_eq!(pairs("%gg=1"), Err("RequestUrlFailedToParse"));
        assert_eq!(pairs(&"a&".repeat(129)), Err("RequestUrlFailedToParse"));
    }

    #[test]
    fn signatures_are_never_logged() {
        for (raw, want) in [
            ("sv=2020&sig=abc%3D&se=x", "sv=2020&sig=...&se=x"),
            ("SIG=abc", "SIG=..."),
            ("s%69g=abc", "s%69g=..."),
            ("a=1&b", "a=1&b"),
            ("x=%zz", "x=..."),
            ("", ""),
        ] {
            assert_eq!(redact(raw), want);
        }
    }

    #[test]
    fn hosts() {
        let case = |target: &str, hosts: &[&'static str], version| {
            let mut headers = HeaderMap::new();
            for value in hosts {
                headers.append(HOST, hyper::header::HeaderValue::from_static(value));
            }
            let uri: Uri = target.parse().expect("a test's URL");
            host(&uri, version, &headers).ok()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(case("/p", &["h:1"], Version::HTTP_11), some("h:1"));
        assert_eq!(case("http://u:2/p", &["h:1"], Version::HTTP_11), some("u:2"));
        assert_eq!(case("/p", &["h", "i"], Version::HTTP_11), None);
        assert_eq!(case("/p", &[], Version::HTTP_11), None);
        assert_eq!(case("/p", &[], Version::HTTP_10), some(""));
    }
}
