//! The journal: two files in turn, each holding the commits of one generation of rows in memory.
//!
//! Only one batch is ever unsynced, so a frame that is not sound is the end, unless a sound one
//! follows it: then bytes were damaged after they were acknowledged, and opening refuses.
//!
//! Must never overwrite a generation that is not in the tree yet.

use super::frame::{self, FRAME_HEADER, HEADER_BYTES, Header, Kind};
use super::memtable::Memtable;
use super::overlay::Overlay;
use crate::disk::{Disk, File, OpenMode};
use crate::error::StoreError;
use crate::poison::Poison;
use std::io;
use std::sync::Arc;
use zaffre_base::Stamp;
use zaffre_base::planted::{Bug, planted};

/// The names of the two files in the data directory.
pub(crate) const NAMES: [&str; 2] = ["journal.0", "journal.1"];

/// Space is reserved in steps of this size: a sync that also has to find blocks is slow.
const ALLOCATION: u64 = 4 * 1024 * 1024;
const HEADER_LENGTH: u64 = HEADER_BYTES as u64;
/// Bytes read at once while looking for frames behind the end.
const READ_STEP: usize = 1024 * 1024;

fn failed(doing: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::io(doing, error)
}

/// The file commits are appended to.
pub(crate) struct Journal {
    files: [Arc<dyn File>; 2],
    /// Index of the file in use.
    current: usize,
    header: Header,
    /// Where the next frame goes, and its number.
    offset: u64,
    sequence: u64,
    allocated: u64,
    sealed: bool,
    poison: Poison,
    buffer: Vec<u8>,
}

/// What was found in the files at opening: generations not in the tree yet, oldest first.
pub(crate) struct Replayed {
    pub(crate) generations: Vec<(u64, Memtable)>,
    pub(crate) newest: Option<Stamp>,
}

/// Makes both files anew; the caller syncs the directory.
pub(crate) fn create(disk: &dyn Disk) -> Result<(), StoreError> {
    let fail = failed("creating the journal");
    for (generation, name) in (0..).zip(NAMES) {
        let file = disk.open(name, OpenMode::Create).map_err(&fail)?;
        file.set_len(0).map_err(&fail)?;
        let header = new_header(generation, 1)?;
        file.write_at(0, &header.encode()).map_err(&fail)?;
        file.sync().map_err(&fail)?;
    }
    Ok(())
}

fn new_header(generation: u64, sequence: u64) -> Result<Header, StoreError> {
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce)
        .map_err(|e| StoreError::io("drawing randomness", io::Error::other(e.to_string())))?;
    Ok(Header { generation, sequence, nonce })
}

impl Journal {
    /// Opens both files and reads what the tree, which has come to `in_tree`, does not have.
    pub(crate) fn open(
        disk: &dyn Disk,
        in_tree: u64,
        poison: Poison,
    ) -> Result<(Self, Replayed), StoreError> {
        let files = [open_file(disk, NAMES[0])?, open_file(disk, NAMES[1])?];
        let headers = [read_header(&files[0], NAMES[0])?, read_header(&files[1], NAMES[1])?];
        let order = if headers[0].generation < headers[1].generation { [0, 1] } else { [1, 0] };
        let newest = headers[order[1]].generation;
        let previous = headers[order[0]].generation;
        let expected = newest == in_tree + 1 || (newest == in_tree + 2 && previous == in_tree + 1);
        if !expected || previous + 1 != newest {
            return Err(StoreError::corrupt(format!(
                "the journals hold generations {previous} and {newest}, the tree ends with {in_tree}"
            )));
        }
        let mut replayed = Replayed { generations: Vec::new(), newest: None };
        let sequence = headers[order[1]].sequence;
        let mut end = End { offset: HEADER_LENGTH, sequence, last: Vec::new() };
        for index in order {
            if headers[index].generation > in_tree {
                let started = end.sequence;
                end = replay(&files[index], &headers[index], &mut replayed)?;
                let continues = index == order[0] || headers[index].sequence == started;
                if !continues && headers[order[0]].generation > in_tree {
                    return Err(StoreError::corrupt("the older journal ends too early"));
                }
            }
        }
        let current = order[1];
        settle(&files[current], &headers[current], &end)?;
        let allocated = files[current].len().map_err(failed("reading the journal"))?;
        let journal = Self {
            header: headers[current],
            files,
            current,
            offset: end.offset,
            sequence: end.sequence,
            allocated,
            sealed: false,
            poison,
            buffer: Vec::new(),
        };
        Ok((journal, replayed))
    }

    /// The generation being written.
    pub(crate) fn generation(&self) -> u64 {
        self.header.generation
    }

    /// Begins a batch.
    pub(crate) fn begin(&mut self) {
        frame::begin(&mut self.buffer);
    }

    /// Adds a commit to the batch.
    pub(crate) fn push(&mut self, stamp: Stamp, writes: &Overlay) -> Result<(), StoreError> {
        frame::push_commit(&mut self.buffer, stamp, writes)
    }

    /// Whether the batch has no commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.len() == FRAME_HEADER
    }

    /// Writes the batch and makes it durable. On an error none of it counts; after a failed sync
    /// nothing does any more.
    pub(crate) fn commit(&mut self) -> Result<(), StoreError> {
        frame::finish(&mut self.buffer, Kind::Batch, self.sequence, &self.header)?;
        self.write_buffer("writing the journal")?;
        let file = &self.files[self.current];
        let synced = if planted(Bug::SkippedSync) { Ok(()) } else { file.sync() };
        if let Err(error) = synced {
            self.poison.set();
            tracing::error!(%error, "a sync of the journal failed");
            return Err(StoreError::Poisoned);
        }
        self.offset += self.buffer.len() as u64;
        self.sequence += 1;
        self.sealed = false;
        Ok(())
    }

    /// Notes, without a sync, that all batches so far were synced. The next batch overwrites it.
    pub(crate) fn seal(&mut self) {
        if self.sealed || self.poison.is_set() {
            return;
        }
        frame::begin(&mut self.buffer);
        let sealed = frame::finish(&mut self.buffer, Kind::Seal, self.sequence, &self.header)
            .and_then(|()| self.write_buffer("sealing the journal"));
        // It only helps to tell damage from a cut; the next try comes with the next batch.
        self.sealed = sealed.is_ok();
    }

    fn write_buffer(&mut self, doing: &'static str) -> Result<(), StoreError> {
        let fail = failed(doing);
        let file = &self.files[self.current];
        let end = self.offset + self.buffer.len() as u64;
        if end > self.allocated {
            let more = (end - self.allocated).next_multiple_of(ALLOCATION);
            file.allocate(self.allocated, more).map_err(&fail)?;
            self.allocated += more;
        }
        file.write_at(self.offset, &self.buffer).map_err(fail)
    }

    /// Goes on in the other file, whose generation must be in the tree.
    pub(crate) fn rotate(&mut self) -> Result<(), StoreError> {
        let fail = failed("turning over the journal");
        let next = 1 - self.current;
        let header = new_header(self.header.generation + 1, self.sequence)?;
        let file = &self.files[next];
        file.write_at(0, &header.encode()).map_err(&fail)?;
        if let Err(error) = file.sync() {
            self.poison.set();
            tracing::error!(%error, "a sync of the journal failed");
            return Err(StoreError::Poisoned);
        }
        self.allocated = file.len().map_err(&fail)?;
        self.current = next;
        self.header = header;
        self.offset = HEADER_LENGTH;
        self.sealed = false;
        Ok(())
    }
}

fn open_file(disk: &dyn Disk, name: &str) -> Result<Arc<dyn File>, StoreError> {
    disk.open(name, OpenMode::Existing).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::corrupt(format!("{name} is missing")),
        _ => StoreError::io("opening the journal", error),
    })
}

fn read_header(file: &Arc<dyn File>, name: &str) -> Result<Header, StoreError> {
    let mut bytes = [0; HEADER_BYTES];
    let read = file.read_at(0, &mut bytes);
    if let Err(error) = read
        && error.kind() != io::ErrorKind::UnexpectedEof
    {
        return Err(StoreError::io("reading the journal", error));
    }
    Header::decode(&bytes)
        .ok_or_else(|| StoreError::corrupt(format!("the header of {name} is damaged")))
}

/// Where a file's commits end.
struct End {
    offset: u64,
    /// The number of the frame to come.
    sequence: u64,
    /// The last frame before, as it was read.
    last: Vec<u8>,
}

/// Makes durable what replaying found. The header and the last batch may be readable and yet not
/// on the disk: their sync failed, after which the system counts their pages as clean, or the
/// program was killed before it. They are written anew, or a power loss would take away what is
/// about to be shown and leave what is acknowledged from now on behind a gap.
fn settle(file: &Arc<dyn File>, header: &Header, end: &End) -> Result<(), StoreError> {
    let fail = failed("settling the journal");
    file.write_at(0, &header.encode()).map_err(&fail)?;
    if !end.last.is_empty() {
        file.write_at(end.offset - end.last.len() as u64, &end.last).map_err(&fail)?;
    }
    file.sync().map_err(fail)
}

/// Reads one file's commits.
fn replay(
    file: &Arc<dyn File>,
    header: &Header,
    replayed: &mut Replayed,
) -> Result<End, StoreError> {
    let bytes = read_whole(file)?;
    let rows = Memtable::default();
    let mut at = HEADER_BYTES;
    let mut sequence = header.sequence;
    let mut last = 0..0;
    while let Some(frame) = bytes.get(at..).and_then(|rest| frame::decode(rest, sequence, header)) {
        if frame.kind == Kind::Seal {
            break;
        }
        let commits = frame::commits(frame.payload).ok_or_else(|| {
            StoreError::corrupt(format!("batch {sequence} of the journal has a wrong form"))
        })?;
        let next = bytes.get(at + frame.bytes..).unwrap_or_default();
        let is_dropped = planted(Bug::DroppedRecord)
            && frame::decode(next, sequence + 1, header).is_none_or(|n| n.kind == Kind::Seal);
        for (stamp, writes) in commits.into_iter().filter(|_| !is_dropped) {
            rows.insert(stamp, writes);
            replayed.newest = replayed.newest.max(Some(stamp));
        }
        last = at..at + frame.bytes;
        at += frame.bytes;
        sequence += 1;
    }
    refuse_later_frame(&bytes, at, sequence, header)?;
    replayed.generations.push((header.generation, rows));
    Ok(End { offset: at as u64, sequence, last: bytes[last].to_vec() })
}

fn read_whole(file: &Arc<dyn File>) -> Result<Vec<u8>, StoreError> {
    let fail = failed("reading the journal");
    let length = usize::try_from(file.len().map_err(&fail)?)
        .map_err(|_| StoreError::corrupt("a journal too large to be one"))?;
    let mut bytes = vec![0; length];
    for (index, piece) in bytes.chunks_mut(READ_STEP).enumerate() {
        file.read_at((index * READ_STEP) as u64, piece).map_err(&fail)?;
    }
    Ok(bytes)
}

/// A sound frame behind the end of the sound ones means that one in between was damaged.
fn refuse_later_frame(
    bytes: &[u8],
    end: usize,
    least: u64,
    header: &Header,
) -> Result<(), StoreError> {
    let mut at = end + 8;
    while let Some(rest) = bytes.get(at..) {
        // No more frames than fit lie in between. Without this, checking the sums of old bytes that
        // a user made look like long frames would take minutes.
        let most = least.saturating_add(((at - end) / FRAME_HEADER) as u64);
        if let Some(claimed) = frame::claimed_sequence(rest)
            && (least..=most).contains(&claimed)
            && frame::decode(rest, claimed, header).is_some()
        {
            return Err(StoreError::corrupt(format!(
                "the journal is damaged at offset {end}: batch {least} cannot be read, but \
                 batch {claimed} behind it can"
            )));
        }
        if rest.is_empty() {
            break;
        }
        at += 8;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemDisk;
    use std::time::{Duration, Instant};

    /// What users store stays in the file after its generation, and users know how frames look.
    #[test]
    fn bytes_made_to_look_like_frames_do_not_delay_opening() {
        let disk = MemDisk::new();
        create(&disk).expect("in memory");
        let frame: Vec<u8> = [
            b"ZFRM".as_slice(),
            &(2_u32 << 20).to_le_bytes(),
            &u64::MAX.to_le_bytes(),
            &[1, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        let file = disk.open(NAMES[1], OpenMode::Existing).expect("there");
        file.write_at(HEADER_LENGTH, &frame.repeat((4 << 20) / frame.len())).expect("in memory");
        let started = Instant::now();
        Journal::open(&disk, 0, Poison::new()).map(drop).expect("nothing is damaged");
        assert!(started.elapsed() < Duration::from_secs(3), "took {:?}", started.elapsed());
    }
}
