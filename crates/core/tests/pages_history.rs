//! Page blobs with snapshots: each shows for ever what it showed, differences are exact, and what
//! the last of them lets go of is freed; also when the power goes.

mod support;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use support::model::Random;
use support::pages::{PAGE, Pages, ranges};
use support::{World, delete, get, must, pattern, refused, snapshot_of, strict};
use zaffre_base::Timestamp;
use zaffre_core::blob::op::{DeleteBlob, DeleteSnapshots, GetBlob, GetPageRanges, MomentId};
use zaffre_core::blob::{self, reply::Change};
use zaffre_core::{CoreOptions, Error, Layout, StoreError};
use zaffre_domain::Refusal;
use zaffre_store::disk::{CrashDisk, Survival};
use zaffre_store::extents::ExtentOptions;
use zaffre_store::{Store, StoreOptions};

const AT: &str = "disks/a";
const LENGTH: u64 = 1_536 * 1024;

fn options() -> CoreOptions {
    CoreOptions {
        container_delete_delay: Duration::ZERO,
        layout: Layout { inline_bytes: 2048, ..Layout::default() },
        ..CoreOptions::default()
    }
}

/// The blob and its snapshots as they should be.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Model {
    now: Pages,
    /// Which write each page was last written or cleared by.
    changed: Vec<u64>,
    writes: u64,
    past: BTreeMap<Timestamp, (Pages, Vec<u64>)>,
}

impl Model {
    fn new() -> Self {
        let pages = usize::try_from(LENGTH / PAGE).unwrap_or(0);
        Self { now: Pages::new(LENGTH), changed: vec![0; pages], ..Self::default() }
    }

    fn touch(&mut self, pages: &Range<u64>) {
        self.writes += 1;
        let page = |offset: u64| usize::try_from(offset / PAGE).unwrap_or(0);
        self.changed[page(pages.start)..page(pages.end)].fill(self.writes);
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.now.write(offset, bytes);
        self.touch(&(offset..offset + u64::try_from(bytes.len()).unwrap_or(0)));
    }

    fn clear(&mut self, pages: &Range<u64>) {
        self.now.clear(pages);
        self.touch(pages);
    }

    fn differences(&self, since: Timestamp) -> Vec<(Change, Range<u64>)> {
        let (then, changed) = &self.past[&since];
        let mut found: Vec<(Change, Range<u64>)> = Vec::new();
        for (page, (after, before)) in self.changed.iter().zip(changed).enumerate() {
            let change = match (then.has(page), self.now.has(page)) {
                (_, true) if after != before => Change::Written,
                (true, false) => Change::Cleared,
                _ => continue,
            };
            let start = u64::try_from(page).unwrap_or(0) * PAGE;
            match found.last_mut() {
                Some((last, range)) if *last == change && range.end == start => range.end += PAGE,
                _ => found.push((change, start..start + PAGE)),
            }
        }
        found
    }
}

struct Run {
    world: World,
    model: Model,
    perhaps: Option<Model>,
    random: Random,
}

impl Run {
    /// Does one thing; `Err` when the store failed.
    async fn step(&mut self) -> Result<(), ()> {
        let mut next = self.model.clone();
        let outcome = match self.random.below(16) {
            0..=7 => {
                let most = self.random.pick(&[1, 1, 4, 200]);
                let Some(pages) = next.now.pick(&mut self.random, most) else { return Ok(()) };
                let seed = u8::try_from(self.random.below(256)).unwrap_or(0);
                let length = usize::try_from(pages.end - pages.start).unwrap_or(0);
                let bytes = pattern(length, seed);
                next.write(pages.start, &bytes);
                self.world.write_pages(AT, pages.start, bytes).await.map(|_| ())
            }
            8 | 9 => {
                let most = self.random.pick(&[8, 3_000]);
                let Some(pages) = next.now.pick(&mut self.random, most) else { return Ok(()) };
                next.clear(&pages);
                self.world.clear_pages(AT, pages).await.map(|_| ())
            }
            10 if self.model.past.len() < 4 => match self.world.snapshot(AT).await {
                Ok(at) => {
                    next.past.insert(at, (next.now.clone(), next.changed.clone()));
                    Ok(())
                }
                // A snapshot that may be there or not has a name nobody knows.
                Err(error) => Err(error),
            },
            11 => {
                let Some(at) = self.any_snapshot() else { return Ok(()) };
                next.past.remove(&at);
                let op = DeleteBlob { at: snapshot_of(AT, at), ..delete(AT) };
                self.world.remove(op).await.map(|_| ())
            }
            12 | 13 => self.world.core.run_background_once().await.map(|_| ()),
            _ => return self.look().await.map_err(|_| ()),
        };
        match outcome {
            Ok(()) => {
                self.model = next;
                Ok(())
            }
            Err(Error::Store(_)) => {
                self.perhaps = Some(next);
                Err(())
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    fn any_snapshot(&mut self) -> Option<Timestamp> {
        let all: Vec<Timestamp> = self.model.past.keys().copied().collect();
        if all.is_empty() { None } else { Some(self.random.pick(&all)) }
    }

    /// Compares everything with the model.
    async fn look(&mut self) -> Result<(), Error> {
        same(&fetch(&self.world, get(AT)).await?, &self.model.now.bytes);
        assert_eq!(self.world.ranges(AT).await?, self.model.now.ranges());
        for (at, (pages, _)) in &self.model.past {
            let op = GetBlob { at: snapshot_of(AT, *at), ..get(AT) };
            same(&fetch(&self.world, op).await?, &pages.bytes);
            let old = GetPageRanges { at: snapshot_of(AT, *at), ..ranges(AT) };
            let found = self.world.ranges_with(old).await?;
            let found: Vec<_> = found.into_iter().map(|(_, bytes)| bytes).collect();
            assert_eq!(found, pages.ranges());
            let op = GetPageRanges { previous: Some(id(*at)), ..ranges(AT) };
            assert_eq!(self.world.ranges_with(op).await?, self.model.differences(*at));
        }
        Ok(())
    }

    async fn end(mut self, whole: bool) {
        self.world.sweep().await;
        must(self.look().await);
        if whole {
            must(self.world.delete_container("disks").await);
        } else {
            let op = DeleteBlob { snapshots: DeleteSnapshots::Include, ..delete(AT) };
            must(self.world.remove(op).await);
        }
        self.world.sweep().await;
        assert!(self.world.rows("disks").await.is_empty(), "rows are left");
        self.world.free_orphans().await;
        assert_eq!(self.world.live_extents().await, 0, "extents are left");
    }
}

/// A whole download; the power may go in the middle of it.
async fn fetch(world: &World, op: GetBlob) -> Result<Vec<u8>, Error> {
    let reply = blob::get_blob(&world.core, world.ok(op)).await?;
    support::read(reply.body).await.map_err(|_| Error::Store(StoreError::Closed))
}

fn id(at: Timestamp) -> MomentId {
    MomentId { at, text: at.iso7().to_string() }
}

#[track_caller]
fn same(got: &[u8], want: &[u8]) {
    assert_eq!(got.len(), want.len());
    let differ = got.iter().zip(want).position(|(a, b)| a != b);
    assert_eq!(differ, None, "the first byte that differs");
}

#[tokio::test]
async fn random_sequences_with_snapshots() {
    let seeds = zaffre_testkit::seeds(30);
    for seed in seeds {
        println!("seed {seed}");
        for store in [Store::in_memory(), Store::strict(strict(seed))] {
            let world = World::with(must(store), options());
            must(world.create("disks").await);
            must(world.create_pages(AT, LENGTH).await);
            let random = Random(seed);
            let mut run = Run { world, model: Model::new(), perhaps: None, random };
            for _ in 0..80 {
                must(run.step().await);
            }
            run.end(seed.is_multiple_of(2)).await;
        }
    }
}

fn open(disk: &CrashDisk) -> Option<World> {
    let extents = ExtentOptions { segment_bytes: 4 * 1024 * 1024, writers: 1, open_files: 8 };
    let store_options = StoreOptions { extents, ..StoreOptions::default() };
    let store = Store::open(Arc::new(disk.clone()), &store_options).ok()?;
    Some(World::with(store, options()))
}

#[tokio::test]
async fn power_goes_under_page_writes() {
    let mut done = 0;
    let seeds = zaffre_testkit::seeds(150);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        println!("seed {seed}");
        let mut random = Random(seed);
        let disk = CrashDisk::new();
        disk.power_off_at(30 + u64::try_from(random.below(250)).unwrap_or(0));
        let survival = random.pick(&Survival::ALL);
        let Some(world) = open(&disk) else { continue };
        let made =
            world.create("disks").await.is_ok() && world.create_pages(AT, LENGTH).await.is_ok();
        let mut run = Run { world, model: Model::new(), perhaps: None, random };
        let mut steps = 0;
        while made && steps < 60 && run.step().await.is_ok() {
            steps += 1;
        }
        disk.power_off();
        if !made {
            continue;
        }
        done += steps;
        let Run { model, perhaps, random, .. } = run;
        let world = open(&disk.reboot(survival, seed));
        let world = world.unwrap_or_else(|| panic!("seed {seed}: does not open"));
        let bytes = must(world.get(AT).await);
        let fits = |model: &Model| model.now.bytes == bytes;
        let model = perhaps.filter(fits).unwrap_or(model);
        assert!(fits(&model), "neither with nor without the last operation");
        // A snapshot whose deletion was under way may be there still; its bytes are then the same.
        let run = Run { world, model, perhaps: None, random };
        finish(run).await;
    }
    println!("{done} steps acknowledged, none lost");
    assert!(count < 150 || done > 1_500, "did too little: {done}");
}

async fn finish(mut run: Run) {
    let mut gone = Vec::new();
    for (at, _) in run.model.past.clone() {
        let op = GetBlob { at: snapshot_of(AT, at), ..get(AT) };
        if matches!(run.world.get_with(op).await, Err(Error::Refused(Refusal::BlobNotFound))) {
            gone.push(at);
        }
    }
    assert!(gone.len() <= 1, "only the last operation may be in doubt");
    for at in gone {
        run.model.past.remove(&at);
    }
    must(run.look().await);
    run.end(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn snapshots_during_writes_are_whole() {
    for store in [Store::in_memory(), Store::strict(strict(3))] {
        let world = World::with(must(store), options());
        must(world.create("disks").await);
        must(world.create_pages(AT, 64 * 1024).await);
        must(world.write_pages(AT, 0, vec![0; 64 * 1024]).await);
        let background = world.core.spawn_background();
        let writers: Vec<_> = [1_u8, 2, 3]
            .into_iter()
            .map(|writer| {
                let world = world.clone();
                tokio::spawn(async move {
                    for _ in 0..60 {
                        let length = if writer == 1 { 64 * 1024 } else { 2048 };
                        must(world.write_pages(AT, 0, vec![writer; length]).await);
                    }
                })
            })
            .collect();
        for _ in 0..30 {
            let at = must(world.snapshot(AT).await);
            let op = || GetBlob { at: snapshot_of(AT, at), ..get(AT) };
            let (first, _) = must(world.get_with(op()).await);
            assert!(first[..2048].iter().all(|byte| *byte == first[0]), "torn");
            assert!(first[2048..].iter().all(|byte| *byte == first[2048]), "torn");
            let (again, _) = must(world.get_with(op()).await);
            same(&again, &first);
        }
        for writer in writers {
            must(writer.await);
        }
        background.stop().await;
        let missing = GetPageRanges { previous: Some(id(Timestamp(1))), ..ranges(AT) };
        assert_eq!(refused(world.ranges_with(missing).await), Refusal::PreviousSnapshotNotFound);
    }
}
