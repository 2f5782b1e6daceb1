//! What lives together on one shard, and how its name starts every key of an embedded engine.

use std::fmt;
use std::sync::Arc;

/// What lives together on one engine shard and is scanned in order: a container, a queue, a table,
/// a share, or an account's directory. A transaction addresses one and cannot name another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placement(Arc<[u8]>);

impl Placement {
    /// A placement by its name, at most 255 bytes.
    pub fn new(name: impl Into<Arc<[u8]>>) -> Self {
        let name = name.into();
        assert!(u8::try_from(name.len()).is_ok(), "a placement's name fits a length byte");
        Self(name)
    }

    /// The same, by the parts of its name one after the other.
    pub fn joined(parts: &[&[u8]]) -> Self {
        let mut room = [0; u8::MAX as usize];
        let mut length = 0;
        for part in parts {
            room[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        Self(Arc::from(&room[..length]))
    }

    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.0
    }

    /// The key of an embedded engine: length of the name, name, key. The length byte keeps one
    /// placement's keys from ever being a continuation of another's.
    pub fn full_key(&self, key: &[u8]) -> Vec<u8> {
        let mut full = Vec::with_capacity(1 + self.0.len() + key.len());
        full.push(u8::try_from(self.0.len()).unwrap_or(u8::MAX));
        full.extend_from_slice(&self.0);
        full.extend_from_slice(key);
        full
    }

    /// Gives `then` the full key of a row that is only looked for: no memory is asked for a key of
    /// the usual length.
    pub(crate) fn with_full_key<R>(&self, key: &[u8], then: impl FnOnce(&[u8]) -> R) -> R {
        const USUAL: usize = 256;
        let mut room = [0; USUAL];
        let (prefix, length) = (self.prefix_len(), self.prefix_len() + key.len());
        match room.get_mut(..length) {
            Some(full) => {
                full[0] = u8::try_from(self.0.len()).unwrap_or(u8::MAX);
                full[1..prefix].copy_from_slice(&self.0);
                full[prefix..].copy_from_slice(key);
                then(full)
            }
            None => then(&self.full_key(key)),
        }
    }

    /// How many bytes `full_key` puts before the key.
    pub fn prefix_len(&self) -> usize {
        1 + self.0.len()
    }

    /// The first full key after every key of this placement.
    pub(crate) fn end(&self) -> Vec<u8> {
        let start = self.full_key(&[]);
        zaffre_base::key::successor(&start).unwrap_or_else(|| vec![0xFF; start.len() + 1])
    }

    /// Splits a full key into its placement and key.
    pub fn split(full: &[u8]) -> Option<(Self, &[u8])> {
        let (len, rest) = full.split_first()?;
        let (name, key) = rest.split_at_checked(usize::from(*len))?;
        Some((Self::new(name), key))
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Placement({})", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_keys_are_the_same_with_and_without_memory() {
        for (name, length) in [(0, 0), (1, 0), (40, 60), (255, 0), (255, 1), (100, 155), (100, 156)]
        {
            let at = Placement::new(vec![7; name]);
            let key = vec![9; length];
            let full = at.full_key(&key);
            assert!(at.with_full_key(&key, |other| other == full), "{name} {length}");
            assert_eq!(Placement::split(&full), Some((at, &key[..])));
        }
    }

    #[test]
    fn parts_are_joined() {
        assert_eq!(Placement::joined(&[b"a/", b"", b"b"]), Placement::new(b"a/b".as_slice()));
        assert_eq!(Placement::joined(&[&[7; 200], &[7; 55]]), Placement::new(vec![7; 255]));
    }
}
