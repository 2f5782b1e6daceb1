//! Plain data of the Blob service and the rules over it.
//!
//! Must never hold bytes of a blob: rules see lengths, ids and names only.

pub mod append;
pub mod block_list;
pub mod copy;
pub mod encryption;
pub mod immutability;
pub mod listing;
pub mod metadata;
pub mod pages;
pub mod range;
mod refusal;
pub mod sizes;
pub mod tags;
pub mod tier;

pub use refusal::KeptRefusal;

use crate::Refusal;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use zaffre_base::Timestamp;

/// Metadata: names keep the case they were given; uniqueness ignores it.
pub type Metadata = BTreeMap<String, String>;

/// What a blob is made of; it keeps its kind for as long as it lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum BlobKind {
    /// Blocks that are staged and then committed together.
    Block,
    /// Blocks that are only ever added at the end.
    Append,
    /// Pages of 512 bytes, written in any order.
    Page,
}

impl BlobKind {
    /// Refuses an operation on a blob of another kind.
    pub fn must_be(self, wanted: Self) -> Result<(), Refusal> {
        if self == wanted { Ok(()) } else { Err(Refusal::InvalidBlobType) }
    }
}

/// Who may read without a credential.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PublicAccess {
    /// Nobody.
    #[default]
    Private,
    /// Blobs can be read by anyone who knows their names.
    Blob,
    /// Blobs can be read and listed by anyone.
    Container,
}

/// A stored access policy that a service SAS can refer to by `si`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessPolicy {
    /// At most 64 characters.
    pub id: String,
    /// Valid from.
    pub start: Option<Timestamp>,
    /// Valid until.
    pub expiry: Option<Timestamp>,
    /// Permission letters.
    pub permission: Option<String>,
}

/// The content headers of a blob.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HttpProperties {
    /// Content-Type; the default `application/octet-stream` is filled in by the protocol.
    pub content_type: Option<String>,
    /// Content-Encoding.
    pub content_encoding: Option<String>,
    /// Content-Language.
    pub content_language: Option<String>,
    /// Content-Disposition.
    pub content_disposition: Option<String>,
    /// Cache-Control.
    pub cache_control: Option<String>,
    /// Content-MD5 as stored.
    pub content_md5: Option<[u8; 16]>,
}

/// Where Put Block List looks for a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockSource {
    /// Among the committed blocks.
    Committed,
    /// Among the staged blocks.
    Uncommitted,
    /// Staged first, then committed.
    Latest,
}

/// One line of a block list to commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockListEntry {
    /// Where to look.
    pub source: BlockSource,
    /// Decoded block id.
    pub id: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_do_not_mix() {
        let kinds = [BlobKind::Block, BlobKind::Append, BlobKind::Page];
        for (at, kind) in kinds.into_iter().enumerate() {
            for (other, wanted) in kinds.into_iter().enumerate() {
                let want = if at == other { Ok(()) } else { Err(Refusal::InvalidBlobType) };
                assert_eq!(kind.must_be(wanted), want, "{kind:?} {wanted:?}");
            }
        }
    }
}
