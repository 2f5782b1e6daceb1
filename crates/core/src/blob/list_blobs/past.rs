//! The history of every name, oldest first, as far as a listing asks for it.

use super::cursor::Cursor;
use crate::Error;
use crate::blob::history::BASE_AT;
use crate::blob::keys::{Keys, moment_of};
use crate::blob::marker::Place;
use crate::blob::op::IncludeHistory;
use crate::blob::records::{Head, History, PastKind, Record};
use zaffre_base::{BlobName, Stamp, Timestamp};
use zaffre_store::{Snapshot, StoreError};

/// One entry of a listing that is not a current blob.
pub(super) enum Shown {
    Moment { at: Stamp, kind: PastKind, head: Box<Head> },
    VersionsOnly,
}

/// The position after everything that has a moment of its own.
pub(super) fn end() -> Vec<u8> {
    let mut position = BASE_AT.0.to_be_bytes().to_vec();
    position.push(PastKind::Base.tag());
    position
}

/// Walks through histories.
pub(super) struct Pasts<'a> {
    cursor: Cursor<'a>,
    include: IncludeHistory,
    inside: &'a Snapshot,
    keys: Keys,
    now: Timestamp,
    /// The name whose moments come now.
    current: Option<Current>,
    /// What was peeked at.
    ready: Option<(Place, Shown)>,
}

struct Current {
    name: String,
    history: History,
    /// It has versions and no current one, and that has yet to be shown.
    versions_only: bool,
}

impl<'a> Pasts<'a> {
    /// `cursor` stands at the first name; a marker may say where in its history.
    pub(super) fn open(
        cursor: Cursor<'a>,
        include: IncludeHistory,
        inside: &'a Snapshot,
        keys: Keys,
        now: Timestamp,
        from: Option<&Place>,
    ) -> Result<Self, Error> {
        let mut pasts = Self { cursor, include, inside, keys, now, current: None, ready: None };
        if let Some(place) = from.filter(|place| !place.position.is_empty()) {
            let mut key = pasts.cursor.space.from(&place.name);
            key.extend_from_slice(&place.position);
            pasts.cursor.skip_to(key);
            pasts.enter(&place.name)?;
        }
        Ok(pasts)
    }

    /// Where the next entry is.
    pub(super) fn peek(&mut self) -> Result<Option<Place>, Error> {
        while self.ready.is_none() {
            self.cursor.fill()?;
            let Some(row) = self.cursor.rows.front() else {
                self.ready = self.leave();
                break;
            };
            let split = self.cursor.space.split(&row.key);
            let (name, rest) = split.ok_or_else(|| StoreError::corrupt("the key of a moment"))?;
            let entered = self.current.as_ref().is_some_and(|current| current.name == name);
            if !entered {
                // The name before this one is at its end.
                self.ready = self.leave();
                if self.ready.is_none() {
                    self.enter(&name)?;
                }
                continue;
            }
            if !rest.is_empty() {
                let moment = moment_of(rest);
                let (at, kind) = moment.ok_or_else(|| StoreError::corrupt("a moment's key"))?;
                let position = rest.to_vec();
                let head = Head::from_bytes(&row.value)?;
                self.ready =
                    self.shown(at, kind, head).map(|shown| (Place { name, position }, shown));
            }
            self.cursor.rows.pop_front();
        }
        Ok(self.ready.as_ref().map(|(place, _)| place.clone()))
    }

    /// Takes the entry just peeked at.
    pub(super) fn take(&mut self) -> Option<Shown> {
        self.ready.take().map(|(_, shown)| shown)
    }

    /// Goes on after all names that start so.
    pub(super) fn skip_group(&mut self, group: &str) {
        if self.current.as_ref().is_some_and(|current| current.name.starts_with(group)) {
            self.current = None;
        }
        if self.ready.as_ref().is_some_and(|(place, _)| place.name.starts_with(group)) {
            self.ready = None;
        }
        let past = self.cursor.space.past(group);
        self.cursor.skip_past(past);
    }

    fn enter(&mut self, name: &str) -> Result<(), Error> {
        let parsed = BlobName::parse(name)
            .map_err(|_| StoreError::corrupt("the name in a history's key is not legal"))?;
        let history = History::peek(self.inside, &self.keys.history(&parsed))?.unwrap_or_default();
        let versions_only = self.include.deleted_with_versions
            && history.versions > 0
            && self.inside.get(&self.keys.blob(&parsed))?.is_none();
        self.current = Some(Current { name: name.to_owned(), history, versions_only });
        Ok(())
    }

    /// The last entry of the name whose moments came, if there is one more.
    fn leave(&mut self) -> Option<(Place, Shown)> {
        let current = self.current.take().filter(|current| current.versions_only)?;
        Some((Place { name: current.name, position: end() }, Shown::VersionsOnly))
    }

    /// A moment, if it is there and asked for.
    fn shown(&self, at: Stamp, kind: PastKind, head: Head) -> Option<Shown> {
        let history = &self.current.as_ref()?.history;
        let head = history.see(at, kind, head, self.now)?;
        let IncludeHistory { snapshots, versions, deleted, .. } = self.include;
        let asked = match kind {
            PastKind::Snapshot => snapshots,
            PastKind::Version => versions,
            PastKind::Base => true,
        };
        let asked = asked && (deleted || head.deleted.is_none());
        asked.then(|| Shown::Moment { at, kind, head: Box::new(head) })
    }
}
