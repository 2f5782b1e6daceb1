//! The heads of uploads whose content is read from a URL.
//!
//! Must never open the source: only what the headers say about it.

use super::append::append_conditions;
use super::blob::writable;
use super::conditions::conditions;
use super::properties::stored;
use super::put::block_id;
use super::tier::tier;
use super::{checksum, encryption, protection, tags};
use crate::copy::url::SourceUrl;
use crate::fields::Fields;
use zaffre_core::blob::op::{self, BlobPath, ExpectedChecksum};
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::{ApiError, codes};

const SOURCE: &str = "x-ms-copy-source";
const PROPERTIES: &str = "x-ms-copy-source-blob-properties";
const SOURCE_RANGE: &str = "x-ms-source-range";

/// An operation whose content comes from `source`.
#[derive(Clone, Debug)]
pub struct FromUrl<Op> {
    /// The operation; what depends on the source is filled in once that is open.
    pub op: Op,
    /// Where the content comes from.
    pub source: SourceUrl,
}

/// What Put Blob From URL takes over from its source.
#[derive(Clone, Debug)]
pub struct WholeBlob {
    /// The upload, with the properties that were given.
    pub op: op::PutBlob,
    /// The source's content headers stand in for those not given.
    pub take_properties: bool,
    /// The source's tags are copied too.
    pub take_tags: bool,
}

impl WholeBlob {
    /// The upload with what it takes over from its source.
    pub fn completed(
        self,
        length: u64,
        source: &HttpProperties,
        metadata: &Metadata,
    ) -> op::PutBlob {
        let mut op = self.op;
        op.length = Some(length);
        if self.take_properties {
            let given = op.properties;
            op.properties = HttpProperties {
                content_type: given.content_type.or_else(|| source.content_type.clone()),
                content_encoding: given
                    .content_encoding
                    .or_else(|| source.content_encoding.clone()),
                content_language: given
                    .content_language
                    .or_else(|| source.content_language.clone()),
                content_disposition: given
                    .content_disposition
                    .or_else(|| source.content_disposition.clone()),
                cache_control: given.cache_control.or_else(|| source.cache_control.clone()),
                content_md5: given.content_md5,
            };
        }
        if op.metadata.is_empty() {
            op.metadata.clone_from(metadata);
        }
        op
    }
}

pub(super) fn put_blob(fields: &Fields<'_>, at: BlobPath) -> Result<FromUrl<WholeBlob>, ApiError> {
    writable(fields)?;
    without_content(fields)?;
    let source = source(fields)?;
    let take_properties = fields.header(PROPERTIES)?.is_none() || fields.flag(PROPERTIES)?;
    let tags = tags::header(fields)?;
    let take_tags = take_tags(fields, &tags)?;
    let op = op::PutBlob {
        at,
        length: None,
        properties: stored(fields)?,
        metadata: fields.metadata()?,
        tags,
        expect: expected(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::PutBlob)?,
        tier: tier(fields)?,
        protection: protection::given(fields)?,
        encryption: encryption::of_write(fields)?,
        context: fields.context(),
    };
    Ok(FromUrl { op: WholeBlob { op, take_properties, take_tags }, source })
}

pub(super) fn put_block(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<FromUrl<op::PutBlock>, ApiError> {
    writable(fields)?;
    without_content(fields)?;
    check_range(fields)?;
    let op = op::PutBlock {
        at,
        block_id: block_id(fields)?,
        length: None,
        expect: expected(fields)?,
        lease: fields.lease_id()?,
        context: fields.context(),
        encryption: encryption::of_write(fields)?,
    };
    Ok(FromUrl { op, source: source(fields)? })
}

pub(super) fn append_block(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<FromUrl<op::AppendBlock>, ApiError> {
    writable(fields)?;
    without_content(fields)?;
    check_range(fields)?;
    let op = op::AppendBlock {
        at,
        length: None,
        expect: expected(fields)?,
        append: append_conditions(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::AppendBlock)?,
        context: fields.context(),
        encryption: encryption::of_write(fields)?,
    };
    Ok(FromUrl { op, source: source(fields)? })
}

/// `x-ms-copy-source-tag-option`: whether the source's tags are copied.
pub(super) fn take_tags(fields: &Fields<'_>, given: &Tags) -> Result<bool, ApiError> {
    const OPTION: &str = "x-ms-copy-source-tag-option";
    match fields.header(OPTION)? {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("REPLACE") => Ok(false),
        Some(text) if !text.eq_ignore_ascii_case("COPY") => {
            Err(ApiError::invalid_header_value(OPTION, text))
        }
        Some(_) if given.is_empty() => Ok(true),
        Some(_) => Err(codes::BOTH_USER_TAGS_AND_SOURCE_TAGS_COPY_PRESENT.into()),
    }
}

/// The source of a copy.
pub(super) fn source(fields: &Fields<'_>) -> Result<SourceUrl, ApiError> {
    let text = fields.required(SOURCE)?;
    let source = SourceUrl::parse(text, fields.version());
    source.ok_or_else(|| ApiError::invalid_header_value(SOURCE, text))
}

/// The checksum that the source's content must have.
pub(super) fn expected(fields: &Fields<'_>) -> Result<ExpectedChecksum, ApiError> {
    checksum::expected_as(fields, "x-ms-source-content-md5", "x-ms-source-content-crc64")
}

/// A range of the source that cannot be read is refused: without it, all would be copied.
fn check_range(fields: &Fields<'_>) -> Result<(), ApiError> {
    let Some(text) = fields.header(SOURCE_RANGE)? else { return Ok(()) };
    match zaffre_domain::blob::range::parse(text, fields.version()) {
        Some(_) => Ok(()),
        None => Err(ApiError::invalid_header_value(SOURCE_RANGE, text)),
    }
}

/// The request itself has no content.
pub(super) fn without_content(fields: &Fields<'_>) -> Result<(), ApiError> {
    match fields.content_length() {
        None | Some(0) => Ok(()),
        Some(_) => Err(codes::INVALID_INPUT.into()),
    }
}
