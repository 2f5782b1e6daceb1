//! Rename File and Rename Directory: two entries and one inode, in one commit, whatever lies below.

use super::admit::{self, Use};
use super::books::{Books, refuse};
use super::entered::{Entered, enter};
use super::found::{Reading, TRIES, Writing, expect, inode, not_pending, smb_view, walk};
use super::op::{Kind, Rename};
use super::reply::Changed;
use super::settings;
use super::tree::Walk;
use crate::blob::replace::LeftOver;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{FileId, FileRefusal};
use zaffre_store::{Abort, StoreError, Tx};

/// Names that both paths of a rename may have together: both are followed in one transaction, whose
/// reads are limited.
const NAMES: usize = 450;

/// Gives a file or directory another name, in the same or another directory of its share.
pub async fn rename(core: &Core, op: Authorized<Rename>) -> Result<Changed, Error> {
    let (op, _) = op.into_parts();
    if op.source.names().len() + op.at.path.names().len() > NAMES {
        return Err(FileRefusal::InvalidPath.into());
    }
    let op = Arc::new(op);
    for _ in 0..TRIES {
        let reading = Reading::open(core, &op.at).await?;
        let from = reading.walk(&op.source)?;
        let id = expect(&from, op.kind)?;
        let to = reading.walk(&op.at.path)?;
        not_pending(core, &reading.place, &to)?;
        let replaced = replaced(&op, id, &to)?;
        let writing = reading.for_write();
        let entered = enter_both(core, &op, &writing, id, replaced).await?;
        let Writing { site, keys, quota, hold, .. } = writing;
        let leased = op.at.clone();
        let op = Arc::clone(&op);
        let body = move |tx: &mut Tx<'_>| {
            let _ = (&hold, &entered);
            let mut books = Books::open(tx, keys, quota)?;
            let from = walk(tx, &books, &op.source)?;
            let to = walk(tx, &books, &op.at.path)?;
            let same = expect(&from, op.kind) == Ok(id)
                && self::replaced(&op, id, &to).is_ok_and(|now| now == replaced);
            if !same {
                return Ok((None, LeftOver::Nothing));
            }
            let changed = apply(tx, &mut books, &op, (&from, &to), (id, replaced))?;
            Ok((Some(changed), books.close(tx)?))
        };
        if let Some(changed) = core.commit(&site, body).await? {
            if let Some(replaced) = replaced {
                core.leases().forget(&leased.leased(replaced));
            }
            return Ok(changed);
        }
    }
    Err(StoreError::Busy.into())
}

/// What is replaced, if anything is and may be.
fn replaced(op: &Rename, id: FileId, to: &Walk) -> Result<Option<FileId>, FileRefusal> {
    if op.source.is_root() {
        return Err(FileRefusal::CannotDelete);
    }
    if to.lineage.contains(&id) {
        return Err(FileRefusal::MovedIntoItself);
    }
    match (to.found(), op.kind) {
        (None, _) => Ok(None),
        // The same file by another spelling of its name.
        (Some((found, _)), _) if found == id => Ok(None),
        (Some((_, true)), Kind::File) => Err(FileRefusal::ResourceTypeMismatch),
        (Some((found, false)), Kind::File) if op.replace => Ok(Some(found)),
        (Some(_), _) => Err(FileRefusal::ResourceAlreadyExists),
    }
}

async fn enter_both(
    core: &Core,
    op: &Rename,
    writing: &Writing,
    id: FileId,
    replaced: Option<FileId>,
) -> Result<(Entered, Option<Entered>), Error> {
    let how = match op.kind {
        Kind::File => RestOp::Rename,
        Kind::Directory => RestOp::RenameDirectory,
    };
    let source = enter(core, &writing.place, id, how, op.patience).await?;
    let target = match replaced {
        Some(id) => Some(enter(core, &writing.place, id, RestOp::Delete, op.patience).await?),
        None => None,
    };
    Ok((source, target))
}

fn apply(
    tx: &mut Tx<'_>,
    books: &mut Books,
    op: &Rename,
    (from, to): (&Walk, &Walk),
    (id, replaced): (FileId, Option<FileId>),
) -> Result<Changed, Abort<Refusal>> {
    let stamp = tx.stamp();
    let now = stamp.time();
    let old = inode(tx, books, id)?;
    admit::write(&old, op.source_lease, Use::Properties, now).map_err(Abort::Fail)?;
    if let Some(replaced) = replaced {
        let target = inode(tx, books, replaced)?;
        let how = if op.ignore_read_only { Use::Forced } else { Use::Delete };
        admit::write(&target, op.lease, how, now).map_err(Abort::Fail)?;
        books.remove_inode(tx, replaced, &target)?;
    } else if op.lease.is_some() {
        return Err(Abort::Fail(Refusal::LeaseNotPresent(zaffre_domain::LeaseOn::File)));
    }
    let (Some(entry), Some((_, name))) = (&from.entry, op.at.path.split_last()) else {
        return refuse(FileRefusal::ResourceAlreadyExists);
    };
    let mut new = old.clone();
    move_entry(tx, books, (from.parent(), entry), to, name.as_str())?;
    new.place(to.parent(), name.as_str());
    if let Some(metadata) = &op.metadata {
        new.metadata.clone_from(metadata);
    }
    if let (Some(content_type), Some(file)) = (&op.content_type, &mut new.file) {
        let mut properties = file.properties();
        properties.content_type = Some(content_type.clone());
        file.set_properties(properties);
    }
    let parent = inode(tx, books, to.parent())?;
    settings::apply(tx, books, &op.smb, &mut new, &parent)?;
    admit::written(&mut new, now);
    new.written = stamp;
    let new = books.put_inode(tx, id, &old, new)?;
    Ok(Changed { written: new.written, smb: smb_view(id, &new) })
}

/// Moves an entry to where a walk has led, in place of what is there.
pub(super) fn move_entry(
    tx: &mut Tx<'_>,
    books: &mut Books,
    (parent, entry): (FileId, &super::records::Entry),
    to: &Walk,
    name: &str,
) -> Result<(), Abort<Refusal>> {
    books.remove_entry(tx, parent, entry)?;
    // Where only the spelling changes, the entry that is there was removed just now.
    let there = to.entry.as_ref().filter(|there| there.child() != entry.child());
    books.put_entry(tx, to.parent(), there, (name, entry.child(), entry.directory))
}
