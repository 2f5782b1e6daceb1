//! Power loss at every point of a script and at random points of random ones: nothing acknowledged
//! is lost, nothing else appears, and the store opens again.

mod store_support;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store_support::{Model, User, open, runtime};
use zaffre_base::Secret;
use zaffre_store::OpenError;
use zaffre_store::disk::{CrashDisk, Disk, EncryptedDisk, Survival};
use zaffre_testkit::{Random, in_parallel, seeds};

/// Operations of the fixed script.
const SCRIPT: u64 = 200;
const SCRIPT_SEED: u64 = 42;

/// Runs the script until it ends or the power does.
async fn run(disk: &CrashDisk, seed: u64, steps: u64) -> Model {
    // The power may go while the directory is being made; then nothing was promised.
    let Ok(store) = open(Arc::new(disk.clone())) else { return Model::default() };
    let mut user = User::new(store, seed);
    for _ in 0..steps {
        if user.step().await.is_err() {
            break;
        }
    }
    user.stop()
}

/// Opens what is left, checks it, works on, closes, and checks again.
async fn come_back(disk: &CrashDisk, mut model: Model, seed: u64, context: &str) {
    let store = open(Arc::new(disk.clone()))
        .unwrap_or_else(|error| panic!("{context}: does not open: {error}"));
    model.verify(&store).await;
    let mut user = User::with_model(store, model, seed ^ 0xABCD);
    for _ in 0..6 {
        user.step().await.unwrap_or_else(|error| panic!("{context}: does not work: {error}"));
    }
    user.tidy().await.unwrap_or_else(|error| panic!("{context}: no upkeep: {error}"));
    let mut model = user.stop();
    let store = open(Arc::new(disk.clone())).expect("opens after a clean end");
    model.verify(&store).await;
}

#[test]
fn every_crash_point_of_a_script() {
    let disk = CrashDisk::new();
    let whole = runtime().block_on(run(&disk, SCRIPT_SEED, SCRIPT));
    let calls = disk.calls();
    assert!(whole.acknowledged > 150, "the script did too little: {}", whole.acknowledged);
    let cases = calls * Survival::ALL.len() as u64;
    in_parallel(0..cases, |case| {
        let (call, mode) = (case / 4, Survival::ALL[usize::try_from(case % 4).expect("small")]);
        let disk = CrashDisk::new();
        disk.power_off_at(call);
        runtime().block_on(async {
            let model = run(&disk, SCRIPT_SEED, SCRIPT).await;
            let context = format!("call {call}, {mode:?}");
            come_back(&disk.reboot(mode, case), model, case, &context).await;
        });
    });
    println!("{cases} crashes ({calls} points, 4 ways to survive), 0 lost, 0 ghosts");
    assert!(cases >= 2_000, "too few crash points: {cases}");
}

#[test]
fn random_crashes() {
    crash_at_random(&seeds(2_000), |disk| Ok(Arc::new(disk.clone())));
}

#[test]
fn random_crashes_of_an_encrypted_disk() {
    crash_at_random(&seeds(500), |disk| {
        let key = Secret::new([0x5A; 32]);
        Ok(Arc::new(EncryptedDisk::new(Arc::new(disk.clone()), key)?))
    });
}

/// How the store sees the disk that will lose its power.
type Cover = fn(&CrashDisk) -> Result<Arc<dyn Disk>, OpenError>;

fn crash_at_random(seeds: &Range<u64>, cover: Cover) {
    let acknowledged = AtomicU64::new(0);
    println!("seeds {seeds:?}; replay one with ZAFFRE_SEED=n");
    in_parallel(seeds.clone(), |seed| {
        let mut random = Random(seed);
        let disk = CrashDisk::new();
        disk.power_off_at(random.below(900));
        let survival = Survival::ALL[random.index(4)];
        runtime().block_on(async {
            let models = run_concurrently(&disk, cover, seed).await;
            acknowledged.fetch_add(models.iter().map(|m| m.acknowledged).sum(), Ordering::Relaxed);
            let rebooted = disk.reboot(survival, seed);
            // Sometimes the power goes again while the store recovers.
            let rebooted = if random.below(3) == 0 {
                rebooted.power_off_at(random.below(40));
                drop(cover(&rebooted).and_then(open));
                rebooted.reboot(Survival::ALL[random.index(4)], seed + 1)
            } else {
                rebooted
            };
            let store = cover(&rebooted)
                .and_then(open)
                .unwrap_or_else(|error| panic!("seed {seed}: does not open: {error}"));
            for mut model in models {
                model.verify(&store).await;
            }
        });
    });
    let acknowledged = acknowledged.into_inner();
    let count = seeds.end - seeds.start;
    println!("{count} seeds, {acknowledged} acknowledged writes, 0 lost, 0 ghosts");
    assert!(acknowledged > count * 10, "the workload did too little: {acknowledged}");
}

/// Three users at once, so that batches hold several commits.
async fn run_concurrently(disk: &CrashDisk, cover: Cover, seed: u64) -> Vec<Model> {
    let Ok(store) = cover(disk).and_then(open) else { return Vec::new() };
    let first = User::new(store, seed);
    let users = [first.neighbour(1), first.neighbour(2), first];
    let tasks = users.map(|mut user| async move {
        for _ in 0..60 {
            if user.step().await.is_err() {
                break;
            }
        }
        user.stop()
    });
    let [a, b, c] = tasks;
    let (a, b, c) = tokio::join!(a, b, c);
    vec![a, b, c]
}
