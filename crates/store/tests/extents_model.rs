//! The conformance suite of extents: random use against a model, on every kind of disk.

mod extents_support;

use extents_support::{SEGMENT, User, open, placement, strict};
use std::sync::Arc;
use zaffre_store::disk::{Disk, MemDisk, RealDisk};
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::extents::{Owner, Phase, Upkeep};
use zaffre_store::meta::{Strict, StrictOptions};
use zaffre_store::pins::Pins;
use zaffre_store::{Abort, Clock, StoreError, Tx};

/// What the runs did, to tell a run that proved nothing.
#[derive(Debug, Default)]
struct Work {
    orphans: u64,
    moved: u64,
    freed: usize,
    reopened: u64,
}

/// One run of `steps` random steps.
async fn conform(disk: Arc<dyn Disk>, seed: u64, steps: u64, work: &mut Work) -> User {
    let mut user = User::new(disk, seed);
    for _ in 0..steps {
        match user.random.below(25) {
            0..10 => user.put().await.expect("the disk works"),
            10..14 => user.delete().await.expect("the disk works"),
            14 => user.abandon().await.expect("the disk works"),
            15 | 16 => user.collect(),
            17 => user.pin().await,
            18 => {
                work.orphans +=
                    user.upkeep.scan_orphans(300).await.expect("the disk works").orphans;
                user.upkeep.free().await.expect("the disk works");
            }
            19 => {
                user.extents.count_segments(4).await.expect("the disk works");
                work.moved += user.upkeep.compact(2).await.expect("the disk works").moved;
            }
            23 => user.end_readers(),
            20 => work.freed += user.upkeep.free().await.expect("the disk works"),
            21 => user.verify().await,
            22 if user.random.below(4) == 0 => {
                work.reopened += 1;
                user = user.reopen(None);
                user.verify().await;
                user.extents.recover_unsealed().await.expect("the disk works");
            }
            _ => user.extents.settle().await,
        }
    }
    user.verify().await;
    user
}

/// When all is quiet, nothing that no row names is left, nothing is damaged, and space is back.
async fn comes_to_rest(mut user: User) {
    user.end_readers();
    user.extents.recover_unsealed().await.expect("the disk works");
    while user.extents.count_segments(100).await.expect("the disk works") > 0 {}
    user.collect();
    user.extents.settle().await;
    for _ in 0..3 {
        while !user.upkeep.scan_orphans(1_000).await.expect("the disk works").finished {}
        user.upkeep.free().await.expect("the disk works");
        user.extents.settle().await;
        user.upkeep.compact(100).await.expect("the disk works");
        user.upkeep.free().await.expect("the disk works");
        user.extents.settle().await;
    }
    user.verify().await;
    let report = user.scrub().await;
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.unreferenced, 0);
    assert_eq!(user.upkeep.waiting(), 0);
    let live: u64 = user.model.values().map(|body| body.len() as u64).sum();
    let segments = user.extents.segments();
    let counted: u64 = segments.iter().filter_map(|s| s.live).map(|live| live.bytes).sum();
    assert!(counted >= live && counted < live + 400 * report.records, "{counted} of {live}");
    // Half-empty segments are allowed to stay, and the active ones.
    let kept: u64 = segments.iter().filter(|s| s.phase == Phase::Sealed).map(|s| s.end).sum();
    assert!(kept <= 2 * counted + SEGMENT * 2, "{kept} bytes kept for {counted}");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime")
}

#[test]
fn random_use_in_memory() {
    runtime().block_on(async {
        let mut work = Work::default();
        for seed in 0..40 {
            let user = conform(Arc::new(MemDisk::new()), seed, 250, &mut work).await;
            comes_to_rest(user).await;
        }
        println!("{work:?}");
        assert!(work.orphans > 100 && work.moved > 100, "{work:?}");
        assert!(work.freed > 20 && work.reopened > 50, "{work:?}");
    });
}

#[test]
fn random_use_on_a_real_disk() {
    runtime().block_on(async {
        let mut work = Work::default();
        for seed in 100..104 {
            let folder = tempfile::tempdir().expect("a folder");
            let disk = RealDisk::create(folder.path()).expect("a folder");
            let user = conform(Arc::new(disk), seed, 200, &mut work).await;
            comes_to_rest(user).await;
        }
    });
}

/// Several users write, delete and read while upkeep moves and frees under them.
#[test]
fn concurrent_use_with_upkeep() {
    runtime().block_on(async {
        for seed in 0..6 {
            let first = User::new(Arc::new(MemDisk::new()), seed);
            let mut users = Vec::new();
            for number in 1..5 {
                let mut user = first.neighbour(number);
                users.push(tokio::spawn(async move {
                    for step in 0..300 {
                        match user.random.below(12) {
                            0..6 => user.put().await.expect("the disk works"),
                            6 | 7 => user.delete().await.expect("the disk works"),
                            8 => user.abandon().await.expect("the disk works"),
                            9 | 10 => user.collect(),
                            _ if step % 3 == 0 => user.pin().await,
                            _ => {
                                user.verify().await;
                                user.end_readers();
                            }
                        }
                    }
                    user.verify().await;
                    user
                }));
            }
            let mut upkeep = first.upkeep;
            let mut moved = 0;
            while users.iter().any(|user| !user.is_finished()) {
                moved += upkeep.compact(3).await.expect("the disk works").moved;
                upkeep.scan_orphans(100).await.expect("the disk works");
                upkeep.free().await.expect("the disk works");
            }
            assert!(moved > 0, "seed {seed}: nothing was compacted meanwhile");
            for user in users {
                let mut user = user.await.expect("no panic");
                user.end_readers();
                user.collect();
                user.extents.settle().await;
                user.verify().await;
            }
        }
    });
}

/// Commits whose outcome stays unknown cost no acknowledged byte, whoever commits.
#[test]
fn unknown_outcomes_lose_nothing() {
    runtime().block_on(async {
        let (mut unknown, mut moved) = (0, 0);
        for seed in 0..20 {
            let options = StrictOptions { seed, unknown_one_in: 10, ..StrictOptions::default() };
            let meta = Strict::meta(Clock::default(), options);
            let mut user = User::with_meta(Arc::new(MemDisk::new()), meta, seed);
            for _ in 0..120 {
                let result = match user.random.below(8) {
                    0..5 => user.put().await,
                    5 => user.delete().await,
                    6 => user.upkeep.scan_orphans(500).await.map(drop),
                    _ => user.upkeep.compact(9).await.map(|report| moved += report.moved),
                };
                match result {
                    Ok(()) => {}
                    Err(StoreError::Unknown) => unknown += 1,
                    Err(error) => panic!("{error}"),
                }
                user.collect();
                user.upkeep.free().await.expect("reads only");
            }
            user.extents.settle().await;
            user.verify().await;
            let report = user.scrub().await;
            assert!(report.is_clean(), "{:?}", report.problems);
        }
        assert!(unknown > 100 && moved > 100, "{unknown} unknown outcomes, {moved} moved");
    });
}

/// One extent named by very many rows: all of them are rewritten, none is forgotten.
#[test]
fn every_version_of_a_row_follows_its_extent() {
    const VERSIONS: u16 = 150;
    runtime().block_on(async {
        let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
        let (extents, meta, pins) = (open(&disk), strict(1), Pins::new());
        let place = placement(0);
        let owner = Owner { placement: place.clone(), key: b"chunk".to_vec() };
        let filler = Owner { placement: place.clone(), key: b"filler".to_vec() };
        let old = extents.write(&owner, vec![9; 5_000].into()).await.expect("works");
        let value = runs::encode(&[Run { at: 0, length: 5_000, extent: old, skip: 0 }]);
        for version in 0..VERSIONS {
            let (key, value) = (version_key(version), value.clone());
            let put = move |tx: &mut Tx<'_>| tx.put(&key, &value).map_err(Abort::<()>::from);
            meta.transact(&place, put).await.expect("works");
        }
        // Fills the segment with what nobody keeps.
        let mut waste = Vec::new();
        while extents.segments().len() < 2 {
            waste.push(extents.write(&filler, vec![1; 10_000].into()).await.expect("works"));
        }
        extents.release(&waste);
        extents.settle().await;
        let reader = pins.enter(meta.last_stamp());
        let mut upkeep = Upkeep::new(extents.clone(), meta.clone(), pins.clone());
        assert_eq!(upkeep.compact(1).await.expect("works").moved, 1);
        assert_eq!(upkeep.free().await.expect("works"), 0, "held by a reader");
        extents.read(&old, 0..5_000).await.expect("held by a reader");
        drop(reader);
        assert_eq!(upkeep.free().await.expect("works"), 1);
        extents.settle().await;
        assert!(extents.read(&old, 0..5_000).await.is_err(), "its segment is gone");
        let snapshot = meta.snapshot(&place).await.expect("works");
        for version in 0..VERSIONS {
            let value = snapshot.get(&version_key(version)).expect("works").expect("there");
            let new = runs::decode(&value).expect("valid")[0].extent;
            let body = extents.read(&new, 0..5_000).await.expect("moved");
            assert!(body.iter().all(|byte| *byte == 9));
        }
    });
}

fn version_key(version: u16) -> Vec<u8> {
    [b"chunk".as_slice(), &version.to_be_bytes()].concat()
}
