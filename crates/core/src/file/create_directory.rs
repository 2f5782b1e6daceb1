//! Create Directory.

use super::books::{Books, refuse};
use super::found::{Reading, Writing, inode, not_pending, smb_view, walk};
use super::op::CreateDirectory;
use super::permission::Origin;
use super::records::{Inode, NewInode};
use super::reply::Changed;
use super::settings::of_new;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::{Abort, Tx};

/// Makes a directory whose parent is there and whose name is free.
pub async fn create_directory(
    core: &Core,
    op: Authorized<CreateDirectory>,
) -> Result<Changed, Error> {
    let (op, _) = op.into_parts();
    let reading = Reading::open(core, &op.at).await?;
    let seen = reading.walk(&op.at.path)?;
    not_pending(core, &reading.place, &seen)?;
    let Writing { site, keys, quota, hold, .. } = reading.for_write();
    let body = move |tx: &mut Tx<'_>| {
        let _ = &hold;
        let mut books = Books::open(tx, keys, quota)?;
        let made = make(tx, &mut books, &op)?;
        Ok((made, books.close(tx)?))
    };
    core.commit(&site, body).await
}

fn make(
    tx: &mut Tx<'_>,
    books: &mut Books,
    op: &CreateDirectory,
) -> Result<Changed, Abort<Refusal>> {
    let found = walk(tx, books, &op.at.path)?;
    let Some((_, name)) = op.at.path.split_last().filter(|_| found.found().is_none()) else {
        return refuse(FileRefusal::ResourceAlreadyExists);
    };
    let parent_id = found.parent();
    let parent = inode(tx, books, parent_id)?;
    let origin = Origin { parent: &parent, source: None, directory: true };
    let smb = of_new(tx, books, &op.smb, &origin, None)?;
    let made = Inode::new(
        tx.stamp(),
        NewInode {
            parent: parent_id,
            name: name.as_str().to_owned(),
            attributes: smb.attributes,
            times: smb.times,
            permission: smb.permission,
            metadata: op.metadata.clone(),
            file: None,
        },
    );
    let id = books.add_inode(tx, &made)?;
    books.put_entry(tx, parent_id, None, (name.as_str(), id, true))?;
    Ok(Changed { written: made.written, smb: smb_view(id, &made) })
}
