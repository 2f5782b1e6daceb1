//! The heads of uploads: Put Blob, Put Block and Put Block List. Their bodies come after.
//!
//! Must never touch the body: only what its headers say about it.

use super::blob::writable;
use super::conditions::conditions;
use super::properties::{committed, uploaded};
use super::tier::tier;
use super::{checksum, encryption, protection, tags};
use crate::fields::Fields;
use zaffre_base::base64;
use zaffre_base::limits::{BLOCK_ID_BYTES, XML_BODY_BYTES};
use zaffre_core::blob::op::{self, BlobPath, ExpectedChecksum};
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::ApiError;

const STRUCTURED: &str = "x-ms-structured-body";
const STRUCTURED_LENGTH: &str = "x-ms-structured-content-length";

/// An upload whose content is the body.
#[derive(Clone, Debug)]
pub struct Upload<Op> {
    /// The operation.
    pub op: Op,
    /// How the content sits in the body.
    pub framing: Framing,
}

/// How the content sits in the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// The body is the content.
    Plain,
    /// Segments with checksums, `XSM/1.0`.
    Structured {
        /// Bytes of the body, frames included.
        framed: u64,
        /// Bytes of the content.
        content: u64,
    },
}

/// Put Block List, whose blocks are in the body.
#[derive(Clone, Debug)]
pub struct BlockListUpload {
    /// The operation; its blocks come with the body.
    pub op: op::PutBlockList,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
}

pub(super) fn put_blob(fields: &Fields<'_>, at: BlobPath) -> Result<Upload<op::PutBlob>, ApiError> {
    const PAGE_LENGTH: &str = "x-ms-blob-content-length";
    writable(fields)?;
    if let Some(text) = fields.header(PAGE_LENGTH)? {
        return Err(ApiError::invalid_header_value(PAGE_LENGTH, text));
    }
    let framing = framing(fields)?;
    let properties = uploaded(fields)?;
    let mut expect = checksum::expected(fields)?;
    // Azure verifies the stored MD5 as well when the body's own is not given.
    expect.md5 = expect.md5.or(properties.content_md5);
    let op = op::PutBlob {
        at,
        length: content_length(fields, framing)?,
        properties,
        metadata: fields.metadata()?,
        tags: tags::header(fields)?,
        expect,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::PutBlob)?,
        tier: tier(fields)?,
        protection: protection::given(fields)?,
        encryption: encryption::of_write(fields)?,
        context: fields.context(),
    };
    Ok(Upload { op, framing })
}

pub(super) fn put_block(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<Upload<op::PutBlock>, ApiError> {
    writable(fields)?;
    let block_id = block_id(fields)?;
    let framing = framing(fields)?;
    // A block without a length might turn out to be empty, which no block may be.
    let length = content_length(fields, framing)?.ok_or_else(ApiError::missing_content_length)?;
    if length == 0 {
        return Err(ApiError::invalid_header_value("Content-Length", "0"));
    }
    let op = op::PutBlock {
        at,
        block_id,
        length: Some(length),
        expect: checksum::expected(fields)?,
        lease: fields.lease_id()?,
        context: fields.context(),
        encryption: encryption::of_write(fields)?,
    };
    Ok(Upload { op, framing })
}

pub(super) fn put_block_list(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<BlockListUpload, ApiError> {
    writable(fields)?;
    fields.refuse_unserved(&[STRUCTURED])?;
    let length = content_length(fields, Framing::Plain)?;
    if length.is_some_and(|length| length > XML_BODY_BYTES) {
        return Err(ApiError::request_body_too_large(XML_BODY_BYTES));
    }
    let op = op::PutBlockList {
        at,
        blocks: Vec::new(),
        properties: committed(fields)?,
        metadata: fields.metadata()?,
        tags: tags::header(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::PutBlockList)?,
        context: fields.context(),
        tier: tier(fields)?,
        protection: protection::given(fields)?,
        encryption: encryption::of_write(fields)?,
    };
    Ok(BlockListUpload { op, expect: checksum::expected(fields)? })
}

/// `blockid`: Base64 of 1 to 64 bytes. A bare `+` in a query reads as a space, which Base64 does
/// not have, so that it can only have been a plus.
pub(super) fn block_id(fields: &Fields<'_>) -> Result<Vec<u8>, ApiError> {
    const NAME: &str = "blockid";
    let text = fields.query(NAME).ok_or_else(|| ApiError::missing_required_query(NAME))?;
    let invalid = || ApiError::invalid_query_parameter(NAME, text, "Not a valid base64 string.");
    let id = base64::decode(&text.replace(' ', "+")).ok_or_else(invalid)?;
    match id.len() {
        0 => Err(invalid()),
        1..=BLOCK_ID_BYTES => Ok(id),
        _ => Err(ApiError::out_of_range_input()),
    }
}

pub(super) fn framing(fields: &Fields<'_>) -> Result<Framing, ApiError> {
    if !structured(fields)? {
        return Ok(Framing::Plain);
    }
    let framed = fields.content_length().ok_or_else(ApiError::missing_content_length)?;
    let length = fields.required(STRUCTURED_LENGTH)?;
    match length.parse::<u64>() {
        Ok(content) if content <= framed => Ok(Framing::Structured { framed, content }),
        _ => Err(ApiError::invalid_header_value(STRUCTURED_LENGTH, length)),
    }
}

/// Whether the request asks for the one framing there is.
pub(super) fn structured(fields: &Fields<'_>) -> Result<bool, ApiError> {
    zaffre_http::structured::is_asked(fields.header(STRUCTURED)?)
}

/// How much content is announced; `None` when it comes in chunks and ends when it ends.
pub(super) fn content_length(
    fields: &Fields<'_>,
    framing: Framing,
) -> Result<Option<u64>, ApiError> {
    if let Framing::Structured { content, .. } = framing {
        return Ok(Some(content));
    }
    match fields.content_length() {
        Some(length) => Ok(Some(length)),
        None if fields.header("transfer-encoding")?.is_some() => Ok(None),
        None => Err(ApiError::missing_content_length()),
    }
}
