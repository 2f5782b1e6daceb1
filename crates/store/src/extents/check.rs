//! The scrub: every checksum, every reference, both ways.
//!
//! Must never change anything, and must never stop at the first problem.

use super::owners::{self, Named};
use super::upkeep::Batch;
use super::walk::{Found, Frame};
use super::{ExtentRef, Extents, Phase, SegmentStatus, reader, runs};
use crate::error::StoreError;
use crate::meta::{Meta, Placement, Row};
use std::fmt;

/// Problems kept in a report; more are only counted.
pub const MAX_PROBLEMS: usize = 1_000;

/// Something wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// A segment's header or footer.
    Segment {
        /// Its number.
        number: u32,
        /// What is wrong.
        what: String,
    },
    /// Bytes between records that are none, and were not so when the segment was sealed.
    Gap {
        /// The segment's number.
        number: u32,
        /// Where they start.
        from: u64,
        /// Where the next record starts.
        to: u64,
    },
    /// An extent that a row names is damaged.
    Extent {
        /// Which.
        at: ExtentRef,
        /// What is wrong.
        what: String,
    },
    /// A row names an extent that is not there, not its own, or shorter.
    Reference {
        /// Where the row lives.
        placement: Placement,
        /// Its key.
        key: Vec<u8>,
        /// What is wrong.
        what: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segment { number, what } => write!(f, "segment {number}: {what}"),
            Self::Gap { number, from, to } => {
                write!(f, "segment {number}: no readable record from {from} to {to}")
            }
            Self::Extent { what, .. } => f.write_str(what),
            Self::Reference { placement, key, what } => {
                write!(f, "row {} in {placement:?}: {what}", key.escape_ascii())
            }
        }
    }
}

/// What a scrub found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckReport {
    /// Segments walked.
    pub segments: u64,
    /// Records in them, released ones included.
    pub records: u64,
    /// Payload bytes whose checksums were verified.
    pub bytes: u64,
    /// Records already released.
    pub released: u64,
    /// Records that no row names: left by crashes or open writes, harmless.
    pub unreferenced: u64,
    /// Bytes that a crash left between or behind records, harmless.
    pub torn_bytes: u64,
    /// Rows that hold runs.
    pub rows: u64,
    /// Runs in them.
    pub runs: u64,
    /// How many problems there are.
    pub problem_count: u64,
    /// The first of them.
    pub problems: Vec<Problem>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problem_count == 0
    }

    fn add(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

/// A scrub under way: first all segments, then every row of the store that holds runs, in any
/// order. While the store is in use, hold a pin taken before the first row was read.
#[derive(Debug)]
pub struct Scrub {
    extents: Extents,
    meta: Meta,
    report: CheckReport,
}

impl Scrub {
    /// A scrub that has done nothing yet.
    pub fn new(extents: Extents, meta: Meta) -> Self {
        Self { extents, meta, report: CheckReport::default() }
    }

    /// Verifies every record of every segment and asks its owner's rows about it. `progress` is
    /// called after every few hundred records.
    pub async fn segments(
        &mut self,
        mut progress: impl FnMut(&CheckReport),
    ) -> Result<(), StoreError> {
        for segment in self.extents.segments() {
            let (extents, meta) = (&self.extents, &self.meta);
            check_segment(extents, meta, segment, &mut self.report, &mut progress).await?;
        }
        Ok(())
    }

    /// Verifies that every run of a row leads to an extent that knows the row as its owner.
    pub fn row(&mut self, placement: &Placement, row: &Row) -> Result<(), StoreError> {
        self.report.rows += 1;
        check_row(&self.extents, placement, row, &mut self.report)
    }

    /// What was found so far.
    pub fn report(&self) -> &CheckReport {
        &self.report
    }
}

async fn check_segment(
    extents: &Extents,
    meta: &Meta,
    status: SegmentStatus,
    report: &mut CheckReport,
    progress: &mut impl FnMut(&CheckReport),
) -> Result<(), StoreError> {
    let number = status.number;
    let Some(frame) = extents.blocking(move |shared| Frame::load(shared, number)).await? else {
        return Ok(());
    };
    report.segments += 1;
    if let Err(what) = frame.header {
        report.add(Problem::Segment { number, what: what.to_owned() });
    }
    if status.phase == Phase::Sealed && frame.footer.is_none() {
        let what = "its footer is damaged".to_owned();
        report.add(Problem::Segment { number, what });
    }
    let mut from = Some(0);
    while let Some(at) = from {
        let batch = extents.batch(number, at).await?;
        from = batch.next;
        check_gaps(&frame, status, &batch, report);
        check_records(extents, meta, batch.records, report).await?;
        progress(report);
    }
    Ok(())
}

fn check_gaps(frame: &Frame, status: SegmentStatus, batch: &Batch, report: &mut CheckReport) {
    for gap in &batch.gaps {
        let known = match &frame.footer {
            Some(footer) => footer.torn.contains(gap),
            // Not recovered yet: the remains of a crash look like this.
            None => status.phase == Phase::Found,
        };
        if known {
            report.torn_bytes += gap.end - gap.start;
        } else {
            report.add(Problem::Gap { number: frame.number, from: gap.start, to: gap.end });
        }
    }
}

async fn check_records(
    extents: &Extents,
    meta: &Meta,
    records: Vec<Found>,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    report.records += records.len() as u64;
    let all = records.len();
    let live: Vec<Found> = records.into_iter().filter(|found| !found.released).collect();
    report.released += (all - live.len()) as u64;
    for (found, named) in owners::ask(meta, live).await? {
        let at = found.at;
        let damage = check_payload(extents, found).await?;
        match (named, damage) {
            (_, None) => report.bytes += u64::from(at.length),
            // Nobody can read it: the remains of a crash.
            (Named::No, Some(_)) => {}
            (_, Some(what)) => report.add(Problem::Extent { at, what }),
        }
        if named == Named::No {
            report.unreferenced += 1;
        }
    }
    Ok(())
}

/// What is wrong with a record behind its header.
async fn check_payload(extents: &Extents, found: Found) -> Result<Option<String>, StoreError> {
    let verified = extents
        .blocking(move |shared| {
            reader::read(shared, &found.at, 0..found.at.length)?;
            let payload_end = found.payload_at + u64::from(found.at.length);
            let mut padding = vec![0; usize::try_from(found.end - payload_end).unwrap_or(0)];
            let file = shared.files.get(found.at.segment)?;
            file.read_at(payload_end, &mut padding)
                .map_err(|error| StoreError::io("reading a segment", error))?;
            if padding.iter().any(|byte| *byte != 0) {
                return Err(reader::damaged(&found.at, "the bytes behind it are not zeros"));
            }
            Ok(())
        })
        .await;
    match verified {
        Ok(()) => Ok(None),
        Err(error @ StoreError::Corrupt { .. }) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Whether every run of a row leads to an extent that knows the row as its owner.
fn check_row(
    extents: &Extents,
    placement: &Placement,
    row: &Row,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let problem = |error: &dyn fmt::Display| Problem::Reference {
        placement: placement.clone(),
        key: row.key.clone(),
        what: error.to_string(),
    };
    let runs = match runs::decode(&row.value) {
        Ok(runs) => runs,
        Err(error) => {
            report.add(problem(&error));
            return Ok(());
        }
    };
    for run in runs {
        report.runs += 1;
        match check_run(extents, placement, row, &run.extent) {
            Ok(()) => {}
            Err(error @ StoreError::Corrupt { .. }) => report.add(problem(&error)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn check_run(
    extents: &Extents,
    placement: &Placement,
    row: &Row,
    at: &ExtentRef,
) -> Result<(), StoreError> {
    let file = extents.0.shared.files.get(at.segment)?;
    let (header, front) = reader::read_header(file.as_ref(), at)?;
    if header.released {
        return Err(reader::damaged(at, "it was released though a row names it"));
    }
    let owner = header.owner(&front).map_err(|why| reader::damaged(at, why))?;
    if owner.placement != *placement || !row.key.starts_with(&owner.key) {
        return Err(reader::damaged(at, "it belongs to another row"));
    }
    Ok(())
}
