//! Where the rows of a sparse content live.
//!
//! ```text
//! i·C·c·chunk·~s·kind   a layer of a chunk: runs; kind 0 = whole, 1 = over what is below
//! i·K·c·~s              a clear over many chunks
//! i·L·c                 the name of the blob whose content it is
//! i·Y·c·chunk·~s        a small write or clear, over what is below
//! ```
//! `~s` = the stamp inverted, so that the newest comes first; `chunk` = 4 bytes, big-endian.

use crate::directory::keys::KeyRange;
use zaffre_base::{ContentId, Incarnation, Stamp};

/// The tags of the rows of sparse contents.
pub(crate) mod tags {
    pub(crate) const LAYER: u8 = b'C';
    pub(crate) const CLEAR: u8 = b'K';
    pub(crate) const LABEL: u8 = b'L';
    pub(crate) const SMALL: u8 = b'Y';
}

/// What a layer is, at the end of its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kept {
    /// Everything up to its stamp.
    Whole = 0,
    /// What one write changed.
    Over = 1,
}

/// The keys of one sparse content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SparseKeys {
    pub(crate) incarnation: Incarnation,
    pub(crate) content: ContentId,
}

impl SparseKeys {
    fn under(self, tag: u8) -> Vec<u8> {
        let mut key = Vec::with_capacity(40);
        key.extend_from_slice(&self.incarnation.0.to_be_bytes());
        key.push(tag);
        key.extend_from_slice(&self.content.0.to_be_bytes());
        key
    }

    fn chunk(self, tag: u8, chunk: u32) -> Vec<u8> {
        let mut key = self.under(tag);
        key.extend_from_slice(&chunk.to_be_bytes());
        key
    }

    /// What the keys of all layers of a chunk start with: the owner of its extents.
    pub(crate) fn owner(self, chunk: u32) -> Vec<u8> {
        self.chunk(tags::LAYER, chunk)
    }

    pub(crate) fn layer(self, chunk: u32, at: Stamp, kept: Kept) -> Vec<u8> {
        let mut key = self.owner(chunk);
        push(&mut key, at);
        key.push(kept as u8);
        key
    }

    /// The layers of a chunk up to `at`, newest first.
    pub(crate) fn layers(self, chunk: u32, at: Stamp) -> KeyRange {
        let end = KeyRange::under(self.owner(chunk)).end;
        KeyRange { start: self.layer(chunk, at, Kept::Whole), end }
    }

    pub(crate) fn small(self, chunk: u32, at: Stamp) -> Vec<u8> {
        let mut key = self.chunk(tags::SMALL, chunk);
        push(&mut key, at);
        key
    }

    /// The small writes to a chunk up to `at` and after `above`, newest first.
    pub(crate) fn smalls(self, chunk: u32, at: Stamp, above: Option<Stamp>) -> KeyRange {
        let end = match above {
            Some(above) => Some(self.small(chunk, above)),
            None => KeyRange::under(self.chunk(tags::SMALL, chunk)).end,
        };
        KeyRange { start: self.small(chunk, at), end }
    }

    pub(crate) fn clear(self, at: Stamp) -> Vec<u8> {
        let mut key = self.under(tags::CLEAR);
        push(&mut key, at);
        key
    }

    /// The wide clears up to `at`, newest first.
    pub(crate) fn clears(self, at: Stamp) -> KeyRange {
        KeyRange { start: self.clear(at), end: KeyRange::under(self.under(tags::CLEAR)).end }
    }

    pub(crate) fn label(self) -> Vec<u8> {
        self.under(tags::LABEL)
    }

    /// All rows of one tag.
    pub(crate) fn all(self, tag: u8) -> KeyRange {
        KeyRange::under(self.under(tag))
    }

    /// Rows of one tag from a chunk on.
    pub(crate) fn starting_at(self, tag: u8, chunk: u32) -> KeyRange {
        KeyRange { start: self.chunk(tag, chunk), end: self.all(tag).end }
    }

    /// All rows of one tag, of all contents of an incarnation.
    pub(crate) fn everywhere(incarnation: Incarnation, tag: u8) -> KeyRange {
        let mut key = incarnation.0.to_be_bytes().to_vec();
        key.push(tag);
        KeyRange::under(key)
    }

    /// The content that a key of any of the tags is about.
    pub(crate) fn of(key: &[u8]) -> Option<Self> {
        let (incarnation, rest) = key.split_first_chunk::<8>()?;
        let (content, _) = rest.get(1..)?.split_first_chunk::<16>()?;
        Some(Self {
            incarnation: Incarnation(u64::from_be_bytes(*incarnation)),
            content: ContentId(u128::from_be_bytes(*content)),
        })
    }
}

fn push(key: &mut Vec<u8>, at: Stamp) {
    key.extend_from_slice(&(u64::MAX - at.0).to_be_bytes());
}

/// The chunk in the key of a layer or a small write.
pub(crate) fn chunk_of(key: &[u8]) -> Option<u32> {
    let (chunk, _) = key.get(25..)?.split_first_chunk::<4>()?;
    Some(u32::from_be_bytes(*chunk))
}

/// The stamp in the key of a layer or a small write, and what a layer is.
pub(crate) fn moment_of(key: &[u8]) -> Option<(Stamp, Kept)> {
    let (stamp, kept) = key.get(29..)?.split_first_chunk::<8>()?;
    let kept = match kept {
        [0] => Kept::Whole,
        [] | [1] => Kept::Over,
        _ => return None,
    };
    Some((Stamp(u64::MAX - u64::from_be_bytes(*stamp)), kept))
}

/// The stamp in the key of a wide clear.
pub(crate) fn cleared_at(key: &[u8]) -> Option<Stamp> {
    let stamp = key.get(25..)?;
    Some(Stamp(u64::MAX - u64::from_be_bytes(stamp.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: SparseKeys = SparseKeys { incarnation: Incarnation(7), content: ContentId(9) };

    fn inside(range: &KeyRange, key: &[u8]) -> bool {
        key >= range.start.as_slice() && range.end.as_ref().is_some_and(|end| key < end.as_slice())
    }

    #[test]
    fn newest_first_and_whole_before_the_rest() {
        let rows = [
            KEYS.layer(3, Stamp(9), Kept::Over),
            KEYS.layer(3, Stamp(7), Kept::Whole),
            KEYS.layer(3, Stamp(7), Kept::Over),
            KEYS.layer(3, Stamp(1), Kept::Whole),
            KEYS.layer(4, Stamp(20), Kept::Whole),
        ];
        assert!(rows.is_sorted());
        let seen: Vec<bool> =
            rows.iter().map(|row| inside(&KEYS.layers(3, Stamp(8)), row)).collect();
        assert_eq!(seen, [false, true, true, true, false]);
        for row in &rows[..4] {
            assert!(row.starts_with(&KEYS.owner(3)));
        }
        assert!(!rows[4].starts_with(&KEYS.owner(3)));
    }

    #[test]
    fn small_writes_between_two_commits() {
        let range = KEYS.smalls(3, Stamp(8), Some(Stamp(4)));
        for (stamp, within) in [(9, false), (8, true), (5, true), (4, false)] {
            assert_eq!(inside(&range, &KEYS.small(3, Stamp(stamp))), within, "{stamp}");
        }
        let all = KEYS.smalls(3, Stamp(u64::MAX), None);
        assert!(inside(&all, &KEYS.small(3, Stamp(0))) && !inside(&all, &KEYS.small(4, Stamp(9))));
    }

    #[test]
    fn keys_come_back() {
        for (chunk, stamp) in [(0, 0), (u32::MAX, u64::MAX), (5, 6)] {
            let layer = KEYS.layer(chunk, Stamp(stamp), Kept::Whole);
            let small = KEYS.small(chunk, Stamp(stamp));
            assert_eq!((chunk_of(&layer), chunk_of(&small)), (Some(chunk), Some(chunk)));
            assert_eq!(moment_of(&layer), Some((Stamp(stamp), Kept::Whole)));
            assert_eq!(moment_of(&small), Some((Stamp(stamp), Kept::Over)));
            assert_eq!(cleared_at(&KEYS.clear(Stamp(stamp))), Some(Stamp(stamp)));
            for key in [layer, small, KEYS.label(), KEYS.clear(Stamp(stamp))] {
                assert_eq!(SparseKeys::of(&key), Some(KEYS));
            }
        }
    }
}
