//! Tags of a blob: what they may be, and the expressions that ask about them.
//!
//! Must never change a tag: names and values come back exactly as they were sent.

mod expression;
mod find;
mod lexer;

pub use expression::{Comparison, Predicate, TagComparison};
pub use find::{FindExpression, FindScope, Sought};
pub use lexer::ParseError;

use crate::Refusal;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use zaffre_base::limits::{TAG_NAME_CHARS, TAG_VALUE_CHARS, TAGS};

/// Tags by name; both are compared ordinally, case and all.
pub type Tags = BTreeMap<String, String>;

/// What something without tags has.
pub static NO_TAGS: Tags = Tags::new();

/// Collects names and values as sent, or says what is wrong with them.
pub fn collect<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Tags, Refusal> {
    let mut tags = Tags::new();
    for (name, value) in pairs {
        if name.is_empty() {
            return Err(Refusal::EmptyTagName);
        }
        if !is_tag_text(name) || !is_tag_text(value) {
            return Err(Refusal::InvalidTag);
        }
        // Legal text is ASCII, so that bytes are characters.
        if name.len() > TAG_NAME_CHARS || value.len() > TAG_VALUE_CHARS {
            return Err(Refusal::TagsTooLarge);
        }
        if tags.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(Refusal::DuplicateTagNames);
        }
        if tags.len() > TAGS {
            return Err(Refusal::TagsTooLarge);
        }
    }
    Ok(tags)
}

/// Letters, digits, space and `+ - . / : = _`.
fn is_tag_text(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b" +-./:=_".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    type Row<'a> = (&'a [(&'a str, &'a str)], Result<usize, Refusal>);

    #[test]
    fn names_and_values() {
        let name = "n".repeat(TAG_NAME_CHARS);
        let value = "v".repeat(TAG_VALUE_CHARS);
        let long_name = format!("{name}n");
        let long_value = format!("{value}v");
        let rows: &[Row<'_>] = &[
            (&[], Ok(0)),
            (&[("a", "1")], Ok(1)),
            (&[("a", "")], Ok(1)),
            (&[("a b+-./:=_9", "Z +-./:=_")], Ok(1)),
            (&[("a", "1"), ("A", "1")], Ok(2)),
            (&[("", "1")], Err(Refusal::EmptyTagName)),
            (&[("a", "1"), ("a", "2")], Err(Refusal::DuplicateTagNames)),
            (&[("a&", "1")], Err(Refusal::InvalidTag)),
            (&[("a", "it's")], Err(Refusal::InvalidTag)),
            (&[("ä", "1")], Err(Refusal::InvalidTag)),
            (&[("a", "\0")], Err(Refusal::InvalidTag)),
            (&[(&name, &value)], Ok(1)),
            (&[(&long_name, "")], Err(Refusal::TagsTooLarge)),
            (&[("a", &long_value)], Err(Refusal::TagsTooLarge)),
        ];
        for (pairs, want) in rows {
            assert_eq!(collect(pairs.iter().copied()).map(|t| t.len()), *want, "{pairs:?}");
        }
    }

    #[test]
    fn at_most_ten() {
        let names: Vec<String> = (0..=TAGS).map(|n| format!("t{n}")).collect();
        let pairs = |n: usize| names.iter().take(n).map(|name| (name.as_str(), ""));
        assert_eq!(collect(pairs(TAGS)).map(|t| t.len()), Ok(TAGS));
        assert_eq!(collect(pairs(TAGS + 1)), Err(Refusal::TagsTooLarge));
    }
}
