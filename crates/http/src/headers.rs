//! Headers read as text: one value each, and metadata with the case its names were sent in.
//!
//! Must never guess between two values of one header: two readers of such a request may disagree.

use crate::codes;
use crate::error::ApiError;
use crate::message::RequestHead;
use hyper::header::{HeaderMap, HeaderValue};
use zaffre_base::text::trimmed;

/// What every metadata header's name starts with.
pub const METADATA_PREFIX: &str = "x-ms-meta-";

/// The header's text, trimmed; `None` when it is absent or empty, an error when it is sent twice
/// or is not UTF-8.
pub fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, ApiError> {
    single_of(all(headers, name).map(HeaderValue::as_bytes), name)
}

/// The same for the values sent under `name`.
pub(crate) fn single_of<'a>(
    mut values: impl Iterator<Item = &'a [u8]>,
    name: &str,
) -> Result<Option<&'a str>, ApiError> {
    let Some(value) = values.next() else { return Ok(None) };
    let text = std::str::from_utf8(value)
        .map_err(|_| ApiError::invalid_header_value(name, &String::from_utf8_lossy(value)))?;
    if values.next().is_some() {
        return Err(ApiError::invalid_header_value(name, text));
    }
    Ok(Some(trimmed(text)).filter(|text| !text.is_empty()))
}

/// The headers of one request, with a quick no to most names that are not among them: a request is
/// asked for some thirty and has ten.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    headers: &'a HeaderMap,
    /// A bit for each name; several names may share one.
    marks: u64,
}

impl<'a> Sent<'a> {
    /// Looks at all names once.
    pub fn new(headers: &'a HeaderMap) -> Self {
        let marks = headers.keys().fold(0, |marks, name| marks | mark(name.as_str()));
        Self { headers, marks }
    }

    /// As [`single`].
    pub fn single(self, name: &str) -> Result<Option<&'a str>, ApiError> {
        if self.marks & mark(name) == 0 { Ok(None) } else { single(self.headers, name) }
    }
}

fn mark(name: &str) -> u64 {
    let last = name.as_bytes().last().copied().unwrap_or_default();
    1 << ((name.len() * 5 + usize::from(last)) % 64)
}

/// The values of one header. A request has some ten headers and is asked for some thirty, most of
/// them absent: walking past ten lengths is cheaper than spelling and hashing a name.
fn all<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a HeaderValue> {
    headers.iter().filter(move |(sent, _)| sent.as_str() == name).map(|(_, value)| value)
}

/// A whole number without sign.
pub fn number(headers: &HeaderMap, name: &str) -> Result<Option<u64>, ApiError> {
    let Some(text) = single(headers, name)? else { return Ok(None) };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(number) if digits => Ok(Some(number)),
        _ => Err(ApiError::invalid_header_value(name, text)),
    }
}

/// All metadata as sent: names without the prefix but with their case, values as text. The rules
/// over names, values and sizes are the domain's.
pub fn metadata(head: &RequestHead) -> Result<Vec<(String, String)>, ApiError> {
    let mut pairs = Vec::new();
    for (name, value) in &head.headers {
        let Some(lower) = name.as_str().strip_prefix(METADATA_PREFIX) else { continue };
        let spelled = head.metadata_names.iter().find(|sent| sent.eq_ignore_ascii_case(lower));
        let value = std::str::from_utf8(value.as_bytes())
            .map_err(|_| ApiError::from(codes::INVALID_METADATA))?;
        pairs.push((spelled.map_or(lower, String::as_str).to_owned(), value.trim().to_owned()));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            let value = hyper::header::HeaderValue::from_static(value);
            (hyper::header::HeaderName::from_static(name), value)
        });
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value);
        }
        map
    }

    #[test]
    fn one_value_each() {
        let map = headers(&[("a", " x "), ("b", ""), ("c", "1"), ("c", "1")]);
        assert_eq!(single(&map, "a").ok(), Some(Some("x")));
        assert_eq!(single(&map, "b").ok(), Some(None));
        assert_eq!(single(&map, "d").ok(), Some(None));
        assert!(single(&map, "c").is_err());
    }

    #[test]
    fn what_is_sent_is_found_the_quick_way_too() {
        let map = headers(&[("a", "x"), ("prefer", ""), ("if-match", "*"), ("c", "1"), ("c", "1")]);
        for name in ["a", "prefer", "accept", "if-match", "if-none-match", "", "c", "z"] {
            let (quick, plain) = (Sent::new(&map).single(name), single(&map, name));
            assert_eq!(quick.map_err(|e| e.code), plain.map_err(|e| e.code), "{name}");
        }
    }

    #[test]
    fn numbers() {
        for (text, want) in [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("+1", None),
            ("-1", None),
            ("1.0", None),
        ] {
            let map = headers(&[("n", text)]);
            assert_eq!(number(&map, "n").ok().flatten(), want, "{text}");
        }
    }

    #[test]
    fn metadata_keeps_its_case() {
        let mut head = RequestHead::sample("PUT", "/a/c");
        head.headers = headers(&[("x-ms-meta-mykey", "1"), ("x-ms-meta-other", "2"), ("x", "3")]);
        head.metadata_names = vec!["MyKey".to_owned()];
        let mut pairs = metadata(&head).unwrap_or_default();
        pairs.sort();
        let want = [("MyKey", "1"), ("other", "2")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(pairs, want);
    }
}
