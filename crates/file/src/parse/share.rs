//! The heads of operations on shares.

use super::{lease, snapshot};
use crate::fields;
use zaffre_base::limits::SHARE_GIB;
use zaffre_base::{Guid, Stamp};
use zaffre_core::file::share::op::{
    CreateShare, DeleteShare, DeleteShareSnapshots, GetShare, GetShareAcl, GetShareStats,
    LeaseShare, RestoreShare, SetShareAcl, SetShareMetadata, SetShareProperties, ShareAt,
    SharePath, SnapshotShare,
};
use zaffre_domain::fs::share::AccessTier;
use zaffre_http::{ApiError, Asked, codes};

const QUOTA: &str = "x-ms-share-quota";
const TIER: &str = "x-ms-access-tier";
const PROTOCOLS: &str = "x-ms-enabled-protocols";
/// What only shares have that are reached over NFS, or are provisioned: there are none here.
const UNSERVED: [&str; 6] = [
    "x-ms-root-squash",
    "x-ms-share-paid-bursting-enabled",
    "x-ms-share-paid-bursting-max-bandwidth-mibps",
    "x-ms-share-paid-bursting-max-iops",
    "x-ms-share-provisioned-iops",
    "x-ms-share-provisioned-bandwidth-mibps",
];

fn at(share: SharePath, asked: &Asked<'_>) -> Result<ShareAt, ApiError> {
    Ok(ShareAt { share, snapshot: snapshot::optional(asked)? })
}

pub(super) fn create(at: SharePath, asked: &Asked<'_>) -> Result<CreateShare, ApiError> {
    snapshot::refuse(asked)?;
    refuse_unserved(asked)?;
    match asked.header(PROTOCOLS)? {
        Some(text) if !text.eq_ignore_ascii_case("SMB") => {
            return Err(ApiError::invalid_header_value(PROTOCOLS, text));
        }
        _ => {}
    }
    let (quota_gib, tier) = (quota(asked)?, tier(asked)?);
    Ok(CreateShare { at, metadata: asked.metadata()?, quota_gib, tier })
}

pub(super) fn get(share: SharePath, asked: &Asked<'_>) -> Result<GetShare, ApiError> {
    Ok(GetShare { at: at(share, asked)?, lease: fields::lease_id(asked)? })
}

pub(super) fn set_properties(
    at: SharePath,
    asked: &Asked<'_>,
) -> Result<SetShareProperties, ApiError> {
    snapshot::refuse(asked)?;
    refuse_unserved(asked)?;
    let (quota_gib, tier) = (quota(asked)?, tier(asked)?);
    Ok(SetShareProperties { at, lease: fields::lease_id(asked)?, quota_gib, tier })
}

pub(super) fn set_metadata(at: SharePath, asked: &Asked<'_>) -> Result<SetShareMetadata, ApiError> {
    snapshot::refuse(asked)?;
    Ok(SetShareMetadata { at, lease: fields::lease_id(asked)?, metadata: asked.metadata()? })
}

pub(super) fn get_acl(at: SharePath, asked: &Asked<'_>) -> Result<GetShareAcl, ApiError> {
    snapshot::refuse(asked)?;
    Ok(GetShareAcl { at, lease: fields::lease_id(asked)? })
}

/// The policies come with the body.
pub(super) fn set_acl(at: SharePath, asked: &Asked<'_>) -> Result<SetShareAcl, ApiError> {
    snapshot::refuse(asked)?;
    Ok(SetShareAcl { at, lease: fields::lease_id(asked)?, policies: Vec::new() })
}

pub(super) fn stats(at: SharePath, asked: &Asked<'_>) -> Result<GetShareStats, ApiError> {
    snapshot::refuse(asked)?;
    Ok(GetShareStats { at, lease: fields::lease_id(asked)? })
}

pub(super) fn snapshot(at: SharePath, asked: &Asked<'_>) -> Result<SnapshotShare, ApiError> {
    snapshot::refuse(asked)?;
    let metadata = asked.metadata()?;
    Ok(SnapshotShare { at, metadata: Some(metadata).filter(|own| !own.is_empty()) })
}

pub(super) fn delete(share: SharePath, asked: &Asked<'_>) -> Result<DeleteShare, ApiError> {
    const SNAPSHOTS: &str = "x-ms-delete-snapshots";
    let at = at(share, asked)?;
    let snapshots = match asked.header(SNAPSHOTS)? {
        None => DeleteShareSnapshots::Refuse,
        Some(text) if at.snapshot.is_some() => {
            return Err(ApiError::invalid_header_value(SNAPSHOTS, text));
        }
        Some(text) if text.eq_ignore_ascii_case("include") => DeleteShareSnapshots::Include,
        Some(text) if text.eq_ignore_ascii_case("include-leased") => {
            DeleteShareSnapshots::IncludeLeased
        }
        Some(text) => return Err(ApiError::invalid_header_value(SNAPSHOTS, text)),
    };
    Ok(DeleteShare { at, lease: fields::lease_id(asked)?, snapshots })
}

pub(super) fn restore(at: SharePath, asked: &Asked<'_>) -> Result<RestoreShare, ApiError> {
    const NAME: &str = "x-ms-deleted-share-name";
    const VERSION: &str = "x-ms-deleted-share-version";
    snapshot::refuse(asked)?;
    let (name, version) = (fields::required(asked, NAME)?, fields::required(asked, VERSION)?);
    if name != at.share.as_str() {
        return Err(ApiError::invalid_header_value(NAME, name));
    }
    // Ids are ours: one of another form belongs to no share.
    let is_id = version.len() == 16 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = u64::from_str_radix(version, 16).ok().filter(|_| is_id).map(Stamp);
    Ok(RestoreShare { at, version })
}

pub(super) fn lease(
    share: SharePath,
    asked: &Asked<'_>,
    fresh: Guid,
) -> Result<LeaseShare, ApiError> {
    Ok(LeaseShare { at: at(share, asked)?, command: lease::of_share(asked, fresh)? })
}

fn quota(asked: &Asked<'_>) -> Result<Option<u64>, ApiError> {
    fields::number(asked, QUOTA, 1, SHARE_GIB)
}

fn tier(asked: &Asked<'_>) -> Result<Option<AccessTier>, ApiError> {
    let Some(text) = asked.header(TIER)? else { return Ok(None) };
    AccessTier::parse(text).map(Some).ok_or_else(|| ApiError::invalid_header_value(TIER, text))
}

fn refuse_unserved(asked: &Asked<'_>) -> Result<(), ApiError> {
    for name in UNSERVED {
        if asked.header(name)?.is_some() {
            return Err(ApiError::from(codes::UNSUPPORTED_HEADER).detail("HeaderName", name));
        }
    }
    Ok(())
}
