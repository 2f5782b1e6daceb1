//! Power loss at random points under random operations: what was acknowledged is there, what was
//! not is there whole or not at all, and everything else is reclaimed.

mod support;

use std::sync::Arc;
use support::model::{self, Random, Run};
use support::{World, must};
use zaffre_store::disk::{CrashDisk, Survival};
use zaffre_store::extents::ExtentOptions;
use zaffre_store::{Store, StoreOptions};

const SEEDS: u64 = 1_000;
const STEPS: usize = 80;

fn open(disk: &CrashDisk) -> Option<World> {
    let extents = ExtentOptions { segment_bytes: 256 * 1024, writers: 1, open_files: 8 };
    let options = StoreOptions { extents, ..StoreOptions::default() };
    let store = Store::open(Arc::new(disk.clone()), &options).ok()?;
    Some(World::with(store, model::options()))
}

/// Works until the power goes. Nothing was promised if it went before the container was there.
async fn work(disk: &CrashDisk, seed: u64) -> Option<(Run, usize)> {
    let world = open(disk)?;
    world.create("photos").await.ok()?;
    let mut run = Run::new(world, seed);
    let mut steps = 0;
    while steps < STEPS && run.step().await.is_ok() {
        steps += 1;
    }
    disk.power_off();
    Some((run, steps))
}

async fn come_back(disk: &CrashDisk, before: &Run, seed: u64) {
    let world = open(disk).unwrap_or_else(|| panic!("seed {seed}: does not open"));
    let mut run = Run::new(world, seed);
    (run.model, run.perhaps) = (before.model.clone(), before.perhaps.clone());
    run.recover().await;
    run.world.sweep().await;
    run.look_at_all().await;
    must(run.delete_all().await);
    run.world.sweep().await;
    assert!(run.world.rows("photos").await.is_empty(), "seed {seed}: rows are left");
    run.world.free_orphans().await;
    assert_eq!(run.world.live_extents().await, 0, "seed {seed}: extents are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_goes_at_random_points() {
    let seeds = zaffre_testkit::seeds(SEEDS);
    let count = seeds.end - seeds.start;
    println!("{} crashes; replay one with ZAFFRE_SEED=n", seeds.clone().count());
    let mut all_steps = 0;
    for seed in seeds {
        println!("seed {seed}");
        let mut random = Random(seed);
        let disk = CrashDisk::new();
        disk.power_off_at(20 + u64::try_from(random.below(250)).unwrap_or(0));
        let survival = random.pick(&Survival::ALL);
        if let Some((run, steps)) = work(&disk, seed).await {
            all_steps += steps;
            come_back(&disk.reboot(survival, seed), &run, seed).await;
        }
    }
    println!("{all_steps} steps acknowledged, none lost");
    assert!(count < SEEDS || all_steps > 10_000, "did too little: {all_steps}");
}
