//! What the operations on shares answer, as plain data for a protocol to render.

use zaffre_base::{Guid, ShareName, Stamp, Timestamp};
use zaffre_domain::blob::{AccessPolicy, Metadata};
use zaffre_domain::fs::share::AccessTier;
use zaffre_domain::lease::LeaseView;

/// What a share is like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShareView {
    /// Its name.
    pub name: ShareName,
    /// The snapshot this is, by the commit that took it.
    pub snapshot: Option<Stamp>,
    /// The commit that made this state: ETag and Last-Modified.
    pub written: Stamp,
    /// Its metadata.
    pub metadata: Metadata,
    /// How many gibibytes it may use.
    pub quota_gib: u64,
    /// Its access tier.
    pub tier: AccessTier,
    /// When that was last set.
    pub tier_changed: Timestamp,
    /// Its lease.
    pub lease: LeaseView,
    /// That it was deleted, and for how long it is kept.
    pub deleted: Option<DeletedShare>,
}

/// A deletion that can be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeletedShare {
    /// The commit that deleted it; its id.
    pub version: Stamp,
    /// Whole days that it is still kept.
    pub remaining_days: u64,
}

/// One page of shares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharePage {
    /// In order of names; of one name, what is deleted first, then snapshots from old to new.
    pub shares: Vec<ShareView>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// What Get Share ACL answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShareAcl {
    /// The commit that made this state.
    pub written: Stamp,
    /// The stored access policies.
    pub policies: Vec<AccessPolicy>,
}

/// What Get Share Stats answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShareStats {
    /// The commit that made the share's state.
    pub written: Stamp,
    /// Bytes that its files count for.
    pub usage: u64,
}

/// What Snapshot Share answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotTaken {
    /// The snapshot, by the commit that took it.
    pub snapshot: Stamp,
    /// ETag and Last-Modified of the snapshot.
    pub written: Stamp,
}

/// What Lease Share answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShareLeased {
    /// The commit that made the share's state.
    pub written: Stamp,
    /// The id now in force.
    pub id: Option<Guid>,
    /// Whole seconds until a break completes.
    pub break_seconds: Option<u64>,
}
