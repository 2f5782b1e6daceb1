//! Random sequences of operations against a small model of one container, on both engines, with
//! the background and long downloads in between. The seed of a failing sequence is printed.

mod support;

use support::model::{Run, options};
use support::{World, must, strict};
use zaffre_store::Store;

const SEEDS: u64 = 100;
const STEPS: usize = 150;

async fn run(store: Store, seed: u64) {
    let world = World::with(store, options());
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

/// Runs every seed and names the one that fails.
async fn run_all(open: impl Fn(u64) -> Store) {
    let one = std::env::var("ZAFFRE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = one.map_or(0..SEEDS, |seed: u64| seed..seed + 1);
    println!("{} sequences of {STEPS} steps; replay one with ZAFFRE_SEED=n", seeds.clone().count());
    for seed in seeds {
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
