//! What the extent tests share: a small store user with a model of what it must find.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test binary uses its part")]

use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use zaffre_base::{ContentId, Stamp};
use zaffre_store::disk::Disk;
use zaffre_store::extents::check::{CheckReport, Scrub};
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::extents::{ExtentOptions, ExtentRef, Extents, Owner, Upkeep};
use zaffre_store::meta::{Meta, Strict, StrictOptions};
use zaffre_store::pins::{Pins, StampPin};
use zaffre_store::poison::Poison;
use zaffre_store::{Abort, Clock, Placement, Row, StoreError, TransactError};
use zaffre_testkit::Random;

/// Small segments, so that a few writes fill one.
pub const SEGMENT: u64 = 64 * 1024;

pub fn options() -> ExtentOptions {
    ExtentOptions { segment_bytes: SEGMENT, writers: 2, open_files: 4 }
}

pub fn bytes(random: &mut Random, length: usize) -> Bytes {
    (0..length).map(|_| random.draw().to_le_bytes()[0]).collect()
}

pub fn open(disk: &Arc<dyn Disk>) -> Extents {
    Extents::open(Arc::clone(disk), options(), Poison::new()).expect("opens")
}

pub fn strict(seed: u64) -> Meta {
    Strict::meta(Clock::default(), StrictOptions { seed, ..StrictOptions::default() })
}

/// Bytes that were replaced or deleted and wait for readers.
struct Retired {
    at: Stamp,
    place: Placement,
    content: ContentId,
    refs: Vec<ExtentRef>,
}

/// A reader that holds on to what it saw.
struct Reader {
    _pin: StampPin,
    saw: Vec<(Vec<Run>, Bytes)>,
}

/// Uses a store the way an object service does: each key holds one object, written as a few
/// extents that its one row names.
pub struct User {
    pub extents: Extents,
    pub meta: Meta,
    pub pins: Pins,
    pub upkeep: Upkeep,
    /// What was acknowledged.
    pub model: BTreeMap<(u8, u8), Bytes>,
    /// What writes without a sure answer may have left, besides that.
    pub unsure: BTreeMap<(u8, u8), Vec<Option<Bytes>>>,
    retired: Vec<Retired>,
    readers: Vec<Reader>,
    pub random: Random,
    /// Its three placements start here.
    first_place: u8,
    /// Longest object.
    pub longest: usize,
    disk: Arc<dyn Disk>,
}

pub fn placement(number: u8) -> Placement {
    Placement::new(vec![b'p', number])
}

fn commit_error(error: TransactError<StoreError>) -> StoreError {
    match error {
        TransactError::Body(error) | TransactError::Store(error) => error,
    }
}

impl User {
    pub fn new(disk: Arc<dyn Disk>, seed: u64) -> Self {
        Self::with_meta(disk, strict(seed), seed)
    }

    pub fn with_meta(disk: Arc<dyn Disk>, meta: Meta, seed: u64) -> Self {
        let (extents, pins) = (open(&disk), Pins::new());
        let upkeep = Upkeep::new(extents.clone(), meta.clone(), pins.clone());
        Self {
            extents,
            meta,
            pins,
            upkeep,
            model: BTreeMap::new(),
            unsure: BTreeMap::new(),
            retired: Vec::new(),
            readers: Vec::new(),
            random: Random(seed),
            first_place: 0,
            longest: 150_000,
            disk,
        }
    }

    /// Another user of the same store, with placements and choices of its own.
    pub fn neighbour(&self, number: u8) -> Self {
        let (extents, meta, pins) = (self.extents.clone(), self.meta.clone(), self.pins.clone());
        let upkeep = Upkeep::new(extents.clone(), meta.clone(), pins.clone());
        Self {
            extents,
            meta,
            pins,
            upkeep,
            model: BTreeMap::new(),
            unsure: BTreeMap::new(),
            retired: Vec::new(),
            readers: Vec::new(),
            random: Random(self.random.0 ^ u64::from(number)),
            first_place: 3 * number,
            longest: self.longest,
            disk: Arc::clone(&self.disk),
        }
    }

    fn any_key(&mut self) -> (u8, u8) {
        let mut byte = |bound| u8::try_from(self.random.below(bound)).expect("small");
        let place = byte(3);
        (self.first_place + place, byte(12))
    }

    /// Writes an object and releases what it replaces once nobody reads that any more.
    pub async fn put(&mut self) -> Result<(), StoreError> {
        let key = self.any_key();
        let length = match self.random.below(10) {
            0 => 1 + self.random.index(8),
            1..7 => 1 + self.random.index(3_000),
            7 | 8 => 1 + self.random.index(20_000),
            _ => 60_000 + self.random.index(90_000),
        };
        let body = bytes(&mut self.random, length.min(self.longest));
        let pieces = 1 + self.random.index(3);
        self.put_at(key, body, pieces).await
    }

    /// Writes one object.
    pub async fn put_at(
        &mut self,
        key: (u8, u8),
        body: Bytes,
        pieces: usize,
    ) -> Result<(), StoreError> {
        let result = self.put_body(key, &body, pieces).await;
        match &result {
            Ok(()) => self.settled(key, Some(body)),
            Err(_) => self.unsure.entry(key).or_default().push(Some(body)),
        }
        result
    }

    async fn put_body(
        &mut self,
        (place, name): (u8, u8),
        body: &Bytes,
        pieces: usize,
    ) -> Result<(), StoreError> {
        let owner = Owner { placement: placement(place), key: vec![name] };
        let _open = self.extents.begin_write();
        let mut runs = Vec::new();
        let mut at = 0;
        for piece in chunks(body, pieces) {
            let extent = self.extents.write(&owner, piece.clone()).await?;
            let length = extent.length;
            runs.push(Run { at, length, extent, skip: 0 });
            at += length;
        }
        self.swap_row(place, name, Some(runs::encode(&runs))).await
    }

    fn settled(&mut self, key: (u8, u8), body: Option<Bytes>) {
        self.unsure.remove(&key);
        match body {
            Some(body) => self.model.insert(key, body),
            None => self.model.remove(&key),
        };
    }

    /// Deletes an object.
    pub async fn delete(&mut self) -> Result<(), StoreError> {
        let (place, name) = self.any_key();
        let result = self.swap_row(place, name, None).await;
        match &result {
            Ok(()) => self.settled((place, name), None),
            Err(_) => self.unsure.entry((place, name)).or_default().push(None),
        }
        result
    }

    async fn swap_row(
        &mut self,
        place: u8,
        name: u8,
        value: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        let body = move |tx: &mut zaffre_store::Tx<'_>| {
            let old = tx.get(&[name])?;
            match &value {
                Some(value) => tx.put(&[name], value)?,
                None => tx.delete(&[name])?,
            }
            Ok::<_, Abort<StoreError>>((old, tx.stamp()))
        };
        let (old, at) = self.meta.transact(&placement(place), body).await.map_err(commit_error)?;
        if let Some(old) = old {
            let refs = runs::decode(&old)?.iter().map(|run| run.extent).collect();
            let content = ContentId(u128::from(at.0));
            self.retired.push(Retired { at, place: placement(place), content, refs });
        }
        Ok(())
    }

    /// Frees what no reader holds any more.
    pub fn collect(&mut self) {
        let (pins, extents) = (&self.pins, &self.extents);
        self.retired.retain(|r| {
            let free = pins.may_free(r.at, &r.place, r.content);
            if free {
                extents.release(&r.refs);
            }
            !free
        });
    }

    /// Writes bytes whose commit never comes.
    pub async fn abandon(&mut self) -> Result<(), StoreError> {
        let (place, name) = self.any_key();
        let owner = Owner { placement: placement(place), key: vec![name] };
        let _open = self.extents.begin_write();
        let length = 1 + self.random.index(5_000);
        let body = bytes(&mut self.random, length);
        self.extents.write(&owner, body).await.map(drop)
    }

    async fn load(&self, (place, name): (u8, u8)) -> Result<Option<(Vec<Run>, Bytes)>, StoreError> {
        let snapshot = self.meta.snapshot(&placement(place)).await?;
        let Some(value) = snapshot.get(&[name])? else { return Ok(None) };
        let runs = runs::decode(&value)?;
        let body = read_runs(&self.extents, &runs).await?;
        Ok(Some((runs, body)))
    }

    /// Takes a pin and notes what every object looks like; old readers end.
    pub async fn pin(&mut self) {
        let pin = self.pins.enter(self.meta.last_stamp());
        let mut saw = Vec::new();
        for key in self.model.keys() {
            saw.extend(self.load(*key).await.expect("readable"));
        }
        self.readers.push(Reader { _pin: pin, saw });
        if self.readers.len() > 2 {
            self.readers.remove(0);
        }
    }

    /// Everything acknowledged is there, and every reader still sees what it saw.
    pub async fn verify(&mut self) {
        for (key, body) in &self.model {
            if self.unsure.contains_key(key) {
                continue;
            }
            let got = self.load(*key).await.expect("readable").map(|(_, body)| body);
            assert!(got.as_ref() == Some(body), "object {key:?}");
        }
        for (key, bodies) in &self.unsure {
            let got = self.load(*key).await.expect("readable").map(|(_, body)| body);
            let old = self.model.get(key);
            assert!(got.as_ref() == old || bodies.contains(&got), "unsure object {key:?}");
        }
        for reader in &self.readers {
            for (runs, body) in &reader.saw {
                let got = read_runs(&self.extents, runs).await.expect("held by a pin");
                assert!(got == *body, "a reader's object changed");
            }
        }
        self.verify_ranges().await;
    }

    async fn verify_ranges(&mut self) {
        for (key, body) in self.model.clone() {
            if self.unsure.contains_key(&key) {
                continue;
            }
            let Some((runs, _)) = self.load(key).await.expect("readable") else { continue };
            let run = runs[self.random.index(runs.len())];
            let start = u32::try_from(self.random.below(u64::from(run.length))).expect("small");
            let more = self.random.below(u64::from(run.length - start) + 1);
            let end = start + u32::try_from(more).expect("small");
            let got = self.extents.read(&run.extent, start..end).await.expect("readable");
            let from = usize::try_from(run.at + start).expect("small");
            assert!(got == body.slice(from..from + got.len()) && got.len() == range(start, end));
        }
    }

    /// Scrubs everything.
    pub async fn scrub(&self) -> CheckReport {
        let mut scrub = Scrub::new(self.extents.clone(), self.meta.clone());
        let mut calls = 0;
        scrub.segments(|_| calls += 1).await.expect("the disk works");
        assert!(calls >= self.extents.segments().len(), "progress is told");
        for (placement, row) in self.rows().await {
            scrub.row(&placement, &row).expect("the disk works");
        }
        scrub.report().clone()
    }

    pub async fn rows(&self) -> Vec<(Placement, Row)> {
        let mut rows = Vec::new();
        for place in self.first_place..self.first_place + 3 {
            let snapshot = self.meta.snapshot(&placement(place)).await.expect("works");
            let page = snapshot.scan(&[], None, 1_000).expect("works");
            rows.extend(page.into_iter().map(|row| (placement(place), row)));
        }
        rows
    }

    /// Ends everything in this process and starts again on `disk`, with the same rows.
    pub fn reopen(self, disk: Option<Arc<dyn Disk>>) -> Self {
        let disk = disk.unwrap_or(self.disk);
        let (meta, model, unsure, random) = (self.meta, self.model, self.unsure, self.random);
        drop((self.upkeep, self.extents));
        let (extents, pins) = (open(&disk), Pins::new());
        let upkeep = Upkeep::new(extents.clone(), meta.clone(), pins.clone());
        let (retired, readers) = (Vec::new(), Vec::new());
        let (first_place, longest) = (self.first_place, self.longest);
        Self {
            extents,
            meta,
            pins,
            upkeep,
            model,
            unsure,
            retired,
            readers,
            random,
            first_place,
            longest,
            disk,
        }
    }

    pub fn end_readers(&mut self) {
        self.readers.clear();
    }
}

fn range(start: u32, end: u32) -> usize {
    usize::try_from(end - start).expect("small")
}

pub fn chunks(body: &Bytes, pieces: usize) -> Vec<Bytes> {
    let size = body.len().div_ceil(pieces);
    (0..body.len()).step_by(size).map(|at| body.slice(at..(at + size).min(body.len()))).collect()
}

pub async fn read_runs(extents: &Extents, runs: &[Run]) -> Result<Bytes, StoreError> {
    let mut body = Vec::new();
    for run in runs {
        let bytes = extents.read(&run.extent, run.skip..run.skip + run.length).await?;
        body.extend_from_slice(&bytes);
    }
    Ok(Bytes::from(body))
}
