//! The operations that give blobs their content.

use super::{BlobPath, Context, Encryption};
use std::ops::Range;
use zaffre_base::Guid;
use zaffre_domain::Refusal;
use zaffre_domain::blob::append::AppendConditions;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::pages::{SequenceAction, SequenceConditions};
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::AccessTier;
use zaffre_domain::blob::{BlockListEntry, HttpProperties, Metadata};
use zaffre_domain::conditions::Conditions;

/// Put Blob of type BlockBlob. The body comes beside it.
#[derive(Clone, Debug)]
pub struct PutBlob {
    /// Which.
    pub at: BlobPath,
    /// Length announced by Content-Length, if any.
    pub length: Option<u64>,
    /// Content headers to store; `content_md5` here is `x-ms-blob-content-md5`, verified too.
    pub properties: HttpProperties,
    /// Metadata to store.
    pub metadata: Metadata,
    /// Tags to store.
    pub tags: Tags,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// `x-ms-access-tier`; the old tier is kept when absent.
    pub tier: Option<AccessTier>,
    /// Policy and hold of the new state.
    pub protection: Protection,
    /// Size and conditions differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Put Blob of a kind that starts without content: AppendBlob, or PageBlob of a given size.
#[derive(Clone, Debug)]
pub struct CreateBlob {
    /// Which.
    pub at: BlobPath,
    /// What it is to be.
    pub new: NewBlob,
    /// Content headers to store.
    pub properties: HttpProperties,
    /// Metadata to store.
    pub metadata: Metadata,
    /// Tags to store.
    pub tags: Tags,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// `x-ms-access-tier` of a page blob.
    pub tier: Option<AccessTier>,
    /// Policy and hold of the new state.
    pub protection: Protection,
    /// Conditions differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// What a blob without content is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NewBlob {
    /// An append blob.
    Append,
    /// A page blob.
    Page {
        /// Its size, a multiple of 512.
        length: u64,
        /// Its sequence number.
        sequence_number: u64,
    },
}

/// Append Block. The body comes beside it.
#[derive(Clone, Debug)]
pub struct AppendBlock {
    /// Which blob.
    pub at: BlobPath,
    /// Length announced by Content-Length, if any.
    pub length: Option<u64>,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
    /// Where the blob must end, how large it may become.
    pub append: AppendConditions,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// Sizes differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Put Page. The body, if it is an update, comes beside it.
#[derive(Clone, Debug)]
pub struct PutPage {
    /// Which blob.
    pub at: BlobPath,
    /// Whole pages.
    pub pages: Range<u64>,
    /// What to do to them.
    pub write: PageWrite,
    /// What the blob's sequence number must be.
    pub sequence: SequenceConditions,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// What Put Page does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageWrite {
    /// Writes the body, which must be as long as the pages and hash so.
    Update(ExpectedChecksum),
    /// Clears the pages.
    Clear,
}

/// Set Blob Properties with a size or a sequence number, which only page blobs have.
#[derive(Clone, Debug)]
pub struct SetPageProperties {
    /// Which.
    pub at: BlobPath,
    /// Replaces all content headers; `None` leaves them.
    pub properties: Option<HttpProperties>,
    /// The new size, a multiple of 512.
    pub length: Option<u64>,
    /// What to do to the sequence number.
    pub sequence: Option<SequenceAction>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
}

/// Put Block. The body comes beside it.
#[derive(Clone, Debug)]
pub struct PutBlock {
    /// Which blob.
    pub at: BlobPath,
    /// Decoded block id, 1..=64 bytes.
    pub block_id: Vec<u8>,
    /// Length announced by Content-Length, if any.
    pub length: Option<u64>,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// Sizes differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// Put Block List; the XML body is parsed and its checksum verified by the protocol.
#[derive(Clone, Debug)]
pub struct PutBlockList {
    /// Which blob.
    pub at: BlobPath,
    /// What to commit, in order.
    pub blocks: Vec<BlockListEntry>,
    /// Content headers to store; what is absent is cleared.
    pub properties: HttpProperties,
    /// Metadata to store.
    pub metadata: Metadata,
    /// Tags to store.
    pub tags: Tags,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-* headers.
    pub conditions: Conditions,
    /// `x-ms-access-tier`; the old tier is kept when absent.
    pub tier: Option<AccessTier>,
    /// Policy and hold of the new state.
    pub protection: Protection,
    /// The rules differ by version.
    pub context: Context,
    /// What encrypts the content.
    pub encryption: Encryption,
}

/// The checksum a body must have; at most one is given (the protocol refuses both).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExpectedChecksum {
    /// `Content-MD5` (or `x-ms-blob-content-md5` on Put Blob).
    pub md5: Option<[u8; 16]>,
    /// `x-ms-content-crc64`
    pub crc64: Option<[u8; 8]>,
}

impl ExpectedChecksum {
    /// Whether a body that hashes so is the one announced.
    pub(crate) fn check(&self, md5: Option<[u8; 16]>, crc64: [u8; 8]) -> Result<(), Refusal> {
        match (self.md5, md5) {
            (Some(announced), Some(computed)) if announced != computed => {
                return Err(Refusal::Md5Mismatch { announced, computed });
            }
            _ => {}
        }
        match self.crc64 {
            Some(announced) if announced != crc64 => {
                Err(Refusal::Crc64Mismatch { announced, computed: crc64 })
            }
            _ => Ok(()),
        }
    }
}
