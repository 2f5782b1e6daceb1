//! The heads of operations that have a source: copies, ranges from URLs, renames.
//!
//! Must never open a source: only what the headers say about it.

use super::{Fresh, file, item, range, smb};
use crate::fields;
use zaffre_base::limits::FILE_RANGE_BYTES;
use zaffre_base::{ApiVersion, Guid};
use zaffre_core::blob::op::ExpectedChecksum;
use zaffre_core::file::op::{
    AbortCopyFile, CopyFile, ItemPath, Kind, PutRange, RangeWrite, Rename,
};
use zaffre_domain::fs::FilePath;
use zaffre_domain::fs::name::TrailingDots;
use zaffre_http::source_url::SourceUrl;
use zaffre_http::{ApiError, Asked, codes};

const SOURCE: &str = "x-ms-copy-source";
const RENAME_SOURCE: &str = "x-ms-file-rename-source";
const CONTENT_TYPE: ApiVersion = ApiVersion::new(2021, 6, 8);

/// An operation whose source is yet to be opened.
#[derive(Clone, Debug)]
pub struct From<Op> {
    /// The operation; what depends on the source is filled in once that is open.
    pub op: Op,
    /// Where it is.
    pub source: SourceUrl,
    /// What becomes of dots at the end of names in the source's path.
    pub dots: TrailingDots,
}

/// What the bytes of Put Range From URL must be.
#[derive(Clone, Debug)]
pub struct RangeFrom {
    /// The write.
    pub op: PutRange,
    /// `x-ms-source-if-match-crc64`
    pub if_match: Option<[u8; 8]>,
    /// `x-ms-source-if-none-match-crc64`
    pub if_none_match: Option<[u8; 8]>,
}

fn source(asked: &Asked<'_>, name: &str) -> Result<(SourceUrl, TrailingDots), ApiError> {
    let text = fields::required(asked, name)?;
    let url = SourceUrl::parse(text, asked.version);
    let url = url.ok_or_else(|| ApiError::invalid_header_value(name, text))?;
    Ok((url, item::dots(asked, item::SOURCE_DOTS)?))
}

/// Copy File.
pub(super) fn copy(
    at: ItemPath,
    asked: &Asked<'_>,
    fresh: Fresh<'_>,
) -> Result<From<CopyFile>, ApiError> {
    let (source, dots) = source(asked, SOURCE)?;
    let metadata = asked.metadata()?;
    let op = CopyFile {
        at,
        source: shown(fields::required(asked, SOURCE)?),
        id: fresh()?,
        smb: smb::copy(asked)?,
        set_archive: fields::flag(asked, "x-ms-file-copy-set-archive")?,
        ignore_read_only: fields::flag(asked, "x-ms-file-copy-ignore-readonly")?,
        metadata: Some(metadata).filter(|metadata| !metadata.is_empty()),
        lease: fields::lease_id(asked)?,
        patience: item::patience(asked)?,
    };
    Ok(From { op, source, dots })
}

/// A source as it is shown afterwards: without its signature.
fn shown(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let snapshot = query.split('&').find(|pair| pair.starts_with("sharesnapshot="));
    match snapshot {
        Some(snapshot) => format!("{path}?{snapshot}"),
        None => path.to_owned(),
    }
}

/// Abort Copy File.
pub(super) fn abort(at: ItemPath, asked: &Asked<'_>) -> Result<AbortCopyFile, ApiError> {
    const ACTION: &str = "x-ms-copy-action";
    let action = fields::required(asked, ACTION)?;
    if !action.eq_ignore_ascii_case("abort") {
        return Err(ApiError::invalid_header_value(ACTION, action));
    }
    let id = Guid::parse(asked.required_query("copyid")?);
    Ok(AbortCopyFile { at, id, lease: fields::lease_id(asked)? })
}

/// Put Range From URL.
pub(super) fn put_range(at: ItemPath, asked: &Asked<'_>) -> Result<From<RangeFrom>, ApiError> {
    const WRITE: &str = "x-ms-write";
    const SOURCE_RANGE: &str = "x-ms-source-range";
    let write = fields::required(asked, WRITE)?;
    if !write.eq_ignore_ascii_case("update") {
        return Err(ApiError::invalid_header_value(WRITE, write));
    }
    if asked.content_length.unwrap_or_default() > 0 {
        return Err(codes::INVALID_INPUT.into());
    }
    let bytes = range::written(asked)?;
    let length = bytes.end - bytes.start;
    if length > FILE_RANGE_BYTES {
        return Err(ApiError::request_body_too_large(FILE_RANGE_BYTES));
    }
    let from = range::named(asked, SOURCE_RANGE)?;
    if from.is_none_or(|from| from.end - from.start != length) {
        let text = fields::required(asked, SOURCE_RANGE)?;
        return Err(ApiError::invalid_header_value(SOURCE_RANGE, text));
    }
    let crc64 = range::crc64(asked, "x-ms-source-content-crc64")?;
    let (source, dots) = source(asked, SOURCE)?;
    let op = PutRange {
        at,
        bytes,
        write: RangeWrite::Copy(ExpectedChecksum { md5: None, crc64 }),
        last_write: file::last_write(asked)?,
        lease: fields::lease_id(asked)?,
        patience: item::patience(asked)?,
    };
    let if_match = range::crc64(asked, "x-ms-source-if-match-crc64")?;
    let if_none_match = range::crc64(asked, "x-ms-source-if-none-match-crc64")?;
    Ok(From { op: RangeFrom { op, if_match, if_none_match }, source, dots })
}

/// Rename File and Rename Directory; what is renamed comes from the URL.
pub(super) fn rename(
    at: ItemPath,
    kind: Kind,
    asked: &Asked<'_>,
) -> Result<From<Rename>, ApiError> {
    const IGNORE: &str = "x-ms-file-rename-ignore-readonly";
    let (source, dots) = source(asked, RENAME_SOURCE)?;
    let replace = fields::flag(asked, "x-ms-file-rename-replace-if-exists")?;
    let ignore_read_only = fields::flag(asked, IGNORE)?;
    if ignore_read_only && !replace {
        return Err(ApiError::invalid_header_value(IGNORE, "true"));
    }
    let metadata = asked.metadata()?;
    let content_type = asked.header("x-ms-content-type")?;
    let content_type = content_type.filter(|_| kind == Kind::File && asked.version >= CONTENT_TYPE);
    let op = Rename {
        at,
        source: FilePath::ROOT,
        kind,
        replace,
        ignore_read_only,
        source_lease: fields::guid(asked, "x-ms-source-lease-id")?,
        lease: fields::guid(asked, "x-ms-destination-lease-id")?,
        smb: smb::rename(asked)?,
        metadata: Some(metadata).filter(|metadata| !metadata.is_empty()),
        content_type: content_type.map(str::to_owned),
        patience: item::patience(asked)?,
    };
    Ok(From { op, source, dots })
}
