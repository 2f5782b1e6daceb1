//! ETags of entities: their Timestamp in another dress, and what a caller may compare it with.

use super::value::{date_text, parse_date, without_zeros};
use alloc::string::String;
use zaffre_base::{Stamp, Timestamp};

/// Bytes of the longest tag.
const TAG_BYTES: usize = 46;

/// The ETag of the state that `stamp` made: `W/"datetime'2026-11-15T04%3A42%3A16.12Z'"`.
pub fn etag(stamp: Stamp) -> String {
    let bytes = stamp.time().iso7().bytes();
    let mut tag = String::with_capacity(TAG_BYTES);
    tag.push_str("W/\"datetime'");
    for (index, piece) in without_zeros(&bytes).split(':').enumerate() {
        if index > 0 {
            tag.push_str("%3A");
        }
        tag.push_str(piece);
    }
    tag.push_str("Z'\"");
    tag
}

/// What If-Match asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfMatch {
    /// `*`: whatever is there.
    Any,
    /// The state made at this instant.
    At(Timestamp),
    /// A well-formed tag that is none of ours.
    Other,
}

impl IfMatch {
    /// Reads the header; `None` if it is not one entity tag.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "*" {
            return Some(Self::Any);
        }
        let inner = text.strip_prefix("W/")?.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('"') {
            return None;
        }
        let date = inner.strip_prefix("datetime'").and_then(|rest| rest.strip_suffix('\''));
        let Some(date) = date else { return Some(Self::Other) };
        let date = date.replace("%3A", ":").replace("%3a", ":");
        // Only the form that we write is ours: anything else would be a second name for a state.
        let ours = parse_date(&date).filter(|at| date_text(*at) == date);
        Some(ours.map_or(Self::Other, Self::At))
    }

    /// Whether the state that `stamp` made is what is asked for.
    pub fn admits(self, stamp: Stamp) -> bool {
        match self {
            Self::Any => true,
            Self::At(instant) => instant == stamp.time(),
            Self::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        let stamp = Stamp(parse_date("2022-05-06T00:34:41.820498Z").expect("a date").0);
        let tag = etag(stamp);
        assert_eq!(tag, "W/\"datetime'2022-05-06T00%3A34%3A41.820498Z'\"");
        for (text, want) in [
            (tag.as_str(), Some(true)),
            ("*", Some(true)),
            (" * ", Some(true)),
            ("W/\"datetime'2022-05-06T00:34:41.820498Z'\"", Some(true)),
            ("W/\"datetime'2022-05-06T00%3a34%3a41.820498Z'\"", Some(true)),
            ("W/\"datetime'2022-05-06T00%3A34%3A41.8204981Z'\"", Some(false)),
            ("W/\"datetime'2022-05-06T00%3A34%3A41.8204980Z'\"", Some(false)),
            ("W/\"wrong\"", Some(false)),
            ("W/\"\"", Some(false)),
            ("\"0x1\"", None),
            ("wrong", None),
            ("", None),
            ("W/\"a\", W/\"b\"", None),
            ("*, W/\"a\"", None),
        ] {
            assert_eq!(IfMatch::parse(text).map(|m| m.admits(stamp)), want, "{text}");
        }
        assert!(!IfMatch::At(stamp.time()).admits(Stamp(stamp.0 + 1)));
    }
}
