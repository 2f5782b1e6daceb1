//! The entities that a table SAS reaches: from one key to another, both included.
//!
//! Must never order keys in another way than tables do: by UTF-16 code units.

use std::cmp::Ordering;

/// One end of a range: a partition key, and a row key in that partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyBound {
    /// The partition key.
    pub partition: String,
    /// The row key; without one, the whole partition.
    pub row: Option<String>,
}

/// Which entities of a table a token reaches. An end that is absent is open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeyRange {
    /// The first key inside.
    pub start: Option<KeyBound>,
    /// The last key inside.
    pub end: Option<KeyBound>,
}

impl KeyBound {
    /// Where a key lies, seen from this end.
    fn place(&self, partition: &str, row: &str) -> Ordering {
        let rows = || self.row.as_deref().map_or(Ordering::Equal, |bound| compare(row, bound));
        compare(partition, &self.partition).then_with(rows)
    }
}

fn compare(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

impl KeyRange {
    /// Every entity.
    pub const ALL: &'static Self = &Self { start: None, end: None };

    /// Whether an entity lies inside.
    pub fn admits(&self, partition: &str, row: &str) -> bool {
        let after_start = self.start.as_ref().is_none_or(|b| b.place(partition, row).is_ge());
        let before_end = self.end.as_ref().is_none_or(|b| b.place(partition, row).is_le());
        after_start && before_end
    }

    /// Whether every entity lies inside.
    pub fn is_all(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &str, end: &str) -> KeyRange {
        let bound = |text: &str| {
            let (partition, row) = text.split_once('/').unwrap_or((text, ""));
            let row = (!row.is_empty()).then(|| row.to_owned());
            (!text.is_empty()).then(|| KeyBound { partition: partition.to_owned(), row })
        };
        KeyRange { start: bound(start), end: bound(end) }
    }

    #[test]
    fn ends_are_inside() {
        for (start, end, inside, outside) in [
            ("", "", &["/", "a/", "z/z"][..], &[][..]),
            ("b", "", &["b/", "b/a", "c/"], &["a/z", "/", "B/b"]),
            ("b/m", "", &["b/m", "b/n", "c/a"], &["b/l", "b/", "a/z"]),
            ("", "b", &["/", "a/z", "b/", "b/z"], &["b0/", "c/"]),
            ("", "b/m", &["a/z", "b/", "b/m"], &["b/n", "b/m0", "c/"]),
            ("b/m", "b/p", &["b/m", "b/o", "b/p"], &["b/l", "b/q", "a/n", "c/n"]),
            ("b/m", "d", &["b/m", "c/a", "d/z"], &["b/a", "e/"]),
            ("b", "d/m", &["b/a", "c/z", "d/m"], &["d/n", "a/"]),
            ("c", "b", &[], &["b/", "c/", "bb/"]),
            ("\u{e000}", "", &["\u{e000}/", "\u{ffff}/"], &["\u{d7ff}/", "\u{10000}/"]),
        ] {
            let range = range(start, end);
            let admits = |key: &str| {
                let (partition, row) = key.split_once('/').expect("two keys");
                range.admits(partition, row)
            };
            for key in inside {
                assert!(admits(key), "{start}..{end}: {key}");
            }
            for key in outside {
                assert!(!admits(key), "{start}..{end}: {key}");
            }
            assert_eq!(range.is_all(), start.is_empty() && end.is_empty());
        }
    }
}
