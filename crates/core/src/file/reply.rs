//! What the operations on files and directories answer, as plain data for a protocol to render.

use crate::blob::ByteStream;
use zaffre_base::{Guid, Stamp, Timestamp};
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::properties::Times;
use zaffre_domain::fs::{Attributes, Descriptor, EntryName, FileId, PermissionKey};
use zaffre_domain::lease::LeaseView;
use zaffre_domain::sparse::Found;

/// The properties that a file or directory has over both protocols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmbView {
    /// Its id.
    pub id: FileId,
    /// The id of the directory it is in.
    pub parent: FileId,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its times.
    pub times: Times,
    /// The key of its security descriptor.
    pub permission: PermissionKey,
}

/// What every operation that makes or changes something answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Changed {
    /// The commit: ETag and Last-Modified.
    pub written: Stamp,
    /// Its properties afterwards.
    pub smb: SmbView,
}

/// A directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectoryView {
    /// Its last change.
    pub written: Stamp,
    /// Its properties.
    pub smb: SmbView,
    /// Its metadata.
    pub metadata: Metadata,
}

/// A file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileView {
    /// Its last change.
    pub written: Stamp,
    /// Its size.
    pub length: u64,
    /// Content headers.
    pub properties: HttpProperties,
    /// Its properties.
    pub smb: SmbView,
    /// Its metadata.
    pub metadata: Metadata,
    /// Its lease at the time of the read.
    pub lease: LeaseView,
    /// The copy that made it, if one did.
    pub copy: Option<CopyView>,
}

/// A finished copy, as the file that it made shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyView {
    /// Its id.
    pub id: Guid,
    /// The source as it was named.
    pub source: String,
    /// When it ended.
    pub completed: Timestamp,
    /// Bytes copied, which are all.
    pub length: u64,
}

/// What Get File answers.
pub struct GetFileReply {
    /// The file the bytes belong to.
    pub file: FileView,
    /// Its security descriptor; for copies into other shares.
    pub descriptor: Box<Descriptor>,
    /// First and last byte returned when a range was asked for (last is inclusive).
    pub range: Option<(u64, u64)>,
    /// Bytes in the stream.
    pub length: u64,
    /// MD5 of the range if asked for.
    pub range_md5: Option<[u8; 16]>,
    /// The bytes. An error ends the connection: a short answer must never look whole.
    pub body: ByteStream,
}

/// Where a copy takes its content and its properties from.
pub struct CopySource {
    /// Bytes in the stream.
    pub length: u64,
    /// Content headers.
    pub properties: HttpProperties,
    /// Its metadata.
    pub metadata: Metadata,
    /// What only files have.
    pub smb: Option<CopySourceSmb>,
    /// The bytes.
    pub body: ByteStream,
}

/// The properties of a source that is a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopySourceSmb {
    /// Its attributes.
    pub attributes: Attributes,
    /// Its times.
    pub times: Times,
    /// Its security descriptor.
    pub descriptor: Box<Descriptor>,
}

impl From<GetFileReply> for CopySource {
    fn from(reply: GetFileReply) -> Self {
        let smb = CopySourceSmb {
            attributes: reply.file.smb.attributes,
            times: reply.file.smb.times,
            descriptor: reply.descriptor,
        };
        Self {
            length: reply.length,
            properties: reply.file.properties,
            metadata: reply.file.metadata,
            smb: Some(smb),
            body: reply.body,
        }
    }
}

/// What Copy File answers; the copy is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copied {
    /// The commit.
    pub written: Stamp,
    /// The id of the copy.
    pub id: Guid,
}

/// What Put Range answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RangeReply {
    /// The commit.
    pub written: Stamp,
    /// When the file was last written to, as it says now.
    pub last_write: Timestamp,
    /// MD5 of the bytes; `None` when they were cleared.
    pub md5: Option<[u8; 16]>,
    /// CRC64 of the bytes; `None` when they were cleared.
    pub crc64: Option<[u8; 8]>,
}

/// What List Ranges answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RangesReply {
    /// The state that was looked at.
    pub written: Stamp,
    /// The size of the file.
    pub length: u64,
    /// In order; they do not touch unless one was written and the other cleared.
    pub ranges: Vec<Found>,
    /// Where the next page of the answer starts.
    pub next: Option<u64>,
}

/// What the lease operations answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileLeaseReply {
    /// ETag and Last-Modified, unchanged by the lease.
    pub written: Stamp,
    /// The lease id after acquire and change.
    pub id: Option<Guid>,
    /// Seconds until a break completes: 0.
    pub break_seconds: Option<u64>,
}

/// An entry of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryView {
    /// Its name.
    pub name: EntryName,
    /// Its size; `None` for a directory.
    pub length: Option<u64>,
    /// Its last change.
    pub written: Stamp,
    /// Its properties.
    pub smb: SmbView,
}

/// One page of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryPage {
    /// The id of the directory.
    pub directory: FileId,
    /// Files and directories together, in order of names in upper case.
    pub entries: Vec<EntryView>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// An open handle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandleView {
    /// Its id, which is not that which its client knows.
    pub id: u64,
    /// The path from the share's root.
    pub path: String,
    /// What is open.
    pub file: FileId,
    /// The directory it is in.
    pub parent: FileId,
    /// The session that opened it.
    pub session: u64,
    /// The address of its client.
    pub client_address: String,
    /// The name of its client.
    pub client_name: String,
    /// When it was opened.
    pub opened: Timestamp,
    /// When its client last came back to it.
    pub reconnected: Option<Timestamp>,
    /// May read.
    pub reads: bool,
    /// May write.
    pub writes: bool,
    /// May delete.
    pub deletes: bool,
}

/// One page of handles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandlePage {
    /// In order of ids.
    pub handles: Vec<HandleView>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// What Force Close Handles answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForceClosed {
    /// Handles that were closed.
    pub closed: u64,
    /// Handles that could not be.
    pub failed: u64,
    /// Where to go on if there are more.
    pub next: Option<String>,
}
