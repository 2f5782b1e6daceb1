//! Snapshots, versions, and deleted blobs that are kept: the states of a blob that are not current.
//!
//! Must never copy bytes: a state of the past is a head, and its content is shared with the blob's
//! other heads. What the last of them lets go of is freed by the background.

mod past;
mod settle;

pub(crate) use past::Past;
pub(crate) use settle::settle;

use super::keys::Keys;
use super::op::{BlobPath, Moment};
use super::records::{Head, History, PastKind, Record};
use super::reply::BlobView;
use super::view;
use zaffre_base::{BlobName, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::copy::CopyRefusal;
use zaffre_store::{Interrupt, Snapshot, StoreError, Tx};

/// Where the one deleted blob without a version is kept: after every moment there can be.
pub(crate) const BASE_AT: Stamp = Stamp(u64::MAX);

/// A state of a blob that can be read.
pub(crate) struct Seen {
    /// On the heap: it is large and handed on often.
    pub(crate) head: Box<Head>,
    /// Which one it is; `None` = the current one.
    past: Option<(Stamp, PastKind)>,
}

impl Seen {
    /// Whether it is the current one.
    pub(crate) fn is_current(&self) -> bool {
        self.past.is_none()
    }

    /// Refuses to read the content of what incremental copies make: its snapshots are for that.
    pub(crate) fn readable(&self) -> Result<(), Refusal> {
        match &self.head.incremental {
            Some(_) if self.past.is_none() => {
                Err(Refusal::Copy(CopyRefusal::OperationNotAllowedOnIncrementalCopyBlob))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn view(&self, name: BlobName, now: Timestamp) -> BlobView {
        match self.past {
            None => view::blob(name, &self.head, now),
            Some((at, kind)) => view::past(name, at, kind, &self.head, now),
        }
    }
}

/// The state of a blob that a path names.
pub(crate) fn peek(
    inside: &Snapshot,
    keys: Keys,
    at: &BlobPath,
    now: Timestamp,
) -> Result<Option<Seen>, StoreError> {
    let current = |head| Seen { head: Box::new(head), past: None };
    let (stamp, kind) = match &at.moment {
        Moment::Current => return Ok(Head::peek(inside, &keys.blob(&at.blob))?.map(current)),
        Moment::Snapshot(id) => (Stamp(id.at.0), PastKind::Snapshot),
        Moment::Version(id) => (Stamp(id.at.0), PastKind::Version),
    };
    if kind == PastKind::Version {
        let head = Head::peek(inside, &keys.blob(&at.blob))?;
        if let Some(head) = head.filter(|head| head.version == Some(stamp)) {
            return Ok(Some(current(head)));
        }
    }
    let Some(head) = Head::peek(inside, &keys.past(&at.blob, stamp, kind))? else {
        return Ok(None);
    };
    let history = History::peek(inside, &keys.history(&at.blob))?.unwrap_or_default();
    let head = history.see(stamp, kind, head, now).filter(|head| head.deleted.is_none());
    Ok(head.map(|head| Seen { head: Box::new(head), past: Some((stamp, kind)) }))
}

/// The row of the state that a path names, for a change that leaves it where it is.
pub(crate) fn load(
    tx: &mut Tx<'_>,
    keys: Keys,
    at: &BlobPath,
) -> Result<Option<(Vec<u8>, Head)>, Interrupt> {
    let current = keys.blob(&at.blob);
    let (stamp, kind) = match &at.moment {
        Moment::Current => return Ok(Head::load(tx, &current)?.map(|head| (current, head))),
        Moment::Snapshot(id) => (Stamp(id.at.0), PastKind::Snapshot),
        Moment::Version(id) => (Stamp(id.at.0), PastKind::Version),
    };
    if kind == PastKind::Version {
        let head = Head::load(tx, &current)?;
        if let Some(head) = head.filter(|head| head.version == Some(stamp)) {
            return Ok(Some((current, head)));
        }
    }
    let past = Past::load(tx, keys, &at.blob)?;
    match past.find(tx, stamp, kind)? {
        Some(seen) if seen.deleted.is_none() => {
            // As stored: what is decided about all rows is not this change's to write.
            let key = keys.past(&at.blob, stamp, kind);
            Ok(Head::load(tx, &key)?.map(|head| (key, head)))
        }
        _ => Ok(None),
    }
}
