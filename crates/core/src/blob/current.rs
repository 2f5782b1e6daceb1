//! The row of a current blob together with its rows in the index of tags.
//!
//! Must never be bypassed by a commit that creates, replaces or deletes a current blob, or changes
//! its tags: the index shows exactly what the heads say, at every commit.

use super::keys::Keys;
use super::records::{Head, Record};
use zaffre_base::BlobName;
use zaffre_domain::blob::tags::{NO_TAGS, Tags};
use zaffre_store::{Interrupt, Tx};

/// Makes `head` the current blob in place of `old`.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    old: Option<&Head>,
    head: &Head,
) -> Result<(), Interrupt> {
    index(tx, keys, name, old.map_or(&NO_TAGS, |old| &old.tags), &head.tags)?;
    head.store(tx, &keys.blob(name))
}

/// Leaves no current blob where `old` was.
pub(crate) fn delete(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    old: Option<&Head>,
) -> Result<(), Interrupt> {
    index(tx, keys, name, old.map_or(&NO_TAGS, |old| &old.tags), &NO_TAGS)?;
    tx.delete(&keys.blob(name))
}

/// Writes only what differs: most commits change no tags.
fn index(
    tx: &mut Tx<'_>,
    keys: Keys,
    name: &BlobName,
    old: &Tags,
    new: &Tags,
) -> Result<(), Interrupt> {
    for (tag, value) in old {
        if new.get(tag) != Some(value) {
            tx.delete(&keys.tagged_blob(tag, value, name))?;
        }
    }
    for (tag, value) in new {
        if old.get(tag) != Some(value) {
            tx.put(&keys.tagged_blob(tag, value, name), &[])?;
        }
    }
    Ok(())
}
