//! The operations on containers, and listing what is in them.

use super::{ContainerPath, Context};
use zaffre_base::{AccountName, Guid, Stamp};
use zaffre_domain::blob::encryption::ScopePolicy;
use zaffre_domain::blob::{AccessPolicy, Metadata, PublicAccess};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::lease::LeaseCommand;

/// List Containers.
#[derive(Clone, Debug)]
pub struct ListContainers {
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
    /// Show `$logs` and the like.
    pub include_system: bool,
    /// Show deleted containers that are kept.
    pub include_deleted: bool,
}

/// Create Container.
#[derive(Clone, Debug)]
pub struct CreateContainer {
    /// Which.
    pub at: ContainerPath,
    /// Its metadata.
    pub metadata: Metadata,
    /// Anonymous access.
    pub access: PublicAccess,
    /// What its blobs are encrypted with.
    pub scopes: ScopePolicy,
}

/// Delete Container.
#[derive(Clone, Debug)]
pub struct DeleteContainer {
    /// Which.
    pub at: ContainerPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-(Un)Modified-Since.
    pub conditions: Conditions,
}

/// Restore Container.
#[derive(Clone, Debug)]
pub struct RestoreContainer {
    /// Which, by the name it had.
    pub at: ContainerPath,
    /// Which of those that had the name; `None` = an id that none can have.
    pub version: Option<Stamp>,
}

/// Get Container Properties and Get Container Metadata.
#[derive(Clone, Debug)]
pub struct GetContainer {
    /// Which.
    pub at: ContainerPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
}

/// Set Container Metadata.
#[derive(Clone, Debug)]
pub struct SetContainerMetadata {
    /// Which.
    pub at: ContainerPath,
    /// Replaces all metadata.
    pub metadata: Metadata,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-Modified-Since.
    pub conditions: Conditions,
}

/// Get Container ACL.
#[derive(Clone, Debug)]
pub struct GetContainerAcl {
    /// Which.
    pub at: ContainerPath,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
}

/// Set Container ACL: replaces both the access level and the policies.
#[derive(Clone, Debug)]
pub struct SetContainerAcl {
    /// Which.
    pub at: ContainerPath,
    /// Anonymous access.
    pub access: PublicAccess,
    /// Stored access policies, at most five.
    pub policies: Vec<AccessPolicy>,
    /// `x-ms-lease-id`.
    pub lease: Option<Guid>,
    /// If-(Un)Modified-Since.
    pub conditions: Conditions,
}

/// Lease Container.
#[derive(Clone, Debug)]
pub struct LeaseContainer {
    /// Which.
    pub at: ContainerPath,
    /// What to do.
    pub command: LeaseCommand,
    /// If-(Un)Modified-Since.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

/// List Blobs, flat or by delimiter.
#[derive(Clone, Debug)]
pub struct ListBlobs {
    /// Which container.
    pub at: ContainerPath,
    /// Only names that start so.
    pub prefix: String,
    /// Names that share everything up to this are shown once.
    pub delimiter: Option<String>,
    /// Where the last page ended.
    pub marker: Option<String>,
    /// Start at this name, inclusive (2026-02-06).
    pub start_from: Option<String>,
    /// Page size, 1..=5000.
    pub max_results: u32,
    /// Show metadata.
    pub include_metadata: bool,
    /// Show tags.
    pub include_tags: bool,
    /// Show blobs that only have staged blocks.
    pub include_uncommitted: bool,
    /// Show what is not current.
    pub history: IncludeHistory,
}

/// What a listing shows besides current blobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of what can be asked for")]
pub struct IncludeHistory {
    /// Snapshots.
    pub snapshots: bool,
    /// Versions, and the ids of current ones.
    pub versions: bool,
    /// What is deleted and kept, of the kinds that are shown.
    pub deleted: bool,
    /// Names that have versions and no current one.
    pub deleted_with_versions: bool,
}

impl IncludeHistory {
    /// Whether anything is asked for.
    pub fn any(self) -> bool {
        self.snapshots || self.versions || self.deleted || self.deleted_with_versions
    }
}
