//! Random sequences of operations against a small model of one container, on both engines, with
//! the background and long downloads in between. The seed of a failing sequence is printed.

mod support;

use support::model::{Run, options as options_of_model};
use support::{World, must, strict};
use zaffre_store::Store;
use zaffre_store::meta::StrictOptions;

const SEEDS: u64 = 100;
const STEPS: usize = 150;

async fn run(store: Store, seed: u64) {
    let world = World::with(store, options_of_model());
    must(world.create("photos").await);
    let mut run = Run::new(world, seed);
    for _ in 0..STEPS {
        must(run.step().await);
    }
    run.look_at_all().await;
    while !run.held.is_empty() {
        must(run.finish_download().await);
    }
    if seed.is_multiple_of(2) {
        must(run.delete_all().await);
    } else {
        must(run.world.delete_container("photos").await);
    }
    run.world.sweep().await;
    assert!(run.world.rows("photos").await.is_empty(), "rows are left");
    assert_eq!(run.world.live_extents().await, 0, "extents are left");
}

fn seeds() -> std::ops::Range<u64> {
    let seeds = zaffre_testkit::seeds(SEEDS);
    println!("{} sequences of {STEPS} steps; replay one with ZAFFRE_SEED=n", seeds.clone().count());
    seeds
}

/// Runs every seed and names the one that fails.
async fn run_all(open: impl Fn(u64) -> Store) {
    for seed in seeds() {
        println!("seed {seed}");
        run(open(seed), seed).await;
    }
}

#[tokio::test]
async fn sequences_on_the_embedded_engine() {
    run_all(|_| must(Store::in_memory())).await;
}

#[tokio::test]
async fn sequences_on_the_strict_engine() {
    run_all(|seed| must(Store::strict(strict(seed)))).await;
}

/// An engine that sometimes cannot say whether a commit happened.
async fn run_with_unknown_outcomes(seed: u64) {
    let options = StrictOptions { unknown_one_in: 12, ..strict(seed) };
    let world = World::with(must(Store::strict(options)), options_of_model());
    while !world.container_exists("photos").await {
        drop(world.create("photos").await);
    }
    let mut run = Run::new(world, seed);
    for _ in 0..STEPS {
        if run.step().await.is_err() {
            run.recover().await;
        }
    }
    run.look_at_all().await;
    while !run.held.is_empty() {
        must(run.finish_download().await);
    }
    while run.delete_all().await.is_err() {
        run.recover().await;
    }
    let mut passes = 0;
    while !run.world.core.run_background_once().await.is_ok_and(|swept| swept.blocked == 0) {
        passes += 1;
        assert!(passes < 1_000, "the background does not come to an end");
    }
    assert!(run.world.rows("photos").await.is_empty(), "rows are left");
    run.world.free_orphans().await;
    assert_eq!(run.world.live_extents().await, 0, "extents are left");
}

#[tokio::test]
async fn sequences_with_unknown_outcomes() {
    for seed in seeds() {
        println!("seed {seed}");
        run_with_unknown_outcomes(seed).await;
    }
}
