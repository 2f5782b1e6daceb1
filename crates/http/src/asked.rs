//! A request once its URL was taken apart: account, path, version, headers and parameters.
//!
//! Must never decode anything again, and never look at a credential.

use crate::error::ApiError;
use crate::message::RequestHead;
use crate::{address, headers};
use hyper::Method;
use zaffre_auth::{
    AuthError, Hidden, RequestFacts, Scope, Service as AuthService, counts_for_credentials,
};
use zaffre_base::{AccountName, ApiVersion};
use zaffre_domain::blob::{Metadata, metadata};

/// Parameters that may be repeated: their values add up.
const REPEATABLE: &str = "include";

/// Room for most URLs.
const USUAL_URL: usize = 128;

/// Where a request goes, before anything else of it is looked at.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The account.
    pub account: AccountName,
    /// Asked of the `-secondary` endpoint.
    pub secondary: bool,
    /// The account is in the path rather than in the host.
    pub path_style: bool,
    /// What follows the account, decoded once, without its leading slash.
    pub path: String,
}

impl Destination {
    /// Takes host and path apart.
    pub fn read(head: &RequestHead, always_path_style: bool) -> Result<Self, ApiError> {
        let address = address::parse(&head.host, &head.raw_path, always_path_style)?;
        // A name that no account can have is an account that is not there.
        let account = AccountName::parse(&address.account)
            .map_err(|_| AuthError::ResourceNotFound(Hidden::UnknownAccount))?;
        let address::Address { secondary, path_style, path, .. } = address;
        Ok(Self { account, secondary, path_style, path })
    }
}

/// Refuses a parameter that is sent twice, because two readers of such a request may not agree on
/// what it says.
pub fn refuse_repetition(query: &[(String, String)]) -> Result<(), ApiError> {
    fn lower(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().map(|byte| byte.to_ascii_lowercase())
    }
    let names = query.iter().map(|(name, _)| name.as_str());
    let mut names: Vec<&str> =
        names.filter(|name| !name.eq_ignore_ascii_case(REPEATABLE)).collect();
    // In order, so that many long names cost no more than their length.
    names.sort_unstable_by(|one, other| lower(one).cmp(lower(other)));
    let same = |pair: &&[&str]| matches!(pair, [one, other] if one.eq_ignore_ascii_case(other));
    match names.windows(2).find(same) {
        Some([name, ..]) => {
            let name = name.to_ascii_lowercase();
            Err(ApiError::invalid_query_parameter(&name, "", "Specified more than once."))
        }
        _ => Ok(()),
    }
}

/// What is asked, where, and in which version to answer.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The head it came from.
    pub head: &'a RequestHead,
    /// Where it goes.
    pub to: Destination,
    /// Content-Length, if sent.
    pub content_length: Option<u64>,
    /// The version to answer in.
    pub version: ApiVersion,
    sent: headers::Sent<'a>,
}

impl<'a> Asked<'a> {
    /// Of `head`; see [`refuse_repetition`].
    pub fn new(
        head: &'a RequestHead,
        to: Destination,
        content_length: Option<u64>,
        version: ApiVersion,
    ) -> Result<Self, ApiError> {
        refuse_repetition(&head.query)?;
        let sent = headers::Sent::new(&head.headers);
        Ok(Self { head, to, content_length, version, sent })
    }

    /// The verb.
    pub fn method(&self) -> &'a Method {
        &self.head.method
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

    /// A query parameter's value; names ignore case, as the service's canonical form does.
    pub fn query(&self, name: &str) -> Option<&'a str> {
        self.query_all(name).next()
    }

    /// All values of a parameter that may be repeated.
    pub fn query_all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let same = move |sent: &str| sent.eq_ignore_ascii_case(name);
        self.head.query.iter().filter(move |(sent, _)| same(sent)).map(|(_, v)| v.as_str())
    }

    /// A parameter that must be there.
    pub fn required_query(&self, name: &str) -> Result<&'a str, ApiError> {
        self.query(name).ok_or_else(|| ApiError::missing_required_query(name))
    }

    /// A whole number with an optional sign; an empty parameter counts as not sent.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(text) = self.query(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(ApiError::invalid_query_parameter(name, text, "Invalid integer value.")),
        }
    }

    /// A whole number from `least` to `most`.
    pub fn number(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, ApiError> {
        let Some(number) = self.integer(name)? else { return Ok(None) };
        let in_range = u64::try_from(number).ok().filter(|n| (least..=most).contains(n));
        let refuse = || ApiError::out_of_range_query(name, &number.to_string(), least, most);
        in_range.map(Some).ok_or_else(refuse)
    }

    /// Refuses a `timeout` that is no number; one that is needs no more, since every operation here
    /// ends well within the least the service allows.
    pub fn check_timeout(&self) -> Result<(), ApiError> {
        self.integer("timeout").map(|_| ())
    }

    /// The service's URL as the client wrote it, for listings; it ends with a slash.
    pub fn endpoint(&self) -> String {
        let scheme = if self.head.secure { "https://" } else { "http://" };
        let mut url = String::with_capacity(USUAL_URL);
        for part in [scheme, &self.head.host, "/"] {
            url.push_str(part);
        }
        if self.to.path_style {
            let suffix = if self.to.secondary { "-secondary" } else { "" };
            for part in [self.to.account.as_str(), suffix, "/"] {
                url.push_str(part);
            }
        }
        url
    }

    /// What authentication needs to know about it.
    pub fn facts<'b>(
        &'b self,
        service: AuthService,
        scope: Scope<'b>,
        headers: &'b [(&'b str, &'b str)],
    ) -> RequestFacts<'b> {
        let head = self.head;
        RequestFacts {
            service,
            method: head.method.as_str(),
            raw_path: &head.raw_path,
            raw_query: &head.raw_query,
            query: &head.query,
            headers,
            account: &self.to.account,
            container: scope.container,
            object: scope.object,
            path_style: self.to.path_style,
            secondary: self.to.secondary,
            peer: head.peer.ip(),
            secure: head.secure,
            version: self.version,
        }
    }
}

/// All headers as text. One that is not text would escape the signature, or be no credential where
/// there was one, so it is refused; those that no signature covers are left out.
pub fn signed_headers(head: &RequestHead) -> Result<Vec<(&str, &str)>, ApiError> {
    let mut headers = Vec::with_capacity(head.headers.len());
    for (name, value) in &head.headers {
        match std::str::from_utf8(value.as_bytes()) {
            Ok(text) => headers.push((name.as_str(), text)),
            Err(_) if counts_for_credentials(name.as_str()) => {
                return Err(ApiError::invalid_header_value(name.as_str(), ""));
            }
            Err(_) => {}
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(query: &str) -> Result<Option<u64>, &'static str> {
        let head = RequestHead::sample("GET", &format!("/acct/q?{query}"));
        let to = Destination::read(&head, false).map_err(|e| e.code)?;
        let asked = Asked::new(&head, to, None, ApiVersion::LATEST).map_err(|e| e.code)?;
        asked.number("n", 1, 32).map_err(|e| e.code)
    }

    #[test]
    fn numbers() {
        for (query, want) in [
            ("", Ok(None)),
            ("n=", Ok(None)),
            ("N=1", Ok(Some(1))),
            ("n=32", Ok(Some(32))),
            ("n=0", Err("OutOfRangeQueryParameterValue")),
            ("n=33", Err("OutOfRangeQueryParameterValue")),
            ("n=-1", Err("OutOfRangeQueryParameterValue")),
            ("n=1.5", Err("InvalidQueryParameterValue")),
            ("n=99999999999999999999", Err("InvalidQueryParameterValue")),
            ("n=1&N=2", Err("InvalidQueryParameterValue")),
            ("n=1&a=2&m=3&A=4", Err("InvalidQueryParameterValue")),
            ("include=a&n=1&Include=b", Ok(Some(1))),
        ] {
            assert_eq!(number(query), want, "{query}");
        }
    }
}
