//! Where the directory's rows live: which accounts there are, and what each account has by name.
//!
//! Must never be built anywhere else: order and prefixes are what listings and purges rely on.
//!
//! ```text
//! placement        key            row
//! s                A·account      an account that has had anything
//! a/account        f·C·K(name)    what has this name: incarnation, properties
//! a/account        f·D·K(name)…   what had this name and is kept after its deletion
//! a/account        f·H·K(name)    name held after a deletion
//! a/account        f·S·K(name)·i·stamp  snapshot of a share
//! a/account        f·G·stamp      intent: purge what was deleted
//! a/account        s·P            properties of the service with the letter s
//! p/account/name   i·0            guard: present = deleted
//! ```
//! `f` and `p` name the family: `b` and `c` containers, `q` and `q` queues, `t` and `t` tables, `f` and
//! `f` shares.

use zaffre_auth::Service;
use zaffre_base::key::{push_name, push_prefix, split_name, successor};
use zaffre_base::{AccountName, Incarnation, Stamp};
use zaffre_store::Placement;

/// A run of keys: from `start` up to, and without, `end` (`None` = to the last key).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeyRange {
    pub(crate) start: Vec<u8>,
    pub(crate) end: Option<Vec<u8>>,
}

impl KeyRange {
    /// All keys that start with `prefix`.
    pub(crate) fn under(prefix: Vec<u8>) -> Self {
        let end = successor(&prefix);
        Self { start: prefix, end }
    }
}

/// The placement that lists the accounts known to the store.
pub(crate) fn registry() -> Placement {
    Placement::new(b"s".as_slice())
}

/// The row of one account in the registry.
pub(crate) fn registered_account(account: &AccountName) -> Vec<u8> {
    [b"A", account.as_str().as_bytes()].concat()
}

/// All accounts of the registry.
pub(crate) fn registered_accounts() -> KeyRange {
    KeyRange::under(b"A".to_vec())
}

/// The account a registry key names.
pub(crate) fn account_of(key: &[u8]) -> Option<AccountName> {
    let name = std::str::from_utf8(key.strip_prefix(b"A")?).ok()?;
    AccountName::parse(name).ok()
}

/// The placement of an account's directory.
pub(crate) fn directory(account: &AccountName) -> Placement {
    Placement::joined(&[b"a/", account.as_str().as_bytes()])
}

/// The row of a service's properties.
pub(crate) fn service_properties(service: Service) -> Vec<u8> {
    let mut key = service.letter().to_string().into_bytes();
    key.push(b'P');
    key
}

/// One kind of thing that accounts have by name, each with rows of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Family {
    Containers,
    Queues,
    Tables,
    Shares,
}

impl Family {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Containers, Self::Queues, Self::Tables, Self::Shares];

    /// How its keys in the directory start, and how the names of its placements do.
    fn tags(self) -> (u8, u8) {
        match self {
            Self::Containers => (b'b', b'c'),
            Self::Queues => (b'q', b'q'),
            Self::Tables => (b't', b't'),
            Self::Shares => (b'f', b'f'),
        }
    }

    fn tagged(self, tag: u8) -> Vec<u8> {
        vec![self.tags().0, tag]
    }

    fn tagged_name(self, tag: u8, name: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(2 * name.len() + 4);
        key.extend_from_slice(&[self.tags().0, tag]);
        push_name(&mut key, name);
        key
    }

    /// The directory row of what is called `name`.
    pub(crate) fn row(self, name: &str) -> Vec<u8> {
        self.tagged_name(b'C', name)
    }

    /// Directory rows whose names start with `prefix`.
    pub(crate) fn rows(self, prefix: &str) -> KeyRange {
        let mut start = self.tagged(b'C');
        push_prefix(&mut start, prefix);
        KeyRange::under(start)
    }

    /// The name in a directory row's key.
    pub(crate) fn name_of(self, key: &[u8]) -> Option<String> {
        let (name, rest) = split_name(key.strip_prefix(self.tagged(b'C').as_slice())?)?;
        rest.is_empty().then_some(name)
    }

    /// The start of the keys of deleted things of this name that are kept.
    pub(crate) fn deleted(self, name: &str) -> Vec<u8> {
        self.tagged_name(b'D', name)
    }

    /// Rows of deleted things that are kept and whose names start with `prefix`.
    pub(crate) fn all_deleted(self, prefix: &str) -> KeyRange {
        let mut start = self.tagged(b'D');
        push_prefix(&mut start, prefix);
        KeyRange::under(start)
    }

    /// The name in the key of a deleted thing, and what follows it.
    pub(crate) fn deleted_name_of(self, key: &[u8]) -> Option<(String, &[u8])> {
        split_name(key.strip_prefix(self.tagged(b'D').as_slice())?)
    }

    /// Rows of the snapshots of one incarnation of what is called `name`, oldest first.
    pub(crate) fn snapshots(self, name: &str, incarnation: Incarnation) -> KeyRange {
        let mut start = self.tagged_name(b'S', name);
        start.extend_from_slice(&incarnation.0.to_be_bytes());
        KeyRange::under(start)
    }

    /// The row of one snapshot.
    pub(crate) fn snapshot(self, name: &str, incarnation: Incarnation, at: Stamp) -> Vec<u8> {
        let mut key = self.snapshots(name, incarnation).start;
        key.extend_from_slice(&at.0.to_be_bytes());
        key
    }

    /// The row that keeps a deleted thing's name from being used again at once.
    pub(crate) fn held_name(self, name: &str) -> Vec<u8> {
        self.tagged_name(b'H', name)
    }

    /// All held names of an account.
    pub(crate) fn held_names(self) -> KeyRange {
        KeyRange::under(self.tagged(b'H'))
    }

    /// The intent to purge what was deleted by the commit `at`.
    pub(crate) fn purge(self, at: Stamp) -> Vec<u8> {
        [self.tagged(b'G').as_slice(), &at.0.to_be_bytes()].concat()
    }

    /// All purge intents of an account.
    pub(crate) fn purges(self) -> KeyRange {
        KeyRange::under(self.tagged(b'G'))
    }

    /// The placement of its contents, shared by all incarnations.
    pub(crate) fn inside(self, account: &AccountName, name: &str) -> Placement {
        let tag = [self.tags().1];
        Placement::joined(&[&tag, b"/", account.as_str().as_bytes(), b"/", name.as_bytes()])
    }
}

/// Everything of one incarnation, the guard included.
pub(crate) fn all_of(incarnation: Incarnation) -> KeyRange {
    KeyRange::under(incarnation.0.to_be_bytes().to_vec())
}

/// Everything of one incarnation but its guard, which sorts first.
pub(crate) fn all_but_guard(incarnation: Incarnation) -> KeyRange {
    KeyRange { start: tagged(incarnation, b'0' + 1), end: all_of(incarnation).end }
}

/// The row that, when present, says that the incarnation was deleted.
pub(crate) fn guard(incarnation: Incarnation) -> Vec<u8> {
    tagged(incarnation, b'0')
}

/// The start of all keys of one kind inside an incarnation.
pub(crate) fn tagged(incarnation: Incarnation, tag: u8) -> Vec<u8> {
    let mut key = Vec::with_capacity(48);
    key.extend_from_slice(&incarnation.0.to_be_bytes());
    key.push(tag);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_never_meet() {
        let account = AccountName::parse("devstoreaccount1").unwrap_or_else(|_| panic!("legal"));
        assert_eq!(account_of(&registered_account(&account)), Some(account.clone()));
        for family in Family::ALL {
            let key = family.row("photos");
            let range = family.rows("pho");
            assert!(key >= range.start && range.end.is_some_and(|end| key < end));
            assert_eq!(family.name_of(&family.held_name("photos")), None);
            assert_ne!(directory(&account), family.inside(&account, "photos"));
            for other in Family::ALL {
                let found = other.name_of(&key);
                assert_eq!(found.is_some(), other == family, "{family:?} {other:?}");
                let places = [family, other].map(|f| f.inside(&account, "photos"));
                assert_eq!(places[0] == places[1], other == family);
            }
        }
    }

    #[test]
    fn guards_sort_before_all_else() {
        let life = Incarnation(7);
        let (all, rest) = (all_of(life), all_but_guard(life));
        assert!(all.start <= guard(life) && guard(life) < rest.start && all.end == rest.end);
        assert!(tagged(life, b'A') >= rest.start);
    }
}
