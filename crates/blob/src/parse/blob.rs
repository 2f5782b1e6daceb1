//! The heads of blob operations other than uploads.
//!
//! Must never treat a snapshot or a version as the blob itself: what cannot act on one refuses it.

use super::conditions::{conditions, on_tier};
use super::properties::{UNSERVED_ON_WRITES, stored};
use super::{checksum, encryption, lease, moment, put};
use crate::fields::Fields;
use zaffre_base::Guid;
use zaffre_core::blob::op::{self, BlobPath};
use zaffre_domain::blob::range;
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::ApiError;

/// Get Blob and how its content is to be sent.
#[derive(Clone, Debug)]
pub struct Download {
    /// The operation.
    pub op: op::GetBlob,
    /// In segments with checksums, `XSM/1.0`.
    pub structured: bool,
}

pub(crate) fn get(fields: &Fields<'_>, at: BlobPath) -> Result<Download, ApiError> {
    let at = moment::of(fields, at)?;
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
        encryption: encryption::of_read(fields)?,
    };
    Ok(Download { op, structured })
}

pub(super) fn get_properties(
    fields: &Fields<'_>,
    at: BlobPath,
    operation: Op,
) -> Result<op::GetBlobProperties, ApiError> {
    let at = moment::of(fields, at)?;
    Ok(op::GetBlobProperties {
        at,
        lease: fields.lease_id()?,
        conditions: conditions(fields, operation)?,
        context: fields.context(),
        encryption: encryption::of_read(fields)?,
    })
}

pub(super) fn query(fields: &Fields<'_>, at: BlobPath) -> Result<op::QueryBlob, ApiError> {
    let at = moment::of(fields, at)?;
    Ok(op::QueryBlob {
        at,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::QueryBlobContents)?,
        context: fields.context(),
        encryption: encryption::of_read(fields)?,
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
        encryption: encryption::of_write(fields)?,
    })
}

pub(super) fn set_properties(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::SetBlobProperties, ApiError> {
    writable(fields)?;
    Ok(op::SetBlobProperties {
        at,
        properties: stored(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SetBlobProperties)?,
    })
}

pub(super) fn delete(fields: &Fields<'_>, at: BlobPath) -> Result<op::DeleteBlob, ApiError> {
    let at = moment::of(fields, at)?;
    let (snapshots, permanent) = moment::deletion(fields, &at)?;
    Ok(op::DeleteBlob {
        at,
        snapshots,
        permanent,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::DeleteBlob)?,
        tier_conditions: on_tier(fields)?,
    })
}

pub(super) fn snapshot(fields: &Fields<'_>, at: BlobPath) -> Result<op::SnapshotBlob, ApiError> {
    writable(fields)?;
    Ok(op::SnapshotBlob {
        at,
        metadata: fields.metadata()?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SnapshotBlob)?,
        encryption: encryption::of_write(fields)?,
    })
}

pub(super) fn undelete(fields: &Fields<'_>, at: BlobPath) -> Result<op::UndeleteBlob, ApiError> {
    writable(fields)?;
    Ok(op::UndeleteBlob { at })
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
    let at = moment::of(fields, at)?;
    let asked = fields.query(TYPE).filter(|text| !text.is_empty()).unwrap_or("committed");
    let (committed, uncommitted) = match asked.to_ascii_lowercase().as_str() {
        "committed" => (true, false),
        "uncommitted" => (false, true),
        "all" => (true, true),
        _ => return Err(ApiError::invalid_query_parameter(TYPE, asked, "")),
    };
    Ok(op::GetBlockList {
        at,
        committed,
        uncommitted,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::GetBlockList)?,
    })
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
