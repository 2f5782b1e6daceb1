//! The conformance suite of extents: random use against a model, on every kind of disk.

mod extents_support;

use extents_support::{SEGMENT, User};
use std::sync::Arc;
use zaffre_store::disk::{Disk, MemDisk, RealDisk};
use zaffre_store::extents::Phase;

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
