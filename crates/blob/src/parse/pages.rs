//! The heads of the operations that only page blobs have.
//!
//! Must never touch the body: only what its headers say about it.

use super::append::{number, without_body};
use super::blob::writable;
use super::conditions::conditions;
use super::moment;
use super::properties::{stored, uploaded};
use super::put::{Upload, content_length, framing};
use super::tier::page_tier;
use super::{checksum, encryption, protection, tags};
use crate::fields::Fields;
use std::ops::Range;
use zaffre_base::limits::{PAGE_BLOB_BYTES, PAGE_RANGES, PAGE_WRITE_BYTES, SEQUENCE_NUMBER};
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_core::blob::op::{self, BlobPath, ExpectedChecksum, MomentId, NewBlob, PageWrite};
use zaffre_domain::blob::HttpProperties;
use zaffre_domain::blob::pages::{SequenceAction, SequenceConditions, is_aligned, pages};
use zaffre_domain::blob::range;
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::{ApiError, codes};

/// From here on there are page blobs.
const PAGE_BLOBS: ApiVersion = ApiVersion::new(2009, 9, 19);
/// From here on Get Page Ranges compares with a snapshot.
const DIFFERENCES: ApiVersion = ApiVersion::new(2015, 7, 8);
/// From here on Get Page Ranges answers in pages.
const PAGED_RANGES: ApiVersion = ApiVersion::new(2020, 10, 2);
const LENGTH: &str = "x-ms-blob-content-length";
const SEQUENCE: &str = "x-ms-blob-sequence-number";
const ACTION: &str = "x-ms-sequence-number-action";
const WRITE: &str = "x-ms-page-write";
const SEQUENCE_CONDITIONS: [&str; 3] =
    ["x-ms-if-sequence-number-le", "x-ms-if-sequence-number-lt", "x-ms-if-sequence-number-eq"];
const PREVIOUS_URL: &str = "x-ms-previous-snapshot-url";

pub(super) fn create(fields: &Fields<'_>, at: BlobPath) -> Result<op::CreateBlob, ApiError> {
    since(fields)?;
    writable(fields)?;
    without_body(fields)?;
    let length = length(fields)?.ok_or_else(|| ApiError::missing_required_header(LENGTH))?;
    let sequence_number = sequence_number(fields)?.unwrap_or(0);
    Ok(op::CreateBlob {
        at,
        new: NewBlob::Page { length, sequence_number },
        properties: uploaded(fields)?,
        metadata: fields.metadata()?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::PutBlob)?,
        tier: page_tier(fields)?,
        protection: protection::given(fields)?,
        encryption: encryption::of_write(fields)?,
        tags: tags::header(fields)?,
        context: fields.context(),
    })
}

pub(super) fn put_page(fields: &Fields<'_>, at: BlobPath) -> Result<Upload<op::PutPage>, ApiError> {
    since(fields)?;
    writable(fields)?;
    let write = fields.required(WRITE)?;
    let pages = written(fields)?;
    let framing = framing(fields)?;
    let length = content_length(fields, framing)?.ok_or_else(ApiError::missing_content_length)?;
    let wanted = match write.to_ascii_lowercase().as_str() {
        "update" => pages.end - pages.start,
        "clear" => 0,
        _ => return Err(ApiError::invalid_header_value(WRITE, write)),
    };
    if wanted > PAGE_WRITE_BYTES || length > PAGE_WRITE_BYTES {
        return Err(ApiError::request_body_too_large(PAGE_WRITE_BYTES));
    }
    if length != wanted {
        return Err(ApiError::invalid_header_value("Content-Length", &length.to_string()));
    }
    let write = match wanted {
        0 => PageWrite::Clear,
        _ => PageWrite::Update(checksum::expected(fields)?),
    };
    let op = op::PutPage {
        at,
        pages,
        write,
        sequence: sequence(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::PutPage)?,
        encryption: encryption::of_write(fields)?,
    };
    Ok(Upload { op, framing })
}

/// Put Page From URL: as many bytes of the source as there are pages, and no clearing.
pub(super) fn put_page_from_url(
    fields: &Fields<'_>,
    at: BlobPath,
    expect: ExpectedChecksum,
) -> Result<op::PutPage, ApiError> {
    const SOURCE_RANGE: &str = "x-ms-source-range";
    since(fields)?;
    writable(fields)?;
    let write = fields.required(WRITE)?;
    if !write.eq_ignore_ascii_case("update") {
        return Err(ApiError::invalid_header_value(WRITE, write));
    }
    let pages = written(fields)?;
    let wanted = pages.end - pages.start;
    if wanted > PAGE_WRITE_BYTES {
        return Err(ApiError::request_body_too_large(PAGE_WRITE_BYTES));
    }
    let text = fields.required(SOURCE_RANGE)?;
    let length = match range::parse(text, fields.version()) {
        Some((first, Some(last))) => last.checked_sub(first).and_then(|more| more.checked_add(1)),
        _ => None,
    };
    if length != Some(wanted) {
        return Err(ApiError::invalid_header_value(SOURCE_RANGE, text));
    }
    for name in SEQUENCE_CONDITIONS {
        number(fields, name)?;
    }
    Ok(op::PutPage {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at,
        pages,
        write: PageWrite::Update(expect),
        sequence: sequence(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::PutPage)?,
    })
}

/// Whether Set Blob Properties is about the size or the sequence number.
pub(super) fn are_changed(fields: &Fields<'_>) -> Result<bool, ApiError> {
    Ok(fields.header(LENGTH)?.is_some()
        || fields.header(ACTION)?.is_some()
        || fields.header(SEQUENCE)?.is_some())
}

pub(super) fn set_properties(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::SetPageProperties, ApiError> {
    since(fields)?;
    writable(fields)?;
    let properties = stored(fields)?;
    Ok(op::SetPageProperties {
        at,
        // A request that is about size and number alone leaves the content headers.
        properties: Some(properties).filter(|p| *p != HttpProperties::default()),
        length: length(fields)?,
        sequence: action(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SetBlobProperties)?,
    })
}

pub(super) fn get_ranges(fields: &Fields<'_>, at: BlobPath) -> Result<op::GetPageRanges, ApiError> {
    since(fields)?;
    let at = moment::of(fields, at)?;
    let previous = previous(fields)?;
    let may_page = fields.version() >= PAGED_RANGES;
    let (marker, max_results) =
        if may_page { (marker(fields)?, most(fields)?) } else { (None, None) };
    let text = asked_range(fields)?;
    Ok(op::GetPageRanges {
        at,
        range: text.and_then(|text| range::parse(text, fields.version())),
        previous,
        marker,
        max_results,
        may_page,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::GetPageRanges)?,
        context: fields.context(),
    })
}

/// `prevsnapshot`, or the snapshot that `x-ms-previous-snapshot-url` names.
fn previous(fields: &Fields<'_>) -> Result<Option<MomentId>, ApiError> {
    const NAME: &str = "prevsnapshot";
    let read =
        |text: &str| Timestamp::parse_iso(text).map(|at| MomentId { at, text: text.to_owned() });
    if let Some(text) = fields.query(NAME).filter(|text| !text.is_empty()) {
        let id = read(text).ok_or_else(|| ApiError::invalid_query_parameter(NAME, text, ""))?;
        since_version(fields, DIFFERENCES)?;
        return Ok(Some(id));
    }
    let Some(url) = fields.header(PREVIOUS_URL)? else { return Ok(None) };
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.filter(|(name, _)| name.eq_ignore_ascii_case("snapshot")).map(|(_, v)| v);
    let id = named.map(|text| text.replace("%3A", ":").replace("%3a", ":")).find_map(|t| read(&t));
    id.map(Some).ok_or_else(|| ApiError::invalid_header_value(PREVIOUS_URL, url))
}

/// Refuses a parameter that the version does not know.
fn since_version(fields: &Fields<'_>, first: ApiVersion) -> Result<(), ApiError> {
    if fields.version() < first {
        return Err(codes::FEATURE_VERSION_MISMATCH.into());
    }
    Ok(())
}

fn since(fields: &Fields<'_>) -> Result<(), ApiError> {
    if fields.version() < PAGE_BLOBS {
        return Err(codes::INVALID_VERSION_FOR_PAGE_BLOB_OPERATION.into());
    }
    Ok(())
}

/// The size of a page blob.
fn length(fields: &Fields<'_>) -> Result<Option<u64>, ApiError> {
    let Some(length) = number(fields, LENGTH)? else { return Ok(None) };
    if is_aligned(length) && length <= PAGE_BLOB_BYTES {
        return Ok(Some(length));
    }
    Err(ApiError::invalid_header_value(LENGTH, &length.to_string()))
}

fn sequence_number(fields: &Fields<'_>) -> Result<Option<u64>, ApiError> {
    let number = number(fields, SEQUENCE)?;
    debug_assert!(number.is_none_or(|number| number <= SEQUENCE_NUMBER), "a signed number");
    Ok(number)
}

fn action(fields: &Fields<'_>) -> Result<Option<SequenceAction>, ApiError> {
    let number = sequence_number(fields)?;
    let Some(text) = fields.header(ACTION)? else {
        return match number {
            None => Ok(None),
            Some(_) => Err(ApiError::missing_required_header(ACTION)),
        };
    };
    let needed = || number.ok_or_else(|| ApiError::missing_required_header(SEQUENCE));
    match (text.to_ascii_lowercase().as_str(), number) {
        ("max", _) => Ok(Some(SequenceAction::Max(needed()?))),
        ("update", _) => Ok(Some(SequenceAction::Update(needed()?))),
        ("increment", None) => Ok(Some(SequenceAction::Increment)),
        ("increment", Some(number)) => {
            Err(ApiError::invalid_header_value(SEQUENCE, &number.to_string()))
        }
        _ => Err(ApiError::invalid_header_value(ACTION, text)),
    }
}

/// `x-ms-if-sequence-number-*`: what is no number from 0 on is invalid input here, not a header.
fn sequence(fields: &Fields<'_>) -> Result<SequenceConditions, ApiError> {
    let of = |name| number(fields, name).map_err(|_| ApiError::from(codes::INVALID_INPUT));
    Ok(SequenceConditions {
        at_most: of("x-ms-if-sequence-number-le")?,
        below: of("x-ms-if-sequence-number-lt")?,
        equal: of("x-ms-if-sequence-number-eq")?,
    })
}

/// `x-ms-range` or `Range`; the first wins.
fn asked_range<'a>(fields: &Fields<'a>) -> Result<Option<&'a str>, ApiError> {
    Ok(match fields.header("x-ms-range")? {
        Some(text) => Some(text),
        None => fields.header("range")?,
    })
}

/// The pages to be written.
fn written(fields: &Fields<'_>) -> Result<Range<u64>, ApiError> {
    let text = asked_range(fields)?.ok_or_else(|| ApiError::missing_required_header("Range"))?;
    let whole = match range::parse(text, fields.version()) {
        Some((first, Some(last))) => pages(first, last),
        _ => None,
    };
    whole.ok_or_else(|| ApiError::invalid_header_value("Range", text))
}

/// `maxresults`: at least one, at most 10,000.
fn most(fields: &Fields<'_>) -> Result<Option<u32>, ApiError> {
    const NAME: &str = "maxresults";
    let Some(text) = fields.query(NAME).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.parse::<i64>() {
        Ok(number) if number > 0 => {
            Ok(Some(u32::try_from(number).unwrap_or(PAGE_RANGES).min(PAGE_RANGES)))
        }
        Ok(_) => Err(codes::OUT_OF_RANGE_QUERY_PARAMETER_VALUE.into()),
        Err(_) => Err(ApiError::invalid_query_parameter(NAME, text, "Invalid integer value.")),
    }
}

/// `marker`: where the last answer ended, as we wrote it.
fn marker(fields: &Fields<'_>) -> Result<Option<u64>, ApiError> {
    let Some(text) = fields.query("marker").filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let offset = text.parse::<u64>().ok().filter(|_| digits);
    offset.map(Some).ok_or_else(ApiError::out_of_range_input)
}

#[cfg(test)]
mod tests;
