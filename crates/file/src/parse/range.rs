//! Ranges of bytes in headers: `bytes=a-b` and, for reads, `bytes=a-`.

use std::ops::Range;
use zaffre_base::base64;
use zaffre_domain::blob::range;
use zaffre_http::{ApiError, Asked};

const OWN: &str = "x-ms-range";
const STANDARD: &str = "range";

fn sent<'a>(asked: &Asked<'a>) -> Result<Option<(&'static str, &'a str)>, ApiError> {
    match asked.header(OWN)? {
        Some(text) => Ok(Some((OWN, text))),
        None => Ok(asked.header(STANDARD)?.map(|text| (STANDARD, text))),
    }
}

/// The range that a read asks for; one that is no range is none.
pub(super) fn read(asked: &Asked<'_>) -> Result<Option<range::Asked>, ApiError> {
    Ok(sent(asked)?.and_then(|(_, text)| range::parse(text, asked.version)))
}

/// The range that a write is for, which needs both ends.
pub(super) fn written(asked: &Asked<'_>) -> Result<Range<u64>, ApiError> {
    let (name, text) = sent(asked)?.ok_or_else(|| ApiError::missing_required_header(OWN))?;
    closed(text, asked).ok_or_else(|| ApiError::invalid_header_value(name, text))
}

/// A range with both ends under another name.
pub(super) fn named(asked: &Asked<'_>, name: &str) -> Result<Option<Range<u64>>, ApiError> {
    let Some(text) = asked.header(name)? else { return Ok(None) };
    closed(text, asked).map(Some).ok_or_else(|| ApiError::invalid_header_value(name, text))
}

fn closed(text: &str, asked: &Asked<'_>) -> Option<Range<u64>> {
    match range::parse(text, asked.version)? {
        (first, Some(last)) => Some(first..last.checked_add(1)?),
        (_, None) => None,
    }
}

/// A CRC64 in Base64 under any header's name.
pub(super) fn crc64(asked: &Asked<'_>, name: &str) -> Result<Option<[u8; 8]>, ApiError> {
    let Some(text) = asked.header(name)? else { return Ok(None) };
    let bytes = base64::decode(text).and_then(|bytes| bytes.try_into().ok());
    bytes.map(Some).ok_or_else(|| ApiError::invalid_header_value(name, text))
}
