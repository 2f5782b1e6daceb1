//! The operations that only read.

use super::{BlobPath, Context, Encryption, MomentId};
use zaffre_base::{AccountName, ContainerName, Guid};
use zaffre_domain::blob::tags::FindExpression;
use zaffre_domain::conditions::Conditions;

/// Get Blob.
#[derive(Clone, Debug)]
pub struct GetBlob {
    /// Which.
    pub at: BlobPath,
    /// The first and, if given, last byte wanted; `None` = the whole blob.
    pub range: Option<(u64, Option<u64>)>,
    /// Compute the range's checksum (range of at most 4 MiB, checked by core against the size).
    pub range_checksum: Option<RangeChecksum>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Query Blob Contents; the query itself stays with the protocol.
#[derive(Clone, Debug)]
pub struct QueryBlob {
    /// Which.
    pub at: BlobPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Which checksum of the returned range is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeChecksum {
    /// `x-ms-range-get-content-md5`
    Md5,
    /// `x-ms-range-get-content-crc64`
    Crc64,
}

/// Get Blob Properties and Get Blob Metadata.
#[derive(Clone, Debug)]
pub struct GetBlobProperties {
    /// Which.
    pub at: BlobPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Get Page Ranges.
#[derive(Clone, Debug)]
pub struct GetPageRanges {
    /// Which.
    pub at: BlobPath,
    /// Only ranges in these bytes: first and, if given, last.
    pub range: Option<(u64, Option<u64>)>,
    /// Show what differs from this snapshot, instead of what is there.
    pub previous: Option<MomentId>,
    /// Where the last page of the answer ended.
    pub marker: Option<u64>,
    /// Ranges in one page of the answer.
    pub max_results: Option<u32>,
    /// Whether the answer may come in pages at all.
    pub may_page: bool,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

/// Get Block List.
#[derive(Clone, Debug)]
pub struct GetBlockList {
    /// Which blob.
    pub at: BlobPath,
    /// Show committed blocks.
    pub committed: bool,
    /// Show staged blocks.
    pub uncommitted: bool,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// `x-ms-if-tags` alone.
    pub conditions: Conditions,
}

/// Get Blob Tags.
#[derive(Clone, Debug)]
pub struct GetBlobTags {
    /// Which.
    pub at: BlobPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// `x-ms-if-tags` and the `x-ms-blob-if-*` headers.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

/// Find Blobs by Tags, of an account or of one container.
#[derive(Clone, Debug)]
pub struct FindBlobsByTags {
    /// The account.
    pub account: AccountName,
    /// The container, if it is asked of one.
    pub container: Option<ContainerName>,
    /// What to find.
    pub expression: FindExpression,
    /// Find previous versions too.
    pub include_versions: bool,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
}
