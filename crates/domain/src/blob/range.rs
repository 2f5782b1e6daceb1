//! The range of a Get Blob: its text form, and what is left of it on content of a known length.
//!
//! Must never turn a range it does not understand into an error: such a header is ignored.

use crate::Refusal;
use zaffre_base::ApiVersion;
use zaffre_base::limits::RANGE_CHECKSUM_BYTES;

/// The first and, if given, the last byte asked for.
pub type Asked = (u64, Option<u64>);

/// From here on `bytes=s-` is understood.
const OPEN_RANGES: ApiVersion = ApiVersion::new(2011, 8, 18);
/// From here on a range of an empty blob is refused rather than ignored.
const EMPTY_BLOB_REFUSED: ApiVersion = ApiVersion::new(2013, 8, 15);

/// The bytes to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Where they start.
    pub offset: u64,
    /// How many; never 0.
    pub length: u64,
}

/// Reads `bytes=s-e` or `bytes=s-`. `None` means: send the whole blob, as for several ranges, for a
/// suffix, for an end before the start, and for anything else that is not one range.
pub fn parse(text: &str, version: ApiVersion) -> Option<Asked> {
    let (unit, range) = text.trim().split_once('=')?;
    if !unit.trim_end().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.split_once('-')?;
    let first = number(first.trim())?;
    match last.trim() {
        "" if version >= OPEN_RANGES => Some((first, None)),
        "" => None,
        last => number(last).filter(|last| *last >= first).map(|last| (first, Some(last))),
    }
}

/// The part of the range that lies in content of `length` bytes; `None` = the whole content.
pub fn clip(asked: Asked, length: u64, version: ApiVersion) -> Result<Option<Span>, Refusal> {
    let (first, last) = asked;
    if length == 0 && version < EMPTY_BLOB_REFUSED {
        return Ok(None);
    }
    let last_there = length.checked_sub(1).filter(|end| first <= *end);
    let Some(last_there) = last_there else {
        return Err(Refusal::InvalidRange { length });
    };
    let last = last.map_or(last_there, |last| last.min(last_there));
    let Some(distance) = last.checked_sub(first) else {
        return Err(Refusal::InvalidRange { length });
    };
    Ok(Some(Span { offset: first, length: distance + 1 }))
}

/// Refuses the checksum of a span that is too long to be read before the first byte is sent.
pub fn check_checksum_span(span: Span) -> Result<(), Refusal> {
    if span.length > RANGE_CHECKSUM_BYTES {
        return Err(Refusal::RangeTooLargeForChecksum { limit: RANGE_CHECKSUM_BYTES });
    }
    Ok(())
}

/// Decimal digits only. A number too large for 64 bits lies beyond any content, as `u64::MAX` does.
fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_covers_at_most_4_mib() {
        const MOST: u64 = 4 * 1024 * 1024;
        let refused = Err(Refusal::RangeTooLargeForChecksum { limit: MOST });
        for (length, want) in [(1, Ok(())), (MOST, Ok(())), (MOST + 1, refused)] {
            assert_eq!(check_checksum_span(Span { offset: 7, length }), want, "{length}");
        }
    }
}
