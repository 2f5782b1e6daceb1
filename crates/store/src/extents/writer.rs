//! A segment's one writer: a thread that drains a queue, appends in order, syncs once for all it
//! took, then answers.
//!
//! Must never answer before the sync, nor append behind bytes whose sync is not over: everything
//! before an acknowledged record is therefore valid, and a scan from the start finds it.

use super::ExtentRef;
use super::files::{self, Fresh};
use super::record::Prepared;
use super::segment::{Footer, HEADER, Header};
use super::shared::Shared;
use super::table::{Live, Phase};
use crate::disk::File;
use crate::error::StoreError;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Extents that may wait for one writer; more callers wait outside with their own buffers.
pub(crate) const QUEUE: usize = 256;
/// Bytes taken into one sync, so that the first of a batch does not wait for ever.
const BATCH_BYTES: u64 = 16 * 1024 * 1024;
/// Payloads from this size on are written from where they are; smaller ones are gathered, so that
/// a batch of them is one call.
const DIRECT: usize = 64 * 1024;
/// Gathered bytes that are written at once.
const GATHER: usize = 1024 * 1024;

/// An extent and who waits for it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) prepared: Prepared,
    pub(crate) reply: oneshot::Sender<Result<ExtentRef, StoreError>>,
}

impl Job {
    fn answer(self, answer: Result<ExtentRef, StoreError>) {
        // Whoever asked may have gone; the record is then an orphan.
        let _ = self.reply.send(answer);
    }
}

#[derive(Debug)]
struct Active {
    fresh: Fresh,
    end: u64,
    records: u64,
}

impl Active {
    fn fits(&self, job: &Job) -> bool {
        self.end + job.prepared.record() <= self.fresh.capacity
    }
}

/// The writer's state; it runs on its own thread.
#[derive(Debug)]
pub(crate) struct Writer {
    shared: Arc<Shared>,
    queue: mpsc::Receiver<Job>,
    on_sealed: Box<dyn Hook>,
    active: Option<Active>,
    gathered: Vec<u8>,
}

/// Told when a segment was sealed.
pub(crate) trait Hook: Send + std::fmt::Debug {
    fn sealed(&self);
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        queue: mpsc::Receiver<Job>,
        on_sealed: Box<dyn Hook>,
    ) -> Self {
        Self { shared, queue, on_sealed, active: None, gathered: Vec::new() }
    }

    /// Works until every handle is gone, then seals.
    pub(crate) fn run(mut self) {
        while let Some(first) = self.queue.blocking_recv() {
            let mut bytes = first.prepared.record();
            let mut batch = VecDeque::from([first]);
            while bytes < BATCH_BYTES
                && let Ok(job) = self.queue.try_recv()
            {
                bytes += job.prepared.record();
                batch.push_back(job);
            }
            self.write(batch);
        }
        if let Some(active) = self.active.take() {
            self.seal(&active);
        }
    }

    /// Writes a batch, over as many segments as it takes.
    fn write(&mut self, mut batch: VecDeque<Job>) {
        while let Some(first) = batch.front() {
            let ready = self.shared.poison.check().and_then(|()| self.make_room(first));
            let mut active = match ready {
                Ok(active) => active,
                Err(error) => {
                    for job in batch {
                        job.answer(Err(error.clone()));
                    }
                    return;
                }
            };
            let part = take_fitting(&active, &mut batch);
            self.append(&mut active, part);
            self.active = Some(active);
        }
    }

    /// The segment to append `job` to: the active one if it fits there, else a new one. The old one
    /// stays active when no new one can be had: smaller extents may still fit.
    fn make_room(&mut self, job: &Job) -> Result<Active, StoreError> {
        match self.active.take() {
            Some(active) if active.fits(job) => return Ok(active),
            full => self.active = full,
        }
        let fresh = files::create(&self.shared, job.prepared.record())?;
        if let Some(full) = self.active.take() {
            self.seal(&full);
        }
        let end = HEADER as u64;
        self.shared.table.add(fresh.header.number, Phase::Active, end);
        Ok(Active { fresh, end, records: 0 })
    }

    /// Appends jobs that fit, syncs, answers.
    fn append(&mut self, active: &mut Active, jobs: Vec<Job>) {
        match self.append_durably(active, &jobs) {
            Ok(refs) => {
                for (job, at) in jobs.into_iter().zip(refs) {
                    job.answer(Ok(at));
                }
            }
            // The end stays where it was: the next batch overwrites what was written of this one.
            Err(error) => {
                for job in jobs {
                    job.answer(Err(error.clone()));
                }
            }
        }
    }

    fn append_durably(
        &mut self,
        active: &mut Active,
        jobs: &[Job],
    ) -> Result<Vec<ExtentRef>, StoreError> {
        let start = active.end;
        active.fresh.reserve(start + jobs.iter().map(|job| job.prepared.record()).sum::<u64>())?;
        let (refs, end) = self.write_records(active, jobs)?;
        self.shared.synced("syncing a segment", active.fresh.file.sync())?;
        active.end = end;
        let more = Live { records: refs.len() as u64, bytes: end - start };
        active.records += more.records;
        self.shared.table.appended(active.fresh.header.number, end, more);
        Ok(refs)
    }

    fn write_records(
        &mut self,
        active: &Active,
        jobs: &[Job],
    ) -> Result<(Vec<ExtentRef>, u64), StoreError> {
        let header = active.fresh.header;
        let mut out =
            Gather { active, shared: &self.shared, at: active.end, bytes: &mut self.gathered };
        let mut refs = Vec::with_capacity(jobs.len());
        let mut offset = active.end;
        for Job { prepared, .. } in jobs {
            let at = prepared.at(header.number, offset);
            let sequence = self.shared.writes.next_sequence();
            prepared.encode_front(at, sequence, header.salt, out.bytes);
            out.payload(prepared.payload())?;
            out.bytes.extend_from_slice(prepared.padding());
            offset += prepared.record();
            refs.push(at);
        }
        out.flush()?;
        debug_assert_eq!(out.at, offset, "records are as long as they say");
        Ok((refs, offset))
    }

    /// Cuts the reserved space behind the last record and writes the footer. Every record is
    /// durable already, so a failure here leaves a segment that the next start seals.
    fn seal(&self, active: &Active) {
        let Header { number, salt } = active.fresh.header;
        let footer =
            Footer { number, salt, records: active.records, end: active.end, torn: Vec::new() };
        if seal_file(&self.shared, active.fresh.file.as_ref(), &footer).is_ok() {
            self.shared.table.moved_to(number, Phase::Sealed, active.end);
            self.on_sealed.sealed();
        }
    }
}

/// Writes `footer` at the end of the records and cuts the file behind it.
pub(crate) fn seal_file(
    shared: &Shared,
    file: &dyn File,
    footer: &Footer,
) -> Result<(), StoreError> {
    shared.poison.check()?;
    let bytes = footer.encode();
    shared.written("writing a segment's footer", file.write_at(footer.end, &bytes))?;
    shared.written("cutting a segment", file.set_len(footer.end + bytes.len() as u64))?;
    shared.synced("syncing a sealed segment", file.sync())
}

/// The longest prefix of the batch that fits the segment; at least the first job does.
fn take_fitting(active: &Active, batch: &mut VecDeque<Job>) -> Vec<Job> {
    let mut end = active.end;
    let mut count = 0;
    for job in &*batch {
        end += job.prepared.record();
        if end > active.fresh.capacity {
            break;
        }
        count += 1;
    }
    batch.drain(..count).collect()
}

/// Gathers small pieces into few writes.
struct Gather<'a> {
    active: &'a Active,
    shared: &'a Shared,
    /// Where the gathered bytes go.
    at: u64,
    bytes: &'a mut Vec<u8>,
}

impl Gather<'_> {
    fn payload(&mut self, payload: &[u8]) -> Result<(), StoreError> {
        if payload.len() < DIRECT {
            self.bytes.extend_from_slice(payload);
            return if self.bytes.len() >= GATHER { self.flush() } else { Ok(()) };
        }
        self.flush()?;
        self.write(payload)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let mut bytes = std::mem::take(self.bytes);
        let result = if bytes.is_empty() { Ok(()) } else { self.write(&bytes) };
        bytes.clear();
        *self.bytes = bytes;
        result
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let written = self.active.fresh.file.write_at(self.at, bytes);
        self.shared.written("appending to a segment", written)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}
