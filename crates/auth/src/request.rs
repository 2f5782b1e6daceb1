//! What authentication needs to know about a request, as plain borrowed data.
//!
//! Must never decode a URL itself: names and query parameters come in decoded once, by the protocol,
//! and storage uses the very same values.

use crate::error::AuthError;
use crate::service::Service;
use std::net::IpAddr;
use zaffre_base::{AccountName, ApiVersion};

/// One request. Has no `Debug`: headers and query hold signatures.
#[derive(Clone, Copy)]
pub struct RequestFacts<'a> {
    /// The service it is for.
    pub service: Service,
    /// The verb, in upper case.
    pub method: &'a str,
    /// The path as received (percent-encoded), with the account when `path_style`.
    pub raw_path: &'a str,
    /// The query string as received, without `?`; only for signatures that keep `+` literal.
    pub raw_query: &'a str,
    /// Query parameters, decoded once, in the order received.
    pub query: &'a [(String, String)],
    /// Headers as received; names in any case, repeated headers repeated.
    pub headers: &'a [(&'a str, &'a str)],
    /// The account the URL names, without `-secondary`.
    pub account: &'a AccountName,
    /// The container (`$root` where it is implied), queue, table or share that the URL names.
    pub container: Option<&'a str>,
    /// The blob or file that the URL names.
    pub object: Option<&'a str>,
    /// The account is the first path segment rather than part of the host.
    pub path_style: bool,
    /// The URL's account carried `-secondary`.
    pub secondary: bool,
    /// The socket's other end; never a forwarded header.
    pub peer: IpAddr,
    /// Whether the request came over TLS.
    pub secure: bool,
    /// The version the request is processed with, see [`crate::version`].
    pub version: ApiVersion,
}

impl<'a> RequestFacts<'a> {
    /// The value of a header; an error if the header was sent more than once.
    pub(crate) fn header(&self, name: &str) -> Result<Option<&'a str>, AuthError> {
        let mut values =
            self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| *v);
        let first = values.next();
        if values.next().is_some() {
            return Err(AuthError::DuplicateHeader { name: name.to_owned() });
        }
        Ok(first)
    }
}
