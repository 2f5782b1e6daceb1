//! The heads of operations on files.

use super::{Fresh, item, lease, range, smb, snapshot};
use crate::fields;
use zaffre_base::limits::{FILE_BYTES, FILE_RANGE_BYTES};
use zaffre_base::{ApiVersion, base64};
use zaffre_core::blob::op::ExpectedChecksum;
use zaffre_core::file::op::{
    CreateFile, DeleteFile, FirstBytes, GetFile, GetFileProperties, ItemPath, LeaseFile,
    ListRanges, PutRange, RangeWrite, SetFileMetadata, SetFileProperties,
};
use zaffre_domain::blob::HttpProperties;
use zaffre_domain::fs::properties::TimeSetting;
use zaffre_http::{ApiError, Asked, codes, structured};

const LENGTH: &str = "x-ms-content-length";
const MD5: &str = "content-md5";
const TYPE: &str = "x-ms-type";
const WRITE: &str = "x-ms-write";
/// What is stored when a writer does not say what the content is.
const DEFAULT_CONTENT_TYPE: &str = "application/octet-stream";
/// From here on what differs from a snapshot can be listed.
const DIFFERENCES: ApiVersion = ApiVersion::new(2020, 2, 10);

/// How content sits in a body.
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

impl Framing {
    fn content(self, asked: &Asked<'_>) -> Option<u64> {
        match self {
            Self::Plain => asked.content_length,
            Self::Structured { content, .. } => Some(content),
        }
    }
}

/// An operation with content.
#[derive(Clone, Debug)]
pub struct Upload<Op> {
    /// The operation.
    pub op: Op,
    /// How its content sits in the body.
    pub framing: Framing,
}

/// Get File, and whether its content is framed.
#[derive(Clone, Debug)]
pub struct Download {
    /// The operation.
    pub op: GetFile,
    /// Frames are asked for.
    pub structured: bool,
}

fn framing(asked: &Asked<'_>) -> Result<Framing, ApiError> {
    if !structured::is_asked(asked.header(structured::HEADER)?)? {
        return Ok(Framing::Plain);
    }
    let framed = asked.content_length.ok_or_else(ApiError::missing_content_length)?;
    let length = fields::number(asked, structured::LENGTH_HEADER, 0, framed)?;
    let missing = || ApiError::missing_required_header(structured::LENGTH_HEADER);
    Ok(Framing::Structured { framed, content: length.ok_or_else(missing)? })
}

/// Get File as a client asks for it.
pub(super) fn download(at: ItemPath, asked: &Asked<'_>) -> Result<Download, ApiError> {
    let structured = structured::is_asked(asked.header(structured::HEADER)?)?;
    Ok(Download { op: get(at, asked)?, structured })
}

/// Create File; its first bytes may come with the body.
pub(super) fn create(at: ItemPath, asked: &Asked<'_>) -> Result<Upload<CreateFile>, ApiError> {
    let kind = fields::required(asked, TYPE)?;
    if !kind.eq_ignore_ascii_case("file") {
        return Err(ApiError::invalid_header_value(TYPE, kind));
    }
    let length = fields::number(asked, LENGTH, 0, FILE_BYTES)?;
    let length = length.ok_or_else(|| ApiError::missing_required_header(LENGTH))?;
    let mut properties = content_headers(asked)?;
    properties.content_type.get_or_insert_with(|| DEFAULT_CONTENT_TYPE.to_owned());
    let framing = framing(asked)?;
    let op = CreateFile {
        at,
        length,
        properties,
        smb: smb::create(asked)?,
        metadata: asked.metadata()?,
        content: first_bytes(asked, framing, length)?,
        lease: fields::lease_id(asked)?,
        patience: item::patience(asked)?,
    };
    Ok(Upload { op, framing })
}

fn first_bytes(
    asked: &Asked<'_>,
    framing: Framing,
    size: u64,
) -> Result<Option<FirstBytes>, ApiError> {
    match framing.content(asked).unwrap_or_default() {
        0 => Ok(None),
        length if length > FILE_RANGE_BYTES => {
            Err(ApiError::request_body_too_large(FILE_RANGE_BYTES))
        }
        length if length > size => {
            Err(ApiError::invalid_header_value("content-length", &length.to_string()))
        }
        length => Ok(Some(FirstBytes { length, expect: expected(asked)? })),
    }
}

/// Get File.
pub(super) fn get(at: ItemPath, asked: &Asked<'_>) -> Result<GetFile, ApiError> {
    const CHECKSUM: &str = "x-ms-range-get-content-md5";
    let range = range::read(asked)?;
    let range_md5 = fields::flag(asked, CHECKSUM)?;
    if range_md5 && range.is_none() {
        return Err(ApiError::invalid_header_value(CHECKSUM, "true"));
    }
    let (lease, patience) = (fields::lease_id(asked)?, item::patience(asked)?);
    Ok(GetFile { at, range, range_md5, lease, patience })
}

/// Get File Properties and Get File Metadata.
pub(super) fn get_properties(
    at: ItemPath,
    asked: &Asked<'_>,
) -> Result<GetFileProperties, ApiError> {
    Ok(GetFileProperties { at, lease: fields::lease_id(asked)?, patience: item::patience(asked)? })
}

/// Set File Properties: content headers are replaced together, or not at all.
pub(super) fn set_properties(
    at: ItemPath,
    asked: &Asked<'_>,
) -> Result<SetFileProperties, ApiError> {
    let properties = content_headers(asked)?;
    Ok(SetFileProperties {
        at,
        length: fields::number(asked, LENGTH, 0, FILE_BYTES)?,
        properties: Some(properties).filter(|sent| *sent != HttpProperties::default()),
        smb: smb::set(asked)?,
        lease: fields::lease_id(asked)?,
        patience: item::patience(asked)?,
    })
}

pub(super) fn set_metadata(at: ItemPath, asked: &Asked<'_>) -> Result<SetFileMetadata, ApiError> {
    let (lease, patience) = (fields::lease_id(asked)?, item::patience(asked)?);
    Ok(SetFileMetadata { at, metadata: asked.metadata()?, lease, patience })
}

pub(super) fn delete(at: ItemPath, asked: &Asked<'_>) -> Result<DeleteFile, ApiError> {
    Ok(DeleteFile { at, lease: fields::lease_id(asked)?, patience: item::patience(asked)? })
}

/// Put Range.
pub(super) fn put_range(at: ItemPath, asked: &Asked<'_>) -> Result<Upload<PutRange>, ApiError> {
    let framing = framing(asked)?;
    let bytes = range::written(asked)?;
    let length = bytes.end - bytes.start;
    let text = fields::required(asked, WRITE)?;
    let sent = framing.content(asked).ok_or_else(ApiError::missing_content_length)?;
    let write = match text.to_ascii_lowercase().as_str() {
        "update" => {
            if length > FILE_RANGE_BYTES {
                return Err(ApiError::request_body_too_large(FILE_RANGE_BYTES));
            }
            check_length(sent, length)?;
            RangeWrite::Update(expected(asked)?)
        }
        "clear" => {
            check_length(sent, 0)?;
            if let Some(text) = asked.header(MD5)? {
                return Err(ApiError::invalid_header_value(MD5, text));
            }
            RangeWrite::Clear
        }
        _ => return Err(ApiError::invalid_header_value(WRITE, text)),
    };
    let (lease, patience) = (fields::lease_id(asked)?, item::patience(asked)?);
    let op = PutRange { at, bytes, write, last_write: last_write(asked)?, lease, patience };
    Ok(Upload { op, framing })
}

fn check_length(sent: u64, want: u64) -> Result<(), ApiError> {
    if sent == want {
        return Ok(());
    }
    Err(ApiError::invalid_header_value("content-length", &sent.to_string()))
}

/// What Put Range does to the time of the last write.
pub(super) fn last_write(asked: &Asked<'_>) -> Result<TimeSetting, ApiError> {
    match asked.header(smb::LAST_WRITE)?.filter(|_| asked.version >= smb::OPTIONAL) {
        None => Ok(TimeSetting::Now),
        Some(text) if text.eq_ignore_ascii_case("now") => Ok(TimeSetting::Now),
        Some(text) if text.eq_ignore_ascii_case("preserve") => Ok(TimeSetting::Preserve),
        Some(text) => Err(ApiError::invalid_header_value(smb::LAST_WRITE, text)),
    }
}

/// List Ranges.
pub(super) fn list_ranges(at: ItemPath, asked: &Asked<'_>) -> Result<ListRanges, ApiError> {
    const PREVIOUS: &str = "prevsharesnapshot";
    const RENAMES: &str = "x-ms-file-support-rename";
    let previous = snapshot::named(asked, PREVIOUS)?;
    if previous.is_some() && asked.version < DIFFERENCES {
        return Err(ApiError::from(codes::UNSUPPORTED_QUERY_PARAMETER)
            .detail("QueryParameterName", PREVIOUS));
    }
    let most = u64::from(u32::MAX);
    let max_results = asked.number("maxresults", 1, most)?.and_then(|n| u32::try_from(n).ok());
    Ok(ListRanges {
        at,
        range: range::read(asked)?,
        previous,
        support_rename: fields::flag(asked, RENAMES)?,
        marker: asked.number("marker", 0, u64::try_from(i64::MAX).unwrap_or(u64::MAX))?,
        max_results,
        lease: fields::lease_id(asked)?,
        patience: item::patience(asked)?,
    })
}

/// Lease File.
pub(super) fn lease(
    at: ItemPath,
    asked: &Asked<'_>,
    fresh: Fresh<'_>,
) -> Result<LeaseFile, ApiError> {
    let command = lease::of_file(asked, fresh()?)?;
    Ok(LeaseFile { at, command, patience: item::patience(asked)? })
}

fn content_headers(asked: &Asked<'_>) -> Result<HttpProperties, ApiError> {
    let text = |name| Ok::<_, ApiError>(asked.header(name)?.map(str::to_owned));
    Ok(HttpProperties {
        content_type: text("x-ms-content-type")?,
        content_encoding: text("x-ms-content-encoding")?,
        content_language: text("x-ms-content-language")?,
        content_disposition: text("x-ms-content-disposition")?,
        cache_control: text("x-ms-cache-control")?,
        content_md5: md5(asked, "x-ms-content-md5")?,
    })
}

fn md5(asked: &Asked<'_>, name: &str) -> Result<Option<[u8; 16]>, ApiError> {
    let Some(text) = asked.header(name)? else { return Ok(None) };
    let bytes = base64::decode(text).and_then(|bytes| bytes.try_into().ok());
    bytes.map(Some).ok_or_else(|| codes::INVALID_MD5.into())
}

/// What the body must hash to.
fn expected(asked: &Asked<'_>) -> Result<ExpectedChecksum, ApiError> {
    let (md5, crc64) = (md5(asked, MD5)?, range::crc64(asked, "x-ms-content-crc64")?);
    if md5.is_some() && crc64.is_some() {
        return Err(codes::BOTH_CRC64_AND_MD5_HEADER_PRESENT.into());
    }
    Ok(ExpectedChecksum { md5, crc64 })
}
