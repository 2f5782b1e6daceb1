//! The operations on shares as plain data: what a protocol parses a request into.
//!
//! Must never know HTTP; every field is typed and already checked for syntax.

use zaffre_base::{AccountName, Guid, ShareName, Stamp};
use zaffre_domain::blob::{AccessPolicy, Metadata};
use zaffre_domain::fs::share::AccessTier;
use zaffre_domain::lease::LeaseCommand;

/// A share by its full name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SharePath {
    /// The account.
    pub account: AccountName,
    /// The share.
    pub share: ShareName,
}

/// A share, or one of its snapshots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShareAt {
    /// Which share.
    pub share: SharePath,
    /// The snapshot, by the commit that took it; `None` = the share itself.
    pub snapshot: Option<Stamp>,
}

/// List Shares.
#[derive(Clone, Debug)]
pub struct ListShares {
    /// The account.
    pub account: AccountName,
    /// Only names that start so.
    pub prefix: String,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
    /// Show metadata.
    pub include_metadata: bool,
    /// Show snapshots.
    pub include_snapshots: bool,
    /// Show shares that were deleted and are kept.
    pub include_deleted: bool,
}

/// Create Share.
#[derive(Clone, Debug)]
pub struct CreateShare {
    /// Which.
    pub at: SharePath,
    /// Its metadata.
    pub metadata: Metadata,
    /// How many gibibytes it may use; `None` = the usual quota.
    pub quota_gib: Option<u64>,
    /// Its access tier.
    pub tier: Option<AccessTier>,
}

/// Get Share Properties and Get Share Metadata.
#[derive(Clone, Debug)]
pub struct GetShare {
    /// Which.
    pub at: ShareAt,
    /// The lease that the caller says it holds.
    pub lease: Option<Guid>,
}

/// Set Share Properties: what is `None` stays.
#[derive(Clone, Debug)]
pub struct SetShareProperties {
    /// Which.
    pub at: SharePath,
    /// The lease that the caller says it holds.
    pub lease: Option<Guid>,
    /// How many gibibytes it may use.
    pub quota_gib: Option<u64>,
    /// Its access tier.
    pub tier: Option<AccessTier>,
}

/// Set Share Metadata.
#[derive(Clone, Debug)]
pub struct SetShareMetadata {
    /// Which.
    pub at: SharePath,
    /// The lease that the caller says it holds.
    pub lease: Option<Guid>,
    /// Replaces all metadata.
    pub metadata: Metadata,
}

/// Get Share ACL.
#[derive(Clone, Debug)]
pub struct GetShareAcl {
    /// Which.
    pub at: SharePath,
    /// The lease that the caller says it holds.
    pub lease: Option<Guid>,
}

/// Set Share ACL.
#[derive(Clone, Debug)]
pub struct SetShareAcl {
    /// Which.
    pub at: SharePath,
    /// The lease that the caller says it holds.
    pub lease: Option<Guid>,
    /// Stored access policies, at most five.
    pub policies: Vec<AccessPolicy>,
}

/// Get Share Stats.
#[derive(Clone, Debug)]
pub struct GetShareStats {
    /// Which.
    pub at: SharePath,
    /// The lease that the caller says it holds.
    pub lease: Option<Guid>,
}

/// Snapshot Share.
#[derive(Clone, Debug)]
pub struct SnapshotShare {
    /// Which.
    pub at: SharePath,
    /// Its own metadata; `None` = the share's.
    pub metadata: Option<Metadata>,
}

/// What Delete Share does about snapshots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeleteShareSnapshots {
    /// Refuse if there are any.
    Refuse,
    /// Delete them too, unless one is leased.
    Include,
    /// Delete them too.
    IncludeLeased,
}

/// Delete Share, or one of its snapshots.
#[derive(Clone, Debug)]
pub struct DeleteShare {
    /// Which.
    pub at: ShareAt,
    /// The lease that the caller says it holds.
    pub lease: Option<Guid>,
    /// What becomes of snapshots.
    pub snapshots: DeleteShareSnapshots,
}

/// Restore Share.
#[derive(Clone, Debug)]
pub struct RestoreShare {
    /// Which.
    pub at: SharePath,
    /// The commit that deleted it; `None` = an id that no deletion can have.
    pub version: Option<Stamp>,
}

/// Lease Share, or one of its snapshots.
#[derive(Clone, Debug)]
pub struct LeaseShare {
    /// Which.
    pub at: ShareAt,
    /// What to do.
    pub command: LeaseCommand,
}
