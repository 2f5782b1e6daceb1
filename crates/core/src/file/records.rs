//! The rows inside a share; how rows become bytes is in `crate::records`.

use crate::blob::records::{Content, Shape, StoredProperties};
use crate::records::{Record, fields};
use minicbor::{Decode, Encode};
use std::collections::BTreeMap;
use zaffre_base::{ContentId, Guid, Stamp, Timestamp};
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::properties::Times;
use zaffre_domain::fs::{Attributes, FileId, PermissionKey};
use zaffre_domain::lease::Lease;

/// What every write inside a share looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default, Encode, Decode)]
#[cbor(map)]
pub(crate) struct State {
    /// The commits that snapshots show, in order.
    #[n(0)]
    pub(crate) snapshots: Vec<u64>,
    /// The sizes of all files together.
    #[n(1)]
    pub(crate) used: u64,
}

/// What a directory has under a name.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Entry {
    /// The commit that made this state.
    #[cbor(n(0), with = "fields")]
    pub(crate) since: Stamp,
    /// The name in the case it was given.
    #[n(1)]
    pub(crate) name: String,
    #[n(2)]
    child: u64,
    #[n(3)]
    pub(crate) directory: bool,
}

impl Entry {
    pub(crate) fn new(since: Stamp, name: &str, child: FileId, directory: bool) -> Self {
        Self { since, name: name.to_owned(), child: child.0, directory }
    }

    pub(crate) fn child(&self) -> FileId {
        FileId(self.child)
    }
}

/// A file or directory: everything about it but its bytes.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Inode {
    /// The commit that made this state; its bytes are those as of this commit.
    #[cbor(n(0), with = "fields")]
    pub(crate) since: Stamp,
    /// The commit that ETag and Last-Modified come from.
    #[cbor(n(1), with = "fields")]
    pub(crate) written: Stamp,
    /// The directory it is in.
    #[n(2)]
    parent: u64,
    /// Its name there.
    #[n(3)]
    pub(crate) name: String,
    #[n(4)]
    attributes: u32,
    #[cbor(n(5), with = "fields")]
    created: Timestamp,
    #[cbor(n(6), with = "fields")]
    last_write: Timestamp,
    #[cbor(n(7), with = "fields")]
    change: Timestamp,
    #[cbor(n(8), with = "fields")]
    last_access: Timestamp,
    #[n(9)]
    permission_hash: u64,
    #[n(10)]
    permission_slot: u16,
    #[cbor(n(11), with = "fields", has_nil)]
    pub(crate) metadata: BTreeMap<String, String>,
    /// What only files have.
    #[n(12)]
    pub(crate) file: Option<FilePart>,
}

/// What only files have.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct FilePart {
    #[n(0)]
    pub(crate) content: Content,
    #[n(1)]
    properties: StoredProperties,
    #[cbor(n(2), with = "fields")]
    pub(crate) lease: Lease,
    #[n(3)]
    pub(crate) copy: Option<Copy>,
    /// Whether an SMB client has marked it as sparse.
    #[n(4)]
    sparse: Option<bool>,
}

/// The copy that made a file.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Copy {
    #[cbor(n(0), with = "fields")]
    pub(crate) id: Guid,
    #[n(1)]
    pub(crate) source: String,
    #[cbor(n(2), with = "fields")]
    pub(crate) completed: Timestamp,
    #[n(3)]
    pub(crate) length: u64,
}

impl FilePart {
    /// A file of that size without bytes.
    pub(crate) fn new(content: ContentId, length: u64, properties: HttpProperties) -> Self {
        Self {
            content: Content { id: content, length, shape: Shape::Sparse },
            properties: properties.into(),
            lease: Lease::default(),
            copy: None,
            sparse: None,
        }
    }

    pub(crate) fn is_sparse(&self) -> bool {
        self.sparse == Some(true)
    }

    /// Marks it as sparse, or takes the mark away.
    pub(crate) fn set_sparse(&mut self, sparse: bool) {
        self.sparse = sparse.then_some(true);
    }

    pub(crate) fn properties(&self) -> HttpProperties {
        self.properties.clone().into()
    }

    pub(crate) fn set_properties(&mut self, properties: HttpProperties) {
        self.properties = properties.into();
    }
}

/// What a new inode starts with.
pub(crate) struct NewInode {
    pub(crate) parent: FileId,
    pub(crate) name: String,
    pub(crate) attributes: Attributes,
    pub(crate) times: Times,
    pub(crate) permission: PermissionKey,
    pub(crate) metadata: Metadata,
    pub(crate) file: Option<FilePart>,
}

impl Inode {
    /// One that a commit makes.
    pub(crate) fn new(at: Stamp, new: NewInode) -> Self {
        let NewInode { parent, name, attributes, times, permission, metadata, file } = new;
        Self {
            since: at,
            written: at,
            parent: parent.0,
            name,
            attributes: attributes.bits(),
            created: times.created,
            last_write: times.last_write,
            change: times.change,
            last_access: times.last_access,
            permission_hash: permission.hash,
            permission_slot: permission.slot,
            metadata,
            file,
        }
    }

    pub(crate) fn parent(&self) -> FileId {
        FileId(self.parent)
    }

    /// Gives it another name.
    pub(crate) fn place(&mut self, parent: FileId, name: &str) {
        self.parent = parent.0;
        name.clone_into(&mut self.name);
    }

    pub(crate) fn attributes(&self) -> Attributes {
        Attributes::from_bits(self.attributes)
    }

    pub(crate) fn set_attributes(&mut self, attributes: Attributes) {
        self.attributes = attributes.bits();
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.file.is_none()
    }

    pub(crate) fn times(&self) -> Times {
        Times {
            created: self.created,
            last_write: self.last_write,
            change: self.change,
            last_access: self.last_access,
        }
    }

    pub(crate) fn set_times(&mut self, times: Times) {
        self.created = times.created;
        self.last_write = times.last_write;
        self.change = times.change;
        self.last_access = times.last_access;
    }

    pub(crate) fn permission(&self) -> PermissionKey {
        PermissionKey { hash: self.permission_hash, slot: self.permission_slot }
    }

    pub(crate) fn set_permission(&mut self, key: PermissionKey) {
        self.permission_hash = key.hash;
        self.permission_slot = key.slot;
    }

    /// Its size; nothing for a directory.
    pub(crate) fn length(&self) -> u64 {
        self.file.as_ref().map_or(0, |file| file.content.length)
    }

    pub(crate) fn content(&self) -> Option<Content> {
        self.file.as_ref().map(|file| file.content)
    }
}

/// A security descriptor in its binary form.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Permission {
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(crate) bytes: Vec<u8>,
}

/// Work that outlives the request that caused it, and a restart.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
pub(crate) enum Intent {
    /// Rows of a content are being written that no inode names yet. The commit that names it removes
    /// this; if that never comes, the rows are freed.
    #[n(0)]
    Provisional {
        #[cbor(n(0), with = "fields")]
        content: ContentId,
    },
    /// A commit took contents out of use. What a past state still names stays.
    #[n(1)]
    Retired(#[n(0)] Vec<Retired>),
    /// A snapshot was forgotten: states that no other snapshot shows go.
    #[n(2)]
    Thin,
}

/// A content that a commit took out of use, and whose it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Retired {
    #[n(0)]
    file: u64,
    #[cbor(n(1), with = "fields")]
    pub(crate) content: ContentId,
}

impl Retired {
    pub(crate) fn new(file: FileId, content: ContentId) -> Self {
        Self { file: file.0, content }
    }

    pub(crate) fn file(self) -> FileId {
        FileId(self.file)
    }
}

impl Record for State {
    const WHAT: &'static str = "state of a share";
}

impl Record for Entry {
    const WHAT: &'static str = "entry of a directory";
}

impl Record for Inode {
    const WHAT: &'static str = "inode";
}

impl Record for Permission {
    const WHAT: &'static str = "security descriptor";
}

impl Record for Intent {
    const WHAT: &'static str = "intent of a share";
}
