//! Finding what an operation is about, and changing it if it is still there.
//!
//! Must never trust what was found before a transaction: the path is followed again inside it.

use super::books::{Books, refuse};
use super::entered::{Entered, enter, is_delete_pending, is_open};
use super::keys::Keys;
use super::op::{ItemPath, Kind, Patience};
use super::records::Inode;
use super::reply::SmbView;
use super::share;
use super::tree::{Tree, Walk};
use crate::blob::replace::LeftOver;
use crate::blob::site::Site;
use crate::directory::{self, Place};
use crate::{Core, Error};
use zaffre_base::{Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{FileId, FilePath, FileRefusal};
use zaffre_store::pins::{ContentPin, StampPin};
use zaffre_store::{Abort, Snapshot, StoreError, Tx};

/// How often an operation starts over because what it found was replaced meanwhile.
pub(super) const TRIES: usize = 16;

/// A share that exists, seen at one moment.
pub(super) struct Reading {
    pub(super) place: Place,
    pub(super) keys: Keys,
    pub(super) quota: u64,
    /// The snapshot of the share that is looked at.
    pub(super) at: Option<Stamp>,
    pub(super) inside: Snapshot,
    pub(super) now: Timestamp,
    /// Entered before anything was read.
    pub(super) pin: StampPin,
}

impl Reading {
    /// Looks a share up.
    pub(super) async fn open(core: &Core, at: &ItemPath) -> Result<Self, Error> {
        let found = share::find(core, &at.share, at.snapshot).await?;
        let place = found.found.place;
        let inside = core.store().meta.snapshot(&place.placement).await?;
        let keys = Keys(place.incarnation);
        if inside.get(&keys.guard())?.is_some() {
            return Err(FileRefusal::ShareNotFound.into());
        }
        Ok(Self {
            keys,
            place,
            quota: found.quota_bytes,
            at: at.snapshot,
            now: core.now(&inside),
            inside,
            pin: found.found.pin,
        })
    }

    /// Follows a path.
    pub(super) fn walk(&self, path: &FilePath) -> Result<Walk, Error> {
        let mut rows = &self.inside;
        let mut tree = Tree { rows: &mut rows, keys: self.keys, at: self.at };
        Ok(tree.walk(path)??)
    }

    /// The inode with this id, which an entry names.
    pub(super) fn inode(&self, id: FileId) -> Result<Inode, Error> {
        let mut rows = &self.inside;
        let mut tree = Tree { rows: &mut rows, keys: self.keys, at: self.at };
        let inode = tree.inode(id)?;
        Ok(inode.ok_or_else(|| StoreError::corrupt("an entry names an inode that is not there"))?)
    }

    /// What a path leads to, which must be there and of that kind.
    pub(super) fn item(&self, path: &FilePath, kind: Kind) -> Result<(FileId, Inode), Error> {
        let id = expect(&self.walk(path)?, kind)?;
        Ok((id, self.inode(id)?))
    }

    /// Where contents are.
    pub(super) fn site(&self) -> Site {
        Site::from(self.place.clone())
    }

    /// The same for a write: if the share is deleted meanwhile, its guard stays until then.
    pub(super) fn for_write(self) -> Writing {
        let hold = directory::hold(&self.place, self.pin);
        let site = Site::from(self.place.clone());
        Writing { site, place: self.place, keys: self.keys, quota: self.quota, hold }
    }
}

/// A share that is written to.
pub(super) struct Writing {
    pub(super) site: Site,
    pub(super) place: Place,
    pub(super) keys: Keys,
    pub(super) quota: u64,
    pub(super) hold: ContentPin,
}

/// The id of what a walk found, which must be of that kind.
pub(super) fn expect(walk: &Walk, kind: Kind) -> Result<FileId, FileRefusal> {
    match (walk.found(), kind) {
        (Some((id, true)), Kind::Directory) | (Some((id, false)), Kind::File) => Ok(id),
        (Some(_), _) => Err(FileRefusal::ResourceTypeMismatch),
        (None, _) => Err(FileRefusal::ResourceNotFound),
    }
}

/// What a change is about.
pub(super) struct Subject {
    pub(super) id: FileId,
    pub(super) inode: Inode,
    pub(super) walk: Walk,
}

/// Something that exists, found and entered into the table of opens.
pub(super) struct Existing {
    pub(super) writing: Writing,
    pub(super) id: FileId,
    pub(super) inode: Inode,
    pub(super) entered: Entered,
}

/// Finds what is to be changed.
pub(super) async fn existing(
    core: &Core,
    at: &ItemPath,
    kind: Kind,
    op: RestOp,
    patience: Patience,
) -> Result<Existing, Error> {
    let reading = Reading::open(core, at).await?;
    let (id, mut inode) = reading.item(&at.path, kind)?;
    let opened = is_open(core, &reading.place, id);
    let writing = reading.for_write();
    let entered = enter(core, &writing.place, id, op, patience).await?;
    if opened {
        // What was written meanwhile is looked at; what is another file by now, inside of the
        // transaction.
        let (found, now) = Reading::open(core, at).await?.item(&at.path, kind)?;
        if found == id {
            inode = now;
        }
    }
    Ok(Existing { writing, id, inode, entered })
}

/// Changes something that exists: finds it, enters it into the table of opens, and runs `body` in a
/// transaction in which it is still what it was.
pub(super) async fn change<T, B>(
    core: &Core,
    at: &ItemPath,
    kind: Kind,
    op: RestOp,
    patience: Patience,
    body: B,
) -> Result<T, Error>
where
    T: Send + 'static,
    B: FnMut(&mut Tx<'_>, &mut Books, &Subject) -> Result<T, Abort<Refusal>>
        + Clone
        + Send
        + 'static,
{
    for _ in 0..TRIES {
        let existing = existing(core, at, kind, op, patience).await?;
        let Existing { writing, id, entered, .. } = existing;
        let (mut body, path) = (body.clone(), at.path.clone());
        let Writing { site, keys, quota, hold, .. } = writing;
        let guarded = move |tx: &mut Tx<'_>| {
            // Held for as long as this may run, even if the caller goes away.
            let _ = (&hold, &entered);
            let mut books = Books::open(tx, keys, quota)?;
            let Some(subject) = again(tx, &books, &path, kind, id)? else {
                return Ok((None, LeftOver::Nothing));
            };
            let value = body(tx, &mut books, &subject)?;
            Ok((Some(value), books.close(tx)?))
        };
        if let Some(value) = core.commit(&site, guarded).await? {
            return Ok(value);
        }
    }
    Err(StoreError::Busy.into())
}

/// What a path leads to inside a transaction; `None` if it is something else than it was.
pub(super) fn again(
    tx: &mut Tx<'_>,
    books: &Books,
    path: &FilePath,
    kind: Kind,
    id: FileId,
) -> Result<Option<Subject>, Abort<Refusal>> {
    let walk = walk(tx, books, path)?;
    let found = match expect(&walk, kind) {
        Ok(found) => found,
        Err(refusal) => return refuse(refusal),
    };
    if found != id {
        return Ok(None);
    }
    let inode = inode(tx, books, id)?;
    Ok(Some(Subject { id, inode, walk }))
}

/// Follows a path inside a transaction.
pub(super) fn walk(
    tx: &mut Tx<'_>,
    books: &Books,
    path: &FilePath,
) -> Result<Walk, Abort<Refusal>> {
    match books.tree(tx).walk(path)? {
        Ok(walk) => Ok(walk),
        Err(refusal) => refuse(refusal),
    }
}

/// An inode that an entry names, inside a transaction.
pub(super) fn inode(tx: &mut Tx<'_>, books: &Books, id: FileId) -> Result<Inode, Abort<Refusal>> {
    let inode = books.tree(tx).inode(id)?;
    let missing = || StoreError::corrupt("an entry names an inode that is not there");
    Ok(inode.ok_or_else(missing).map_err(zaffre_store::Interrupt::from)?)
}

/// Refuses what is in a directory that is about to go, or is about to go itself.
pub(super) fn not_pending(core: &Core, place: &Place, walk: &Walk) -> Result<(), FileRefusal> {
    let ids = walk.found().map(|(id, _)| id).into_iter().chain(walk.lineage.last().copied());
    for id in ids {
        if is_delete_pending(core, place, id) {
            return Err(FileRefusal::DeletePending);
        }
    }
    Ok(())
}

/// The properties of an inode, to be shown.
pub(super) fn smb_view(id: FileId, inode: &Inode) -> SmbView {
    SmbView {
        id,
        parent: inode.parent(),
        attributes: inode.attributes(),
        times: inode.times(),
        permission: inode.permission(),
    }
}
