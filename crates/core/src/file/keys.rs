//! Where the rows inside a share live.
//!
//! Must never be built anywhere else: order and prefixes are what lookups and listings rely on.
//!
//! ```text
//! i·A                      state: snapshots, bytes used
//! i·F·parent·K             entry of a directory: name, child
//! i·f·parent·K·until       entry as it was before the commit `until`; a snapshot shows it
//! i·G·stamp                intent: free what a commit took out of use
//! i·I·id                   inode of a file or directory
//! i·j·id·until             inode as it was before the commit `until`; a snapshot shows it
//! i·P·hash·slot            security descriptor
//! ```
//! `i` = incarnation, `parent` and `id` = 8 bytes, `K` = the name in upper case as UTF-16BE and 0000,
//! numbers big-endian. Bytes of files are in the rows of sparse contents, see `crate::sparse`.

use crate::directory::keys::{KeyRange, tagged};
use zaffre_base::key::{push_name, push_prefix, split_name};
use zaffre_base::{Incarnation, Stamp};
use zaffre_domain::fs::{FileId, PermissionKey};
use zaffre_store::Placement;

/// Whether a placement is that of a share.
pub(crate) fn is_share(placement: &Placement) -> bool {
    placement.name().starts_with(b"f/")
}

/// The keys of one incarnation of a share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Keys(pub(crate) Incarnation);

/// The keys of all past states of what one key names, in order of when they ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Past(Vec<u8>);

impl Past {
    /// The state that ended with the commit `until`.
    pub(crate) fn until(&self, until: Stamp) -> Vec<u8> {
        [self.0.as_slice(), &until.0.to_be_bytes()].concat()
    }

    /// The states that ended after `at`.
    pub(crate) fn after(&self, at: Stamp) -> KeyRange {
        let start = self.until(Stamp(at.0.saturating_add(1)));
        KeyRange { start, end: KeyRange::under(self.0.clone()).end }
    }

    /// All of them.
    pub(crate) fn all(&self) -> KeyRange {
        KeyRange::under(self.0.clone())
    }
}

/// The commit at the end of a past state's key.
pub(crate) fn until_of(key: &[u8]) -> Option<Stamp> {
    key.last_chunk::<8>().map(|until| Stamp(u64::from_be_bytes(*until)))
}

impl Keys {
    fn numbered(self, tag: u8, number: u64) -> Vec<u8> {
        let mut key = tagged(self.0, tag);
        key.extend_from_slice(&number.to_be_bytes());
        key
    }

    pub(crate) fn state(self) -> Vec<u8> {
        tagged(self.0, b'A')
    }

    pub(crate) fn guard(self) -> Vec<u8> {
        crate::directory::keys::guard(self.0)
    }

    pub(crate) fn inode(self, id: FileId) -> Vec<u8> {
        self.numbered(b'I', id.0)
    }

    pub(crate) fn past_inodes(self, id: FileId) -> Past {
        Past(self.numbered(b'j', id.0))
    }

    /// The past states of all inodes.
    pub(crate) fn all_past_inodes(self) -> KeyRange {
        KeyRange::under(tagged(self.0, b'j'))
    }

    /// Whether a key is that of an inode's past.
    pub(crate) fn is_past_inode(self, key: &[u8]) -> bool {
        key.starts_with(&tagged(self.0, b'j'))
    }

    /// All current inodes.
    pub(crate) fn inodes(self) -> KeyRange {
        KeyRange::under(tagged(self.0, b'I'))
    }

    /// The inode that a key of an inode's past is about.
    pub(crate) fn past_inode_of(key: &[u8]) -> Option<FileId> {
        let (id, _) = key.get(9..)?.split_first_chunk::<8>()?;
        Some(FileId(u64::from_be_bytes(*id)))
    }

    pub(crate) fn entry_folded(self, parent: FileId, folded: &str) -> Vec<u8> {
        let mut key = self.numbered(b'F', parent.0);
        push_name(&mut key, folded);
        key
    }

    /// The entries of a directory whose names start so.
    pub(crate) fn entries(self, parent: FileId, folded_prefix: &str) -> KeyRange {
        let mut key = self.numbered(b'F', parent.0);
        push_prefix(&mut key, folded_prefix);
        KeyRange::under(key)
    }

    pub(crate) fn past_entries(self, parent: FileId, folded: &str) -> Past {
        let mut key = self.numbered(b'f', parent.0);
        push_name(&mut key, folded);
        Past(key)
    }

    /// The past states of the entries of a directory whose names start so.
    pub(crate) fn all_past_entries_in(self, parent: FileId, folded_prefix: &str) -> KeyRange {
        let mut key = self.numbered(b'f', parent.0);
        push_prefix(&mut key, folded_prefix);
        KeyRange::under(key)
    }

    /// Where the past states of entries begin from this name on.
    pub(crate) fn past_entries_from(self, parent: FileId, folded: &str) -> Vec<u8> {
        let mut key = self.numbered(b'f', parent.0);
        push_name(&mut key, folded);
        key
    }

    /// The past states of all entries.
    pub(crate) fn all_past_entries(self) -> KeyRange {
        KeyRange::under(tagged(self.0, b'f'))
    }

    /// The name, in upper case, in the key of an entry or of an entry's past.
    pub(crate) fn folded_of(key: &[u8]) -> Option<String> {
        split_name(key.get(17..)?).map(|(name, _)| name)
    }

    pub(crate) fn permission(self, key: PermissionKey) -> Vec<u8> {
        let mut row = self.numbered(b'P', key.hash);
        row.extend_from_slice(&key.slot.to_be_bytes());
        row
    }

    /// The descriptors with one hash.
    pub(crate) fn permissions(self, hash: u64) -> KeyRange {
        KeyRange::under(self.numbered(b'P', hash))
    }

    pub(crate) fn intent(self, at: Stamp) -> Vec<u8> {
        self.numbered(b'G', at.0)
    }

    pub(crate) fn intents(self) -> KeyRange {
        KeyRange::under(tagged(self.0, b'G'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_domain::fs::EntryName;

    const KEYS: Keys = Keys(Incarnation(7));

    #[test]
    fn keys_come_back_and_fit() {
        let longest = EntryName::parse(&"é".repeat(255)).unwrap_or_else(|_| panic!("legal"));
        let parent = FileId(u64::MAX);
        let entry = KEYS.entry_folded(parent, &longest.folded());
        let past = KEYS.past_entries(parent, &longest.folded()).until(Stamp(9));
        assert!(past.len() <= zaffre_store::meta::limits::KEY_BYTES);
        for key in [&entry, &past] {
            assert_eq!(Keys::folded_of(key), Some("É".repeat(255)));
        }
        assert_eq!(until_of(&past), Some(Stamp(9)));
        let past = KEYS.past_inodes(FileId(5)).until(Stamp(6));
        assert_eq!(
            (Keys::past_inode_of(&past), until_of(&past)),
            (Some(FileId(5)), Some(Stamp(6)))
        );
    }

    #[test]
    fn what_ended_after_a_commit() {
        let past = KEYS.past_inodes(FileId(5));
        let range = past.after(Stamp(6));
        for (until, within) in [(5, false), (6, false), (7, true), (u64::MAX, true)] {
            let key = past.until(Stamp(until));
            let seen = key >= range.start && range.end.as_ref().is_some_and(|end| key < *end);
            assert_eq!(seen, within, "{until}");
        }
    }
}
