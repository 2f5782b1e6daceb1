//! The readers of what is on the disk, for tests that give them any bytes at all.
//!
//! Must never be used to serve: what they read here was not asked for by anybody.

use crate::extents::record::{FIXED, Fixed};
use crate::meta::frame::{self, HEADER_BYTES, Header};

/// Reads a journal: its header, then frames while they are sound. How many bytes of it made sense.
pub fn journal(bytes: &[u8]) -> usize {
    let Some((start, mut rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return 0 };
    let Some(header) = Header::decode(start) else { return 0 };
    let mut sequence = header.sequence;
    while let Some(found) = frame::decode(rest, sequence, &header) {
        frame::commits(found.payload);
        rest = rest.get(found.bytes..).unwrap_or_default();
        sequence = sequence.wrapping_add(1);
    }
    bytes.len() - rest.len()
}

/// Reads the payload of a frame, as if its checksum were right: how many rows it has.
pub fn rows(payload: &[u8]) -> Option<usize> {
    let commits = frame::commits(payload)?;
    Some(commits.iter().map(|(_, writes)| writes.len()).sum())
}

/// Reads the front of an extent's record: its length, and that of the whole record. The owner is
/// read though the checksum may be wrong.
pub fn record(bytes: &[u8]) -> Option<(usize, u64)> {
    let fixed = Fixed::parse(bytes.first_chunk::<FIXED>()?).ok()?;
    let front = bytes.get(..fixed.front())?;
    let sound = fixed.verify(front).is_ok();
    let owner = fixed.owner(front).is_ok();
    let blocks = fixed.verify_blocks(front, 0, bytes.get(fixed.front()..)?);
    (sound || owner || blocks).then_some((fixed.front(), fixed.record()))
}
