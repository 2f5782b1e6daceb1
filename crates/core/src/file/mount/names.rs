//! Names: making, moving, removing and listing what they lead to.

use super::{Mount, Node, NodeFacts, entry_name, facts, inode_in};
use crate::Error;
use crate::file::books::{Books, refuse};
use crate::file::found::{Writing, inode, not_pending, walk};
use crate::file::list_directory::Entries;
use crate::file::opens::Closed;
use crate::file::permission::{self, Origin};
use crate::file::records::{FilePart, Inode, NewInode};
use crate::file::rename::move_entry;
use crate::file::settings::of_new;
use crate::file::tree::{Tree, Walk};
use crate::service::{blocking, fresh_id};
use crate::sparse::{self, Label, SparseKeys};
use std::sync::Arc;
use zaffre_base::{ContentId, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::properties::{
    AttributesSetting, PermissionSetting, Semantics, SmbSettings, Times,
};
use zaffre_domain::fs::security::inherited;
use zaffre_domain::fs::{Attributes, Descriptor, EntryName, FileId, FilePath, FileRefusal};
use zaffre_store::{Abort, StoreError, Tx};

/// What is to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewNode {
    /// Whether it is a directory.
    pub directory: bool,
    /// Its attributes, word by word.
    pub attributes: Attributes,
    /// Its descriptor; without, it comes from the directory it is made in.
    pub descriptor: Option<Descriptor>,
}

/// One entry of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Its name as it is stored.
    pub name: String,
    /// The name in upper case: where to go on after it.
    pub folded: String,
    /// What it is.
    pub id: FileId,
    /// What is known of it.
    pub facts: NodeFacts,
}

impl Mount {
    /// Makes a file or directory whose parent is there and whose name is free.
    pub async fn make(&self, path: &FilePath, new: NewNode) -> Result<Node, Error> {
        let reading = self.reading().await?;
        not_pending(&self.core, &reading.place, &reading.walk(path)?)?;
        let content = fresh_id(&self.core.store().clock)?;
        let Writing { site, keys, quota, hold, .. } = self.writing().await?;
        let path = path.clone();
        let body = move |tx: &mut Tx<'_>| {
            let _ = &hold;
            let mut books = Books::open(tx, keys, quota)?;
            let made = make(tx, &mut books, &path, &new, content)?;
            Ok((made, books.close(tx)?))
        };
        self.core.commit(&site, body).await
    }

    /// Gives something another name, in place of the file `replaced` if that is there.
    pub async fn rename(
        &self,
        id: FileId,
        to: &FilePath,
        replaced: Option<FileId>,
    ) -> Result<Node, Error> {
        let path = to.clone();
        self.change(id, move |tx, books, old| rename(tx, books, (id, old), &path, replaced)).await
    }

    /// Takes something away that nobody needs any more; a directory has to be empty.
    pub async fn remove(&self, id: FileId) -> Result<(), Error> {
        self.change(id, move |tx, books, old| {
            if old.is_directory() && !books.is_empty(tx, id)? {
                return refuse(FileRefusal::DirectoryNotEmpty);
            }
            let name = entry_name(old)?;
            if let Some(entry) = books.tree(tx).entry(old.parent(), &name)?
                && entry.child() == id
            {
                books.remove_entry(tx, old.parent(), &entry)?;
            }
            books.remove_inode(tx, id, old)
        })
        .await?;
        self.discard(id);
        Ok(())
    }

    /// Removes what goes with its last handle; says whether something was.
    pub async fn finish(&self, closed: Closed) -> bool {
        let Some(removal) = closed.removal else { return false };
        let removed = match self.remove(closed.file.file).await {
            Ok(()) => true,
            // A directory that was filled meanwhile stays.
            Err(Error::Refused(Refusal::File(FileRefusal::DirectoryNotEmpty))) => false,
            Err(error) => {
                tracing::warn!(?error, "a deleted file could not be removed");
                false
            }
        };
        drop(removal);
        removed
    }

    /// Whether a directory has no entries.
    pub async fn is_empty(&self, id: FileId) -> Result<bool, Error> {
        Ok(self.list(id, None, 1).await?.is_empty())
    }

    /// What a directory has under a name; nothing if that cannot be a name.
    pub async fn entry(&self, directory: FileId, name: &str) -> Result<Option<Listed>, Error> {
        let Ok(name) = EntryName::parse(name) else { return Ok(None) };
        let ends = self.all_written_to();
        let reading = self.reading().await?;
        let mut rows = &reading.inside;
        let mut tree = Tree { rows: &mut rows, keys: reading.keys, at: reading.at };
        let Some(entry) = tree.entry(directory, &name)? else { return Ok(None) };
        let id = entry.child();
        let facts = facts(&reading.inode(id)?, reading.now);
        let facts = facts.written_to(ends.get(&id).copied().unwrap_or(0));
        Ok(Some(Listed { name: entry.name, folded: name.folded(), id, facts }))
    }

    /// At most `most` entries of a directory, in order, after the one given in upper case.
    pub async fn list(
        &self,
        directory: FileId,
        after: Option<String>,
        most: usize,
    ) -> Result<Vec<Listed>, Error> {
        let ends = self.all_written_to();
        let reading = self.reading().await?;
        blocking(move || {
            let mut entries = Entries::new(&reading, directory, "", after.clone());
            let mut listed = Vec::new();
            while listed.len() < most {
                let Some((folded, entry)) = entries.next()? else { break };
                if after.as_ref() == Some(&folded) {
                    continue;
                }
                let inode = reading.inode(entry.child())?;
                let end = ends.get(&entry.child()).copied().unwrap_or(0);
                let facts = facts(&inode, reading.now).written_to(end);
                listed.push(Listed { name: entry.name.clone(), folded, id: entry.child(), facts });
            }
            Ok(listed)
        })
        .await
    }
}

fn make(
    tx: &mut Tx<'_>,
    books: &mut Books,
    path: &FilePath,
    new: &NewNode,
    content: ContentId,
) -> Result<Node, Abort<Refusal>> {
    let found = walk(tx, books, path)?;
    let Some((_, name)) = path.split_last().filter(|_| found.found().is_none()) else {
        return refuse(FileRefusal::ResourceAlreadyExists);
    };
    let parent_id = found.parent();
    let parent = inode(tx, books, parent_id)?;
    let origin = Origin { parent: &parent, source: None, directory: new.directory };
    let permission = match &new.descriptor {
        Some(given) => {
            let above = permission::of(tx, books.keys, &parent)?;
            PermissionSetting::Given(completed(given, &inherited(&above, new.directory)))
        }
        None => PermissionSetting::Inherit,
    };
    let settings = SmbSettings {
        attributes: AttributesSetting::Set(new.attributes),
        permission,
        semantics: Semantics::Restore,
        ..SmbSettings::create()
    };
    let smb = of_new(tx, books, &settings, &origin, None)?;
    let file = (!new.directory).then(|| FilePart::new(content, 0, HttpProperties::default()));
    let inode = Inode::new(
        tx.stamp(),
        NewInode {
            parent: parent_id,
            name: name.as_str().to_owned(),
            attributes: smb.attributes,
            times: smb.times,
            permission: smb.permission,
            metadata: Metadata::new(),
            file,
        },
    );
    let id = books.add_inode(tx, &inode)?;
    books.put_entry(tx, parent_id, None, (name.as_str(), id, new.directory))?;
    if !new.directory {
        let keys = SparseKeys { incarnation: books.keys.0, content };
        sparse::label(tx, keys, &Label::File(id))?;
    }
    Ok(node(tx.stamp().time(), id, &inode, &found))
}

/// A descriptor with the parts that it lacks.
fn completed(given: &Descriptor, usual: &Descriptor) -> Descriptor {
    let mut whole = given.clone();
    whole.owner = whole.owner.or_else(|| usual.owner.clone());
    whole.group = whole.group.or_else(|| usual.group.clone());
    if whole.dacl.is_none() {
        whole.dacl.clone_from(&usual.dacl);
        whole.control = usual.control;
    }
    whole
}

fn node(now: Timestamp, id: FileId, inode: &Inode, found: &Walk) -> Node {
    let path = found.path_to(&inode.name);
    let above: Arc<[FileId]> = found.lineage.clone().into();
    let facts = facts(inode, now);
    let name = inode.name.clone();
    Node { id, parent: found.parent(), above, name, path, facts, base: None }
}

fn rename(
    tx: &mut Tx<'_>,
    books: &mut Books,
    (id, old): (FileId, &Inode),
    path: &FilePath,
    replaced: Option<FileId>,
) -> Result<Node, Abort<Refusal>> {
    let stamp = tx.stamp();
    let to = walk(tx, books, path)?;
    let Some((_, name)) = path.split_last().filter(|_| id != FileId::ROOT) else {
        return refuse(FileRefusal::ResourceAlreadyExists);
    };
    if to.lineage.contains(&id) {
        return refuse(FileRefusal::MovedIntoItself);
    }
    // What is there, unless it is the same file by another spelling of its name.
    let there = to.found().filter(|(found, _)| *found != id);
    match (there, replaced) {
        (None, _) => {}
        (Some((found, false)), Some(expected)) if found == expected && !old.is_directory() => {
            let target = inode_in(tx, books, found)?;
            books.remove_inode(tx, found, &target)?;
        }
        (Some(_), _) => return refuse(FileRefusal::ResourceAlreadyExists),
    }
    let from = entry_name(old)?;
    let Some(entry) = books.tree(tx).entry(old.parent(), &from)?.filter(|e| e.child() == id) else {
        let corrupt = StoreError::corrupt("a file without an entry");
        return Err(zaffre_store::Interrupt::from(corrupt).into());
    };
    move_entry(tx, books, (old.parent(), &entry), &to, name.as_str())?;
    let mut new = old.clone();
    new.place(to.parent(), name.as_str());
    new.set_times(Times { change: stamp.time(), ..old.times() });
    new.written = stamp;
    let new = books.put_inode(tx, id, old, new)?;
    Ok(node(stamp.time(), id, &new, &to))
}
