//! SharedKey and SharedKeyLite: the Authorization header checked against the account's keys.
//!
//! Must never accept a request whose date is off by more than 15 minutes of real time, or a signed
//! header sent twice.

use crate::accounts::Account;
use crate::canonical;
use crate::error::{AuthError, Failure, Presented};
use crate::mac;
use crate::request::RequestFacts;
use crate::service::Service;
use std::time::Duration;
use zaffre_base::text::trimmed;
use zaffre_base::{ApiVersion, Timestamp, limits};

/// From this version on, a length of zero is signed as nothing.
const OMITS_ZERO_LENGTH: ApiVersion = ApiVersion::new(2015, 2, 21);
/// Before this version, SharedKey signed what SharedKeyLite still does.
const FULL_STRING: ApiVersion = ApiVersion::new(2009, 9, 19);

/// The two schemes of the Authorization header that use the account's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheme {
    SharedKey,
    SharedKeyLite,
}

impl Scheme {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SharedKey => "SharedKey",
            Self::SharedKeyLite => "SharedKeyLite",
        }
    }
}

/// Checks `authorization`, the value of the Authorization header.
pub(crate) fn verify(
    authorization: &str,
    facts: &RequestFacts<'_>,
    account: &Account,
    wall: Timestamp,
) -> Result<(), AuthError> {
    let (scheme, rest) =
        trimmed(authorization).split_once(' ').ok_or(AuthError::InvalidAuthenticationInfo)?;
    let scheme = match scheme {
        "SharedKey" => Scheme::SharedKey,
        "SharedKeyLite" => Scheme::SharedKeyLite,
        _ => return Err(AuthError::InvalidAuthenticationInfo),
    };
    let (name, presented) =
        trimmed(rest).split_once(':').ok_or(AuthError::InvalidAuthenticationInfo)?;
    refuse_duplicates(facts)?;
    if name != account.name().as_str() {
        return Err(Failure::AccountMismatch.into());
    }
    if !account.allows_key_access() {
        return Err(AuthError::KeyBasedAuthenticationNotPermitted);
    }
    check_date(facts, wall)?;
    // Nearly every client signs this form; the others are made only when it was another one.
    if mac::verify(account.keys(), &[usual_string(scheme, facts)?], presented) {
        return Ok(());
    }
    let mut texts = strings_to_sign(scheme, facts)?;
    if mac::verify(account.keys(), &texts, presented) {
        return Ok(());
    }
    let string_to_sign = texts.swap_remove(0);
    let presented = Presented(presented.to_owned());
    Err(Failure::MacMismatch { presented, string_to_sign }.into())
}

/// Every signed header may be there once only: with two, we and the client could mean different
/// ones.
fn refuse_duplicates(facts: &RequestFacts<'_>) -> Result<(), AuthError> {
    let mut rest = facts.headers;
    while let Some(((name, _), others)) = rest.split_first() {
        // Nearly no header comes twice, so whether it is signed is looked at last.
        let again = others.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        if again && is_signed(&name.to_ascii_lowercase()) {
            return Err(AuthError::DuplicateHeader { name: name.to_ascii_lowercase() });
        }
        rest = others;
    }
    Ok(())
}

fn is_signed(lower: &str) -> bool {
    lower.starts_with("x-ms-") || STANDARD_HEADERS.contains(&lower)
}

/// Whether a header, named in lower case, is a credential or covered by one. None of these may be
/// missing from [`RequestFacts::headers`]: the request would pass for another one.
pub fn counts_for_credentials(lower: &str) -> bool {
    lower == "authorization" || is_signed(lower)
}

fn check_date(facts: &RequestFacts<'_>, wall: Timestamp) -> Result<(), AuthError> {
    let sent = match facts.header("x-ms-date")? {
        Some(date) => date,
        None => facts.header("date")?.ok_or(Failure::DateMissing)?,
    };
    let date = Timestamp::parse_http(sent).ok_or(Failure::DateIncorrect)?;
    let skew = Duration::from_secs(limits::CLOCK_SKEW_SECONDS);
    if date > wall.plus(skew) {
        return Err(Failure::DateIncorrect.into());
    }
    if wall > date.plus(skew) {
        return Err(Failure::DateTooOld { sent: sent.to_owned() }.into());
    }
    Ok(())
}

/// The headers of the full string, one line each, in order.
const STANDARD_HEADERS: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];
/// Room for most strings to sign.
const USUAL_BYTES: usize = 512;
const LITE_HEADERS: [&str; 3] = ["content-md5", "content-type", "date"];

/// How a string is put together, by service and scheme.
#[derive(Clone, Copy)]
struct Shape {
    /// Starts with the verb.
    verb: bool,
    /// Headers with a line each.
    lines: &'static [&'static str],
    /// Has the `x-ms-*` headers; without them the date's line is never empty.
    headers: bool,
    /// Has every query parameter, not `comp` alone.
    query: bool,
}

const FULL: Shape = Shape { verb: true, lines: &STANDARD_HEADERS, headers: true, query: true };
const LITE: Shape = Shape { verb: true, lines: &LITE_HEADERS, headers: true, query: false };
const TABLE: Shape = Shape { verb: true, lines: &LITE_HEADERS, headers: false, query: false };
const TABLE_LITE: Shape = Shape { verb: false, lines: &["date"], headers: false, query: false };

impl Shape {
    fn of(scheme: Scheme, facts: &RequestFacts<'_>) -> Self {
        match (facts.service, scheme) {
            (Service::Table, Scheme::SharedKey) => TABLE,
            (Service::Table, Scheme::SharedKeyLite) => TABLE_LITE,
            (_, Scheme::SharedKey) if facts.version >= FULL_STRING => FULL,
            (_, Scheme::SharedKey | Scheme::SharedKeyLite) => LITE,
        }
    }

    /// The lines before the canonical headers.
    fn push_start(self, facts: &RequestFacts<'_>, text: &mut String) -> Result<(), AuthError> {
        if self.verb {
            text.push_str(facts.method);
            text.push('\n');
        }
        for name in self.lines {
            text.push_str(self.value(name, facts)?);
            text.push('\n');
        }
        Ok(())
    }

    fn value<'a>(self, name: &str, facts: &RequestFacts<'a>) -> Result<&'a str, AuthError> {
        if name == "date" && !self.headers {
            let dated = facts.header("x-ms-date")?;
            let date = if dated.is_some() { dated } else { facts.header("date")? };
            return Ok(date.map_or("", trimmed));
        }
        standard_value(name, facts)
    }
}

/// The one of [`strings_to_sign`] that SDKs sign: headers by their bytes, values as they are.
fn usual_string(scheme: Scheme, facts: &RequestFacts<'_>) -> Result<String, AuthError> {
    let shape = Shape::of(scheme, facts);
    let mut text = String::with_capacity(USUAL_BYTES);
    shape.push_start(facts, &mut text)?;
    if shape.headers {
        canonical::push_usual_headers(facts, &mut text);
    }
    canonical::push_usual_path(facts, &mut text);
    if !shape.query {
        text.push_str(&canonical::comp_suffix(facts)?);
    } else if !facts.query.is_empty() {
        text.push_str(canonical::query_forms(facts)?.first().map_or("", String::as_str));
    }
    Ok(text)
}

/// Every string a well-behaved client may have signed for this request; never empty.
pub(crate) fn strings_to_sign(
    scheme: Scheme,
    facts: &RequestFacts<'_>,
) -> Result<Vec<String>, AuthError> {
    let shape = Shape::of(scheme, facts);
    let mut start = String::new();
    shape.push_start(facts, &mut start)?;
    let queries = if shape.query {
        canonical::query_forms(facts)?
    } else {
        vec![canonical::comp_suffix(facts)?]
    };
    let headers = if shape.headers { canonical::header_forms(facts) } else { vec![String::new()] };
    let mut texts = Vec::new();
    for headers in headers {
        for path in canonical::path_forms(facts) {
            for query in &queries {
                texts.push(format!("{start}{headers}{path}{query}"));
            }
        }
    }
    Ok(texts)
}

fn standard_value<'a>(name: &str, facts: &RequestFacts<'a>) -> Result<&'a str, AuthError> {
    let value = facts.header(name)?.map_or("", trimmed);
    let omitted = match name {
        "date" => facts.header("x-ms-date")?.is_some(),
        "content-length" => value == "0" && facts.version >= OMITS_ZERO_LENGTH,
        _ => false,
    };
    Ok(if omitted { "" } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};
    use zaffre_base::AccountName;

    /// The string that is tried first is one of those that may be signed, not one more.
    #[test]
    fn the_usual_string_is_one_of_the_strings() {
        let account = AccountName::parse("devstoreaccount1").expect("a name");
        let headers: [&[(&str, &str)]; 5] = [
            &[],
            &[("X-MS-Date", "today"), ("x-ms-version", " 2026-10-06 "), ("Accept", "x")],
            &[("x-ms-empty", ""), ("x-ms-blank", "  "), ("x-ms-zeta", "a  b"), ("x-ms-a-b", "1")],
            &[("Content-Length", "0"), ("date", " today "), ("Range", "bytes=0-1"), ("etag", "")],
            &[("content-length", "12"), ("date", "one"), ("x-ms-date", "two"), ("x-m", "3")],
        ];
        let queries: [&[(&str, &str)]; 4] = [
            &[],
            &[("comp", "list")],
            &[("restype", "container"), ("COMP", "acl"), ("prefix", "b"), ("prefix", "a")],
            &[("timeout", "30"), ("marker", "")],
        ];
        let mut strings = 0;
        for (headers, query, version, service, raw_path) in headers
            .iter()
            .flat_map(|h| queries.map(|q| (*h, q)))
            .flat_map(|(h, q)| VERSIONS.map(|v| (h, q, v)))
            .flat_map(|(h, q, v)| SERVICES.map(|s| (h, q, v, s)))
            .flat_map(|(h, q, v, s)| ["", "/", "/cont/b%20b"].map(|p| (h, q, v, s, p)))
        {
            let raw_query =
                query.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join("&");
            let query: Vec<(String, String)> =
                query.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            let facts = RequestFacts {
                service,
                method: "GET",
                raw_path,
                raw_query: &raw_query,
                query: &query,
                headers,
                account: &account,
                container: None,
                object: None,
                path_style: false,
                secondary: false,
                peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
                secure: true,
                version,
            };
            for scheme in [Scheme::SharedKey, Scheme::SharedKeyLite] {
                let usual = usual_string(scheme, &facts).expect("signable");
                let all = strings_to_sign(scheme, &facts).expect("signable");
                assert!(all.contains(&usual), "{usual:?} {all:?}");
                strings += 1;
            }
        }
        assert_eq!(strings, 5 * 4 * 5 * 4 * 3 * 2);
    }

    const SERVICES: [Service; 4] = [Service::Blob, Service::Queue, Service::Table, Service::File];
    const VERSIONS: [ApiVersion; 5] = [
        ApiVersion::new(2009, 7, 17),
        ApiVersion::new(2009, 9, 19),
        ApiVersion::new(2015, 2, 21),
        ApiVersion::new(2016, 5, 31),
        ApiVersion::LATEST,
    ];
}
