//! What the operations of the Blob service answer, as plain data for a protocol to render.

use super::ByteStream;
use zaffre_base::{BlobName, ContainerName, ETag, Guid, Stamp, Timestamp};
use zaffre_domain::blob::copy::CopyStatus;
use zaffre_domain::blob::encryption::{Encrypted, ScopePolicy};
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::Tier;
use zaffre_domain::blob::{AccessPolicy, HttpProperties, Metadata, PublicAccess};
use zaffre_domain::lease::LeaseView;
pub use zaffre_domain::sparse::{Change, Found};

/// ETag and Last-Modified, both made from the commit's stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The commit.
    pub stamp: Stamp,
    /// The id of the version that the operation made.
    pub version: Option<Timestamp>,
}

impl Written {
    /// A state without a version of its own.
    pub fn at(stamp: Stamp) -> Self {
        Self { stamp, version: None }
    }

    /// The entity tag.
    pub fn etag(self) -> ETag {
        ETag(self.stamp)
    }

    /// Last-Modified (shown with whole seconds).
    pub fn last_modified(self) -> Timestamp {
        self.stamp.time()
    }
}

/// A container as it is.
#[derive(Clone, Debug)]
pub struct ContainerView {
    /// Its name.
    pub name: ContainerName,
    /// Its last change.
    pub written: Written,
    /// Its metadata.
    pub metadata: Metadata,
    /// Anonymous access.
    pub access: PublicAccess,
    /// Its stored access policies.
    pub policies: Vec<AccessPolicy>,
    /// Its lease at the time of the read.
    pub lease: LeaseView,
    /// Whether its blobs can have policies and holds.
    pub version_immutability: bool,
    /// What its blobs are encrypted with.
    pub scopes: ScopePolicy,
    /// If it is deleted and kept: when, and by which commit.
    pub deleted: Option<(DeletedView, Stamp)>,
}

/// One page of containers.
#[derive(Clone, Debug)]
pub struct ContainerPage {
    /// In order of names; metadata is empty unless asked for.
    pub containers: Vec<ContainerView>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// What only blobs of one kind have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfKind {
    /// A block blob.
    Block,
    /// An append blob.
    Append {
        /// Committed blocks.
        blocks: u32,
        /// Whether it was sealed.
        sealed: bool,
    },
    /// A page blob.
    Page {
        /// Its sequence number.
        sequence_number: u64,
    },
}

/// A blob as it is.
#[derive(Clone, Debug)]
pub struct BlobView {
    /// Its name.
    pub name: BlobName,
    /// Its last change.
    pub written: Written,
    /// When the blob was first created.
    pub created: Timestamp,
    /// Its size.
    pub length: u64,
    /// Content headers.
    pub properties: HttpProperties,
    /// Its metadata.
    pub metadata: Metadata,
    /// Its tags; a listing shows them only if asked, their number always.
    pub tags: Tags,
    /// Its lease at the time of the read.
    pub lease: LeaseView,
    /// Its tier at the time of the read.
    pub tier: Tier,
    /// What keeps it as it is.
    pub protection: Protection,
    /// What it is encrypted with.
    pub encrypted: Encrypted,
    /// When it was last read or written, if that is remembered.
    pub last_access: Option<Timestamp>,
    /// Its kind, and what only that kind has.
    pub of_kind: OfKind,
    /// False for a blob that only has staged blocks (length 0, no ETag shown).
    pub committed: bool,
    /// Which state of the blob it is.
    pub moment: MomentView,
    /// The copy that made it, if nothing else changed it since.
    pub copy: Option<CopyView>,
    /// If incremental copies make it.
    pub incremental: Option<IncrementalView>,
}

/// What a blob shows of the copy that made it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyView {
    /// Its id.
    pub id: Guid,
    /// Where it came from.
    pub source: String,
    /// How it stands.
    pub status: CopyStatus,
    /// Bytes copied.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
    /// When it came to its end.
    pub completed: Option<Timestamp>,
    /// Why it failed.
    pub description: Option<String>,
}

/// What a blob shows of the incremental copies that make it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IncrementalView {
    /// The snapshot that the last of them made.
    pub snapshot: Option<Timestamp>,
}

/// What Copy Blob came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyReply {
    /// The destination's commit.
    pub written: Written,
    /// The copy's id.
    pub id: Guid,
    /// How it stands.
    pub status: CopyStatus,
    /// Of what was copied before the answer, if it was asked for.
    pub md5: Option<[u8; 16]>,
    /// Of what Copy Blob From URL copied.
    pub crc64: Option<[u8; 8]>,
}

/// Which state of a blob is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MomentView {
    /// The current one, with the id of its version if it has one.
    Current {
        /// The version.
        version: Option<Timestamp>,
    },
    /// A snapshot.
    Snapshot {
        /// Its id.
        at: Timestamp,
        /// If it is deleted and kept.
        deleted: Option<DeletedView>,
    },
    /// A version that is not current.
    Version {
        /// Its id.
        at: Timestamp,
        /// If it is deleted and kept.
        deleted: Option<DeletedView>,
    },
    /// A deleted blob that is kept.
    Deleted(DeletedView),
    /// A name that has versions and no current one.
    VersionsOnly,
}

impl MomentView {
    /// Whether it is the blob itself, which alone can be leased.
    pub fn is_current(self) -> bool {
        matches!(self, Self::Current { .. })
    }

    /// When it was deleted, if it is only kept.
    pub fn deleted(self) -> Option<DeletedView> {
        match self {
            Self::Snapshot { deleted, .. } | Self::Version { deleted, .. } => deleted,
            Self::Deleted(deleted) => Some(deleted),
            Self::Current { .. } | Self::VersionsOnly => None,
        }
    }
}

/// A deletion that can be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeletedView {
    /// When it was deleted.
    pub at: Timestamp,
    /// Whole days until it is gone.
    pub remaining_days: u64,
}

/// What Snapshot Blob answers.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotReply {
    /// The snapshot's id.
    pub snapshot: Timestamp,
    /// ETag and Last-Modified of the snapshot, and the version that the blob has now.
    pub written: Written,
}

/// What Delete Blob answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeleteReply {
    /// It cannot be brought back.
    pub permanent: bool,
}

/// One entry of a hierarchical listing.
#[derive(Clone, Debug)]
pub enum ListEntry {
    /// A blob.
    Blob(Box<BlobView>),
    /// All blobs whose names start so, up to and with the delimiter.
    Prefix(String),
}

/// One page of blobs.
#[derive(Clone, Debug)]
pub struct BlobPage {
    /// In order of names.
    pub entries: Vec<ListEntry>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// A blob that Find Blobs by Tags found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundBlob {
    /// Its container.
    pub container: ContainerName,
    /// Its name.
    pub name: BlobName,
    /// Those of its tags that the expression names.
    pub tags: Tags,
    /// The id of its version, if versions were asked for.
    pub version: Option<Timestamp>,
    /// It is the current blob and not a previous version.
    pub current: bool,
}

/// One page of found blobs.
#[derive(Clone, Debug)]
pub struct FoundPage {
    /// By container, then by the value of the tag that was sought, then by name.
    pub blobs: Vec<FoundBlob>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// What Put Blob answers.
#[derive(Clone, Copy, Debug)]
pub struct PutBlobReply {
    /// The commit.
    pub written: Written,
    /// MD5 of the body.
    pub md5: [u8; 16],
    /// CRC64 of the body.
    pub crc64: [u8; 8],
}

/// What Put Block answers.
#[derive(Clone, Copy, Debug)]
pub struct PutBlockReply {
    /// MD5 of the body; only computed when the request announced one.
    pub md5: Option<[u8; 16]>,
    /// CRC64 of the body.
    pub crc64: [u8; 8],
}

/// What Append Block answers.
#[derive(Clone, Copy, Debug)]
pub struct AppendReply {
    /// The commit.
    pub written: Written,
    /// Where the block went.
    pub offset: u64,
    /// Blocks in all.
    pub blocks: u32,
    /// MD5 of the block; only computed when the request announced one.
    pub md5: Option<[u8; 16]>,
    /// CRC64 of the block.
    pub crc64: [u8; 8],
}

/// What Put Page answers.
#[derive(Clone, Copy, Debug)]
pub struct PageReply {
    /// The commit.
    pub written: Written,
    /// The blob's sequence number.
    pub sequence_number: u64,
    /// MD5 of the pages; only computed when the request announced one.
    pub md5: Option<[u8; 16]>,
    /// CRC64 of the pages; `None` when they were cleared.
    pub crc64: Option<[u8; 8]>,
}

/// What Set Blob Properties answers.
#[derive(Clone, Copy, Debug)]
pub struct PropertiesSet {
    /// The commit.
    pub written: Written,
    /// The sequence number of a page blob.
    pub sequence_number: Option<u64>,
}

/// What Get Page Ranges answers.
#[derive(Clone, Debug)]
pub struct PageRangesReply {
    /// The state that was looked at.
    pub written: Written,
    /// The size of the blob.
    pub length: u64,
    /// In order; they do not touch.
    pub ranges: Vec<Found>,
    /// Where the next page of the answer starts.
    pub next: Option<u64>,
}

/// What Get Blob answers.
pub struct GetBlobReply {
    /// The blob the bytes belong to.
    pub blob: BlobView,
    /// First and last byte returned when a range was asked for (last is inclusive).
    pub range: Option<(u64, u64)>,
    /// Bytes in the stream.
    pub length: u64,
    /// MD5 of the range if asked for.
    pub range_md5: Option<[u8; 16]>,
    /// CRC64 of the range if asked for.
    pub range_crc64: Option<[u8; 8]>,
    /// The bytes. An error ends the connection: a short answer must never look whole.
    pub body: ByteStream,
}

/// One block of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockView {
    /// Decoded id.
    pub id: Vec<u8>,
    /// Bytes.
    pub length: u64,
}

/// What Get Block List answers.
#[derive(Clone, Debug)]
pub struct BlockListReply {
    /// The committed state, if there is one, with its length.
    pub committed_state: Option<(Written, u64)>,
    /// Committed blocks in order; `None` if not asked for.
    pub committed: Option<Vec<BlockView>>,
    /// Staged blocks in order of id; `None` if not asked for.
    pub uncommitted: Option<Vec<BlockView>>,
}

/// What the lease operations answer.
#[derive(Clone, Copy, Debug)]
pub struct LeaseOutcome {
    /// ETag and Last-Modified, unchanged by the lease.
    pub written: Written,
    /// The lease id after acquire, renew and change.
    pub id: Option<Guid>,
    /// Seconds until a break completes.
    pub break_seconds: Option<u64>,
}
