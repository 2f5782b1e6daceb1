//! The way of SMB to files: by handle instead of by path, step by step instead of whole operations.
//!
//! Must never ask the table of opens for permission: whoever has a mount has asked it before, and
//! holds the handle for as long as it works with the file.

mod content;
mod names;
mod properties;
mod streams;
mod waiting;

use super::books::{Books, refuse};
use super::found::{Reading, Writing};
use super::op::ItemPath;
use super::records::{FilePart, Inode};
use super::share::SharePath;
use super::state;
use super::tree::Tree;
use crate::directory::Place;
use crate::{Core, Error};
pub use content::KeptTimes;
pub use names::{Listed, NewNode};
pub use properties::BasicChange;
use std::sync::Arc;
pub use streams::ListedStream;
use streams::facts_of;
use zaffre_auth::ntlm::KeyHolder;
use zaffre_base::limits::FILE_ALLOCATION_BYTES;
use zaffre_base::{Incarnation, ShareName, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::Times;
use zaffre_domain::fs::{Attributes, EntryName, FileId, FilePath, FileRefusal};
use zaffre_domain::lease::{LeaseView, view};
use zaffre_store::{Abort, Tx};

/// A share that a key holder works in.
#[derive(Clone, Debug)]
pub struct Mount {
    core: Core,
    share: SharePath,
    incarnation: Incarnation,
    snapshot: Option<Stamp>,
}

/// What is known of a file or directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeFacts {
    /// Whether it is a directory.
    pub directory: bool,
    /// Its times.
    pub times: Times,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its size; nothing for a directory.
    pub size: u64,
    /// The space it takes, in whole units.
    pub allocated: u64,
    /// Whether it is marked as sparse.
    pub sparse: bool,
    /// Whether a REST client has leased it.
    pub leased: bool,
    /// The commit of its last change.
    pub written: Stamp,
}

/// What a path leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// What it is.
    pub id: FileId,
    /// The directory it is in.
    pub parent: FileId,
    /// The directories above, from the root on.
    pub above: Arc<[FileId]>,
    /// Its name as it is stored; empty for the root.
    pub name: String,
    /// The way from the root as it is stored, with `/` in between.
    pub path: String,
    /// What is known of it.
    pub facts: NodeFacts,
    /// What it is a stream of, if it is one.
    pub base: Option<FileId>,
}

impl Mount {
    /// The share of that name of the holder's account, or a snapshot of it.
    pub async fn open(
        core: &Core,
        holder: &KeyHolder,
        share: &ShareName,
        snapshot: Option<Stamp>,
    ) -> Result<Self, Error> {
        let share = SharePath { account: holder.account().clone(), share: share.clone() };
        let found = super::share::find(core, &share, snapshot).await?;
        let incarnation = found.found.place.incarnation;
        Ok(Self { core: core.clone(), share, incarnation, snapshot })
    }

    /// The share, for whoever was authorized otherwise.
    pub(super) fn of(core: &Core, share: &SharePath, incarnation: Incarnation) -> Self {
        Self { core: core.clone(), share: share.clone(), incarnation, snapshot: None }
    }

    /// The same share as one of its snapshots shows it.
    pub async fn at(&self, snapshot: Stamp) -> Result<Self, Error> {
        let mount = Self { snapshot: Some(snapshot), ..self.clone() };
        mount.reading().await?;
        Ok(mount)
    }

    /// Which share it is, whatever its name was or will be used for.
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// The share's name.
    pub fn share(&self) -> &ShareName {
        &self.share.share
    }

    /// The snapshot that is looked at.
    pub fn snapshot(&self) -> Option<Stamp> {
        self.snapshot
    }

    /// When the share was made.
    pub fn created(&self) -> Timestamp {
        Stamp(self.incarnation.0).time()
    }

    async fn reading(&self) -> Result<Reading, Error> {
        let at = ItemPath {
            share: self.share.clone(),
            path: FilePath::of(Vec::new())?,
            snapshot: self.snapshot,
        };
        let reading = Reading::open(&self.core, &at).await?;
        if reading.place.incarnation != self.incarnation {
            return Err(FileRefusal::ShareNotFound.into());
        }
        Ok(reading)
    }

    /// The same for a write; a snapshot never changes.
    async fn writing(&self) -> Result<Writing, Error> {
        if self.snapshot.is_some() {
            return Err(FileRefusal::ShareSnapshotOperationNotSupported.into());
        }
        Ok(self.reading().await?.for_write())
    }

    async fn place(&self) -> Result<Place, Error> {
        Ok(self.reading().await?.place)
    }

    /// The commits of the share's snapshots, oldest first.
    pub async fn snapshots(&self) -> Result<Vec<Stamp>, Error> {
        state::snapshots(&self.core, &self.place().await?).await
    }

    /// How many bytes the share may hold, and how many it does.
    pub async fn space(&self) -> Result<(u64, u64), Error> {
        let reading = self.reading().await?;
        let used = state::usage(&self.core, &reading.place).await?;
        Ok((reading.quota, used))
    }

    /// What a path leads to; the empty path to the root.
    pub async fn lookup(&self, path: &FilePath) -> Result<Node, Error> {
        let ends = self.all_written_to();
        let reading = self.reading().await?;
        let walk = reading.walk(path)?;
        let (id, _) = walk.found().ok_or(FileRefusal::ResourceNotFound)?;
        let inode = reading.inode(id)?;
        let mut rows = &reading.inside;
        let mut tree = Tree { rows: &mut rows, keys: reading.keys, at: reading.at };
        let path = tree.path_of(id)?;
        Ok(Node {
            id,
            parent: walk.parent(),
            above: walk.lineage.into(),
            name: inode.name.clone(),
            path,
            facts: facts(&inode, reading.now).written_to(ends.get(&id).copied().unwrap_or(0)),
            base: None,
        })
    }

    /// What is known of something that a handle is held of.
    pub async fn facts(&self, id: FileId) -> Result<NodeFacts, Error> {
        let end = self.written_to(id);
        let reading = self.reading().await?;
        let inode = self.inode_of(&reading, id)?;
        Ok(facts_of(&reading, id, &inode)?.written_to(end))
    }

    /// The inode with this id, if it is still there.
    fn inode_of(&self, reading: &Reading, id: FileId) -> Result<Inode, Error> {
        debug_assert_eq!(reading.at, self.snapshot, "read as the mount sees it");
        let mut rows = &reading.inside;
        let mut tree = Tree { rows: &mut rows, keys: reading.keys, at: reading.at };
        Ok(tree.inode(id)?.ok_or(FileRefusal::ResourceNotFound)?)
    }

    /// Changes something in one commit.
    async fn change<T, B>(&self, id: FileId, mut body: B) -> Result<T, Error>
    where
        T: Send + 'static,
        B: FnMut(&mut Tx<'_>, &mut Books, &Inode) -> Result<T, Abort<Refusal>> + Send + 'static,
    {
        let Writing { site, keys, quota, hold, .. } = self.writing().await?;
        let body = move |tx: &mut Tx<'_>| {
            let _ = &hold;
            let mut books = Books::open(tx, keys, quota)?;
            let inode = inode_in(tx, &books, id)?;
            let value = body(tx, &mut books, &inode)?;
            Ok((value, books.close(tx)?))
        };
        self.core.commit(&site, body).await
    }
}

/// The inode with this id inside a transaction, if it is still there.
fn inode_in(tx: &mut Tx<'_>, books: &Books, id: FileId) -> Result<Inode, Abort<Refusal>> {
    match books.tree(tx).inode(id)? {
        Some(inode) => Ok(inode),
        None => refuse(FileRefusal::ResourceNotFound),
    }
}

/// The name of an inode, which was one when it was stored.
fn entry_name(inode: &Inode) -> Result<EntryName, Abort<Refusal>> {
    let is_stream = inode.parent().has_streams_of().is_some();
    let read = if is_stream { EntryName::of_stream } else { EntryName::parse };
    read(&inode.name).map_err(|refusal| Abort::Fail(refusal.into()))
}

/// The space that a file of this size takes.
fn allocated(size: u64) -> u64 {
    size.next_multiple_of(FILE_ALLOCATION_BYTES)
}

/// An inode as SMB sees it.
fn facts(inode: &Inode, now: Timestamp) -> NodeFacts {
    let size = inode.length();
    let leased = inode.file.as_ref().is_some_and(|file| {
        matches!(view(&file.lease, now), LeaseView::Leased { .. } | LeaseView::Breaking)
    });
    NodeFacts {
        directory: inode.is_directory(),
        times: inode.times(),
        attributes: inode.attributes(),
        size,
        allocated: allocated(size),
        sparse: inode.file.as_ref().is_some_and(FilePart::is_sparse),
        leased,
        written: inode.written,
    }
}
