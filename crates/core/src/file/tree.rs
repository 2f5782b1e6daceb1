//! The tree of a share: entries and inodes as they are, or as a snapshot shows them.
//!
//! Must never follow a name any other way: REST and SMB find the same thing under a name.

use super::keys::Keys;
use super::records::{Entry, Inode, NewInode};
use crate::directory::KeyRange;
use crate::records::Record;
use bytes::Bytes;
use zaffre_base::{Stamp, Timestamp};
use zaffre_domain::fs::properties::Times;
use zaffre_domain::fs::{Attributes, EntryName, FileId, FilePath, FileRefusal};
use zaffre_store::{Interrupt, Row, Snapshot, StoreError, Tx};

/// Rows as a transaction or a snapshot of the store sees them.
pub(crate) trait Rows {
    type Error: From<StoreError>;

    fn row(&mut self, key: &[u8]) -> Result<Option<Bytes>, Self::Error>;

    fn rows(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Row>, Self::Error>;
}

impl Rows for Tx<'_> {
    type Error = Interrupt;

    fn row(&mut self, key: &[u8]) -> Result<Option<Bytes>, Interrupt> {
        self.get(key)
    }

    fn rows(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Row>, Interrupt> {
        self.scan(&range.start, range.end.as_deref(), limit)
    }
}

impl Rows for &Snapshot {
    type Error = StoreError;

    fn row(&mut self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.get(key)
    }

    fn rows(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Row>, StoreError> {
        self.scan(&range.start, range.end.as_deref(), limit)
    }
}

/// A share's tree at one moment.
pub(crate) struct Tree<'a, R> {
    pub(crate) rows: &'a mut R,
    pub(crate) keys: Keys,
    /// The snapshot of the share that is looked at; `None` = as it is.
    pub(crate) at: Option<Stamp>,
}

/// Where a path leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Walk {
    /// The directories above, from the root on; empty for the root itself.
    pub(crate) lineage: Vec<FileId>,
    /// Their names as they are stored; the root has none.
    pub(crate) names: Vec<String>,
    /// What is there; the root has no entry.
    pub(crate) entry: Option<Entry>,
}

impl Walk {
    /// The directory it is in.
    pub(crate) fn parent(&self) -> FileId {
        self.lineage.last().copied().unwrap_or(FileId::NONE)
    }

    /// The way from the root to something of that name here, for people to read.
    pub(crate) fn path_to(&self, name: &str) -> String {
        self.names.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("/")
    }

    /// Whether it is the root.
    pub(crate) fn is_root(&self) -> bool {
        self.lineage.is_empty()
    }

    /// What is there, and whether it is a directory.
    pub(crate) fn found(&self) -> Option<(FileId, bool)> {
        match &self.entry {
            Some(entry) => Some((entry.child(), entry.directory)),
            None if self.is_root() => Some((FileId::ROOT, true)),
            None => None,
        }
    }
}

impl<R: Rows> Tree<'_, R> {
    /// What a directory has under a name.
    pub(crate) fn entry(
        &mut self,
        parent: FileId,
        name: &EntryName,
    ) -> Result<Option<Entry>, R::Error> {
        let folded = name.folded();
        let current = self.rows.row(&self.keys.entry_folded(parent, &folded))?;
        let current = current.map(|bytes| Entry::from_bytes(&bytes)).transpose()?;
        let Some(at) = self.at else { return Ok(current) };
        if current.as_ref().is_some_and(|entry| entry.since <= at) {
            return Ok(current);
        }
        let past = self.keys.past_entries(parent, &folded).after(at);
        let rows = self.rows.rows(&past, 1)?;
        let past = rows.first().map(|row| Entry::from_bytes(&row.value)).transpose()?;
        Ok(past.filter(|entry| entry.since <= at))
    }

    /// The inode with this id.
    pub(crate) fn inode(&mut self, id: FileId) -> Result<Option<Inode>, R::Error> {
        let current = self.rows.row(&self.keys.inode(id))?;
        let current = match current {
            Some(bytes) => Some(Inode::from_bytes(&bytes)?),
            None if id == FileId::ROOT => Some(root(self.keys)),
            None => None,
        };
        let Some(at) = self.at else { return Ok(current) };
        if current.as_ref().is_some_and(|inode| inode.since <= at) {
            return Ok(current);
        }
        let rows = self.rows.rows(&self.keys.past_inodes(id).after(at), 1)?;
        let past = rows.first().map(|row| Inode::from_bytes(&row.value)).transpose()?;
        Ok(past.filter(|inode| inode.since <= at))
    }

    /// Follows a path to its end; the directories above must be there.
    pub(crate) fn walk(&mut self, path: &FilePath) -> Result<Result<Walk, FileRefusal>, R::Error> {
        let Some((above, name)) = path.split_last() else {
            return Ok(Ok(Walk { lineage: Vec::new(), names: Vec::new(), entry: None }));
        };
        let (mut lineage, mut names) = (vec![FileId::ROOT], Vec::new());
        let mut parent = FileId::ROOT;
        for name in above {
            match self.entry(parent, name)?.filter(|entry| entry.directory) {
                Some(entry) => {
                    parent = entry.child();
                    names.push(entry.name);
                }
                None => return Ok(Err(FileRefusal::ParentNotFound)),
            }
            lineage.push(parent);
        }
        Ok(Ok(Walk { lineage, names, entry: self.entry(parent, name)? }))
    }

    /// The way from the root to an inode, for people to read.
    pub(crate) fn path_of(&mut self, id: FileId) -> Result<String, R::Error> {
        let mut names = Vec::new();
        let mut next = id;
        while next != FileId::ROOT && names.len() <= zaffre_base::limits::FILE_PATH_DEPTH {
            let Some(inode) = self.inode(next)? else { break };
            next = inode.parent();
            names.push(inode.name);
        }
        names.reverse();
        Ok(names.join("/"))
    }
}

/// The root directory of a share in which nothing was ever changed.
pub(crate) fn root(keys: Keys) -> Inode {
    let made = Stamp(keys.0.0);
    let at: Timestamp = made.time();
    let times = Times { created: at, last_write: at, change: at, last_access: at };
    Inode::new(
        made,
        NewInode {
            parent: FileId::NONE,
            name: String::new(),
            attributes: Attributes::DIRECTORY,
            times,
            permission: super::permission::root_key(),
            metadata: zaffre_domain::blob::Metadata::new(),
            file: None,
        },
    )
}
