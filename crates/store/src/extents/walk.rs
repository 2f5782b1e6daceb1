//! Walking a segment: record after record by their headers, over damaged stretches if need be.
//!
//! Must never trust a length that no checksum covers, and must never stop at damage while a good
//! record lies behind it.

use super::record::{ALIGN, FIXED, Fixed, field};
use super::segment::{FOOTER, Footer, HEADER, Header};
use super::shared::Shared;
use super::table::Phase;
use super::{ExtentRef, Owner};
use crate::disk::File;
use crate::error::StoreError;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Read at once while records are small.
const WINDOW: u64 = 64 * 1024;
/// Read at once when the next header is far away: one page.
const HOP: u64 = 4 * 1024;

fn failed(error: io::Error) -> StoreError {
    StoreError::io("scanning a segment", error)
}

/// A record as its verified header describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) at: ExtentRef,
    pub(crate) owner: Owner,
    pub(crate) sequence: u64,
    pub(crate) released: bool,
    pub(crate) salt: u64,
    /// Where the payload starts and the record ends, in the file.
    pub(crate) payload_at: u64,
    pub(crate) end: u64,
}

/// What lies next in a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Record(Found),
    /// No record starts in here.
    Gap(Range<u64>),
}

/// A segment's file and what its frame says.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) file: Arc<dyn File>,
    pub(crate) number: u32,
    pub(crate) header: Result<Header, &'static str>,
    pub(crate) footer: Option<Footer>,
    /// Records end here at the latest.
    pub(crate) bound: u64,
}

impl Frame {
    /// Reads header and footer. A segment that is being appended to ends with its durable records.
    /// `None` if it was removed meanwhile.
    pub(crate) fn load(shared: &Shared, number: u32) -> Result<Option<Self>, StoreError> {
        let file = match shared.files.get(number) {
            Ok(file) => file,
            Err(_) if shared.table.get(number).is_none() => return Ok(None),
            Err(error) => return Err(error),
        };
        let active = shared.table.get(number).filter(|s| s.phase == Phase::Active);
        let length = file.len().map_err(failed)?;
        let mut bytes = [0; HEADER];
        let header = match file.read_at(0, &mut bytes) {
            Ok(()) => Header::decode(&bytes, number),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err("it has no header"),
            Err(error) => return Err(failed(error)),
        };
        let footer = match active {
            Some(_) => None,
            None => read_footer(file.as_ref(), number, length)?,
        };
        let footer = footer.filter(|f| header.is_err() || header.is_ok_and(|h| h.salt == f.salt));
        let bound = match (active, &footer) {
            (Some(active), _) => active.end,
            (None, Some(footer)) => footer.end,
            (None, None) => length,
        };
        Ok(Some(Self { file, number, header, footer, bound }))
    }

    /// Walks the records that start at `from` or behind.
    pub(crate) fn walk(&self, from: u64) -> Walker<'_> {
        let salt = match (self.header, &self.footer) {
            (Ok(header), _) => Some(header.salt),
            (Err(_), Some(footer)) => Some(footer.salt),
            (Err(_), None) => None,
        };
        let at = from.max(HEADER as u64);
        let window = Window { file: self.file.as_ref(), start: 0, bytes: Vec::new() };
        Walker { frame: self, salt, at, read_ahead: WINDOW, window }
    }
}

fn read_footer(file: &dyn File, number: u32, length: u64) -> Result<Option<Footer>, StoreError> {
    let Some(fixed_at) = length.checked_sub(FOOTER as u64) else { return Ok(None) };
    let mut last = [0; FOOTER];
    file.read_at(fixed_at, &mut last).map_err(failed)?;
    let Some(whole) = Footer::length(&last) else { return Ok(None) };
    let Some(at) = length.checked_sub(whole as u64) else { return Ok(None) };
    let mut bytes = vec![0; whole];
    file.read_at(at, &mut bytes).map_err(failed)?;
    Ok(Footer::decode(&bytes, number, length))
}

/// A stretch of the file in memory.
#[derive(Debug)]
struct Window<'a> {
    file: &'a dyn File,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// `length` bytes at `at`, both inside the file; reads up to `ahead` bytes to get them.
    fn slice(&mut self, at: u64, length: usize, ahead: u64) -> Result<&[u8], StoreError> {
        let have = self.start..self.start + self.bytes.len() as u64;
        if at < have.start || at + length as u64 > have.end {
            let size = usize::try_from(ahead).unwrap_or(usize::MAX).max(length);
            self.bytes.resize(size, 0);
            self.start = at;
            self.file.read_at(at, &mut self.bytes).map_err(failed)?;
        }
        let from = usize::try_from(at - self.start).unwrap_or(usize::MAX);
        Ok(&self.bytes[from..from + length])
    }
}

/// The walk.
#[derive(Debug)]
pub(crate) struct Walker<'a> {
    frame: &'a Frame,
    /// What records must carry; `None` (damaged header) accepts the first record's.
    salt: Option<u64>,
    at: u64,
    read_ahead: u64,
    window: Window<'a>,
}

impl Walker<'_> {
    /// Where the next step starts.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The next record or gap; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Step>, StoreError> {
        if self.at >= self.frame.bound {
            return Ok(None);
        }
        if let Some(found) = self.record_at(self.at)? {
            self.read_ahead = if found.end - found.payload_at > WINDOW { HOP } else { WINDOW };
            self.salt = Some(found.salt);
            self.at = found.end;
            return Ok(Some(Step::Record(found)));
        }
        let from = self.at;
        self.read_ahead = WINDOW;
        self.at = self.search(from)?;
        Ok((self.at > from).then_some(Step::Gap(from..self.at)))
    }

    fn slice(&mut self, at: u64, length: usize) -> Result<&[u8], StoreError> {
        let ahead = self.read_ahead.min(self.frame.bound - at);
        self.window.slice(at, length, ahead)
    }

    /// The record at `at`, if a good one is there.
    fn record_at(&mut self, at: u64) -> Result<Option<Found>, StoreError> {
        let bound = self.frame.bound;
        let number = self.frame.number;
        if at + FIXED as u64 > bound {
            return Ok(None);
        }
        let fixed: [u8; FIXED] = field(self.slice(at, FIXED)?, 0);
        let Ok(fixed) = Fixed::parse(&fixed) else { return Ok(None) };
        let in_place = fixed.at.segment == number
            && fixed.at.offset == at
            && fixed.record() <= bound - at
            && self.salt.is_none_or(|salt| salt == fixed.salt);
        if !in_place {
            return Ok(None);
        }
        let front = self.slice(at, fixed.front())?;
        let owner = fixed.verify(front).and_then(|()| fixed.owner(front));
        let Ok(owner) = owner else { return Ok(None) };
        Ok(Some(Found {
            at: fixed.at,
            owner,
            sequence: fixed.sequence,
            released: fixed.released,
            salt: fixed.salt,
            payload_at: at + fixed.front() as u64,
            end: at + fixed.record(),
        }))
    }

    /// Searches behind the damage at `from`: the place of the next good record, or else the end of
    /// the damage. In a sealed segment that is the end of the records; in another one it is the
    /// last byte that is not zero, because reserved space follows.
    fn search(&mut self, from: u64) -> Result<u64, StoreError> {
        let bound = self.frame.bound;
        let mut dirty_end = from;
        let mut at = from;
        while at < bound {
            let length = usize::try_from(WINDOW.min(bound - at)).unwrap_or(0);
            let chunk = self.slice(at, length)?.to_vec();
            for (place, word) in (at..).step_by(8).zip(chunk.chunks(8)) {
                if word.iter().any(|byte| *byte != 0) {
                    if place > from && Fixed::may_start(word) && self.record_at(place)?.is_some() {
                        return Ok(place);
                    }
                    dirty_end = place + word.len() as u64;
                }
            }
            at += length as u64;
        }
        let sealed = self.frame.footer.is_some();
        Ok(if sealed { bound } else { dirty_end.next_multiple_of(ALIGN).min(bound) })
    }
}
