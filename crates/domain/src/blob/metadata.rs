//! What metadata a container or blob may have.
//!
//! Must never change a name or a value: both come back exactly as they were sent.

use super::Metadata;
use crate::Refusal;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use zaffre_base::limits::METADATA_BYTES;

/// Collects names and values as sent, or says what is wrong with them.
pub fn collect<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Metadata, Refusal> {
    let mut metadata = Metadata::new();
    let mut folded = BTreeSet::new();
    let mut bytes = 0_usize;
    for (name, value) in pairs {
        if name.is_empty() {
            return Err(Refusal::EmptyMetadataKey);
        }
        if !is_identifier(name) || !is_header_text(value) || !folded.insert(name.to_lowercase()) {
            return Err(Refusal::InvalidMetadata);
        }
        bytes = bytes.saturating_add(name.len()).saturating_add(value.len());
        if bytes > METADATA_BYTES {
            return Err(Refusal::MetadataTooLarge);
        }
        metadata.insert(name.to_owned(), value.to_owned());
    }
    Ok(metadata)
}

/// A C# identifier: a letter or `_`, then letters, digits and `_`. Keywords are names like others.
fn is_identifier(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What a header can carry and bring back unchanged.
fn is_header_text(value: &str) -> bool {
    value.bytes().all(|b| b == b'\t' || (b' '..=b'~').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;

    type Row<'a> = (&'a [(&'a str, &'a str)], Result<usize, Refusal>);

    fn check(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, Refusal> {
        collect(pairs.iter().copied()).map(|metadata| metadata.into_iter().collect())
    }

    #[test]
    fn names_and_values() {
        let all = "x".repeat(METADATA_BYTES - 1);
        let more = "x".repeat(METADATA_BYTES);
        let half = "x".repeat(METADATA_BYTES / 2 - 1);
        let rows: &[Row<'_>] = &[
            (&[], Ok(0)),
            (&[("a", "1")], Ok(1)),
            (&[("a", "")], Ok(1)),
            (&[("_a1", "!\t ~")], Ok(1)),
            (&[("class", "keyword")], Ok(1)),
            (&[("Ab", "1"), ("ac", "2")], Ok(2)),
            (&[("", "1")], Err(Refusal::EmptyMetadataKey)),
            (&[("1a", "1")], Err(Refusal::InvalidMetadata)),
            (&[("a-b", "1")], Err(Refusal::InvalidMetadata)),
            (&[("a.b", "1")], Err(Refusal::InvalidMetadata)),
            (&[("a b", "1")], Err(Refusal::InvalidMetadata)),
            (&[("@a", "1")], Err(Refusal::InvalidMetadata)),
            (&[("a", "1"), ("a", "2")], Err(Refusal::InvalidMetadata)),
            (&[("a", "1"), ("A", "1")], Err(Refusal::InvalidMetadata)),
            (&[("a", "\n")], Err(Refusal::InvalidMetadata)),
            (&[("a", "é")], Err(Refusal::InvalidMetadata)),
            (&[("a", &all)], Ok(1)),
            (&[("a", &more)], Err(Refusal::MetadataTooLarge)),
            (&[("a", &half), ("b", &half)], Ok(2)),
            (&[("a", &half), ("b", &half), ("c", "")], Err(Refusal::MetadataTooLarge)),
        ];
        for (pairs, want) in rows {
            assert_eq!(check(pairs).map(|m| m.len()), *want, "{pairs:?}");
        }
    }

    #[test]
    fn the_case_of_names_is_kept() {
        let kept = check(&[("MixedCase", "Value")]);
        assert_eq!(kept, Ok([("MixedCase".to_owned(), "Value".to_owned())].into()));
    }
}
