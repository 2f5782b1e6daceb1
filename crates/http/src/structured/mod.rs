//! The `XSM/1.0` framing of bodies: content in segments, each with its checksum.
//!
//! Must never hold content whole, in either direction.

pub mod decoder;
pub mod framed;
mod unframed;

pub use decoder::{Decoder, Fault};
pub use unframed::{FaultSlot, content};

use crate::error::ApiError;

/// The header that asks for frames, and says that they are there.
pub const HEADER: &str = "x-ms-structured-body";
/// The length of the content without its frames.
pub const LENGTH_HEADER: &str = "x-ms-structured-content-length";
/// What answers say, word for word as requests do: SDKs compare.
pub const KIND: &str = "XSM/1.0; properties=crc64";

/// Whether the header's text asks for the one framing there is.
pub fn is_asked(text: Option<&str>) -> Result<bool, ApiError> {
    let Some(text) = text else { return Ok(false) };
    let mut parts = text.split(';').map(str::trim);
    let known = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("XSM/1.0"))
        && parts.next().is_some_and(|p| p.eq_ignore_ascii_case("properties=crc64"))
        && parts.next().is_none();
    if known { Ok(true) } else { Err(ApiError::invalid_header_value(HEADER, text)) }
}
