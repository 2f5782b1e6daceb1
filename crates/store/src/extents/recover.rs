//! After a start: finds out which segments are complete and seals those that a crash left open.
//!
//! Must never resume an old segment (opening a store costs the same whatever it holds) and must
//! never cut or change a byte that might belong to a record.

use super::segment::{Footer, HEADER};
use super::shared::Shared;
use super::table::{Live, Phase, SegmentStatus};
use super::walk::{Frame, Step};
use super::writer::seal_file;
use crate::error::StoreError;
use std::ops::Range;
use std::sync::PoisonError;

/// What recovery did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recovered {
    /// Segments that were complete.
    pub sealed: u64,
    /// Segments that had to be scanned and sealed.
    pub recovered: u64,
    /// Records in those.
    pub records: u64,
    /// Bytes between or behind their records that no acknowledged write left there.
    pub torn_bytes: u64,
    /// Segments whose header is damaged; they are left alone.
    pub damaged: u64,
}

/// Looks at every segment that was found at the start.
pub(crate) fn recover(shared: &Shared) -> Result<Recovered, StoreError> {
    let mut done = Recovered::default();
    for segment in shared.table.all() {
        if segment.phase == Phase::Found {
            let _held = shared.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
            recover_one(shared, segment.number, &mut done)?;
        }
    }
    Ok(done)
}

fn recover_one(shared: &Shared, number: u32, done: &mut Recovered) -> Result<(), StoreError> {
    let Some(frame) = Frame::load(shared, number)? else { return Ok(()) };
    if let Some(footer) = &frame.footer {
        done.sealed += 1;
        shared.table.moved_to(number, Phase::Sealed, footer.end);
        return Ok(());
    }
    let walked = walk(&frame)?;
    let Ok(header) = frame.header else {
        return recover_headless(shared, number, &walked, done);
    };
    done.recovered += 1;
    done.records += walked.records;
    done.torn_bytes += walked.torn.iter().map(|gap| gap.end - gap.start).sum::<u64>();
    let (end, live) = (walked.end, walked.live);
    let records = walked.records;
    let footer = Footer { number, salt: header.salt, records, end, torn: walked.torn };
    seal_file(shared, frame.file.as_ref(), &footer)?;
    shared.table.moved_to(number, Phase::Sealed, end);
    shared.table.counted(number, live);
    Ok(())
}

/// A header is durable before the first record is written. Without one, an otherwise blank file is
/// a segment whose creation was cut short; anything else is damage.
fn recover_headless(
    shared: &Shared,
    number: u32,
    walked: &Walked,
    done: &mut Recovered,
) -> Result<(), StoreError> {
    if walked.records == 0 && walked.torn.is_empty() {
        shared.table.remove(number);
        let removed = shared.files.remove(number);
        removed.map_err(|e| StoreError::io("removing an unfinished segment", e))?;
    } else {
        tracing::error!(segment = number, "the segment's header is damaged");
        shared.table.moved_to(number, Phase::Damaged, walked.end);
        done.damaged += 1;
    }
    Ok(())
}

/// Counts the live records of a sealed segment, whose figures are not known after a start.
pub(crate) fn count(shared: &Shared, segment: &SegmentStatus) -> Result<(), StoreError> {
    let _held = shared.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(frame) = Frame::load(shared, segment.number)? {
        shared.table.counted(segment.number, walk(&frame)?.live);
    }
    Ok(())
}

#[derive(Debug)]
struct Walked {
    records: u64,
    live: Live,
    end: u64,
    torn: Vec<Range<u64>>,
}

fn walk(frame: &Frame) -> Result<Walked, StoreError> {
    let mut walker = frame.walk(0);
    let live = Live::default();
    let mut seen = Walked { records: 0, live, end: HEADER as u64, torn: Vec::new() };
    while let Some(step) = walker.next()? {
        match step {
            Step::Record(found) => {
                seen.records += 1;
                if !found.released {
                    seen.live.records += 1;
                    seen.live.bytes += found.end - found.at.offset;
                }
            }
            Step::Gap(gap) => seen.torn.push(gap),
        }
        seen.end = walker.at();
    }
    Ok(seen)
}
