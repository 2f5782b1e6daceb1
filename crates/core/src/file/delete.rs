//! Delete File and Delete Directory.

use super::admit::{self, Use};
use super::books::{Books, refuse};
use super::found::{Subject, change};
use super::op::{DeleteDirectory, DeleteFile, Kind};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::fs::rest::RestOp;
use zaffre_store::{Abort, Tx};

/// Deletes a file that nobody has open.
pub async fn delete_file(core: &Core, op: Authorized<DeleteFile>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    let lease = op.lease;
    let body = move |tx: &mut Tx<'_>, books: &mut Books, subject: &Subject| {
        admit::write(&subject.inode, lease, Use::Delete, tx.stamp().time()).map_err(Abort::Fail)?;
        remove(tx, books, subject)?;
        Ok(subject.id)
    };
    let id = change(core, &op.at, Kind::File, RestOp::Delete, op.patience, body).await?;
    core.leases().forget(&op.at.leased(id));
    Ok(())
}

/// Deletes a directory that has no entries and that nobody has open.
pub async fn delete_directory(core: &Core, op: Authorized<DeleteDirectory>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    if op.at.path.is_root() {
        return Err(FileRefusal::CannotDelete.into());
    }
    let body = move |tx: &mut Tx<'_>, books: &mut Books, subject: &Subject| {
        admit::not_read_only(&subject.inode).map_err(Abort::Fail)?;
        if !books.is_empty(tx, subject.id)? {
            return refuse(FileRefusal::DirectoryNotEmpty);
        }
        remove(tx, books, subject)
    };
    change(core, &op.at, Kind::Directory, RestOp::DeleteDirectory, op.patience, body).await
}

/// Takes an entry and its inode away.
pub(super) fn remove(
    tx: &mut Tx<'_>,
    books: &mut Books,
    subject: &Subject,
) -> Result<(), Abort<Refusal>> {
    if let Some(entry) = &subject.walk.entry {
        books.remove_entry(tx, subject.walk.parent(), entry)?;
    }
    books.remove_inode(tx, subject.id, &subject.inode)
}
