//! Taking a blob's old content and staged blocks out of use, inside the commit that replaces them.
//!
//! Must never do more work for a large blob than for a small one: what cannot be deleted on the spot
//! is named in an intent, and the background frees it when no reader is left.

use super::current;
use super::history::Past;
use super::keys::Keys;
use super::records::{Content, Head, Intent, Record, Retired, Shape, Staging};
use super::reply::Written;
use crate::settings::Keeping;
use zaffre_base::{BlobName, Stamp};
use zaffre_store::{Interrupt, Tx};

/// Whether a commit left work for the background.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LeftOver {
    Nothing,
    Work,
}

impl LeftOver {
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Work { self } else { other }
    }
}

/// Of a blob without a history: retires `content` and the staging area in favour of `successor`.
pub(crate) fn retire(
    tx: &mut Tx<'_>,
    keys: Keys,
    blob: &BlobName,
    content: Option<Content>,
    staging: Option<&Staging>,
    successor: Option<Content>,
) -> Result<LeftOver, Interrupt> {
    let content = match content {
        // Readers of inline bytes take them from the snapshot that showed them the head.
        Some(Content { id, shape: Shape::Inline, .. }) => {
            tx.delete(&keys.inline(id))?;
            None
        }
        other => other.filter(|content| content.shape != Shape::Empty),
    };
    if staging.is_some() {
        tx.delete(&keys.staging(blob))?;
    }
    if content.is_none() && staging.is_none() {
        return Ok(LeftOver::Nothing);
    }
    let intent = Intent::Retired(Retired {
        blob: blob.as_str().to_owned(),
        content,
        staging: staging.map(|staging| staging.id),
        successor: successor.filter(|content| matches!(content.shape, Shape::Blocks { .. })),
    });
    intent.store(tx, &keys.intent(tx.stamp()))?;
    Ok(LeftOver::Work)
}

/// Stores `head` as the current state in place of `old`, which becomes a version, is kept for a
/// while, or goes, with everything that is staged. What must stay as it is stays as a version.
pub(crate) fn overwrite(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    old: Option<&Head>,
    head: Head,
    staging: Option<&Staging>,
    keeping: Keeping,
) -> Result<(Written, LeftOver), Interrupt> {
    let mut past = Past::load(tx, keys, name)?;
    let mut head = number(tx, head, old, keeping);
    head.last_access = keeping.accesses.then(|| tx.stamp().time());
    match old {
        Some(old) => past.supersede(tx, old, keeping)?,
        None => past.make_room(tx, head.kind())?,
    }
    current::write(tx, keys, name, old, &head)?;
    let left = past.finish(tx, staging, Some(head.content))?;
    Ok((written(&head), left))
}

/// The same for a `head` that has the content of `old`.
pub(crate) fn rewrite(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    old: &Head,
    head: Head,
    staging: Option<&Staging>,
    keeping: Keeping,
) -> Result<(Written, LeftOver), Interrupt> {
    let mut past = Past::load(tx, keys, name)?;
    let head = number(tx, head, Some(old), keeping);
    past.keep(tx, old, keeping)?;
    current::write(tx, keys, name, Some(old), &head)?;
    let left = past.finish(tx, staging, Some(head.content))?;
    Ok((written(&head), left))
}

/// Stores `head`, with the content of `old`, in its place; `old` stays only as a version.
pub(crate) fn restate(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    old: &Head,
    head: Head,
    keeping: Keeping,
) -> Result<(Written, LeftOver), Interrupt> {
    let head = number(tx, head, Some(old), keeping);
    let mut left = LeftOver::Nothing;
    if keeping.versions || old.version.is_some() {
        let mut past = Past::load(tx, keys, name)?;
        past.add_version(tx, old)?;
        left = past.finish(tx, None, None)?;
    }
    current::write(tx, keys, name, Some(old), &head)?;
    Ok((written(&head), left))
}

/// A version has an id and a time of creation of its own; what is no version keeps the time of what
/// it replaces, unless that stays as a version.
fn number(tx: &Tx<'_>, mut head: Head, old: Option<&Head>, keeping: Keeping) -> Head {
    head.version = keeping.versions.then(|| tx.stamp());
    head.created = match old {
        Some(old) if !keeping.versions && old.version.is_none() => old.created,
        _ => tx.stamp().time(),
    };
    head
}

/// What the answer shows of a state that was just stored.
fn written(head: &Head) -> Written {
    Written { stamp: head.written, version: head.version.map(Stamp::time) }
}
