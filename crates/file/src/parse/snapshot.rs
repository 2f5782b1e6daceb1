//! `sharesnapshot`: which state of a share is meant.
//!
//! Must never be dropped silently: a write that names one is refused.

use zaffre_base::{Stamp, Timestamp};
use zaffre_http::{ApiError, Asked};

const NAME: &str = "sharesnapshot";

/// The snapshot that a read names.
pub(crate) fn optional(asked: &Asked<'_>) -> Result<Option<Stamp>, ApiError> {
    named(asked, NAME)
}

/// The snapshot that some parameter names.
pub(crate) fn named(asked: &Asked<'_>, name: &str) -> Result<Option<Stamp>, ApiError> {
    let Some(text) = asked.query(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    match Timestamp::parse_iso(text) {
        Some(at) => Ok(Some(Stamp(at.0))),
        None => Err(ApiError::invalid_query_parameter(name, text, "")),
    }
}

/// Refuses a snapshot: it cannot be changed, and has not everything a share has.
pub(crate) fn refuse(asked: &Asked<'_>) -> Result<(), ApiError> {
    match asked.query(NAME).filter(|text| !text.is_empty()) {
        None => Ok(()),
        Some(text) => {
            let reason = "The operation is not supported on a share snapshot.";
            Err(ApiError::invalid_query_parameter(NAME, text, reason))
        }
    }
}
