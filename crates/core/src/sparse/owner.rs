//! Whose content a sparse content is, and as of which commits it is seen.
//!
//! Must never let a content be changed that its owner no longer names: whoever frees it counts on
//! that.

use super::keys::SparseKeys;
use super::rows::{Label, label_from_bytes};
use crate::blob::history_views;
use crate::blob::records::{Head, Record};
use crate::blob::site::Site;
use crate::file;
use zaffre_base::{BlobName, Stamp};
use zaffre_domain::fs::FileId;
use zaffre_store::{Interrupt, Snapshot, StoreError, Tx};

/// Whose content it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    Blob(BlobName),
    File(FileId),
}

/// As of which commits a content is seen.
pub(super) struct Seen {
    /// The newest of them.
    pub(super) newest: Stamp,
    /// What snapshots see.
    pub(super) views: Vec<Stamp>,
}

impl Owner {
    /// Whose content it is; `None` if that is no longer known.
    pub(super) fn of(snapshot: &Snapshot, keys: SparseKeys) -> Result<Option<Self>, StoreError> {
        let Some(value) = snapshot.get(&keys.label())? else { return Ok(None) };
        Ok(Some(match label_from_bytes(&value)? {
            Label::Blob(name) => {
                let name = BlobName::parse(&name);
                Self::Blob(name.map_err(|_| StoreError::corrupt("the name in a label"))?)
            }
            Label::File(id) => Self::File(id),
        }))
    }

    /// As of which commits the owner sees the content; `None` if it has another one.
    pub(super) fn seen(
        &self,
        snapshot: &Snapshot,
        site: &Site,
        keys: SparseKeys,
    ) -> Result<Option<Seen>, StoreError> {
        match self {
            Self::Blob(name) => {
                let head = Head::peek(snapshot, &site.keys.blob(name))?;
                let Some(head) = head.filter(|head| head.content.id == keys.content) else {
                    return Ok(None);
                };
                let views = history_views(snapshot, site.keys, name, keys.content)?;
                Ok(Some(Seen { newest: head.written, views }))
            }
            Self::File(id) => {
                let all =
                    file::content_views(&mut &*snapshot, keys.incarnation, *id, keys.content)?;
                let newest = all.newest();
                Ok(newest.map(|newest| Seen { newest, views: all.past }))
            }
        }
    }

    /// Whether the owner has the content still.
    pub(super) fn has(
        &self,
        tx: &mut Tx<'_>,
        site: &Site,
        keys: SparseKeys,
    ) -> Result<bool, Interrupt> {
        match self {
            Self::Blob(name) => {
                let head = Head::load(tx, &site.keys.blob(name))?;
                Ok(head.is_some_and(|head| head.content.id == keys.content))
            }
            Self::File(id) => file::has_content(tx, keys.incarnation, *id, keys.content),
        }
    }
}
