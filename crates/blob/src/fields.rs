//! Headers and query parameters of one request, read strictly: one value each, text only.
//!
//! Must never interpret a value beyond its text; the parsers of each operation do that.

use crate::refuse;
use hyper::Method;
use zaffre_base::{ApiVersion, Guid};
use zaffre_core::blob::op::Context;
use zaffre_domain::blob::{Metadata, metadata};

use zaffre_http::{ApiError, RequestHead, headers, refuse_repetition};

/// What the head of a request says, apart from its path and its credentials.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    head: &'a RequestHead,
    content_length: Option<u64>,
    version: ApiVersion,
    sent: headers::Sent<'a>,
}

impl<'a> Fields<'a> {
    /// Reads from `head`; see [`refuse_repetition`].
    pub fn new(
        head: &'a RequestHead,
        content_length: Option<u64>,
        version: ApiVersion,
    ) -> Result<Self, ApiError> {
        refuse_repetition(&head.query)?;
        let sent = headers::Sent::new(&head.headers);
        Ok(Self { head, content_length, version, sent })
    }

    /// The verb.
    pub fn method(&self) -> &'a Method {
        &self.head.method
    }

    /// The version the answer must look like.
    pub fn version(&self) -> ApiVersion {
        self.version
    }

    /// The version, as operations carry it.
    pub fn context(&self) -> Context {
        Context { version: self.version }
    }

    /// Content-Length, if sent.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// Whether nobody but the caller can have read the request on its way.
    pub fn is_confidential(&self) -> bool {
        self.head.secure || self.head.peer.ip().is_loopback()
    }

    /// A header's text; an empty header counts as not sent, one sent twice is refused.
    pub fn header(&self, name: &str) -> Result<Option<&'a str>, ApiError> {
        self.sent.single(name)
    }

    /// Every `x-ms-meta-` header.
    pub fn metadata(&self) -> Result<Metadata, ApiError> {
        let pairs = headers::metadata(self.head)?;
        let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Ok(metadata::collect(pairs)?)
    }

    /// A header that must be there.
    pub fn required(&self, name: &str) -> Result<&'a str, ApiError> {
        self.header(name)?.ok_or_else(|| ApiError::missing_required_header(name))
    }

    /// A header that says `true` or `false`; not sent means false.
    pub fn flag(&self, name: &str) -> Result<bool, ApiError> {
        match self.header(name)? {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => Err(ApiError::invalid_header_value(name, text)),
        }
    }

    /// A header that holds a GUID in any of its text forms.
    pub fn guid(&self, name: &str) -> Result<Option<Guid>, ApiError> {
        let Some(text) = self.header(name)? else { return Ok(None) };
        Guid::parse(text).map(Some).ok_or_else(|| ApiError::invalid_header_value(name, text))
    }

    /// `x-ms-lease-id`.
    pub fn lease_id(&self) -> Result<Option<Guid>, ApiError> {
        self.guid("x-ms-lease-id")
    }

    /// A query parameter's value; names ignore case, as the service's canonical form does.
    pub fn query(&self, name: &str) -> Option<&'a str> {
        self.query_all(name).next()
    }

    /// All values of a parameter that may be repeated.
    pub fn query_all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let same = move |sent: &str| sent.eq_ignore_ascii_case(name);
        self.head.query.iter().filter(move |(sent, _)| same(sent)).map(|(_, v)| v.as_str())
    }

    /// Refuses a `timeout` that is no number; one that is needs no more, since every operation here
    /// ends well within the least the service allows.
    pub fn check_timeout(&self) -> Result<(), ApiError> {
        match self.query("timeout") {
            Some(text) if text.parse::<u64>().is_err() => {
                Err(ApiError::invalid_query_parameter("timeout", text, "Invalid integer value."))
            }
            _ => Ok(()),
        }
    }

    /// Refuses headers that ask for something this server does not do: dropping them silently
    /// would leave the caller believing that it was done.
    pub fn refuse_unserved(&self, names: &[&str]) -> Result<(), ApiError> {
        for name in names {
            if self.header(name)?.is_some() {
                return Err(refuse::unserved_header(name));
            }
        }
        Ok(())
    }
}
