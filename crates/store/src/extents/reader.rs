//! Reading an extent: one call for a small one, only the blocks touched for a range of a large one.
//!
//! Must never return a byte whose checksum, place or length was not verified.

use super::ExtentRef;
use super::record::{BLOCK, FIXED, Fixed, field, table_length};
use super::shared::Shared;
use crate::disk::File;
use crate::error::StoreError;
use bytes::Bytes;
use std::io;
use std::ops::Range;

/// Ranges up to this size are read where the caller runs: from the page cache that takes less time
/// than handing the work to another thread; larger ones would hold up the caller's neighbours.
pub const INLINE_READ: u32 = 256 * 1024;

/// Owners are rarely longer. The payload's place depends on the owner's length, which is in the
/// header; guessing it saves a call for nearly every read.
const USUAL_OWNER: usize = 192;

/// A damaged extent, named.
pub(crate) fn damaged(at: &ExtentRef, why: &str) -> StoreError {
    let ExtentRef { segment, offset, length } = at;
    StoreError::corrupt(format!(
        "extent of {length} bytes at offset {offset} of segment {segment}: {why}"
    ))
}

fn failed(at: &ExtentRef, error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(at, "the segment ends before it"),
        _ => StoreError::io("reading a segment", error),
    }
}

/// Reads and verifies `range` of an extent.
pub(crate) fn read(
    shared: &Shared,
    at: &ExtentRef,
    range: Range<u32>,
) -> Result<Bytes, StoreError> {
    if range.start > range.end || range.end > at.length {
        return Err(StoreError::Limit("range outside its extent"));
    }
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    let file = shared.files.get(at.segment)?;
    let first = range.start / BLOCK;
    let blocks = first * BLOCK..range.end.next_multiple_of(BLOCK).min(at.length);
    let wanted = to_usize(blocks.end - blocks.start);
    let ahead = if first == 0 { wanted } else { 0 };
    let (fixed, front, mut buffer) = read_front(file.as_ref(), at, ahead)?;
    // From the first block on, header and payload come in one buffer.
    let (payload, skip) = if first == 0 {
        extend(file.as_ref(), at, &mut buffer, front + wanted)?;
        (None, front)
    } else {
        let mut payload = vec![0; wanted];
        let from = at.offset + front as u64 + u64::from(blocks.start);
        file.read_at(from, &mut payload).map_err(|e| failed(at, e))?;
        (Some(payload), 0)
    };
    let covered = &payload.as_ref().unwrap_or(&buffer)[skip..skip + wanted];
    if !fixed.verify_blocks(&buffer[..front], first, covered) {
        return Err(damaged(at, "the payload fails its checksum"));
    }
    let start = skip + to_usize(range.start - blocks.start);
    Ok(Bytes::from(payload.unwrap_or(buffer)).slice(start..start + range.len()))
}

/// The verified header of an extent's record and its bytes; also for records already released.
pub(crate) fn read_header(file: &dyn File, at: &ExtentRef) -> Result<(Fixed, Vec<u8>), StoreError> {
    let (fixed, front, mut buffer) = read_any_front(file, at, 0)?;
    buffer.truncate(front);
    Ok((fixed, buffer))
}

fn read_front(
    file: &dyn File,
    at: &ExtentRef,
    ahead: usize,
) -> Result<(Fixed, usize, Vec<u8>), StoreError> {
    let read = read_any_front(file, at, ahead)?;
    if read.0.released { Err(damaged(at, "it was released")) } else { Ok(read) }
}

/// Reads and verifies what stands before the payload, and `ahead` bytes or so of what follows.
fn read_any_front(
    file: &dyn File,
    at: &ExtentRef,
    ahead: usize,
) -> Result<(Fixed, usize, Vec<u8>), StoreError> {
    let guess = FIXED + USUAL_OWNER + table_length(at.length) + ahead;
    let mut buffer = vec![0; guess];
    match file.read_at(at.offset, &mut buffer) {
        Ok(()) => {}
        // The guess reaches behind the segment's last record: go step by step.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            buffer.clear();
            extend(file, at, &mut buffer, FIXED)?;
        }
        Err(error) => return Err(failed(at, error)),
    }
    let fixed = Fixed::parse(&field(&buffer, 0)).map_err(|why| damaged(at, why))?;
    if fixed.at != *at {
        return Err(damaged(at, "another record is there"));
    }
    let front = fixed.front();
    extend(file, at, &mut buffer, front)?;
    fixed.verify(&buffer[..front]).map_err(|why| damaged(at, why))?;
    Ok((fixed, front, buffer))
}

/// Reads on until `buffer` has at least `length` bytes of the record.
fn extend(
    file: &dyn File,
    at: &ExtentRef,
    buffer: &mut Vec<u8>,
    length: usize,
) -> Result<(), StoreError> {
    let have = buffer.len();
    if have < length {
        buffer.resize(length, 0);
        let from = at.offset + have as u64;
        file.read_at(from, &mut buffer[have..]).map_err(|e| failed(at, e))?;
    }
    Ok(())
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
