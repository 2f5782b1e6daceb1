//! PartitionKey and RowKey: which are legal, and how they become ordered bytes.

use super::TableRefusal;
use super::value::units;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use zaffre_base::key::{push_name, split_name};
use zaffre_base::limits::TABLE_KEY_UNITS;

/// The name of the first key.
pub const PARTITION_KEY: &str = "PartitionKey";
/// The name of the second key.
pub const ROW_KEY: &str = "RowKey";
/// The name of the property that the service sets.
pub const TIMESTAMP: &str = "Timestamp";

/// What names an entity in its table. Both keys are legal.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct EntityKey {
    partition: String,
    row: String,
}

impl EntityKey {
    /// Checks both keys as an entity to be written has them.
    pub fn new(partition: &str, row: &str) -> Result<Self, TableRefusal> {
        for (name, key) in [(PARTITION_KEY, partition), (ROW_KEY, row)] {
            check(name, key)?;
        }
        Ok(Self { partition: partition.to_string(), row: row.to_string() })
    }

    /// The PartitionKey.
    pub fn partition(&self) -> &str {
        &self.partition
    }

    /// The RowKey.
    pub fn row(&self) -> &str {
        &self.row
    }

    /// Both keys as bytes whose order is that of the entities.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * (self.partition.len() + self.row.len()) + 4);
        self.push(&mut bytes);
        bytes
    }

    /// Appends [`EntityKey::bytes`].
    pub fn push(&self, bytes: &mut Vec<u8>) {
        push_name(bytes, &self.partition);
        push_name(bytes, &self.row);
    }

    /// Reads what [`EntityKey::bytes`] made.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (partition, rest) = split_name(bytes)?;
        let (row, rest) = split_name(rest)?;
        if rest.is_empty() { Some(Self { partition, row }) } else { None }
    }
}

fn check(name: &str, key: &str) -> Result<(), TableRefusal> {
    if key.chars().any(is_forbidden) {
        let (name, value) = (name.to_string(), key.to_string());
        return Err(TableRefusal::OutOfRange { name, value });
    }
    if units(key) > TABLE_KEY_UNITS { Err(TableRefusal::KeyTooLarge) } else { Ok(()) }
}

fn is_forbidden(c: char) -> bool {
    matches!(c, '/' | '\\' | '#' | '?' | '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        for (partition, row, legal) in [
            ("p", "r", true),
            ("", "", true),
            ("it's (fine), %41 + é 漢 \u{10000}", " ", true),
            ("a/b", "r", false),
            ("p", "a\\b", false),
            ("a#b", "r", false),
            ("p", "a?b", false),
            ("a\tb", "r", false),
            ("p", "\u{85}", false),
            ("p", "\0", false),
        ] {
            assert_eq!(EntityKey::new(partition, row).is_ok(), legal, "{partition} {row}");
        }
        assert!(EntityKey::new(&"x".repeat(512), &"\u{10000}".repeat(256)).is_ok());
        assert_eq!(EntityKey::new(&"x".repeat(513), ""), Err(TableRefusal::KeyTooLarge));
    }

    #[test]
    fn bytes_order_and_come_back() {
        let pairs = [
            ("", ""),
            ("", "a"),
            ("a", ""),
            ("a", "\u{FFFD}"),
            ("a!", ""),
            ("ab", "a"),
            ("b", ""),
            ("\u{10000}", ""),
            ("\u{FFFD}", ""),
        ];
        let keys = pairs.map(|(p, r)| EntityKey::new(p, r).expect("legal"));
        let bytes: Vec<_> = keys.iter().map(EntityKey::bytes).collect();
        assert!(bytes.is_sorted());
        for (key, bytes) in keys.iter().zip(&bytes) {
            assert_eq!(EntityKey::from_bytes(bytes).as_ref(), Some(key));
        }
        assert_eq!(EntityKey::from_bytes(b"x"), None);
    }
}
