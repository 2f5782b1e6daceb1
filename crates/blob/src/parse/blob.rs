//! The heads of blob operations other than uploads.
//!
//! Must never treat a snapshot or a version as the blob itself: neither exists here yet.

use super::conditions::conditions;
use super::properties::{UNSERVED_ON_WRITES, stored};
use super::{checksum, lease, put};
use crate::fields::Fields;
use crate::refuse;
use zaffre_base::{Guid, Timestamp};
use zaffre_core::blob::op::{self, BlobPath};
use zaffre_domain::blob::range;
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::{ApiError, codes};

/// Headers of a read that ask for what is not done here yet.
const UNSERVED_ON_READS: &[&str] = &["x-ms-encryption-key", "x-ms-encryption-key-sha256"];

/// Get Blob and how its content is to be sent.
#[derive(Clone, Debug)]
pub struct Download {
    /// The operation.
    pub op: op::GetBlob,
    /// In segments with checksums, `XSM/1.0`.
    pub structured: bool,
}

pub(super) fn get(fields: &Fields<'_>, at: BlobPath) -> Result<Download, ApiError> {
    current_only(fields)?;
    fields.refuse_unserved(UNSERVED_ON_READS)?;
    let structured = put::structured(fields)?;
    let range = match fields.header("x-ms-range")? {
        Some(text) => Some(text),
        None => fields.header("range")?,
    };
    let range = range.and_then(|text| range::parse(text, fields.version()));
    let op = op::GetBlob {
        at,
        range,
        range_checksum: checksum::of_range(fields, range.is_some())?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::GetBlob)?,
        context: fields.context(),
    };
    Ok(Download { op, structured })
}

pub(super) fn get_properties(
    fields: &Fields<'_>,
    at: BlobPath,
    operation: Op,
) -> Result<op::GetBlobProperties, ApiError> {
    current_only(fields)?;
    fields.refuse_unserved(UNSERVED_ON_READS)?;
    Ok(op::GetBlobProperties {
        at,
        lease: fields.lease_id()?,
        conditions: conditions(fields, operation)?,
        context: fields.context(),
    })
}

pub(super) fn set_metadata(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::SetBlobMetadata, ApiError> {
    writable(fields)?;
    Ok(op::SetBlobMetadata {
        at,
        metadata: fields.metadata()?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SetBlobMetadata)?,
    })
}

pub(super) fn set_properties(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::SetBlobProperties, ApiError> {
    writable(fields)?;
    // Resizing and sequence numbers belong to page blobs.
    fields.refuse_unserved(&["x-ms-blob-content-length", "x-ms-sequence-number-action"])?;
    Ok(op::SetBlobProperties {
        at,
        properties: stored(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SetBlobProperties)?,
    })
}

pub(super) fn delete(fields: &Fields<'_>, at: BlobPath) -> Result<op::DeleteBlob, ApiError> {
    const SNAPSHOTS: &str = "x-ms-delete-snapshots";
    const TYPE: &str = "deletetype";
    current_only(fields)?;
    match fields.header(SNAPSHOTS)? {
        None => {}
        // Without snapshots, deleting them too changes nothing.
        Some(text) if text.eq_ignore_ascii_case("include") => {}
        Some(text) if text.eq_ignore_ascii_case("only") => {
            return Err(refuse::unserved_header(SNAPSHOTS));
        }
        Some(text) => return Err(ApiError::invalid_header_value(SNAPSHOTS, text)),
    }
    match fields.query(TYPE) {
        None => {}
        Some(text) if text.eq_ignore_ascii_case("permanent") => {
            return Err(refuse::unserved_query(TYPE));
        }
        Some(text) => return Err(ApiError::invalid_query_parameter(TYPE, text, "")),
    }
    fields.refuse_unserved(&[
        "x-ms-access-tier-if-modified-since",
        "x-ms-access-tier-if-unmodified-since",
    ])?;
    Ok(op::DeleteBlob {
        at,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::DeleteBlob)?,
    })
}

pub(super) fn lease(
    fields: &Fields<'_>,
    at: BlobPath,
    fallback: Guid,
) -> Result<op::LeaseBlob, ApiError> {
    writable(fields)?;
    Ok(op::LeaseBlob {
        at,
        command: lease::command(fields, fallback)?,
        conditions: conditions(fields, Op::LeaseBlob)?,
        context: fields.context(),
    })
}

pub(super) fn get_block_list(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::GetBlockList, ApiError> {
    const TYPE: &str = "blocklisttype";
    current_only(fields)?;
    // Blocks have no tags to compare with, so that a condition on them could only be dropped.
    fields.refuse_unserved(&["x-ms-if-tags"])?;
    let asked = fields.query(TYPE).filter(|text| !text.is_empty()).unwrap_or("committed");
    let (committed, uncommitted) = match asked.to_ascii_lowercase().as_str() {
        "committed" => (true, false),
        "uncommitted" => (false, true),
        "all" => (true, true),
        _ => return Err(ApiError::invalid_query_parameter(TYPE, asked, "")),
    };
    Ok(op::GetBlockList { at, committed, uncommitted, lease: fields.lease_id()? })
}

/// Refuses reads and deletes of snapshots and versions, malformed ones as Azure does.
fn current_only(fields: &Fields<'_>) -> Result<(), ApiError> {
    let snapshot = fields.query("snapshot");
    let version = fields.query("versionid");
    if snapshot.is_some() && version.is_some() {
        return Err(codes::MUTUALLY_EXCLUSIVE_QUERY_PARAMETERS.into());
    }
    for (name, value) in [("snapshot", snapshot), ("versionid", version)] {
        let Some(text) = value else { continue };
        return Err(match Timestamp::parse_iso(text) {
            Some(_) => refuse::unserved_query(name),
            None => ApiError::invalid_query_parameter(name, text, ""),
        });
    }
    Ok(())
}

/// Refuses writes to snapshots and versions, and headers that no write here obeys yet.
pub(super) fn writable(fields: &Fields<'_>) -> Result<(), ApiError> {
    for name in ["snapshot", "versionid"] {
        if let Some(text) = fields.query(name) {
            return Err(ApiError::invalid_query_parameter(name, text, ""));
        }
    }
    fields.refuse_unserved(UNSERVED_ON_WRITES)
}
