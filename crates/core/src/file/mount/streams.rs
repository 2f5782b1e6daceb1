//! Named streams of files and directories: files themselves, in a directory that no path leads to.
//! Times, attributes and descriptor of a stream are those of what it is a stream of.
//!
//! Must never be reached by REST: it deletes streams with their file and knows nothing else of them.

use super::{Mount, Node, NodeFacts, entry_name, facts, inode_in};
use crate::Error;
use crate::file::books::{Books, refuse};
use crate::file::found::{Reading, Writing};
use crate::file::list_directory::Entries;
use crate::file::records::{FilePart, Inode, NewInode};
use crate::file::tree::Tree;
use crate::service::{blocking, fresh_id};
use crate::sparse::{self, Label, SparseKeys};
use zaffre_base::ContentId;
use zaffre_base::limits::{FILE_ALLOCATION_BYTES, FILE_STREAMS};
use zaffre_domain::Refusal;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::security::{self, Token};
use zaffre_domain::fs::{EntryName, FileId, FilePath, FileRefusal};
use zaffre_store::{Abort, Tx};

/// A named stream as it is listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedStream {
    /// Its name as it is stored.
    pub name: String,
    /// Its size.
    pub size: u64,
    /// The space it takes, in whole units.
    pub allocated: u64,
}

impl Mount {
    /// What a stream of `base` is.
    pub async fn stream(&self, base: &Node, name: &EntryName) -> Result<Node, Error> {
        let ends = self.all_written_to();
        let reading = self.reading().await?;
        let mut rows = &reading.inside;
        let mut tree = Tree { rows: &mut rows, keys: reading.keys, at: reading.at };
        let entry = tree.entry(base.id.streams(), name)?.ok_or(FileRefusal::ResourceNotFound)?;
        let (id, inode) = (entry.child(), reading.inode(entry.child())?);
        let mut found = node(base, id, &inode);
        found.facts = found.facts.written_to(ends.get(&id).copied().unwrap_or(0));
        Ok(found)
    }

    /// Makes a stream of `base`, which must be there and have none of that name.
    pub async fn make_stream(&self, base: &Node, name: &EntryName) -> Result<Node, Error> {
        let content = fresh_id(&self.core.store().clock)?;
        let Writing { site, keys, quota, hold, .. } = self.writing().await?;
        let (at, made) = (base.id, name.clone());
        let body = move |tx: &mut Tx<'_>| {
            let _ = &hold;
            let mut books = Books::open(tx, keys, quota)?;
            let made = make(tx, &mut books, at, &made, content)?;
            Ok((made, books.close(tx)?))
        };
        let (id, inode) = self.core.commit(&site, body).await?;
        Ok(node(base, id, &inode))
    }

    /// The named streams of what a handle is held of.
    pub async fn streams(&self, base: FileId) -> Result<Vec<ListedStream>, Error> {
        let ends = self.all_written_to();
        let reading = self.reading().await?;
        blocking(move || {
            let mut entries = Entries::new(&reading, base.streams(), "", None);
            let mut listed = Vec::new();
            while let Some((_, entry)) = entries.next()? {
                let waiting = ends.get(&entry.child()).copied().unwrap_or(0);
                let size = reading.inode(entry.child())?.length().max(waiting);
                let allocated = size.next_multiple_of(FILE_ALLOCATION_BYTES);
                listed.push(ListedStream { name: entry.name, size, allocated });
            }
            Ok(listed)
        })
        .await
    }

    /// Gives a stream another name, if that is free.
    pub async fn rename_stream(&self, id: FileId, to: &EntryName) -> Result<(), Error> {
        let to = to.clone();
        self.change(id, move |tx, books, old| {
            let parent = old.parent();
            let from = entry_name(old)?;
            let there = books.tree(tx).entry(parent, &to)?;
            if there.is_some_and(|entry| entry.child() != id) {
                return refuse(FileRefusal::ResourceAlreadyExists);
            }
            if let Some(entry) = books.tree(tx).entry(parent, &from)? {
                books.remove_entry(tx, parent, &entry)?;
            }
            books.put_entry(tx, parent, None, (to.as_str(), id, false))?;
            let mut new = old.clone();
            new.place(parent, to.as_str());
            books.put_inode(tx, id, old, new)?;
            Ok(())
        })
        .await
    }

    /// All that the descriptors of something, and of the directory it is in, permit.
    pub async fn permitted(&self, id: FileId, token: &Token) -> Result<AccessMask, Error> {
        let reading = self.reading().await?;
        let (_, inode) = holder(&reading, id, self.inode_of(&reading, id)?)?;
        let mut rows = &reading.inside;
        let own = crate::file::permission::of(&mut rows, reading.keys, &inode)?;
        let above = match inode.parent() {
            FileId::NONE => None,
            parent => {
                let parent = reading.inode(parent)?;
                Some(crate::file::permission::of(&mut rows, reading.keys, &parent)?)
            }
        };
        Ok(security::permitted(&own, above.as_ref(), token))
    }

    /// All that the descriptor of the directory permits that something with this path is in.
    pub async fn permitted_around(
        &self,
        path: &FilePath,
        token: &Token,
    ) -> Result<AccessMask, Error> {
        let reading = self.reading().await?;
        let parent = reading.inode(reading.walk(path)?.parent())?;
        let mut rows = &reading.inside;
        let above = crate::file::permission::of(&mut rows, reading.keys, &parent)?;
        Ok(security::granted(&above, token))
    }
}

/// What an inode has its times, attributes and descriptor from: itself, unless it is a stream.
pub(super) fn holder(
    reading: &Reading,
    id: FileId,
    inode: Inode,
) -> Result<(FileId, Inode), Error> {
    match inode.parent().has_streams_of() {
        Some(base) => Ok((base, reading.inode(base)?)),
        None => Ok((id, inode)),
    }
}

/// The same inside a transaction.
pub(super) fn holder_in(
    tx: &mut Tx<'_>,
    books: &Books,
    id: FileId,
    inode: &Inode,
) -> Result<(FileId, Inode), Abort<Refusal>> {
    match inode.parent().has_streams_of() {
        Some(base) => Ok((base, inode_in(tx, books, base)?)),
        None => Ok((id, inode.clone())),
    }
}

/// A stream is as long as itself; all else is of what it is a stream of.
pub(super) fn of_stream(base: &NodeFacts, stream: &Inode) -> NodeFacts {
    let size = stream.length();
    let allocated = size.next_multiple_of(FILE_ALLOCATION_BYTES);
    let sparse = stream.file.as_ref().is_some_and(FilePart::is_sparse);
    NodeFacts { directory: false, size, allocated, sparse, leased: false, ..base.clone() }
}

fn node(base: &Node, id: FileId, inode: &Inode) -> Node {
    Node {
        id,
        parent: base.id,
        above: base.above.iter().copied().chain([base.id]).collect(),
        name: inode.name.clone(),
        path: format!("{}:{}", base.path, inode.name),
        facts: of_stream(&base.facts, inode),
        base: Some(base.id),
    }
}

fn make(
    tx: &mut Tx<'_>,
    books: &mut Books,
    base: FileId,
    name: &EntryName,
    content: ContentId,
) -> Result<(FileId, Inode), Abort<Refusal>> {
    let holder = inode_in(tx, books, base)?;
    let parent = base.streams();
    if books.tree(tx).entry(parent, name)?.is_some() {
        return refuse(FileRefusal::ResourceAlreadyExists);
    }
    if books.streams(tx, base)?.len() >= FILE_STREAMS {
        return refuse(FileRefusal::TooManyStreams);
    }
    let inode = Inode::new(
        tx.stamp(),
        NewInode {
            parent,
            name: name.as_str().to_owned(),
            attributes: holder.attributes(),
            times: holder.times(),
            permission: holder.permission(),
            metadata: Metadata::new(),
            file: Some(FilePart::new(content, 0, HttpProperties::default())),
        },
    );
    let id = books.add_inode(tx, &inode)?;
    books.put_entry(tx, parent, None, (name.as_str(), id, false))?;
    sparse::label(tx, SparseKeys { incarnation: books.keys.0, content }, &Label::File(id))?;
    Ok((id, inode))
}

/// What is known of something that a handle is held of, wherever it keeps that.
pub(super) fn facts_of(reading: &Reading, id: FileId, inode: &Inode) -> Result<NodeFacts, Error> {
    if inode.parent().has_streams_of().is_none() {
        return Ok(facts(inode, reading.now));
    }
    let (_, base) = holder(reading, id, inode.clone())?;
    Ok(of_stream(&facts(&base, reading.now), inode))
}
