//! Get and Set Directory Properties and Metadata.

use super::books::Books;
use super::entered::enter;
use super::found::{Reading, Subject, change, inode, smb_view};
use super::op::{GetDirectory, Kind, Patience, SetDirectoryMetadata, SetDirectoryProperties};
use super::reply::{Changed, DirectoryView};
use super::settings::{self, touch};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileId;
use zaffre_domain::fs::properties::TimeSetting;
use zaffre_domain::fs::rest::RestOp;
use zaffre_store::{Abort, Tx};

/// Shows a directory.
pub async fn get_directory(
    core: &Core,
    op: Authorized<GetDirectory>,
) -> Result<DirectoryView, Error> {
    let (op, _) = op.into_parts();
    let reading = Reading::open(core, &op.at).await?;
    let (id, inode) = reading.item(&op.at.path, Kind::Directory)?;
    if op.at.snapshot.is_none() {
        enter(core, &reading.place, id, RestOp::GetProperties, Patience::default()).await?;
    }
    Ok(DirectoryView {
        written: inode.written,
        smb: smb_view(id, &inode),
        metadata: inode.metadata,
    })
}

/// Changes the SMB properties of a directory.
pub async fn set_directory_properties(
    core: &Core,
    op: Authorized<SetDirectoryProperties>,
) -> Result<Changed, Error> {
    let (op, _) = op.into_parts();
    let (at, smb) = (op.at, op.smb);
    let body = move |tx: &mut Tx<'_>, books: &mut Books, subject: &Subject| {
        let mut new = subject.inode.clone();
        let above = match subject.walk.parent() {
            FileId::NONE => FileId::ROOT,
            parent => parent,
        };
        let parent = inode(tx, books, above)?;
        settings::apply(tx, books, &smb, &mut new, &parent)?;
        finish(tx, books, subject, new)
    };
    let how = RestOp::SetProperties { size: None };
    change(core, &at, Kind::Directory, how, Patience::default(), body).await
}

/// Replaces the metadata of a directory.
pub async fn set_directory_metadata(
    core: &Core,
    op: Authorized<SetDirectoryMetadata>,
) -> Result<Changed, Error> {
    let (op, _) = op.into_parts();
    let (at, metadata) = (op.at, op.metadata);
    let body = move |tx: &mut Tx<'_>, books: &mut Books, subject: &Subject| {
        let mut new = subject.inode.clone();
        new.metadata.clone_from(&metadata);
        touch(&mut new, TimeSetting::Preserve, tx.stamp().time());
        finish(tx, books, subject, new)
    };
    let how = RestOp::SetProperties { size: None };
    change(core, &at, Kind::Directory, how, Patience::default(), body).await
}

fn finish(
    tx: &mut Tx<'_>,
    books: &mut Books,
    subject: &Subject,
    mut new: super::records::Inode,
) -> Result<Changed, Abort<Refusal>> {
    new.written = tx.stamp();
    let new = books.put_inode(tx, subject.id, &subject.inode, new)?;
    Ok(Changed { written: new.written, smb: smb_view(subject.id, &new) })
}
