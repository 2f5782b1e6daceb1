//! Create File: a new file, or a new content in place of an old one.

use super::admit::{self, Use};
use super::books::{Books, kept_name, refuse};
use super::entered::{Entered, enter};
use super::found::{Reading, TRIES, Writing, inode, not_pending, smb_view, walk};
use super::landing::{Arrived, Outcome, Stopped, commit, stopped};
use super::op::{CreateFile, ItemPath, Patience};
use super::permission::Origin;
use super::records::{Copy, FilePart, Inode, NewInode};
use super::reply::{Changed, CopySourceSmb};
use super::settings::of_new;
use super::tree::Walk;
use crate::blob::ByteStream;
use crate::blob::content::free::sparse_keys;
use crate::blob::content::upload::Expected;
use crate::service::fresh_id;
use crate::sparse::{self, Label, Landed, SparseKeys};
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::limits::{FILE_BYTES, FILE_RANGE_BYTES};
use zaffre_base::{ContentId, Guid};
use zaffre_domain::Refusal;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::properties::SmbSettings;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{Attributes, FileId, FileRefusal};
use zaffre_store::pins::ContentPin;
use zaffre_store::{Abort, StoreError, Tx};

/// Makes a file of a size, or replaces one.
pub async fn create_file(
    core: &Core,
    op: Authorized<CreateFile>,
    body: ByteStream,
) -> Result<Changed, Error> {
    let (op, grants) = op.into_parts();
    if op.length > FILE_BYTES {
        return Err(FileRefusal::FileTooLarge.into());
    }
    let content = fresh_id(&core.store().clock)?;
    let mut arrived = None;
    if let Some(first) = &op.content {
        // Refused before any byte is taken in, if it is going to be.
        let target = Target::find(core, &op.at, op.patience).await?;
        let site = target.writing.site.clone();
        let (limit, length) = (FILE_RANGE_BYTES.min(op.length), Some(first.length));
        let expected = Expected { limit, length, md5: first.expect.md5.is_some() };
        let keys = sparse_keys(&site, content);
        let incoming = sparse::receive(core, &site, keys, 0, body, expected).await?;
        let (bytes, ..) = incoming.checked(&first.expect).await?;
        arrived = Some(Arrived::new(bytes, 0));
    }
    let new = NewFile {
        at: op.at,
        length: op.length,
        properties: op.properties,
        smb: op.smb,
        source: None,
        set_archive: false,
        metadata: op.metadata,
        lease: op.lease,
        overwrite: grants.overwrite,
        ignore_read_only: false,
        copy: None,
    };
    let made = make(core, new, op.patience, content, arrived, None).await?;
    Ok(made)
}

/// What a file that is made, or made anew, is to be.
#[derive(Clone)]
pub(super) struct NewFile {
    pub(super) at: ItemPath,
    pub(super) length: u64,
    pub(super) properties: HttpProperties,
    pub(super) smb: SmbSettings,
    pub(super) source: Option<CopySourceSmb>,
    pub(super) set_archive: bool,
    pub(super) metadata: Metadata,
    pub(super) lease: Option<Guid>,
    /// Whether the caller may replace a file.
    pub(super) overwrite: bool,
    pub(super) ignore_read_only: bool,
    /// Id and source of the copy that makes it.
    pub(super) copy: Option<(Guid, String)>,
}

/// Where a file is to be made.
pub(super) struct Target {
    pub(super) writing: Writing,
    /// The file that is there.
    pub(super) existing: Option<FileId>,
    entered: Option<Entered>,
}

impl Target {
    /// Finds the place; what is there is entered into the table of opens.
    pub(super) async fn find(
        core: &Core,
        at: &ItemPath,
        patience: Patience,
    ) -> Result<Self, Error> {
        let reading = Reading::open(core, at).await?;
        let seen = reading.walk(&at.path)?;
        let existing = file_at(&seen)?;
        not_pending(core, &reading.place, &seen)?;
        let writing = reading.for_write();
        let entered = match existing {
            Some(id) => Some(enter(core, &writing.place, id, RestOp::Overwrite, patience).await?),
            None => None,
        };
        Ok(Self { writing, existing, entered })
    }
}

/// The file that a walk found, if it found one.
fn file_at(walk: &Walk) -> Result<Option<FileId>, FileRefusal> {
    match walk.found() {
        Some((_, true)) => Err(FileRefusal::ResourceTypeMismatch),
        Some((id, false)) => Ok(Some(id)),
        None => Ok(None),
    }
}

/// The intent that covers rows of a content that were written before it is named, and what keeps
/// them.
type Ahead = (Vec<u8>, Arc<ContentPin>);

/// Makes a file with a content of its own; the commit that names the content removes the intent.
pub(super) async fn make(
    core: &Core,
    new: NewFile,
    patience: Patience,
    content: ContentId,
    arrived: Option<Arrived>,
    ahead: Option<Ahead>,
) -> Result<Changed, Error> {
    let (landed, mut extents) = match arrived {
        Some(arrived) => (Some(arrived.landed), arrived.extents),
        None => (None, Vec::new()),
    };
    let new = Arc::new(new);
    for _ in 0..TRIES {
        let target = Target::find(core, &new.at, patience).await?;
        let Target { writing, existing, entered } = target;
        let Writing { site, keys, quota, hold, .. } = writing;
        let (new, landed, ahead) = (Arc::clone(&new), landed.clone(), ahead.clone());
        let body = move |tx: &mut Tx<'_>| {
            let _ = (&hold, &entered);
            let mut books = Books::open(tx, keys, quota).map_err(stopped)?;
            let found = walk(tx, &books, &new.at.path).map_err(stopped)?;
            let now = file_at(&found).map_err(|refusal| Stopped::Refused(refusal.into()));
            if now.map_err(Abort::Fail)? != existing {
                return Err(Abort::Fail(Stopped::Moved));
            }
            let bytes = Bytes { content, landed: landed.as_ref() };
            let made = write(tx, &mut books, &new, &found, &bytes).map_err(stopped)?;
            if let Some((intent, _)) = &ahead {
                tx.delete(intent)?;
            }
            Ok((made, books.close(tx)?))
        };
        match commit(core, &site, extents, body).await? {
            Outcome::Done((changed, touched)) => {
                super::landing::settle(core, &site, sparse_keys(&site, content), touched).await;
                return Ok(changed);
            }
            Outcome::Moved(back) => extents = back,
        }
    }
    Err(StoreError::Busy.into())
}

/// The content of a new file.
struct Bytes<'a> {
    content: ContentId,
    landed: Option<&'a Landed>,
}

/// What was made, and the chunks that got a small write.
type Made = (Changed, Vec<(u32, usize)>);

fn write(
    tx: &mut Tx<'_>,
    books: &mut Books,
    new: &NewFile,
    found: &Walk,
    bytes: &Bytes<'_>,
) -> Result<Made, Abort<Refusal>> {
    let stamp = tx.stamp();
    let Some((_, name)) = new.at.path.split_last() else {
        return refuse(FileRefusal::ResourceTypeMismatch);
    };
    let parent_id = found.parent();
    let parent = inode(tx, books, parent_id)?;
    let source = new.source.as_ref();
    let origin =
        Origin { parent: &parent, source: source.map(|s| &*s.descriptor), directory: false };
    let old = match &found.entry {
        Some(entry) => Some((entry.child(), inode(tx, books, entry.child())?)),
        None => None,
    };
    if let Some((_, old)) = &old {
        let how = if new.ignore_read_only { Use::Forced } else { Use::Content };
        admit::write(old, new.lease, how, stamp.time()).map_err(Abort::Fail)?;
        if !new.overwrite {
            return refuse(FileRefusal::OverwriteNotPermitted);
        }
    } else if new.lease.is_some() {
        let refusal = Refusal::LeaseNotPresent(zaffre_domain::LeaseOn::File);
        return Err(Abort::Fail(refusal));
    }
    let smb = of_new(tx, books, &new.smb, &origin, source.map(|s| (s.attributes, s.times)))?;
    let archive = if new.set_archive { Attributes::ARCHIVE } else { Attributes::NONE };
    let mut file = FilePart::new(bytes.content, new.length, new.properties.clone());
    file.copy = new.copy.as_ref().map(|(id, source)| Copy {
        id: *id,
        source: source.clone(),
        completed: stamp.time(),
        length: new.length,
    });
    if let Some(lease) = old.as_ref().and_then(|(_, old)| old.file.as_ref()).map(|f| f.lease) {
        file.lease = lease;
    }
    let mut made = Inode::new(
        stamp,
        NewInode {
            parent: parent_id,
            name: kept_name(found.entry.as_ref(), name),
            attributes: smb.attributes.with(archive),
            times: smb.times,
            permission: smb.permission,
            metadata: new.metadata.clone(),
            file: Some(file),
        },
    );
    admit::written(&mut made, stamp.time());
    let id = if let Some((id, old)) = &old {
        made = books.put_inode(tx, *id, old, made)?;
        books.remove_streams(tx, *id)?;
        *id
    } else {
        let id = books.add_inode(tx, &made)?;
        books.put_entry(tx, parent_id, None, (name.as_str(), id, false))?;
        id
    };
    let keys = SparseKeys { incarnation: books.keys.0, content: bytes.content };
    sparse::label(tx, keys, &Label::File(id))?;
    let touched = match bytes.landed {
        Some(landed) => sparse::land(tx, keys, landed)?,
        None => Vec::new(),
    };
    Ok((Changed { written: made.written, smb: smb_view(id, &made) }, touched))
}
