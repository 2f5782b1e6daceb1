//! ETags as Azure makes them: `"0x"` and the commit's tick count in upper-case hexadecimal.
//!
//! Must never be made from anything but a stamp: that is what keeps them unique.

use crate::time::Stamp;
use std::fmt;

/// The entity tag of one committed state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ETag(pub Stamp);

impl ETag {
    /// Parses what a client sends back: quoted or not. `None` can match nothing we ever issued.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
        let hex = inner.strip_prefix("0x")?;
        let canonical = (1..=16).contains(&hex.len())
            && hex.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b));
        if !canonical {
            return None;
        }
        u64::from_str_radix(hex, 16).ok().map(|ticks| Self(Stamp(ticks)))
    }

    /// Without the quotes, as blob listings and versions before 2011-08-18 show it.
    pub fn unquoted(self) -> String {
        format!("0x{:015X}", self.0.0)
    }
}

/// Displays with quotes, as the header has it.
impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"0x{:015X}\"", self.0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let tag = ETag(Stamp(0x8DE_2400_0000_0001));
        assert_eq!(tag.to_string(), "\"0x8DE240000000001\"");
        for (text, same) in [
            ("\"0x8DE240000000001\"", true),
            ("0x8DE240000000001", true),
            ("\"0x8DE240000000002\"", false),
            ("\"0x8de240000000001\"", false),
            ("W/\"0x8DE240000000001\"", false),
            ("\"garbage\"", false),
            ("", false),
        ] {
            assert_eq!(ETag::parse(text) == Some(tag), same, "{text}");
        }
    }
}
