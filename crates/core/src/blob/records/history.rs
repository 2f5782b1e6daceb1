//! The history of a blob: how much of it there is, what is being done to all of it at once, and
//! content that it may share with what was taken out of use.

use super::{Content, Deleted, Head, Record, fields};
use minicbor::{Decode, Encode};
use zaffre_base::{ContentId, Stamp, Timestamp};

/// What a row of history is; part of its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PastKind {
    /// A snapshot, by the commit that took it.
    Snapshot,
    /// A version that is not the current one, by its id.
    Version,
    /// A deleted blob that had no version; there is at most one, after everything else.
    Base,
}

impl PastKind {
    pub(crate) fn tag(self) -> u8 {
        match self {
            Self::Snapshot => 1,
            Self::Version => 2,
            Self::Base => 3,
        }
    }

    pub(crate) fn of_tag(tag: u8) -> Option<Self> {
        [Self::Snapshot, Self::Version, Self::Base].into_iter().find(|kind| kind.tag() == tag)
    }
}

/// How much history a blob has. There is a row while there is any, or anything left over from it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Encode, Decode)]
#[cbor(map)]
pub(crate) struct History {
    /// Rows in all.
    #[n(0)]
    pub(crate) rows: u64,
    /// Snapshots that are not deleted.
    #[n(1)]
    pub(crate) snapshots: u64,
    /// Versions, deleted ones too.
    #[n(2)]
    pub(crate) versions: u64,
    /// A change of many rows that is decided and not yet written to all of them.
    #[n(3)]
    pub(crate) cut: Option<Cut>,
}

/// A change of all rows that were there at one moment. Whoever reads a row applies it first.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Cut {
    /// The commit that decided it.
    #[cbor(n(0), with = "fields")]
    pub(crate) at: Stamp,
    #[n(1)]
    pub(crate) sweep: Sweep,
    /// With [`Sweep::KeepDeleted`]: when they are gone.
    #[cbor(n(2), with = "fields", has_nil)]
    pub(crate) until: Option<Timestamp>,
    /// The row to go on with; everything before it is written.
    #[cbor(n(3), with = "minicbor::bytes")]
    pub(crate) next: Vec<u8>,
}

/// What is done to the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(index_only)]
pub(crate) enum Sweep {
    /// Snapshots go.
    #[n(0)]
    DropSnapshots,
    /// Snapshots are deleted and kept for a while.
    #[n(1)]
    KeepDeleted,
    /// What is deleted and not yet gone comes back.
    #[n(2)]
    Restore,
    /// What is deleted goes.
    #[n(3)]
    DropDeleted,
}

/// What a change of many rows makes of one of them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Fate {
    Same,
    Becomes(Option<Deleted>),
    Goes,
}

impl Cut {
    /// What becomes of a row.
    pub(crate) fn fate(&self, at: Stamp, kind: PastKind, head: &Head) -> Fate {
        let live_snapshot = kind == PastKind::Snapshot && head.deleted.is_none() && at < self.at;
        let deleted = head.deleted.filter(|deleted| deleted.at < self.at && kind != PastKind::Base);
        match (self.sweep, self.until) {
            (Sweep::KeepDeleted, Some(until)) if live_snapshot => {
                Fate::Becomes(Some(Deleted { at: self.at, until }))
            }
            (Sweep::DropSnapshots, _) if live_snapshot => Fate::Goes,
            (Sweep::Restore, _) if deleted.is_some_and(|d| d.until > self.at.time()) => {
                Fate::Becomes(None)
            }
            (Sweep::DropDeleted, _) if deleted.is_some() => Fate::Goes,
            _ => Fate::Same,
        }
    }
}

impl History {
    /// A row as it is, with what is decided about all rows; `None` = it is gone.
    pub(crate) fn see(
        &self,
        at: Stamp,
        kind: PastKind,
        head: Head,
        now: Timestamp,
    ) -> Option<Head> {
        let fate = self.cut.as_ref().map_or(Fate::Same, |cut| cut.fate(at, kind, &head));
        let head = match fate {
            Fate::Same => head,
            Fate::Becomes(deleted) => head.with_deleted(deleted),
            Fate::Goes => return None,
        };
        Some(head).filter(|head| head.deleted.is_none_or(|deleted| now < deleted.until))
    }
}

impl Record for History {
    const WHAT: &'static str = "history of a blob";
}

/// Content of a blob with a history that a commit took out of use. What any other head of the blob
/// still refers to stays.
#[derive(Clone, PartialEq, Eq, Debug, Default, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Leftover {
    #[n(0)]
    pub(crate) contents: Vec<Content>,
    #[cbor(n(1), with = "fields", has_nil)]
    pub(crate) staging: Option<ContentId>,
}

impl Record for Leftover {
    const WHAT: &'static str = "leftover of a blob";
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;

    fn head(deleted: Option<(u64, u64)>) -> Head {
        let content = Content { id: ContentId(1), length: 0, shape: Shape::Empty };
        let deleted = deleted.map(|(at, until)| Deleted { at: Stamp(at), until: Timestamp(until) });
        Head::block_blob(Stamp(1), content).with_deleted(deleted)
    }

    #[test]
    fn round_trip() {
        for sweep in [Sweep::DropSnapshots, Sweep::KeepDeleted, Sweep::Restore, Sweep::DropDeleted]
        {
            let cut = Cut { at: Stamp(5), sweep, until: Some(Timestamp(9)), next: vec![1, 2] };
            let history = History { rows: 3, snapshots: 2, versions: 1, cut: Some(cut) };
            assert_eq!(History::from_bytes(&history.to_bytes()).ok(), Some(history));
        }
        let content = Content { id: ContentId(1), length: 7, shape: Shape::Inline };
        let left = Leftover { contents: vec![content], staging: Some(ContentId(2)) };
        assert_eq!(Leftover::from_bytes(&left.to_bytes()).ok(), Some(left));
        for kind in [PastKind::Snapshot, PastKind::Version, PastKind::Base] {
            assert_eq!(PastKind::of_tag(kind.tag()), Some(kind));
        }
    }

    #[test]
    fn what_is_decided_about_all_rows_is_seen_in_each() {
        use PastKind::{Base, Snapshot, Version};
        let cut =
            |sweep| Some(Cut { at: Stamp(50), sweep, until: Some(Timestamp(90)), next: vec![] });
        let live = Some(None);
        let gone = None;
        let deleted = |at, until| Some(Some((at, until)));
        for (sweep, at, kind, stored, now, want) in [
            (None, 10, Snapshot, None, 60, live),
            (None, 10, Snapshot, Some((20, 70)), 60, deleted(20, 70)),
            (None, 10, Snapshot, Some((20, 60)), 60, gone),
            (Some(Sweep::DropSnapshots), 10, Snapshot, None, 60, gone),
            (Some(Sweep::DropSnapshots), 51, Snapshot, None, 60, live),
            (Some(Sweep::DropSnapshots), 10, Version, None, 60, live),
            (Some(Sweep::DropSnapshots), 10, Snapshot, Some((20, 70)), 60, deleted(20, 70)),
            (Some(Sweep::KeepDeleted), 10, Snapshot, None, 60, deleted(50, 90)),
            (Some(Sweep::KeepDeleted), 10, Snapshot, Some((20, 70)), 60, deleted(20, 70)),
            (Some(Sweep::KeepDeleted), 10, Snapshot, None, 90, gone),
            (Some(Sweep::Restore), 10, Snapshot, Some((20, 70)), 60, live),
            (Some(Sweep::Restore), 10, Version, Some((20, 70)), 99, live),
            (Some(Sweep::Restore), 10, Snapshot, Some((20, 40)), 60, gone),
            (Some(Sweep::Restore), 10, Snapshot, Some((51, 70)), 60, deleted(51, 70)),
            (Some(Sweep::Restore), 10, Base, Some((20, 70)), 60, deleted(20, 70)),
            (Some(Sweep::DropDeleted), 10, Snapshot, Some((20, 70)), 60, gone),
            (Some(Sweep::DropDeleted), 10, Snapshot, None, 60, live),
        ] {
            let history = History { cut: sweep.and_then(cut), ..History::default() };
            let got = history.see(Stamp(at), kind, head(stored), Timestamp(now));
            let got = got.map(|head| head.deleted.map(|d| (d.at.0, d.until.0)));
            assert_eq!(got, want, "{sweep:?} {at} {kind:?} {stored:?} {now}");
        }
    }
}
