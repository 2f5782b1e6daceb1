//! The operations on files and directories as plain data: what a protocol parses a request into.
//!
//! Must never know HTTP; every field is typed and already checked for syntax.

use super::share::SharePath;
use crate::blob::op::ExpectedChecksum;
use std::ops::Range;
use std::time::Duration;
use zaffre_base::{Guid, Stamp};
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::properties::{SmbSettings, TimeSetting};
use zaffre_domain::fs::{Descriptor, FilePath, PermissionKey};
use zaffre_domain::lease::LeaseCommand;

/// A file or directory by its full name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemPath {
    /// The share.
    pub share: SharePath,
    /// The way from the share's root.
    pub path: FilePath,
    /// The snapshot of the share that is meant; only reads have one.
    pub snapshot: Option<Stamp>,
}

/// What is expected to be at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// Facts about the request that every operation looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// How long it may wait for clients to give back what they cached; at most 30 seconds.
    pub wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { wait: Duration::from_secs(30) }
    }
}

/// Create Directory.
#[derive(Clone, Debug)]
pub struct CreateDirectory {
    /// Which.
    pub at: ItemPath,
    /// Its SMB properties.
    pub smb: SmbSettings,
    /// Its metadata.
    pub metadata: Metadata,
}

/// Get Directory Properties and Get Directory Metadata.
#[derive(Clone, Debug)]
pub struct GetDirectory {
    /// Which.
    pub at: ItemPath,
}

/// Set Directory Properties.
#[derive(Clone, Debug)]
pub struct SetDirectoryProperties {
    /// Which.
    pub at: ItemPath,
    /// Its SMB properties.
    pub smb: SmbSettings,
}

/// Set Directory Metadata.
#[derive(Clone, Debug)]
pub struct SetDirectoryMetadata {
    /// Which.
    pub at: ItemPath,
    /// Replaces all metadata.
    pub metadata: Metadata,
}

/// Delete Directory.
#[derive(Clone, Debug)]
pub struct DeleteDirectory {
    /// Which.
    pub at: ItemPath,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// List Directories and Files.
#[derive(Clone, Debug)]
pub struct ListDirectory {
    /// Which directory.
    pub at: ItemPath,
    /// Only names that start so, whatever the case.
    pub prefix: String,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
    /// Sizes must be what they are, also where a client has a file open for writing.
    pub exact_sizes: bool,
}

/// Create File. Its first bytes, if it has any, come beside it.
#[derive(Clone, Debug)]
pub struct CreateFile {
    /// Which.
    pub at: ItemPath,
    /// Its size.
    pub length: u64,
    /// Content headers.
    pub properties: HttpProperties,
    /// Its SMB properties.
    pub smb: SmbSettings,
    /// Its metadata.
    pub metadata: Metadata,
    /// What the first bytes must hash to; `None` = there are none.
    pub content: Option<FirstBytes>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// The bytes that come with a new file.
#[derive(Clone, Debug)]
pub struct FirstBytes {
    /// How many, at most 4 MiB and not more than the file's size.
    pub length: u64,
    /// What they must hash to.
    pub expect: ExpectedChecksum,
}

/// Get File.
#[derive(Clone, Debug)]
pub struct GetFile {
    /// Which.
    pub at: ItemPath,
    /// Only these bytes: first and, if given, last.
    pub range: Option<(u64, Option<u64>)>,
    /// Show the MD5 of the range, which is at most 4 MiB.
    pub range_md5: bool,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Get File Properties and Get File Metadata.
#[derive(Clone, Debug)]
pub struct GetFileProperties {
    /// Which.
    pub at: ItemPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Set File Properties.
#[derive(Clone, Debug)]
pub struct SetFileProperties {
    /// Which.
    pub at: ItemPath,
    /// Its new size.
    pub length: Option<u64>,
    /// Replaces all content headers; `None` leaves them.
    pub properties: Option<HttpProperties>,
    /// Its SMB properties.
    pub smb: SmbSettings,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Set File Metadata.
#[derive(Clone, Debug)]
pub struct SetFileMetadata {
    /// Which.
    pub at: ItemPath,
    /// Replaces all metadata.
    pub metadata: Metadata,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Delete File.
#[derive(Clone, Debug)]
pub struct DeleteFile {
    /// Which.
    pub at: ItemPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Put Range and Put Range From URL. The bytes, if they are written, come beside it.
#[derive(Clone, Debug)]
pub struct PutRange {
    /// Which file.
    pub at: ItemPath,
    /// Which bytes of it; never empty.
    pub bytes: Range<u64>,
    /// What to do to them.
    pub write: RangeWrite,
    /// What becomes of the time of the last write: now, or as it is.
    pub last_write: TimeSetting,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// What Put Range does.
#[derive(Clone, Debug)]
pub enum RangeWrite {
    /// Writes bytes that hash so; the answer tells their MD5.
    Update(ExpectedChecksum),
    /// Writes bytes of a source that hash so.
    Copy(ExpectedChecksum),
    /// Clears.
    Clear,
}

/// List Ranges.
#[derive(Clone, Debug)]
pub struct ListRanges {
    /// Which file.
    pub at: ItemPath,
    /// Only ranges in these bytes: first and, if given, last.
    pub range: Option<(u64, Option<u64>)>,
    /// Show what differs from this snapshot, instead of what is there.
    pub previous: Option<Stamp>,
    /// Compare with the file of the same id, whatever its name was then.
    pub support_rename: bool,
    /// Where the last page of the answer ended.
    pub marker: Option<u64>,
    /// Ranges in one page of the answer; `None` = all of them.
    pub max_results: Option<u32>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Copy File. The source comes beside it.
#[derive(Clone, Debug)]
pub struct CopyFile {
    /// Where to.
    pub at: ItemPath,
    /// The source as it was named, shown afterwards.
    pub source: String,
    /// The id of the copy; drawn by the protocol.
    pub id: Guid,
    /// SMB properties of what is made; `Source` takes those of the source.
    pub smb: SmbSettings,
    /// Set the attribute `Archive`, whatever else is said.
    pub set_archive: bool,
    /// Overwrite also what is read-only.
    pub ignore_read_only: bool,
    /// Its metadata; `None` takes the source's.
    pub metadata: Option<Metadata>,
    /// `x-ms-lease-id`, of the target.
    pub lease: Option<Guid>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Abort Copy File.
#[derive(Clone, Debug)]
pub struct AbortCopyFile {
    /// The target of the copy.
    pub at: ItemPath,
    /// Which copy; `None` = an id that none can have.
    pub id: Option<Guid>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
}

/// Rename File and Rename Directory.
#[derive(Clone, Debug)]
pub struct Rename {
    /// The new name.
    pub at: ItemPath,
    /// The old one, in the same share.
    pub source: FilePath,
    /// What it is.
    pub kind: Kind,
    /// Replace a file of the new name.
    pub replace: bool,
    /// Replace also a file that is read-only.
    pub ignore_read_only: bool,
    /// `x-ms-source-lease-id`.
    pub source_lease: Option<Guid>,
    /// `x-ms-destination-lease-id`.
    pub lease: Option<Guid>,
    /// SMB properties.
    pub smb: SmbSettings,
    /// Replaces all metadata; `None` leaves it.
    pub metadata: Option<Metadata>,
    /// Content-Type; `None` leaves it.
    pub content_type: Option<String>,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// Lease File: acquire for ever, change, release and break at once.
#[derive(Clone, Debug)]
pub struct LeaseFile {
    /// Which.
    pub at: ItemPath,
    /// What to do.
    pub command: LeaseCommand,
    /// How long to wait for clients.
    pub patience: Patience,
}

/// List Handles.
#[derive(Clone, Debug)]
pub struct ListHandles {
    /// Of what.
    pub at: ItemPath,
    /// Whether also of what is below. Only of a directory may that be said at all.
    pub recursive: Option<bool>,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Page size.
    pub max_results: u32,
}

/// Force Close Handles.
#[derive(Clone, Debug)]
pub struct ForceCloseHandles {
    /// Of what.
    pub at: ItemPath,
    /// Whether also of what is below. Only of a directory may that be said at all.
    pub recursive: Option<bool>,
    /// Which; `None` = all.
    pub handle: Option<u64>,
    /// Where the last answer ended.
    pub marker: Option<String>,
}

/// Create Permission: keeps a security descriptor for later use.
#[derive(Clone, Debug)]
pub struct CreatePermission {
    /// In which share.
    pub at: SharePath,
    /// What; owner, group and DACL must be there.
    pub descriptor: Descriptor,
}

/// Get Permission.
#[derive(Clone, Debug)]
pub struct GetPermission {
    /// In which share.
    pub at: SharePath,
    /// Which.
    pub key: PermissionKey,
}
