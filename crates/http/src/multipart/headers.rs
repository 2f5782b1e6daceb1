//! The headers of a part and of the request in it, where they lie in the body.
//!
//! A batch has hundreds of heads with a few headers each, most of them the same: a map for each would
//! cost more than all the rest of taking it apart. Must never take what hyper would not.

use super::part::line_at;
use crate::error::ApiError;
use crate::headers::METADATA_PREFIX;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use memchr::memchr;
use std::sync::Arc;
use zaffre_base::limits::{REQUEST_HEAD_BYTES, REQUEST_HEADERS};

/// Headers in their order, each name and value legal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartHeaders<'a> {
    headers: Arc<[(&'a str, &'a [u8])]>,
    /// The bytes they were read from, if a blank line ended them.
    whole: Option<&'a [u8]>,
}

impl<'a> PartHeaders<'a> {
    /// Reads headers up to the blank line: them, and what follows. The blank line may be missing only
    /// when nothing follows. What is byte for byte like `before` is not read again.
    pub(super) fn read(bytes: &'a [u8], before: Option<&Self>) -> Option<(Self, &'a [u8])> {
        if let Some(before) = before
            && let Some(rest) = before.whole.and_then(|whole| bytes.strip_prefix(whole))
        {
            return Some((before.clone(), rest));
        }
        // Room for what clients usually send.
        let mut headers = Vec::with_capacity(8);
        let mut whole = None;
        let mut at = 0;
        while at < bytes.len() {
            let (line, next) = line_at(bytes, at);
            at = next;
            if line.is_empty() {
                whole = Some(&bytes[..at]);
                break;
            }
            let colon = memchr(b':', line)?;
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if headers.len() == REQUEST_HEADERS || at > REQUEST_HEAD_BYTES || !is_value(value) {
                return None;
            }
            headers.push((name_text(name)?, value));
        }
        Some((Self { headers: headers.into(), whole }, &bytes[at..]))
    }

    /// Whether they were read once, for this part and the other; not so may still be equal.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.headers, &other.headers)
    }

    /// The values sent under a name, which is given in lower case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let of_name = move |(sent, _): &&(&str, _)| sent.eq_ignore_ascii_case(name);
        self.headers.iter().filter(of_name).map(|(_, value)| *value)
    }

    /// Whether there is one of the name.
    pub fn contains(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The header's text, as [`crate::headers::single`] reads it.
    pub fn single(&self, name: &str) -> Result<Option<&'a str>, ApiError> {
        crate::headers::single_of(self.all(name), name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// The same as a map, with the names of metadata as they were spelled.
    pub(super) fn to_map(&self) -> Option<(HeaderMap, Vec<String>)> {
        let (mut map, mut names) = (HeaderMap::with_capacity(self.headers.len() + 1), Vec::new());
        for (name, value) in &*self.headers {
            let lower = HeaderName::from_bytes(name.as_bytes()).ok()?;
            if lower.as_str().starts_with(METADATA_PREFIX) {
                names.push(name[METADATA_PREFIX.len()..].to_owned());
            }
            map.append(lower, HeaderValue::from_bytes(value).ok()?);
        }
        Some((map, names))
    }
}

/// Which bytes a token of HTTP has.
const TOKEN: [bool; 256] = {
    let mut token = [false; 256];
    let others = b"!#$%&'*+-.^_`|~";
    let (mut byte, mut other) = (0, 0);
    while byte < 128_u8 {
        token[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    while other < others.len() {
        token[others[other] as usize] = true;
        other += 1;
    }
    token
};

/// A name that is a token of HTTP.
fn name_text(name: &[u8]) -> Option<&str> {
    if name.is_empty() || !name.iter().all(|b| TOKEN[usize::from(*b)]) {
        return None;
    }
    std::str::from_utf8(name).ok()
}

fn is_value(value: &[u8]) -> bool {
    value.iter().all(|b| matches!(b, b'\t' | b' '..=b'~' | 0x80..))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is legal here and what is for hyper are the same, byte for byte.
    #[test]
    fn hyper_would_take_the_same() {
        for byte in 0..=u8::MAX {
            let name = [b'a', byte];
            let theirs = HeaderName::from_bytes(&name).is_ok();
            assert_eq!(name_text(&name).is_some(), theirs, "{byte} in a name");
            let theirs = HeaderValue::from_bytes(&name).is_ok();
            assert_eq!(is_value(&name), theirs, "{byte} in a value");
        }
        assert!(name_text(b"").is_none() && is_value(b""));
    }

    #[test]
    fn lookups_ignore_case() {
        let text = b"Prefer: a\r\nPREFER: b\r\nX-MS-Meta-Aa: 1\r\nEmpty: \r\n\r\nrest";
        let (headers, rest) = PartHeaders::read(text, None).expect("legal");
        assert_eq!((headers.len(), rest), (4, b"rest".as_slice()));
        assert_eq!(headers.all("prefer").collect::<Vec<_>>(), [b"a", b"b"]);
        assert!(headers.single("prefer").is_err() && headers.contains("empty"));
        assert_eq!(headers.single("empty").ok(), Some(None));
        assert_eq!(headers.single("x-ms-meta-aa").ok(), Some(Some("1")));
        let (map, names) = headers.to_map().expect("legal");
        assert_eq!((map.len(), names), (4, vec!["Aa".to_owned()]));
    }

    #[test]
    fn what_is_the_same_is_read_once() {
        let before = PartHeaders::read(b"A: 1\r\nB: 2\r\n\r\nfirst", None).expect("legal").0;
        for (text, same, rest) in [
            ("A: 1\r\nB: 2\r\n\r\nsecond", true, "second"),
            ("A: 1\r\nB: 2\r\n\r\n", true, ""),
            ("A: 1\r\nB: 2\r\n", false, ""),
            ("A: 1\r\nB: 2\r\nC: 3\r\n\r\nx", false, "x"),
            ("A: 1\nB: 2\n\nx", false, "x"),
        ] {
            let read = PartHeaders::read(text.as_bytes(), Some(&before));
            let (headers, left) = read.expect("legal");
            assert_eq!((headers.is_same(&before), left), (same, rest.as_bytes()), "{text:?}");
            let alone = PartHeaders::read(text.as_bytes(), None).expect("legal");
            assert_eq!((headers.headers, left), (alone.0.headers, alone.1), "{text:?}");
        }
        // Without the blank line more headers may follow elsewhere.
        let cut = PartHeaders::read(b"A: 1\r\n", None).expect("legal").0;
        let (more, _) = PartHeaders::read(b"A: 1\r\nB: 2\r\n\r\n", Some(&cut)).expect("legal");
        assert_eq!(more.len(), 2);
    }
}
