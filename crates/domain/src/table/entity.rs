//! The properties of an entity: how many, how large, under which names.
//!
//! Must never hold a system property: keys and Timestamp live beside these.

use super::value::units;
use super::{EntityKey, TableRefusal, Value};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use zaffre_base::limits::{ENTITY_BYTES, PROPERTY_BYTES, PROPERTY_NAME_UNITS, TABLE_PROPERTIES};

/// So many names are compared with each other: cheaper than to build a set.
const FEW: usize = 16;

/// The custom properties of an entity, in their order, each name once.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Properties(Vec<(String, Value)>);

impl Properties {
    /// Checks properties as a request sends them.
    pub fn new(properties: Vec<(String, Value)>) -> Result<Self, TableRefusal> {
        let mut names = BTreeSet::new();
        let few = properties.len() <= FEW;
        for (index, (name, value)) in properties.iter().enumerate() {
            check_name(name)?;
            if value.payload() > PROPERTY_BYTES {
                return Err(TableRefusal::PropertyValueTooLarge);
            }
            let again = if few {
                properties[..index].iter().any(|(before, _)| before == name)
            } else {
                !names.insert(name.as_str())
            };
            if again {
                return Err(TableRefusal::DuplicateProperty);
            }
        }
        if properties.len() > TABLE_PROPERTIES {
            return Err(TableRefusal::TooManyProperties);
        }
        Ok(Self(properties))
    }

    /// Properties read back from where checked ones were stored.
    pub fn from_stored(properties: Vec<(String, Value)>) -> Self {
        Self(properties)
    }

    /// The properties in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// One property by its name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(sent, _)| sent == name).map(|(_, value)| value)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of their names, as an entity shows them once it was replaced or merged.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.0.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        self
    }

    /// These with `changes` laid over them, sorted.
    #[must_use]
    pub fn merged(&self, changes: &Self) -> Self {
        let replaced: BTreeSet<&str> = changes.iter().map(|(name, _)| name).collect();
        let kept = self.0.iter().filter(|(name, _)| !replaced.contains(name.as_str()));
        Self(kept.chain(&changes.0).cloned().collect()).sorted()
    }

    /// Refuses an entity that holds too much as a whole.
    pub fn check_whole(&self, key: &EntityKey) -> Result<(), TableRefusal> {
        if self.0.len() > TABLE_PROPERTIES {
            return Err(TableRefusal::TooManyProperties);
        }
        let keys = 4 + 2 * (units(key.partition()) + units(key.row()));
        let each = |(name, value): &(String, Value)| 8 + 2 * units(name) + value.size();
        let whole = keys + self.0.iter().map(each).sum::<usize>();
        if whole > ENTITY_BYTES { Err(TableRefusal::EntityTooLarge) } else { Ok(()) }
    }
}

fn check_name(name: &str) -> Result<(), TableRefusal> {
    if units(name) > PROPERTY_NAME_UNITS {
        return Err(TableRefusal::PropertyNameTooLong);
    }
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && chars.all(|c| c.is_alphanumeric() || is_connecting(c)) {
        return Ok(());
    }
    Err(TableRefusal::PropertyNameInvalid { name: name.to_string() })
}

/// Characters besides letters and digits that an identifier may have after its first.
fn is_connecting(c: char) -> bool {
    matches!(c, '_' | '\u{B7}' | '\u{203F}' | '\u{2040}' | '\u{200C}' | '\u{200D}')
        || ('\u{300}'..='\u{36F}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec;

    fn of(pairs: &[(&str, i32)]) -> Properties {
        let pairs = pairs.iter().map(|(n, v)| ((*n).to_string(), Value::Int32(*v)));
        Properties::new(pairs.collect()).expect("legal")
    }

    #[test]
    fn names() {
        let long = "x".repeat(256);
        for (name, want) in [
            ("a", "ok"),
            ("_a9", "ok"),
            ("größe", "ok"),
            ("漢字", "ok"),
            ("timestamp", "ok"),
            ("a_b", "ok"),
            ("l·l", "ok"),
            ("e\u{301}", "ok"),
            ("\u{301}e", "invalid"),
            (&long[..255], "ok"),
            (&long, "long"),
            ("", "invalid"),
            ("9a", "invalid"),
            ("a-b", "invalid"),
            ("a b", "invalid"),
            ("a.b", "invalid"),
        ] {
            let got = match Properties::new(vec![(name.to_string(), Value::Int32(1))]) {
                Ok(_) => "ok",
                Err(TableRefusal::PropertyNameTooLong) => "long",
                Err(_) => "invalid",
            };
            assert_eq!(got, want, "{name}");
        }
    }

    #[test]
    fn limits() {
        let many =
            |n: usize| (0..n).map(|i| (format!("p{i}"), Value::Boolean(true))).collect::<Vec<_>>();
        assert!(Properties::new(many(252)).is_ok());
        assert_eq!(Properties::new(many(253)), Err(TableRefusal::TooManyProperties));
        let one = |value| Properties::new(vec![("a".to_string(), value)]);
        assert!(one(Value::String("x".repeat(32_768))).is_ok());
        let long = one(Value::String("x".repeat(32_769)));
        assert_eq!(long, Err(TableRefusal::PropertyValueTooLarge));
        assert!(one(Value::Binary(vec![0; 65_536])).is_ok());
        let long = one(Value::Binary(vec![0; 65_537]));
        assert_eq!(long, Err(TableRefusal::PropertyValueTooLarge));
        for n in [1, 40] {
            let twice = many(n).into_iter().chain(many(1)).collect();
            assert_eq!(Properties::new(twice), Err(TableRefusal::DuplicateProperty), "{n}");
        }
    }

    #[test]
    fn the_whole_is_at_most_one_mebibyte() {
        let key = EntityKey::new("part", "row").expect("legal");
        let of_bytes = |n: usize| {
            let value = |i: usize| (format!("p{i:02}"), Value::Binary(vec![0; 65_000]));
            let mut all: Vec<_> = (0..16).map(value).collect();
            all.push(("last".to_string(), Value::Binary(vec![0; n])));
            Properties::new(all).expect("legal").check_whole(&key)
        };
        // 4 + 2·7 for the keys, 8 + 2·3 + 65,004 for each of 16, 8 + 2·4 + 4 for the last.
        let room = 1_048_576 - 18 - 16 * (8 + 6 + 65_004) - 20;
        assert_eq!(of_bytes(room), Ok(()));
        assert_eq!(of_bytes(room + 1), Err(TableRefusal::EntityTooLarge));
    }

    #[test]
    fn merging() {
        let old = of(&[("b", 1), ("a", 2)]);
        let merged = old.merged(&of(&[("c", 3), ("b", 4)]));
        assert_eq!(merged, of(&[("a", 2), ("b", 4), ("c", 3)]));
        assert_eq!(old.merged(&Properties::default()), old.clone().sorted());
        assert_eq!(merged.get("b"), Some(&Value::Int32(4)));
    }

    #[test]
    fn stored_ones_are_taken_as_they_are() {
        let pairs = vec![("b".to_string(), Value::Int32(1)), ("a".to_string(), Value::Int32(2))];
        let read = Properties::from_stored(pairs.clone());
        assert_eq!(Properties::new(pairs), Ok(read.clone()));
        assert_eq!((read.len(), read.is_empty()), (2, false));
        assert!(Properties::from_stored(Vec::new()).is_empty());
    }
}
