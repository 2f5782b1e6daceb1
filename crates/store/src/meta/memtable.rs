//! The newest rows in memory, every version of each, until they are in the tree.
//!
//! Must never show a reader a version newer than the stamp it reads at.

use super::Row;
use super::filter::Filter;
use super::overlay::Overlay;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use zaffre_base::Stamp;

/// What a version costs beside its key and value; keeps the size honest for tiny rows.
const VERSION_OVERHEAD: usize = 96;

/// A version of a row and the commit that wrote it.
type Version = (Stamp, Written);
type Map = BTreeMap<Box<[u8]>, Vec<Version>>;

/// What a commit left of a row: its value, or `None` if it deleted the row.
pub(crate) type Written = Option<Bytes>;

/// Some rows of a scan with their values (`None` = deleted) and whether that was all of them.
pub(crate) struct Chunk {
    pub(crate) rows: Vec<(Vec<u8>, Written)>,
    pub(crate) complete: bool,
}

/// The rows of one journal.
#[derive(Debug, Default)]
pub(crate) struct Memtable {
    map: RwLock<Map>,
    bytes: AtomicUsize,
    /// Most rows that are asked for are not here.
    filter: Filter,
}

fn cost(key: &[u8], value: Option<&[u8]>) -> usize {
    key.len() + value.map_or(0, <[u8]>::len) + VERSION_OVERHEAD
}

fn visible(versions: &[Version], at: Stamp) -> Option<&Written> {
    versions.iter().rev().find(|(stamp, _)| *stamp <= at).map(|(_, value)| value)
}

impl Memtable {
    fn map(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Adds a commit's writes. Stamps must rise from call to call.
    pub(crate) fn insert(&self, stamp: Stamp, writes: Overlay) {
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        let mut added = 0;
        for (key, value) in writes {
            added += cost(&key, value.as_deref());
            self.filter.add(&key);
            // Most rows are written once before they are in the tree.
            let versions = map.entry(key.into_boxed_slice());
            versions.or_insert_with(|| Vec::with_capacity(1)).push((stamp, value));
        }
        self.bytes.fetch_add(added, Ordering::Relaxed);
    }

    /// Takes back everything after `stamp`: those commits could not be made durable.
    pub(crate) fn forget_after(&self, stamp: Stamp) {
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        let mut freed = 0;
        map.retain(|key, versions| {
            versions.retain(|(written, value)| {
                let kept = *written <= stamp;
                freed += if kept { 0 } else { cost(key, value.as_deref()) };
                kept
            });
            !versions.is_empty()
        });
        self.bytes.fetch_sub(freed, Ordering::Relaxed);
    }

    /// The row as of `at`; the outer `None` = this table does not know it.
    pub(crate) fn get(&self, key: &[u8], at: Stamp) -> Option<Written> {
        if !self.filter.may_have(key) {
            return None;
        }
        self.map().get(key).and_then(|versions| visible(versions, at)).cloned()
    }

    /// Up to `most` rows with `start <= key < end` as of `at`, in order.
    pub(crate) fn scan(&self, start: &[u8], end: &[u8], at: Stamp, most: usize) -> Chunk {
        let map = self.map();
        let range = map.range::<[u8], _>((Bound::Included(start), Bound::Excluded(end)));
        let mut rows = Vec::new();
        for (key, versions) in range {
            if let Some(value) = visible(versions, at) {
                if rows.len() == most {
                    return Chunk { rows, complete: false };
                }
                rows.push((key.to_vec(), value.clone()));
            }
        }
        Chunk { rows, complete: true }
    }

    /// Calls `each` with the newest version of every row, in order of keys.
    pub(crate) fn for_each_newest<E>(
        &self,
        mut each: impl FnMut(&[u8], Option<&[u8]>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (key, versions) in self.map().iter() {
            if let Some((_, value)) = versions.last() {
                each(key, value.as_deref())?;
            }
        }
        Ok(())
    }
}

/// Lays `upper` over `lower`: both in order of keys, `upper` wins, deletions disappear.
pub(crate) fn merge(upper: Vec<(Vec<u8>, Written)>, lower: Vec<Row>) -> Vec<Row> {
    let mut rows = Vec::with_capacity(upper.len() + lower.len());
    let mut lower = lower.into_iter().peekable();
    for (key, value) in upper {
        while let Some(row) = lower.next_if(|row| row.key < key) {
            rows.push(row);
        }
        lower.next_if(|row| row.key == key);
        if let Some(value) = value {
            rows.push(Row { key, value: value.into() });
        }
    }
    rows.extend(lower);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(rows: &[(&str, Option<&str>)]) -> Overlay {
        let bytes = |text: &str| text.as_bytes().to_vec();
        rows.iter().map(|(key, value)| (bytes(key), value.map(|v| bytes(v).into()))).collect()
    }

    #[test]
    fn readers_see_their_own_time() {
        let table = Memtable::default();
        table.insert(Stamp(10), writes(&[("a", Some("1")), ("b", Some("1"))]));
        let before = table.bytes();
        table.insert(Stamp(20), writes(&[("a", Some("2")), ("b", None), ("c", Some("2"))]));
        let value =
            |key: &str, at| table.get(key.as_bytes(), Stamp(at)).map(|v| v.map(|v| v.to_vec()));
        assert_eq!(value("a", 9), None);
        assert_eq!(value("a", 10), Some(Some(b"1".to_vec())));
        assert_eq!(value("a", 25), Some(Some(b"2".to_vec())));
        assert_eq!(value("b", 19), Some(Some(b"1".to_vec())));
        assert_eq!(value("b", 20), Some(None));
        table.forget_after(Stamp(10));
        assert_eq!(value("a", 25), Some(Some(b"1".to_vec())));
        assert_eq!(table.bytes(), before, "what was taken back costs nothing");
    }

    #[test]
    fn upper_rows_replace_and_delete_lower_ones() {
        let row = |key: &str| Row { key: key.as_bytes().to_vec(), value: b"low".to_vec() };
        let upper = vec![
            (b"b".to_vec(), None),
            (b"c".to_vec(), Some(Bytes::from_static(b"up"))),
            (b"e".to_vec(), Some(Bytes::from_static(b"up"))),
        ];
        let merged = merge(upper, vec![row("a"), row("b"), row("c"), row("d")]);
        let shown: Vec<_> = merged.iter().map(|r| (&r.key[..], &r.value[..])).collect();
        let want: [(&[u8], &[u8]); 4] =
            [(b"a", b"low"), (b"c", b"up"), (b"d", b"low"), (b"e", b"up")];
        assert_eq!(shown, want);
    }
}
