//! Releasing: gives the space of extents back that no row names any more.
//!
//! Must never touch a record that is not exactly the one referred to, and must never punch a
//! payload before the mark that says so is durable: a scan would otherwise see damage.

use super::ExtentRef;
use super::reader;
use super::record::{Fixed, RELEASED, RELEASED_AT};
use super::shared::Shared;
use super::table::{Live, Phase, SegmentStatus};
use crate::disk::File;
use crate::error::StoreError;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};
use tokio::sync::oneshot;

/// Lists of references that may wait for the maintenance thread.
pub(crate) const QUEUE: usize = 64;
/// File systems give space back in whole pages.
const PAGE: u64 = 4 * 1024;

/// What the maintenance thread does.
#[derive(Debug)]
pub(crate) enum Task {
    /// Release these.
    Release(Vec<ExtentRef>),
    /// Remove segments that are empty.
    Sweep,
    /// Answer when everything before is done.
    Settle(oneshot::Sender<()>),
}

/// The maintenance thread: works until every handle is gone.
pub(crate) fn run(shared: &Shared, tasks: &Receiver<Task>) {
    while let Ok(task) = tasks.recv() {
        match task {
            Task::Release(mut refs) => {
                let mut after = None;
                // What waits is released together: one sync per segment.
                while after.is_none()
                    && let Ok(next) = tasks.try_recv()
                {
                    match next {
                        Task::Release(more) => refs.extend(more),
                        other => after = Some(other),
                    }
                }
                release(shared, refs);
                if let Some(other) = after {
                    simple(shared, other);
                }
            }
            other => simple(shared, other),
        }
    }
}

fn simple(shared: &Shared, task: Task) {
    match task {
        Task::Release(refs) => release(shared, refs),
        Task::Sweep => sweep(shared),
        Task::Settle(done) => {
            let _ = done.send(());
        }
    }
}

/// Releases now. What fails stays as it is: an orphan that a later scan finds again.
pub(crate) fn release(shared: &Shared, refs: Vec<ExtentRef>) {
    let _held = shared.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
    let mut by_segment: BTreeMap<u32, Vec<ExtentRef>> = BTreeMap::new();
    for at in refs {
        by_segment.entry(at.segment).or_default().push(at);
    }
    for (number, mut refs) in by_segment {
        refs.sort_unstable();
        refs.dedup();
        // A segment that is gone has nothing left to release.
        let known = shared.table.get(number).is_some();
        if known && let Err(error) = release_in(shared, number, &refs) {
            tracing::warn!(segment = number, %error, "extents could not be released");
        }
    }
}

fn release_in(shared: &Shared, number: u32, refs: &[ExtentRef]) -> Result<(), StoreError> {
    shared.poison.check()?;
    let file = shared.files.get(number)?;
    let mut headers = Vec::with_capacity(refs.len());
    for at in refs {
        match reader::read_header(file.as_ref(), at) {
            Ok((header, _)) if !header.released => headers.push(header),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "released what is not there"),
        }
    }
    let less =
        Live { records: headers.len() as u64, bytes: headers.iter().map(Fixed::record).sum() };
    let status = shared.table.get(number);
    let last = status.is_some_and(|s| {
        s.phase == Phase::Sealed && s.live.is_some_and(|live| live.records == less.records)
    });
    if last && !is_highest(shared, number) {
        return remove(shared, number);
    }
    mark(shared, &file, &headers)?;
    shared.table.released(number, less);
    for header in &headers {
        punch(file.as_ref(), header);
    }
    Ok(())
}

/// Marks the records, durably.
fn mark(shared: &Shared, file: &Arc<dyn File>, headers: &[Fixed]) -> Result<(), StoreError> {
    if headers.is_empty() {
        return Ok(());
    }
    for header in headers {
        let written = file.write_at(header.at.offset + RELEASED_AT, &RELEASED);
        shared.written("marking released extents", written)?;
    }
    shared.synced("syncing released extents", file.sync())
}

/// Gives the whole pages of the payload back; header and owner stay readable. Space is all there
/// is to lose, so failures (file systems that cannot) are ignored.
fn punch(file: &dyn File, header: &Fixed) {
    let Range { start, end } = hole(header);
    if start < end {
        let _ = file.punch(start, end - start);
    }
}

/// The whole pages inside a record's payload.
fn hole(header: &Fixed) -> Range<u64> {
    let payload = header.at.offset + header.front() as u64;
    let end = payload + u64::from(header.at.length);
    payload.next_multiple_of(PAGE)..end / PAGE * PAGE
}

/// Removes every sealed segment in which no record is in use.
pub(crate) fn sweep(shared: &Shared) {
    let _held = shared.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
    let segments = shared.table.all().into_iter();
    for SegmentStatus { number, .. } in segments.filter(SegmentStatus::is_empty) {
        if !is_highest(shared, number)
            && let Err(error) = remove(shared, number)
        {
            tracing::warn!(segment = number, %error, "a segment could not be removed");
        }
    }
}

/// Whether a segment has the highest number of all. Such a file stays, because numbers must rise
/// over restarts: otherwise an old reference could come to mean a new extent.
fn is_highest(shared: &Shared, number: u32) -> bool {
    shared.table.all().last().is_some_and(|last| last.number == number)
}

fn remove(shared: &Shared, number: u32) -> Result<(), StoreError> {
    shared.poison.check()?;
    // Out of the table first: whoever then misses the file knows that it is gone for good.
    shared.table.remove(number);
    match shared.files.remove(number) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("removing a segment", error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_whole_pages_inside_the_payload() {
        for (offset, owner_length, length, want) in [
            (64, 4, 4_096, None),
            (64, 4, 8_192, Some(4_096..8_192)),
            (64, 4, 100, None),
            (4_032, 4, 4_096, Some(4_096..8_192)),
            (4_032, 4, 65_536, Some(4_096..69_632)),
        ] {
            let at = ExtentRef { segment: 1, offset, length };
            let fixed = Fixed { owner_length, at, sequence: 0, salt: 0, released: false };
            let got = hole(&fixed);
            let payload = offset + fixed.front() as u64;
            let inside = got.start >= payload && got.end <= payload + u64::from(length);
            assert!(got.is_empty() || inside, "{got:?} leaves the payload");
            let got = Some(got).filter(|hole| !hole.is_empty());
            assert_eq!(got, want, "record at {offset} of {length}");
        }
    }
}
