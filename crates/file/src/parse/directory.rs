//! The heads of operations on directories.

use super::listing::{Repeated, included, not_included};
use super::{item, smb};
use crate::fields;
use zaffre_base::ApiVersion;
use zaffre_core::file::op::{
    CreateDirectory, DeleteDirectory, GetDirectory, ItemPath, ListDirectory, SetDirectoryMetadata,
    SetDirectoryProperties,
};
use zaffre_http::{ApiError, Asked, codes};

/// From here on listings have a prefix.
const PREFIXES: ApiVersion = ApiVersion::new(2016, 5, 31);
/// From here on listings show more than names and sizes.
const INCLUDES: ApiVersion = ApiVersion::new(2020, 4, 8);

/// What a listing shows of each entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether one thing is shown")]
pub struct Shows {
    /// Times, and Last-Modified.
    pub timestamps: bool,
    /// ETags.
    pub etag: bool,
    /// Attributes.
    pub attributes: bool,
    /// Keys of security descriptors.
    pub permission_key: bool,
}

/// List Directories and Files with what its answer repeats.
#[derive(Clone, Debug)]
pub struct EntriesListing {
    /// The operation.
    pub op: ListDirectory,
    /// What is shown of each entry.
    pub shows: Shows,
    /// What is repeated.
    pub repeated: Repeated,
    /// The directory's path as sent.
    pub path: String,
    /// The snapshot as sent.
    pub snapshot: String,
}

pub(super) fn create(at: ItemPath, asked: &Asked<'_>) -> Result<CreateDirectory, ApiError> {
    Ok(CreateDirectory { at, smb: smb::create(asked)?, metadata: asked.metadata()? })
}

pub(super) fn get(at: ItemPath) -> GetDirectory {
    GetDirectory { at }
}

pub(super) fn set_properties(
    at: ItemPath,
    asked: &Asked<'_>,
) -> Result<SetDirectoryProperties, ApiError> {
    Ok(SetDirectoryProperties { at, smb: smb::set(asked)? })
}

pub(super) fn set_metadata(
    at: ItemPath,
    asked: &Asked<'_>,
) -> Result<SetDirectoryMetadata, ApiError> {
    Ok(SetDirectoryMetadata { at, metadata: asked.metadata()? })
}

pub(super) fn delete(at: ItemPath, asked: &Asked<'_>) -> Result<DeleteDirectory, ApiError> {
    Ok(DeleteDirectory { at, patience: item::patience(asked)? })
}

pub(super) fn list(
    at: ItemPath,
    path: &str,
    asked: &Asked<'_>,
) -> Result<EntriesListing, ApiError> {
    let repeated = Repeated::read(asked)?;
    if asked.version < PREFIXES && repeated.prefix.is_some() {
        return Err(ApiError::from(codes::UNSUPPORTED_QUERY_PARAMETER)
            .detail("QueryParameterName", "prefix"));
    }
    let mut shows = Shows::default();
    for value in included(asked) {
        match value.to_ascii_lowercase().as_str() {
            "timestamps" => shows.timestamps = true,
            "etag" => shows.etag = true,
            "attributes" => shows.attributes = true,
            "permissionkey" => shows.permission_key = true,
            _ => return Err(not_included(value)),
        }
    }
    if asked.version < INCLUDES && shows != Shows::default() {
        return Err(ApiError::from(codes::UNSUPPORTED_QUERY_PARAMETER)
            .detail("QueryParameterName", "include"));
    }
    let extended = fields::flag(asked, "x-ms-file-extended-info")?;
    let op = ListDirectory {
        at,
        prefix: repeated.prefix.clone().unwrap_or_default(),
        marker: repeated.from(),
        max_results: repeated.page(),
        exact_sizes: extended || shows != Shows::default(),
    };
    let snapshot = asked.query("sharesnapshot").unwrap_or_default().to_owned();
    let path = path.trim_matches('/').to_owned();
    Ok(EntriesListing { op, shows, repeated, path, snapshot })
}
