//! The directory's rows of shares and of their snapshots.

use crate::blob::records::Deleted;
use crate::directory::{Family, Listed};
use crate::records::{Policy, Record, fields};
use minicbor::{Decode, Encode};
use std::collections::BTreeMap;
use zaffre_base::limits::DEFAULT_SHARE_GIB;
use zaffre_base::{Incarnation, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::fs::share::AccessTier;
use zaffre_domain::lease::Lease;

/// A share that exists, or one that was deleted and is kept.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Share {
    /// Prefixes every key inside; the commit that created the share.
    #[cbor(n(0), with = "fields")]
    pub(crate) incarnation: Incarnation,
    /// The commit that made this state.
    #[cbor(n(1), with = "fields")]
    pub(crate) written: Stamp,
    #[n(2)]
    pub(crate) metadata: BTreeMap<String, String>,
    #[n(3)]
    pub(crate) policies: Vec<Policy>,
    #[cbor(n(4), with = "fields")]
    pub(crate) lease: Lease,
    /// Only in rows of deleted shares.
    #[n(5)]
    pub(crate) deleted: Option<Deleted>,
    #[n(6)]
    pub(crate) quota_gib: u64,
    #[n(7)]
    tier: u8,
    #[cbor(n(8), with = "fields")]
    pub(crate) tier_changed: Timestamp,
    /// How many rows of snapshots there are.
    #[n(9)]
    pub(crate) snapshots: u32,
}

/// A snapshot of a share: what the share was like, and a lease of its own.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct ShareSnapshot {
    /// ETag and Last-Modified: the share's, unless the snapshot got metadata of its own.
    #[cbor(n(0), with = "fields")]
    pub(crate) written: Stamp,
    #[n(1)]
    pub(crate) metadata: BTreeMap<String, String>,
    #[cbor(n(2), with = "fields")]
    pub(crate) lease: Lease,
    #[n(3)]
    pub(crate) quota_gib: u64,
    #[n(4)]
    tier: u8,
    #[cbor(n(5), with = "fields")]
    pub(crate) tier_changed: Timestamp,
}

impl Record for Share {
    const WHAT: &'static str = "share";
}

impl Record for ShareSnapshot {
    const WHAT: &'static str = "snapshot of a share";
}

impl Listed for Share {
    const FAMILY: Family = Family::Shares;

    fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    fn not_found() -> Refusal {
        FileRefusal::ShareNotFound.into()
    }

    fn being_deleted() -> Refusal {
        FileRefusal::ShareBeingDeleted.into()
    }
}

impl Share {
    /// An empty share that is new at `written`.
    pub(crate) fn new(written: Stamp) -> Self {
        Self {
            incarnation: Incarnation(written.0),
            written,
            metadata: BTreeMap::new(),
            policies: Vec::new(),
            lease: Lease::default(),
            deleted: None,
            quota_gib: DEFAULT_SHARE_GIB,
            tier: number(AccessTier::default()),
            tier_changed: written.time(),
            snapshots: 0,
        }
    }

    pub(crate) fn tier(&self) -> AccessTier {
        tier(self.tier)
    }

    pub(crate) fn set_tier(&mut self, tier: AccessTier, at: Timestamp) {
        (self.tier, self.tier_changed) = (number(tier), at);
    }

    /// What a snapshot taken now keeps of it.
    pub(crate) fn snapshot(&self) -> ShareSnapshot {
        ShareSnapshot {
            written: self.written,
            metadata: self.metadata.clone(),
            lease: Lease::default(),
            quota_gib: self.quota_gib,
            tier: self.tier,
            tier_changed: self.tier_changed,
        }
    }
}

impl ShareSnapshot {
    pub(crate) fn tier(&self) -> AccessTier {
        tier(self.tier)
    }
}

fn number(tier: AccessTier) -> u8 {
    match tier {
        AccessTier::TransactionOptimized => 0,
        AccessTier::Hot => 1,
        AccessTier::Cool => 2,
    }
}

fn tier(number: u8) -> AccessTier {
    match number {
        1 => AccessTier::Hot,
        2 => AccessTier::Cool,
        _ => AccessTier::TransactionOptimized,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        let mut share = Share::new(Stamp(7));
        share.metadata.insert("a".to_owned(), "b".to_owned());
        share.deleted = Some(Deleted { at: Stamp(8), until: Timestamp(9) });
        for tier in [AccessTier::TransactionOptimized, AccessTier::Hot, AccessTier::Cool] {
            share.set_tier(tier, Timestamp(11));
            assert_eq!(share.tier(), tier);
            assert_eq!(Share::from_bytes(&share.to_bytes()).ok().as_ref(), Some(&share));
            let snapshot = share.snapshot();
            assert_eq!(snapshot.tier(), tier);
            assert_eq!(ShareSnapshot::from_bytes(&snapshot.to_bytes()).ok(), Some(snapshot));
        }
    }
}
