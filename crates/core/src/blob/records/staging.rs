//! Staged blocks: the area of one blob, and each block in it.

use super::{Content, Record, fields};
use minicbor::{Decode, Encode};
use zaffre_base::{ContentId, Stamp, Timestamp};
use zaffre_domain::blob::block_list::staging_has_expired;
use zaffre_domain::blob::encryption::Encrypted;

/// The staging area of a blob; there is a row only while blocks are staged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Staging {
    /// Names this generation of staged blocks; never reused.
    #[cbor(n(0), with = "fields")]
    pub(crate) id: ContentId,
    /// How many blocks are staged.
    #[n(1)]
    pub(crate) count: u64,
    /// Bytes in each block id.
    #[n(2)]
    pub(crate) id_length: u64,
    /// The last Put Block; blocks expire some time after it.
    #[cbor(n(3), with = "fields")]
    pub(crate) changed: Stamp,
    /// The last Put Block that replaced a staged block, or the first of all.
    #[cbor(n(4), with = "fields")]
    pub(crate) replaced: Stamp,
}

impl Record for Staging {
    const WHAT: &'static str = "staging area";
}

impl Staging {
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        staging_has_expired(self.changed.time(), now)
    }
}

/// One staged block.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct StagedBlock {
    #[n(0)]
    pub(crate) content: Content,
    /// What it is encrypted with.
    #[cbor(n(1), with = "fields", has_nil)]
    pub(crate) encrypted: Encrypted,
}

impl Record for StagedBlock {
    const WHAT: &'static str = "staged block";
}
