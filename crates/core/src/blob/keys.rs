//! Where every row of the Blob service lives: placements and keys, byte for byte.
//!
//! Must never be built anywhere else: order and prefixes are what listings and purges rely on.
//!
//! ```text
//! placement           key                                   row
//! a/account           b·C·K(container)                      container: incarnation, properties, lease
//! a/account           b·D·K(container)·stamp                deleted container that is kept
//! c/account/container i·B·K                                 current blob
//! c/account/container i·U·K                                 staging area of a blob
//! c/account/container i·S·staging·block id                  staged block
//! c/account/container i·M·c·page                            block-list page
//! c/account/container i·R·K·stamp                           left over: content that may be shared
//! c/account/container i·V·K                                 history of a blob: counts
//! c/account/container i·V·K·stamp·kind                      snapshot, version or deleted blob
//! c/account/container i·W·until·K·stamp·kind                when a deleted one of these ends
//! c/account/container i·I·K                                 the blob has had a policy or a hold
//! c/account/container i·P·K·copy id                         copy under way
//! c/account/container i·X·c·offset                          one extent of a content
//! c/account/container i·D·c                                 small content, inline
//! c/account/container i·G·stamp                             intent: free what a commit replaced
//! c/account/container i·T·tag·0·value·0·K                   current blob by one of its tags
//! c/account/container i·t·tag·0·value·0·K·stamp             version by one of its tags
//! ```
//! `i` = incarnation (8 bytes), `c` and `staging` = 16 bytes, numbers big-endian, `K` = UTF-16BE and
//! 0000; the rest of the directory is in `crate::directory`. A generation of staged blocks is a fresh staging id, so dropping one is dropping its row.

pub(crate) use crate::directory::keys::{KeyRange, directory};

use super::records::PastKind;
use crate::directory::Family;
use crate::directory::keys::{all_but_guard, guard, tagged};
use zaffre_base::key::{push_name, push_prefix, split_name};
use zaffre_base::{
    AccountName, BlobName, ContainerName, ContentId, Guid, Incarnation, Stamp, Timestamp,
};
use zaffre_domain::blob::tags::Sought;
use zaffre_store::Placement;

/// Whether a row names extents; `zaffre check` compares those with the extents that are there.
pub fn names_extents(placement: &Placement, key: &[u8]) -> bool {
    let in_container = placement.name().starts_with(b"c/");
    let in_share = crate::file::keys::is_share(placement);
    in_container && matches!(key.get(8), Some(b'X' | b'C')) || in_share && key.get(8) == Some(&b'C')
}

/// The placement of a container's contents, shared by all its incarnations.
pub(crate) fn inside(account: &AccountName, container: &ContainerName) -> Placement {
    Family::Containers.inside(account, container.as_str())
}

/// The directory row of a container.
pub(crate) fn container(name: &ContainerName) -> Vec<u8> {
    Family::Containers.row(name.as_str())
}

/// Directory rows whose names start with `prefix`.
pub(crate) fn containers(prefix: &str) -> KeyRange {
    Family::Containers.rows(prefix)
}

/// Where a directory scan that starts at `name` begins.
pub(crate) fn containers_from(name: &str) -> Vec<u8> {
    Family::Containers.row(name)
}

/// The container a directory key names.
pub(crate) fn container_of(key: &[u8]) -> Option<ContainerName> {
    ContainerName::parse(&Family::Containers.name_of(key)?).ok()
}

/// The directory row of the container with exactly this name, whether or not it is a legal one.
pub(crate) fn container_named(name: &str) -> KeyRange {
    KeyRange::under(containers_from(name))
}

/// What a row of the index of tags finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tagged {
    Current,
    Version,
}

impl Tagged {
    fn letter(self) -> u8 {
        match self {
            Self::Current => b'T',
            Self::Version => b't',
        }
    }
}

/// A row of the index of tags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TaggedRow {
    pub(crate) value: String,
    pub(crate) name: String,
    pub(crate) version: Option<Stamp>,
}

/// The row of a container that the commit `at` deleted and that is kept for a while.
pub(crate) fn deleted_container(name: &ContainerName, at: Stamp) -> Vec<u8> {
    let mut key = Family::Containers.deleted(name.as_str());
    key.extend_from_slice(&at.0.to_be_bytes());
    key
}

/// Rows of deleted containers whose names start with `prefix`.
pub(crate) fn deleted_containers(prefix: &str) -> KeyRange {
    Family::Containers.all_deleted(prefix)
}

/// The container a key of [`deleted_containers`] names, and the commit that deleted it.
pub(crate) fn deleted_container_of(key: &[u8]) -> Option<(ContainerName, Stamp)> {
    let (name, rest) = Family::Containers.deleted_name_of(key)?;
    let at = Stamp(u64::from_be_bytes(rest.try_into().ok()?));
    Some((ContainerName::parse(&name).ok()?, at))
}

/// The keys of one incarnation of a container.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Keys(pub(crate) Incarnation);

impl Keys {
    fn tagged(self, tag: u8) -> Vec<u8> {
        tagged(self.0, tag)
    }

    fn tagged_name(self, tag: u8, name: &str) -> Vec<u8> {
        let mut key = self.tagged(tag);
        push_name(&mut key, name);
        key
    }

    fn tagged_id(self, tag: u8, id: u128) -> Vec<u8> {
        let mut key = self.tagged(tag);
        key.extend_from_slice(&id.to_be_bytes());
        key
    }

    /// Everything of this incarnation but its guard, which sorts first.
    pub(crate) fn all_but_guard(self) -> KeyRange {
        all_but_guard(self.0)
    }

    pub(crate) fn guard(self) -> Vec<u8> {
        guard(self.0)
    }

    pub(crate) fn blob(self, name: &BlobName) -> Vec<u8> {
        self.tagged_name(b'B', name.as_str())
    }

    /// Marks a name of which some state has had a policy or a hold.
    pub(crate) fn protected(self, name: &BlobName) -> Vec<u8> {
        self.tagged_name(b'I', name.as_str())
    }

    /// All such marks.
    pub(crate) fn all_protected(self) -> KeyRange {
        KeyRange::under(self.tagged(b'I'))
    }

    pub(crate) fn staging(self, name: &BlobName) -> Vec<u8> {
        self.tagged_name(b'U', name.as_str())
    }

    /// Current blobs.
    pub(crate) fn blobs(self) -> NameSpace {
        NameSpace(self.tagged(b'B'))
    }

    /// Staging areas.
    pub(crate) fn stagings(self) -> NameSpace {
        NameSpace(self.tagged(b'U'))
    }

    pub(crate) fn staged(self, staging: ContentId, block: &[u8]) -> Vec<u8> {
        let mut key = self.tagged_id(b'S', staging.0);
        key.extend_from_slice(block);
        key
    }

    pub(crate) fn staged_blocks(self, staging: ContentId) -> KeyRange {
        KeyRange::under(self.tagged_id(b'S', staging.0))
    }

    /// The block id a staged block's key ends with.
    pub(crate) fn block_of(self, key: &[u8]) -> Option<&[u8]> {
        key.get(self.tagged_id(b'S', 0).len()..)
    }

    pub(crate) fn page(self, content: ContentId, page: u32) -> Vec<u8> {
        let mut key = self.tagged_id(b'M', content.0);
        key.extend_from_slice(&page.to_be_bytes());
        key
    }

    pub(crate) fn pages(self, content: ContentId) -> KeyRange {
        KeyRange::under(self.tagged_id(b'M', content.0))
    }

    pub(crate) fn piece(self, content: ContentId, offset: u64) -> Vec<u8> {
        let mut key = self.tagged_id(b'X', content.0);
        key.extend_from_slice(&offset.to_be_bytes());
        key
    }

    pub(crate) fn pieces(self, content: ContentId) -> KeyRange {
        KeyRange::under(self.tagged_id(b'X', content.0))
    }

    /// Whether a row of this incarnation names extents.
    pub(crate) fn names_extents(self, key: &[u8]) -> bool {
        [b'X', b'C'].into_iter().any(|tag| key.starts_with(&self.tagged(tag)))
    }

    pub(crate) fn inline(self, content: ContentId) -> Vec<u8> {
        self.tagged_id(b'D', content.0)
    }

    pub(crate) fn intent(self, at: Stamp) -> Vec<u8> {
        let mut key = self.tagged(b'G');
        key.extend_from_slice(&at.0.to_be_bytes());
        key
    }

    pub(crate) fn intents(self) -> KeyRange {
        KeyRange::under(self.tagged(b'G'))
    }

    /// A copy to a blob that is under way.
    pub(crate) fn copy(self, name: &BlobName, id: Guid) -> Vec<u8> {
        let mut key = self.tagged_name(b'P', name.as_str());
        key.extend_from_slice(&id.0.to_be_bytes());
        key
    }

    /// All copies under way.
    pub(crate) fn copies(self) -> KeyRange {
        KeyRange::under(self.tagged(b'P'))
    }

    /// The blob and the copy that a key of [`Keys::copies`] names.
    pub(crate) fn copy_of(self, key: &[u8]) -> Option<(BlobName, Guid)> {
        let rest = key.strip_prefix(self.tagged(b'P').as_slice())?;
        let (name, id) = split_name(rest)?;
        let id = Guid(u128::from_be_bytes(id.try_into().ok()?));
        Some((BlobName::parse(&name).ok()?, id))
    }

    /// The counts of a blob's history; sorts before everything in it.
    pub(crate) fn history(self, name: &BlobName) -> Vec<u8> {
        self.tagged_name(b'V', name.as_str())
    }

    /// One snapshot, version or deleted blob.
    pub(crate) fn past(self, name: &BlobName, at: Stamp, kind: PastKind) -> Vec<u8> {
        let mut key = self.history(name);
        push_moment(&mut key, at, kind);
        key
    }

    /// All of a blob's history but its counts.
    pub(crate) fn past_of(self, name: &BlobName) -> KeyRange {
        let all = KeyRange::under(self.history(name));
        KeyRange { start: [all.start.as_slice(), &[0]].concat(), end: all.end }
    }

    /// Whether a row holds the counts of a history.
    pub(crate) fn is_history(self, key: &[u8]) -> bool {
        self.histories().split(key).is_some_and(|(_, rest)| rest.is_empty())
    }

    /// Histories.
    pub(crate) fn histories(self) -> NameSpace {
        NameSpace(self.tagged(b'V'))
    }

    /// Content of a blob with a history that a commit took out of use.
    pub(crate) fn leftover(self, name: &BlobName, at: Stamp) -> Vec<u8> {
        let mut key = self.tagged_name(b'R', name.as_str());
        key.extend_from_slice(&at.0.to_be_bytes());
        key
    }

    /// All such of one blob, in the order of their commits.
    pub(crate) fn leftovers_of(self, name: &BlobName) -> KeyRange {
        KeyRange::under(self.tagged_name(b'R', name.as_str()))
    }

    /// All such of the container.
    pub(crate) fn leftovers(self) -> NameSpace {
        NameSpace(self.tagged(b'R'))
    }

    /// When something deleted and kept comes to its end.
    pub(crate) fn end_of(
        self,
        until: Timestamp,
        name: &BlobName,
        at: Stamp,
        kind: PastKind,
    ) -> Vec<u8> {
        let mut key = self.tagged(b'W');
        key.extend_from_slice(&until.0.to_be_bytes());
        push_name(&mut key, name.as_str());
        push_moment(&mut key, at, kind);
        key
    }

    /// What has come to its end by `now`.
    pub(crate) fn ended(self, now: Timestamp) -> KeyRange {
        let mut end = self.tagged(b'W');
        end.extend_from_slice(&now.0.saturating_add(1).to_be_bytes());
        KeyRange { start: self.tagged(b'W'), end: Some(end) }
    }

    /// Whose end a key of [`Keys::ended`] is about.
    pub(crate) fn ended_of(self, key: &[u8]) -> Option<(BlobName, Stamp, PastKind)> {
        let rest = key.strip_prefix(self.tagged(b'W').as_slice())?.get(8..)?;
        let (name, moment) = split_name(rest)?;
        let (at, kind) = moment_of(moment)?;
        Some((BlobName::parse(&name).ok()?, at, kind))
    }

    /// The values of one tag. Tags are ASCII without zeros, so that a zero ends them in order.
    fn tag(self, of: Tagged, tag: &str) -> Vec<u8> {
        let mut key = self.tagged(of.letter());
        key.extend_from_slice(tag.as_bytes());
        key.push(0);
        key
    }

    fn tag_value(self, of: Tagged, tag: &str, value: &str) -> Vec<u8> {
        let mut key = self.tag(of, tag);
        key.extend_from_slice(value.as_bytes());
        key.push(0);
        key
    }

    /// The row that finds a current blob by one of its tags.
    pub(crate) fn tagged_blob(self, tag: &str, value: &str, name: &BlobName) -> Vec<u8> {
        self.tagged_from(Tagged::Current, tag, value, name.as_str())
    }

    /// The row that finds a version by one of its tags.
    pub(crate) fn tagged_version(
        self,
        tag: &str,
        value: &str,
        name: &BlobName,
        at: Stamp,
    ) -> Vec<u8> {
        let mut key = self.tagged_from(Tagged::Version, tag, value, name.as_str());
        key.extend_from_slice(&at.0.to_be_bytes());
        key
    }

    /// Where a scan of a tag's rows that starts at this value and name begins.
    pub(crate) fn tagged_from(self, of: Tagged, tag: &str, value: &str, name: &str) -> Vec<u8> {
        let mut key = self.tag_value(of, tag, value);
        push_name(&mut key, name);
        key
    }

    /// The rows of a tag whose values lie in a run.
    pub(crate) fn tagged_with(self, of: Tagged, sought: &Sought<'_>) -> KeyRange {
        let all = KeyRange::under(self.tag(of, sought.name));
        let value = |value| KeyRange::under(self.tag_value(of, sought.name, value));
        let start = match sought.from {
            None => Some(all.start.clone()),
            Some((from, true)) => Some(value(from).start),
            Some((from, false)) => value(from).end,
        };
        let end = match sought.to {
            None => all.end,
            Some((to, true)) => value(to).end,
            Some((to, false)) => Some(value(to).start),
        };
        KeyRange { start: start.unwrap_or(all.start), end }
    }

    /// The value and the blob that a row of this tag names, and which version if it is one.
    pub(crate) fn tagged_of(self, of: Tagged, tag: &str, key: &[u8]) -> Option<TaggedRow> {
        let rest = key.strip_prefix(self.tag(of, tag).as_slice())?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (value, name) = rest.split_at_checked(end)?;
        let (name, rest) = split_name(name.get(1..)?)?;
        let value = String::from_utf8(value.to_vec()).ok()?;
        let version = match of {
            Tagged::Current => rest.is_empty().then_some(None)?,
            Tagged::Version => Some(Stamp(u64::from_be_bytes(rest.try_into().ok()?))),
        };
        Some(TaggedRow { value, name, version })
    }

    /// The commit whose leftovers an intent is about.
    pub(crate) fn intent_stamp(self, key: &[u8]) -> Option<Stamp> {
        let stamp = key.strip_prefix(self.tagged(b'G').as_slice())?;
        Some(Stamp(u64::from_be_bytes(stamp.try_into().ok()?)))
    }
}

fn push_moment(key: &mut Vec<u8>, at: Stamp, kind: PastKind) {
    key.extend_from_slice(&at.0.to_be_bytes());
    key.push(kind.tag());
}

/// The end of a key that names one moment of a blob.
pub(crate) fn moment_of(bytes: &[u8]) -> Option<(Stamp, PastKind)> {
    let (at, kind) = bytes.split_first_chunk::<8>()?;
    let &[tag] = kind else { return None };
    Some((Stamp(u64::from_be_bytes(*at)), PastKind::of_tag(tag)?))
}

/// Rows of one kind that are ordered by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NameSpace(Vec<u8>);

impl NameSpace {
    /// Names that start with `prefix`.
    pub(crate) fn starting_with(&self, prefix: &str) -> KeyRange {
        let mut start = self.0.clone();
        push_prefix(&mut start, prefix);
        KeyRange::under(start)
    }

    /// The first possible key of `name` or anything after it.
    pub(crate) fn from(&self, name: &str) -> Vec<u8> {
        let mut key = self.0.clone();
        push_name(&mut key, name);
        key
    }

    /// The first possible key after every name that starts with `prefix`.
    pub(crate) fn past(&self, prefix: &str) -> Option<Vec<u8>> {
        self.starting_with(prefix).end
    }

    /// The name part of a key in this space, and what follows it.
    pub(crate) fn split<'a>(&self, key: &'a [u8]) -> Option<(String, &'a [u8])> {
        split_name(key.strip_prefix(self.0.as_slice())?)
    }

    /// The name part of a key in this space.
    pub(crate) fn name_of(&self, key: &[u8]) -> Option<String> {
        let (name, rest) = split_name(key.strip_prefix(self.0.as_slice())?)?;
        if rest.is_empty() { Some(name) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::keys::all_of;

    fn blob(name: &str) -> BlobName {
        BlobName::parse(name).unwrap_or_else(|_| panic!("a legal name: {name}"))
    }

    #[test]
    fn blobs_sort_by_utf16_units_and_come_back() {
        let keys = Keys(Incarnation(7));
        let names = ["A", "B", "a", "a/", "a/b", "a/c", "a0", "ab", "é", "\u{10000}", "\u{FFFD}"];
        let rows: Vec<Vec<u8>> = names.iter().map(|n| keys.blob(&blob(n))).collect();
        assert!(rows.is_sorted());
        for (name, row) in names.iter().zip(&rows) {
            assert_eq!(keys.blobs().name_of(row).as_deref(), Some(*name));
            assert_eq!(keys.blobs().from(name), *row);
        }
    }

    #[test]
    fn prefixes_hold_exactly_their_names() {
        let space = Keys(Incarnation(7)).blobs();
        let range = space.starting_with("a/");
        for (name, inside) in
            [("a", false), ("a.", false), ("a/", true), ("a/z/z", true), ("a0", false)]
        {
            let key = space.from(name);
            let within = key >= range.start && range.end.as_ref().is_some_and(|e| key < *e);
            assert_eq!(within, inside, "{name}");
        }
        assert!(space.past("a/").is_some_and(|past| past <= space.from("a0")));
    }

    #[test]
    fn kinds_and_incarnations_do_not_mix() {
        let (old, new) = (Keys(Incarnation(7)), Keys(Incarnation(8)));
        let all = all_of(old.0);
        let c = ContentId(u128::MAX);
        let rows = [
            old.guard(),
            old.blob(&blob("\u{FFFD}")),
            old.inline(c),
            old.intent(Stamp(u64::MAX)),
            old.page(c, u32::MAX),
            old.leftover(&blob("x"), Stamp(u64::MAX)),
            old.staged(c, &[0xFF; 64]),
            old.tagged_blob("z", "z", &blob("x")),
            old.staging(&blob("x")),
            old.history(&blob("x")),
            old.past(&blob("x"), Stamp(1), PastKind::Snapshot),
            old.past(&blob("x"), Stamp(1), PastKind::Version),
            old.past(&blob("x"), Stamp(u64::MAX), PastKind::Base),
            old.end_of(Timestamp(u64::MAX), &blob("x"), Stamp(1), PastKind::Base),
            old.piece(c, u64::MAX),
            old.tagged_version("z", "z", &blob("x"), Stamp(1)),
        ];
        assert!(rows.is_sorted(), "guard first, then by tag");
        let at = Placement::new(b"c/account/container".as_slice());
        for row in &rows {
            assert!(*row >= all.start && all.end.as_ref().is_some_and(|end| row < end));
            assert_eq!(*row >= old.all_but_guard().start, *row != old.guard());
            assert!(*row < all_of(new.0).start);
            assert_eq!(old.names_extents(row), *row == old.piece(c, u64::MAX));
            assert_eq!(names_extents(&at, row), old.names_extents(row));
        }
    }

    #[test]
    fn runs_of_tags_hold_exactly_their_values() {
        let keys = Keys(Incarnation(7));
        let (a, z) = (Some(("b", true)), Some(("b", false)));
        for (from, to, want) in [
            (None, None, "a b b: bb c"),
            (a, a, "b"),
            (a, None, "b b: bb c"),
            (z, None, "b: bb c"),
            (None, a, "a b"),
            (None, z, "a"),
            (z, Some(("c", false)), "b: bb"),
        ] {
            let range = keys.tagged_with(Tagged::Current, &Sought { name: "t", from, to });
            let inside = ["a", "b", "b:", "bb", "c"].into_iter().filter(|value| {
                let key = keys.tagged_blob("t", value, &blob("x/y"));
                let found = keys.tagged_of(Tagged::Current, "t", &key);
                let found = found.map(|row| (row.value, row.name, row.version));
                assert_eq!(found, Some(((*value).to_owned(), "x/y".to_owned(), None)));
                let key_of_version = keys.tagged_version("t", value, &blob("x/y"), Stamp(7));
                let found = keys.tagged_of(Tagged::Version, "t", &key_of_version);
                assert_eq!(found.and_then(|row| row.version), Some(Stamp(7)));
                key >= range.start && range.end.as_ref().is_none_or(|end| key < *end)
            });
            assert_eq!(inside.collect::<Vec<_>>().join(" "), want, "{from:?} {to:?}");
            for other in ["s", "t2", "tt"] {
                let key = keys.tagged_blob(other, "b", &blob("x"));
                let within = key >= range.start && range.end.as_ref().is_none_or(|e| key < *e);
                assert!(!within, "{other}");
            }
        }
    }

    #[test]
    fn numbers_sort_by_value_and_come_back() {
        let keys = Keys(Incarnation(7));
        let c = ContentId(1);
        for (a, b) in [(0, 1), (255, 256), (1 << 32, (1 << 32) + 1)] {
            assert!(keys.piece(c, a) < keys.piece(c, b));
            assert!(keys.intent(Stamp(a)) < keys.intent(Stamp(b)));
            assert_eq!(keys.intent_stamp(&keys.intent(Stamp(a))), Some(Stamp(a)));
        }
        assert!(keys.page(c, 255) < keys.page(c, 256));
        assert_eq!(keys.block_of(&keys.staged(c, b"id")), Some(&b"id"[..]));
    }

    #[test]
    fn moments_of_a_blob_are_together_and_come_back() {
        let keys = Keys(Incarnation(7));
        let (a, ab) = (blob("a"), blob("ab"));
        let all = keys.past_of(&a);
        for (key, inside) in [
            (keys.history(&a), false),
            (keys.past(&a, Stamp(0), PastKind::Snapshot), true),
            (keys.past(&a, Stamp(u64::MAX), PastKind::Base), true),
            (keys.past(&ab, Stamp(0), PastKind::Snapshot), false),
        ] {
            let within = key >= all.start && all.end.as_ref().is_some_and(|end| key < *end);
            assert_eq!(within, inside, "{key:?}");
        }
        let key = keys.past(&a, Stamp(9), PastKind::Version);
        let (name, rest) = keys.histories().split(&key).expect("a key of a moment");
        assert_eq!((name.as_str(), moment_of(rest)), ("a", Some((Stamp(9), PastKind::Version))));
        assert_eq!(moment_of(&[]), None, "the counts are no moment");
        let end = keys.end_of(Timestamp(5), &a, Stamp(9), PastKind::Snapshot);
        assert_eq!(keys.ended_of(&end), Some((a, Stamp(9), PastKind::Snapshot)));
        for (now, due) in [(4, false), (5, true), (6, true)] {
            let ended = keys.ended(Timestamp(now));
            assert_eq!(ended.end.is_some_and(|last| end < last), due, "{now}");
        }
    }

    #[test]
    fn directory_rows() {
        let name = ContainerName::parse("photos").unwrap_or_else(|_| panic!("legal"));
        assert_eq!(container_of(&container(&name)), Some(name.clone()));
        assert_eq!(container_of(&Family::Containers.held_name(name.as_str())), None);
        let range = containers("pho");
        let key = container(&name);
        assert!(key >= range.start && range.end.is_some_and(|end| key < end));
        let account = AccountName::parse("devstoreaccount1").unwrap_or_else(|_| panic!("legal"));
        assert_ne!(directory(&account), inside(&account, &name));
    }

    #[test]
    fn the_longest_keys_fit() {
        let keys = Keys(Incarnation(u64::MAX));
        assert!(keys.blob(&blob(&"\u{10000}".repeat(512))).len() <= 2560);
        assert!(keys.staged(ContentId(u128::MAX), &[0; 64]).len() <= 2560);
        let name = blob(&"\u{10000}".repeat(512));
        let (until, at) = (Timestamp(u64::MAX), Stamp(u64::MAX));
        assert!(keys.end_of(until, &name, at, PastKind::Base).len() <= 2560);
        assert!(keys.tagged_version(&"n".repeat(128), &"v".repeat(256), &name, at).len() <= 2560);
    }
}
