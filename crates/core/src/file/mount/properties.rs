//! Times, attributes and descriptors of what a handle is held of.

use super::streams::{holder, holder_in};
use super::{Mount, NodeFacts, facts};
use crate::Error;
use crate::file::admit;
use crate::file::books::Books;
use crate::file::permission;
use crate::file::records::Inode;
use zaffre_base::Timestamp;
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::Times;
use zaffre_domain::fs::{Attributes, Descriptor, FileId, FileRefusal};
use zaffre_store::{Abort, Tx};

/// What is changed; the rest stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BasicChange {
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When it was last read.
    pub last_access: Option<Timestamp>,
    /// When it was last written to.
    pub last_write: Option<Timestamp>,
    /// When it was last changed in any way; without, that is now.
    pub change: Option<Timestamp>,
    /// The attributes.
    pub attributes: Option<Attributes>,
}

impl BasicChange {
    /// Makes the change.
    pub(super) fn apply(self, inode: &mut Inode, now: Timestamp) {
        let times = inode.times();
        inode.set_times(Times {
            created: self.created.unwrap_or(times.created),
            last_access: self.last_access.unwrap_or(times.last_access),
            last_write: self.last_write.unwrap_or(times.last_write),
            change: self.change.unwrap_or(now),
        });
        if let Some(attributes) = self.attributes {
            inode.set_attributes(attributes);
        }
    }
}

impl Mount {
    /// Changes times and attributes.
    pub async fn set_basic(&self, id: FileId, change: BasicChange) -> Result<NodeFacts, Error> {
        self.change(id, move |tx, books, named| {
            let (id, old) = &holder_in(tx, books, id, named)?;
            let mut new = old.clone();
            change.apply(&mut new, tx.stamp().time());
            put(tx, books, *id, old, new)
        })
        .await
    }

    /// Marks a file as sparse, or takes the mark away.
    pub async fn set_sparse(&self, id: FileId, sparse: bool) -> Result<NodeFacts, Error> {
        self.change(id, move |tx, books, old| {
            let mut new = old.clone();
            let Some(file) = &mut new.file else {
                return Err(Abort::Fail(FileRefusal::ResourceTypeMismatch.into()));
            };
            file.set_sparse(sparse);
            new.set_times(Times { change: tx.stamp().time(), ..old.times() });
            put(tx, books, id, old, new)
        })
        .await
    }

    /// The security descriptor.
    pub async fn descriptor(&self, id: FileId) -> Result<Descriptor, Error> {
        let reading = self.reading().await?;
        let (_, inode) = holder(&reading, id, self.inode_of(&reading, id)?)?;
        Ok(permission::of(&mut &reading.inside, reading.keys, &inode)?)
    }

    /// Replaces the security descriptor.
    pub async fn set_descriptor(
        &self,
        id: FileId,
        descriptor: Descriptor,
    ) -> Result<NodeFacts, Error> {
        self.change(id, move |tx, books, named| {
            let (id, old) = &holder_in(tx, books, id, named)?;
            let now = tx.stamp().time();
            let key = permission::keep(tx, books.keys, &descriptor)?;
            let mut new = old.clone();
            new.set_permission(key);
            new.set_times(Times { change: now, ..old.times() });
            put(tx, books, *id, old, new)
        })
        .await
    }
}

/// Writes a changed inode, as a change that everybody sees.
pub(super) fn put(
    tx: &mut Tx<'_>,
    books: &mut Books,
    id: FileId,
    old: &Inode,
    mut new: Inode,
) -> Result<NodeFacts, Abort<Refusal>> {
    let stamp = tx.stamp();
    admit::written(&mut new, stamp.time());
    new.written = stamp;
    let new = books.put_inode(tx, id, old, new)?;
    Ok(facts(&new, stamp.time()))
}
