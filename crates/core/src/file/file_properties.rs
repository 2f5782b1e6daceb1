//! Get and Set File Properties and Metadata.

use super::admit::{self, Use};
use super::books::{Books, refuse};
use super::entered::{enter, is_open};
use super::found::{Reading, Subject, change, inode, smb_view};
use super::op::{GetFileProperties, Kind, SetFileMetadata, SetFileProperties};
use super::records::{FilePart, Inode};
use super::reply::{Changed, CopyView, FileView};
use super::settings::{self, touch};
use crate::blob::content::free::sparse_keys;
use crate::sparse::{self, TooManyClears};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::limits::FILE_BYTES;
use zaffre_base::{ContentId, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::TimeSetting;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{FileId, FileRefusal};
use zaffre_domain::lease::view;
use zaffre_store::{Abort, StoreError, Tx};

/// How often clears are worked in before a shrink gives up.
const ATTEMPTS: usize = 8;

/// Shows a file.
pub async fn get_file_properties(
    core: &Core,
    op: Authorized<GetFileProperties>,
) -> Result<FileView, Error> {
    let (op, _) = op.into_parts();
    let mut reading = Reading::open(core, &op.at).await?;
    let (mut id, mut inode) = reading.item(&op.at.path, Kind::File)?;
    if op.at.snapshot.is_none() {
        let opened = is_open(core, &reading.place, id);
        enter(core, &reading.place, id, RestOp::GetProperties, op.patience).await?;
        if opened {
            // What was cached is written while this waits: it is looked up again.
            reading = Reading::open(core, &op.at).await?;
            (id, inode) = reading.item(&op.at.path, Kind::File)?;
        }
        admit::read(&inode, op.lease, reading.now)?;
    }
    file_view(id, inode, op.at.snapshot.is_some(), reading.now)
}

/// A file, to be shown. In a snapshot it has no lease.
pub(super) fn file_view(
    id: FileId,
    inode: Inode,
    in_snapshot: bool,
    now: Timestamp,
) -> Result<FileView, Error> {
    let smb = smb_view(id, &inode);
    let file = inode.file.ok_or_else(|| StoreError::corrupt("a file without content"))?;
    let lease = if in_snapshot { zaffre_domain::lease::Lease::default() } else { file.lease };
    let properties = file.properties();
    let copy = file.copy.map(|copy| CopyView {
        id: copy.id,
        source: copy.source,
        completed: copy.completed,
        length: copy.length,
    });
    Ok(FileView {
        written: inode.written,
        length: file.content.length,
        properties,
        smb,
        metadata: inode.metadata,
        lease: view(&lease, now),
        copy,
    })
}

/// Changes the size, the content headers or the SMB properties of a file.
pub async fn set_file_properties(
    core: &Core,
    op: Authorized<SetFileProperties>,
) -> Result<Changed, Error> {
    let (op, _) = op.into_parts();
    let (at, patience) = (op.at.clone(), op.patience);
    let how = RestOp::SetProperties { size: op.length };
    for _ in 0..ATTEMPTS {
        let op = op.clone();
        let body = move |tx: &mut Tx<'_>, books: &mut Books, subject: &Subject| {
            apply(tx, books, subject, &op)
        };
        let applied = change(core, &at, Kind::File, how, patience, body).await?;
        let site = Reading::open(core, &at).await?.site();
        match applied {
            Applied::Done { changed, clears } => {
                if let Some(content) = clears {
                    core.folding().note_clear(core, &site, sparse_keys(&site, content));
                }
                return Ok(changed);
            }
            Applied::TooManyClears(content) => {
                sparse::fold_clears(core, &site, sparse_keys(&site, content)).await?;
            }
        }
    }
    Err(StoreError::Busy.into())
}

/// What came of a change.
enum Applied {
    Done {
        changed: Changed,
        /// The content that has clears to be worked in.
        clears: Option<ContentId>,
    },
    TooManyClears(ContentId),
}

fn apply(
    tx: &mut Tx<'_>,
    books: &mut Books,
    subject: &Subject,
    op: &SetFileProperties,
) -> Result<Applied, Abort<Refusal>> {
    let stamp = tx.stamp();
    let now = stamp.time();
    let mut new = subject.inode.clone();
    // Only what leaves the content alone may be done to a read-only file.
    let how = if op.length.is_some() { Use::Content } else { Use::Properties };
    admit::write(&new, op.lease, how, now).map_err(Abort::Fail)?;
    let mut clears = None;
    let mut smb = op.smb.clone();
    if let (Some(length), Some(file)) = (op.length, &mut new.file) {
        match resize(tx, books.keys, file, length)? {
            Ok(wide) => clears = wide,
            Err(content) => return Ok(Applied::TooManyClears(content)),
        }
        if subject.inode.length() != length && smb.last_write == TimeSetting::Preserve {
            smb.last_write = TimeSetting::Now;
        }
    }
    if let Some(file) = &mut new.file {
        if let Some(properties) = &op.properties {
            file.set_properties(properties.clone());
        }
        file.copy = None;
    }
    let parent = inode(tx, books, subject.walk.parent())?;
    settings::apply(tx, books, &smb, &mut new, &parent)?;
    admit::written(&mut new, now);
    new.written = stamp;
    let new = books.put_inode(tx, subject.id, &subject.inode, new)?;
    let changed = Changed { written: new.written, smb: smb_view(subject.id, &new) };
    Ok(Applied::Done { changed, clears })
}

/// Gives a file another size. What is cut off reads as zeros if it grows again.
pub(super) fn resize(
    tx: &mut Tx<'_>,
    keys: super::keys::Keys,
    file: &mut FilePart,
    length: u64,
) -> Result<Result<Option<ContentId>, ContentId>, Abort<Refusal>> {
    if length > FILE_BYTES {
        return refuse(FileRefusal::FileTooLarge);
    }
    let content = file.content.id;
    let cut = length..file.content.length;
    let mut clears = None;
    if !cut.is_empty() {
        let at = sparse::SparseKeys { incarnation: keys.0, content };
        match sparse::clear(tx, at, cut)? {
            Ok(touched) => clears = touched.is_empty().then_some(content),
            Err(TooManyClears) => return Ok(Err(content)),
        }
    }
    file.content.length = length;
    Ok(Ok(clears))
}

/// Replaces the metadata of a file.
pub async fn set_file_metadata(
    core: &Core,
    op: Authorized<SetFileMetadata>,
) -> Result<Changed, Error> {
    let (op, _) = op.into_parts();
    let (lease, metadata) = (op.lease, op.metadata);
    let body = move |tx: &mut Tx<'_>, books: &mut Books, subject: &Subject| {
        let stamp = tx.stamp();
        let mut new = subject.inode.clone();
        admit::write(&new, lease, Use::Content, stamp.time()).map_err(Abort::Fail)?;
        new.metadata.clone_from(&metadata);
        touch(&mut new, TimeSetting::Preserve, stamp.time());
        admit::written(&mut new, stamp.time());
        new.written = stamp;
        let new = books.put_inode(tx, subject.id, &subject.inode, new)?;
        Ok(Changed { written: new.written, smb: smb_view(subject.id, &new) })
    };
    let how = RestOp::SetProperties { size: None };
    change(core, &op.at, Kind::File, how, op.patience, body).await
}
