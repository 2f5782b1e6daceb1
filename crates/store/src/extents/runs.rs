//! Runs: the value of every row that names extents, so that compaction can rewrite any such row
//! without knowing what it means.
//!
//! Must never grow beyond 24 bytes per run: a chunk's row of 2,048 runs has to fit a value.

use super::record::{ALIGN, field};
use super::{ExtentRef, MAX_EXTENT};
use crate::error::StoreError;

/// Runs that fit one row.
pub const MAX_RUNS: usize = 2_048;

const VERSION: u8 = 1;
const RUN: usize = 24;

/// Some bytes of an extent, placed in a row's window.
///
/// A value is the byte 1 (the version of the format) and then 24 bytes for each run, all integers
/// little-endian:
///
/// ```text
/// at  size  field
///  0    4   offset inside the row's window
///  4    4   length
///  8    4   number of the segment
/// 12    4   offset of the record in the segment, divided by 8 (records are aligned to 8)
/// 16    4   length of the extent's payload
/// 20    4   offset inside the payload where the run starts
/// ```
///
/// The extent's whole length is kept, though the run may need only a part, because it is checked
/// against the record's header on every read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// Offset inside the row's window.
    pub at: u32,
    /// How many bytes.
    pub length: u32,
    /// Where they are.
    pub extent: ExtentRef,
    /// Offset inside the extent's payload.
    pub skip: u32,
}

/// The value of a row. Panics on an offset that no segment can have: a bug, not bad input.
pub fn encode(runs: &[Run]) -> Vec<u8> {
    assert!(runs.len() <= MAX_RUNS, "a row holds at most 2,048 runs");
    let mut out = Vec::with_capacity(1 + RUN * runs.len());
    out.push(VERSION);
    for run in runs {
        assert!(run.extent.offset.is_multiple_of(ALIGN), "records are aligned to 8");
        let place = u32::try_from(run.extent.offset / ALIGN).expect("segments are below 32 GiB");
        for number in [run.at, run.length, run.extent.segment, place, run.extent.length, run.skip] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
    out
}

/// The runs in a row's value.
pub fn decode(value: &[u8]) -> Result<Vec<Run>, StoreError> {
    let body = match value.split_first() {
        Some((&VERSION, body)) if body.len().is_multiple_of(RUN) => body,
        _ => return Err(StoreError::corrupt("a row that should hold runs does not")),
    };
    body.chunks_exact(RUN).map(decode_run).collect()
}

fn decode_run(bytes: &[u8]) -> Result<Run, StoreError> {
    let number = |at| u32::from_le_bytes(field(bytes, at));
    let extent =
        ExtentRef { segment: number(8), offset: u64::from(number(12)) * ALIGN, length: number(16) };
    let run = Run { at: number(0), length: number(4), extent, skip: number(20) };
    let inside = run.skip.checked_add(run.length).is_some_and(|end| end <= extent.length);
    let fits = usize::try_from(extent.length).is_ok_and(|length| length <= MAX_EXTENT);
    if inside && fits && run.at.checked_add(run.length).is_some() {
        Ok(run)
    } else {
        Err(StoreError::corrupt(format!("a run reaches beyond its extent: {run:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at: u32, length: u32, extent: u32, skip: u32) -> Run {
        let extent = ExtentRef { segment: 9, offset: 64 + 8 * u64::from(at), length: extent };
        Run { at, length, extent, skip }
    }

    #[test]
    fn values_round_trip() {
        let many: Vec<Run> = (0..2_048).map(|i| run(i * 512, 512, 4_096, 8)).collect();
        for runs in [vec![], vec![run(0, 10, 10, 0)], many] {
            let value = encode(&runs);
            assert_eq!(value.len(), 1 + 24 * runs.len());
            assert!(value.len() <= crate::meta::limits::VALUE_BYTES);
            assert_eq!(decode(&value).expect("valid"), runs);
        }
        let mut last = run(0, 1, 1, 0);
        last.extent.offset = u64::from(u32::MAX) * 8;
        assert_eq!(decode(&encode(&[last])).expect("valid"), [last]);
    }

    #[test]
    fn nonsense_is_refused() {
        for value in [
            vec![],
            vec![2],
            vec![1, 0],
            encode(&[run(0, 11, 10, 0)]),
            encode(&[run(0, 10, 10, 1)]),
            encode(&[run(0, u32::MAX, 10, 2)]),
            encode(&[run(0, 1, u32::MAX, 0)]),
        ] {
            assert!(decode(&value).is_err(), "{value:?}");
        }
    }
}
