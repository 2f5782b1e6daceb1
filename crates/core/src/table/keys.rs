//! Where every row of the Table service lives: keys, byte for byte.
//!
//! Must never be built anywhere else: the order of the keys is the order of the entities.
//!
//! ```text
//! placement        key                  row
//! a/account        t·C·K(folded name)   table: incarnation, name, policies
//! t/account/table  i·E·K(pk)·K(rk)      entity, or its first part
//! t/account/table  i·L·K(pk)·K(rk)·part the parts after the first, of a large one
//! ```
//! `i` = incarnation (8 bytes), `part` = one byte, `K` as in the directory.

use crate::directory::keys::tagged;
use zaffre_base::Incarnation;
use zaffre_domain::table::EntityKey;
use zaffre_domain::table::plan::Range;

/// The keys of one incarnation of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Keys(pub(crate) Incarnation);

impl Keys {
    pub(crate) fn entity(self, key: &EntityKey) -> Vec<u8> {
        let mut bytes = tagged(self.0, b'E');
        key.push(&mut bytes);
        bytes
    }

    pub(crate) fn part(self, key: &EntityKey, part: u8) -> Vec<u8> {
        let mut bytes = tagged(self.0, b'L');
        key.push(&mut bytes);
        bytes.push(part);
        bytes
    }

    /// The rows of the entities in a run of keys.
    pub(crate) fn entities(self, range: &Range) -> (Vec<u8>, Vec<u8>) {
        let end = range.end.as_ref().map_or_else(|| tagged(self.0, b'E' + 1), |end| self.from(end));
        (self.from(&range.start), end)
    }

    /// The entity that a row's key names.
    pub(crate) fn entity_of(self, key: &[u8]) -> Option<EntityKey> {
        EntityKey::from_bytes(key.strip_prefix(tagged(self.0, b'E').as_slice())?)
    }

    fn from(self, bytes: &[u8]) -> Vec<u8> {
        [tagged(self.0, b'E').as_slice(), bytes].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(partition: &str, row: &str) -> EntityKey {
        EntityKey::new(partition, row).unwrap_or_else(|_| panic!("legal keys"))
    }

    #[test]
    fn order_and_back() {
        let keys = Keys(Incarnation(7));
        let order = [("", ""), ("", "a"), ("a", ""), ("a", "b"), ("aa", ""), ("b", "")];
        let rows: Vec<Vec<u8>> = order.iter().map(|(p, r)| keys.entity(&key(p, r))).collect();
        assert!(rows.is_sorted());
        for ((partition, row), bytes) in order.iter().zip(&rows) {
            assert_eq!(keys.entity_of(bytes), Some(key(partition, row)));
        }
        let (start, end) = keys.entities(&Range::ALL);
        assert!(rows.iter().all(|row| *row >= start && *row < end));
        assert!(keys.part(&key("a", "b"), 1) >= end, "parts are not met by a scan");
    }

    #[test]
    fn the_longest_keys_fit() {
        let longest = key(&"\u{FFFD}".repeat(512), &"\u{FFFD}".repeat(512));
        assert!(Keys(Incarnation(u64::MAX)).part(&longest, u8::MAX).len() <= 2_560);
    }
}
