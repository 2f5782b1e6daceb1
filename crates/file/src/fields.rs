//! Headers of one request, read strictly: one value each, of one form.
//!
//! Must never interpret a value beyond its form; the parsers of each operation do that.

use zaffre_base::Guid;
use zaffre_http::{ApiError, Asked, headers};

/// A header that must be there.
pub(crate) fn required<'a>(asked: &Asked<'a>, name: &str) -> Result<&'a str, ApiError> {
    asked.header(name)?.ok_or_else(|| ApiError::missing_required_header(name))
}

/// A header that says `true` or `false`; not sent means false.
pub(crate) fn flag(asked: &Asked<'_>, name: &str) -> Result<bool, ApiError> {
    Ok(said(asked, name)?.unwrap_or(false))
}

/// What a header says of `true` and `false`, if it is sent.
pub(crate) fn said(asked: &Asked<'_>, name: &str) -> Result<Option<bool>, ApiError> {
    match asked.header(name)? {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(text) => Err(ApiError::invalid_header_value(name, text)),
    }
}

/// A header that holds a GUID in any of its text forms.
pub(crate) fn guid(asked: &Asked<'_>, name: &str) -> Result<Option<Guid>, ApiError> {
    let Some(text) = asked.header(name)? else { return Ok(None) };
    Guid::parse(text).map(Some).ok_or_else(|| ApiError::invalid_header_value(name, text))
}

/// `x-ms-lease-id`.
pub(crate) fn lease_id(asked: &Asked<'_>) -> Result<Option<Guid>, ApiError> {
    guid(asked, "x-ms-lease-id")
}

/// A header that holds a whole number from `least` to `most`.
pub(crate) fn number(
    asked: &Asked<'_>,
    name: &str,
    least: u64,
    most: u64,
) -> Result<Option<u64>, ApiError> {
    let Some(number) = headers::number(&asked.head.headers, name)? else { return Ok(None) };
    if (least..=most).contains(&number) {
        Ok(Some(number))
    } else {
        Err(ApiError::invalid_header_value(name, &number.to_string()))
    }
}
