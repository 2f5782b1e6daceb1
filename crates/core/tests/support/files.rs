//! What tests ask of a share.

use super::{ACCOUNT, World, body, must, read};
use std::time::Duration;
use zaffre_base::{AccountName, Guid, ShareName, Stamp};
use zaffre_core::Error;
use zaffre_core::blob::ByteStream;
use zaffre_core::blob::op::ExpectedChecksum;
use zaffre_core::file::op::{
    CopyFile, CreateDirectory, CreateFile, DeleteDirectory, DeleteFile, GetDirectory, GetFile,
    GetFileProperties, ItemPath, Kind, LeaseFile, ListDirectory, ListRanges, Patience, PutRange,
    RangeWrite, Rename, SetFileMetadata, SetFileProperties,
};
use zaffre_core::file::reply::{
    Changed, Copied, CopySource, DirectoryView, EntryPage, FileLeaseReply, FileView, RangeReply,
    RangesReply,
};
use zaffre_core::file::share::SharePath;
use zaffre_core::file::share::op::{
    CreateShare, DeleteShare, DeleteShareSnapshots, ShareAt, SnapshotShare,
};
use zaffre_core::file::{self as service};
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::fs::FilePath;
use zaffre_domain::fs::name::TrailingDots;
use zaffre_domain::fs::properties::{AttributesSetting, SmbSettings, TimeSetting};
use zaffre_domain::lease::LeaseCommand;
use zaffre_domain::sparse::{Change, Found};
use zaffre_store::{Placement, StoreError};

pub const SHARE: &str = "work";
pub const PATIENCE: Patience = Patience { wait: Duration::from_secs(1) };

pub fn share() -> SharePath {
    let account = must(AccountName::parse(ACCOUNT));
    SharePath { account, share: must(ShareName::parse(SHARE)) }
}

pub fn path(text: &str) -> FilePath {
    must(FilePath::parse(text, TrailingDots::Trim))
}

pub fn at(text: &str, snapshot: Option<Stamp>) -> ItemPath {
    ItemPath { share: share(), path: path(text), snapshot }
}

/// Ranges as pairs, with a mark for those that were cleared.
pub fn pairs(ranges: &[Found]) -> Vec<(u64, u64, bool)> {
    let pair =
        |found: &Found| (found.bytes.start, found.bytes.end, found.change == Change::Cleared);
    ranges.iter().map(pair).collect()
}

/// A world with a share.
#[derive(Clone)]
pub struct Files {
    pub world: World,
}

impl Files {
    fn ok<Op: zaffre_auth::Guarded>(&self, op: Op) -> zaffre_auth::Authorized<Op> {
        self.world.ok(op)
    }

    pub fn core(&self) -> &zaffre_core::Core {
        &self.world.core
    }

    pub async fn make_share(&self) -> Result<(), Error> {
        let op =
            CreateShare { at: share(), metadata: Metadata::new(), quota_gib: Some(1), tier: None };
        service::share::create_share(self.core(), self.ok(op)).await.map(|_| ())
    }

    pub async fn make_directory(&self, name: &str) -> Result<Changed, Error> {
        let op = CreateDirectory {
            at: at(name, None),
            smb: SmbSettings::create(),
            metadata: Metadata::new(),
        };
        service::create_directory(self.core(), self.ok(op)).await
    }

    pub async fn make_file(&self, name: &str, length: u64) -> Result<Changed, Error> {
        self.make_leased_file(name, length, None).await
    }

    pub async fn make_leased_file(
        &self,
        name: &str,
        length: u64,
        lease: Option<Guid>,
    ) -> Result<Changed, Error> {
        let op = CreateFile {
            at: at(name, None),
            length,
            properties: HttpProperties::default(),
            smb: SmbSettings::create(),
            metadata: Metadata::new(),
            content: None,
            lease,
            patience: PATIENCE,
        };
        service::create_file(self.core(), self.ok(op), body(Vec::new())).await
    }

    pub async fn write(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<RangeReply, Error> {
        let end = offset + u64::try_from(bytes.len()).unwrap_or(0);
        let op = PutRange {
            at: at(name, None),
            bytes: offset..end,
            write: RangeWrite::Update(ExpectedChecksum::default()),
            last_write: TimeSetting::Now,
            lease: None,
            patience: PATIENCE,
        };
        service::put_range(self.core(), self.ok(op), body(bytes.to_vec())).await
    }

    pub async fn wipe(&self, name: &str, offset: u64, end: u64) -> Result<RangeReply, Error> {
        let op = PutRange {
            at: at(name, None),
            bytes: offset..end,
            write: RangeWrite::Clear,
            last_write: TimeSetting::Now,
            lease: None,
            patience: PATIENCE,
        };
        service::put_range(self.core(), self.ok(op), body(Vec::new())).await
    }

    pub async fn resize(&self, name: &str, length: u64) -> Result<Changed, Error> {
        let op = SetFileProperties {
            at: at(name, None),
            length: Some(length),
            properties: None,
            smb: SmbSettings::preserve(),
            lease: None,
            patience: PATIENCE,
        };
        service::set_file_properties(self.core(), self.ok(op)).await
    }

    pub async fn set_file_metadata(&self, name: &str, value: &str) -> Result<Changed, Error> {
        let op = SetFileMetadata {
            at: at(name, None),
            metadata: [("k".to_owned(), value.to_owned())].into(),
            lease: None,
            patience: PATIENCE,
        };
        service::set_file_metadata(self.core(), self.ok(op)).await
    }

    pub async fn content(&self, name: &str, snapshot: Option<Stamp>) -> Result<Vec<u8>, Error> {
        let op = GetFile {
            at: at(name, snapshot),
            range: None,
            range_md5: false,
            lease: None,
            patience: PATIENCE,
        };
        let reply = service::get_file(self.core(), self.ok(op)).await?;
        // The power may go between the answer and the last byte of it.
        let bytes = read(reply.body).await.map_err(|e| StoreError::corrupt(format!("{e:?}")))?;
        assert_eq!(u64::try_from(bytes.len()), Ok(reply.length));
        Ok(bytes)
    }

    pub async fn file(&self, name: &str, snapshot: Option<Stamp>) -> Result<FileView, Error> {
        let op = GetFileProperties { at: at(name, snapshot), lease: None, patience: PATIENCE };
        service::get_file_properties(self.core(), self.ok(op)).await
    }

    pub async fn directory(&self, name: &str) -> Result<DirectoryView, Error> {
        service::get_directory(self.core(), self.ok(GetDirectory { at: at(name, None) })).await
    }

    pub async fn delete_file(&self, name: &str) -> Result<(), Error> {
        let op = DeleteFile { at: at(name, None), lease: None, patience: PATIENCE };
        service::delete_file(self.core(), self.ok(op)).await
    }

    pub async fn delete_directory(&self, name: &str) -> Result<(), Error> {
        let op = DeleteDirectory { at: at(name, None), patience: PATIENCE };
        service::delete_directory(self.core(), self.ok(op)).await
    }

    pub async fn rename(
        &self,
        from: &str,
        to: &str,
        kind: Kind,
        replace: bool,
    ) -> Result<Changed, Error> {
        let op = Rename {
            at: at(to, None),
            source: path(from),
            kind,
            replace,
            ignore_read_only: false,
            source_lease: None,
            lease: None,
            smb: SmbSettings::preserve(),
            metadata: None,
            content_type: None,
            patience: PATIENCE,
        };
        service::rename(self.core(), self.ok(op)).await
    }

    pub async fn list_entries(
        &self,
        name: &str,
        snapshot: Option<Stamp>,
        marker: Option<String>,
        most: u32,
    ) -> Result<EntryPage, Error> {
        let op = ListDirectory {
            at: at(name, snapshot),
            prefix: String::new(),
            marker,
            max_results: most,
            exact_sizes: false,
        };
        service::list_directory(self.core(), self.ok(op)).await
    }

    pub async fn names(&self, name: &str, snapshot: Option<Stamp>) -> Result<Vec<String>, Error> {
        let (mut names, mut marker) = (Vec::new(), None);
        loop {
            let page = self.list_entries(name, snapshot, marker, 3).await?;
            names.extend(page.entries.iter().map(|entry| entry.name.to_string()));
            marker = page.next;
            if marker.is_none() {
                return Ok(names);
            }
        }
    }

    pub async fn ranges(
        &self,
        name: &str,
        snapshot: Option<Stamp>,
        previous: Option<Stamp>,
    ) -> Result<RangesReply, Error> {
        let op = ListRanges {
            at: at(name, snapshot),
            range: None,
            previous,
            support_rename: false,
            marker: None,
            max_results: None,
            lease: None,
            patience: PATIENCE,
        };
        service::list_ranges(self.core(), self.ok(op)).await
    }

    pub async fn lease_file(
        &self,
        name: &str,
        command: LeaseCommand,
    ) -> Result<FileLeaseReply, Error> {
        let op = LeaseFile { at: at(name, None), command, patience: PATIENCE };
        service::lease_file(self.core(), self.ok(op)).await
    }

    pub async fn share_rows(&self) -> usize {
        let name = format!("f/{ACCOUNT}/{SHARE}").into_bytes();
        let snapshot = must(self.core().store().meta.snapshot(&Placement::new(name)).await);
        must(snapshot.scan(&[], None, 1_000_000)).len()
    }

    pub async fn share_row_tags(&self) -> Vec<u8> {
        let name = format!("f/{ACCOUNT}/{SHARE}").into_bytes();
        let snapshot = must(self.core().store().meta.snapshot(&Placement::new(name)).await);
        let rows = must(snapshot.scan(&[], None, 1_000_000));
        rows.iter().filter_map(|row| row.key.get(8).copied()).collect()
    }

    pub async fn take_snapshot(&self) -> Result<Stamp, Error> {
        let op = SnapshotShare { at: share(), metadata: None };
        service::share::snapshot_share(self.core(), self.ok(op)).await.map(|taken| taken.snapshot)
    }

    pub async fn forget_snapshot(&self, taken: Stamp) -> Result<(), Error> {
        let at = ShareAt { share: share(), snapshot: Some(taken) };
        let op = DeleteShare { at, lease: None, snapshots: DeleteShareSnapshots::Refuse };
        service::share::delete_share(self.core(), self.ok(op)).await.map(drop)
    }

    pub async fn delete_share(&self) -> Result<(), Error> {
        let at = ShareAt { share: share(), snapshot: None };
        let op = DeleteShare { at, lease: None, snapshots: DeleteShareSnapshots::IncludeLeased };
        service::share::delete_share(self.core(), self.ok(op)).await.map(drop)
    }

    /// Starts a download.
    pub async fn open(&self, name: &str, snapshot: Option<Stamp>) -> Result<ByteStream, Error> {
        let op = GetFile {
            at: at(name, snapshot),
            range: None,
            range_md5: false,
            lease: None,
            patience: PATIENCE,
        };
        service::get_file(self.core(), self.ok(op)).await.map(|reply| reply.body)
    }

    /// Copies a stream into a file.
    pub async fn copy_into(
        &self,
        name: &str,
        length: u64,
        body: ByteStream,
    ) -> Result<Copied, Error> {
        let smb = SmbSettings { attributes: AttributesSetting::Source, ..SmbSettings::create() };
        let op = CopyFile {
            at: at(name, None),
            source: "source".to_owned(),
            id: Guid(1),
            smb,
            set_archive: false,
            ignore_read_only: false,
            metadata: None,
            lease: None,
            patience: PATIENCE,
        };
        let properties = HttpProperties::default();
        let source = CopySource { length, properties, metadata: Metadata::new(), smb: None, body };
        service::copy_file(self.core(), self.ok(op), source).await
    }
}
