//! A body's writes, in the order of their keys.
//!
//! Most bodies write a handful of rows, or many one after the other: a list in order costs less than
//! a tree for these, and no more than it may for the few that write here and there.

use bytes::Bytes;

/// A full key and what is written under it; `None` deletes.
type Write = (Vec<u8>, Option<Bytes>);

/// Writes by full key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Overlay(Vec<Write>);

impl Overlay {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Write> {
        self.0.iter()
    }

    /// What is written under `key`; the outer `None` = nothing is.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        self.place(key).ok().map(|at| &self.0[at].1)
    }

    /// The writes with `start <= key < end`.
    pub(crate) fn range(&self, start: &[u8], end: &[u8]) -> &[Write] {
        let place = |key| self.place(key).unwrap_or_else(|at| at);
        &self.0[place(start)..place(end)]
    }

    /// Adds a write, in place of an earlier one to the same row.
    pub(crate) fn insert(&mut self, key: Vec<u8>, value: Option<Bytes>) {
        match self.place(&key) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Where `key` is, or where it would have to be.
    fn place(&self, key: &[u8]) -> Result<usize, usize> {
        match self.0.last() {
            // Nearly always: rows are written in order.
            Some((last, _)) if last.as_slice() < key => Err(self.0.len()),
            _ => self.0.binary_search_by(|(other, _)| other.as_slice().cmp(key)),
        }
    }
}

impl FromIterator<Write> for Overlay {
    fn from_iter<I: IntoIterator<Item = Write>>(writes: I) -> Self {
        let mut all = Self::new();
        for (key, value) in writes {
            all.insert(key, value);
        }
        all
    }
}

impl IntoIterator for Overlay {
    type Item = Write;
    type IntoIter = std::vec::IntoIter<Write>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn behaves_as_a_map_does() {
        let key = |n: u32| vec![b'k', u8::try_from(n % 31).unwrap_or_default()];
        let mut list = Overlay::new();
        let mut map = BTreeMap::new();
        for n in 0..200_u32 {
            let n = n.wrapping_mul(2_654_435_761);
            let value = (!n.is_multiple_of(5)).then(|| Bytes::from(n.to_string()));
            list.insert(key(n), value.clone());
            map.insert(key(n), value);
            assert_eq!(list.get(&key(n / 3)), map.get(&key(n / 3)));
        }
        let pairs: Vec<Write> = map.clone().into_iter().collect();
        assert_eq!(list.iter().cloned().collect::<Vec<_>>(), pairs);
        assert_eq!(pairs.iter().cloned().rev().collect::<Overlay>(), list);
        for (start, end) in [(0, 30), (3, 3), (5, 9), (29, 30)] {
            let (start, end) = (key(start), [key(end), vec![0]].concat());
            let between = map.range(start.clone()..end.clone());
            let want: Vec<Write> = between.map(|(k, v)| (k.clone(), v.clone())).collect();
            assert_eq!(list.range(&start, &end), want);
        }
    }
}
