//! Every point at which a script of every write operation can lose its power, and every call of the
//! disk that can fail on its way: what was acknowledged is there, the operation under way is whole or
//! absent. All services run in this process, on disks in memory.

mod crashes;
mod faults;
mod recorder;
mod run;
mod script;
mod server;

use run::Run;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::{Builder, Runtime};
use zaffre_store::disk::Survival;
use zaffre_testkit::{in_parallel, seeds};

/// Workers that share the points of a script.
const WORKERS: u64 = 2;
/// How often a script does everything: twice, so that it meets what it left behind.
const TURNS: usize = 2;
/// Operations that a script has at least.
const OPERATIONS: usize = 200;
/// Power losses of one script, at least.
const CRASHES: u64 = 2_000;
/// Failing calls of one script, at least.
const FAULTS: u64 = 500;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

#[test]
fn every_write_operation_in_the_code_is_in_the_script() {
    assert_eq!(script::missing(), Vec::<String>::new());
}

#[test]
fn every_crash_point_of_every_write_operation() {
    let seeds = seeds(1);
    let (crashes, points) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut operations = 0;
    for seed in seeds.clone() {
        let run = runtime().block_on(Run::of(seed, TURNS));
        operations += run.script.operations();
        assert!(run.script.operations() >= OPERATIONS, "a short script: {operations}");
        points.fetch_add(run.tape.len() as u64, Ordering::Relaxed);
        in_parallel(0..WORKERS, |worker| {
            let (mut player, runtime) = (run.tape.play(), runtime());
            let mine = (0..=run.tape.len()).filter(|calls| *calls as u64 % WORKERS == worker);
            for calls in mine {
                let disk = player.at(calls);
                for survival in Survival::ALL {
                    runtime.block_on(crashes::crash(&run, &disk, calls, survival));
                    crashes.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    let (crashes, points) = (crashes.into_inner(), points.into_inner());
    println!(
        "figure crash-points: {crashes} power losses, seed {}, after each of {points} calls of the \
         disk, {operations} operations, 0 lost, 0 ghosts, 0 torn",
        seeds.start
    );
    assert!(crashes >= CRASHES, "did too little: {crashes}");
}

#[test]
fn a_disk_that_forgets_what_it_synced_is_found_out() {
    let run = runtime().block_on(Run::of(1, 1));
    let tape = run.tape.lying_after(run.opened);
    let disk = tape.play().at(tape.len());
    let found = std::panic::catch_unwind(|| {
        runtime().block_on(crashes::crash(&run, &disk, run.tape.len(), Survival::None));
    });
    assert!(found.is_err(), "nothing was missed");
}

#[test]
fn every_failing_call_of_every_write_operation() {
    let seeds = seeds(1);
    let (failed, calls) = (AtomicU64::new(0), AtomicU64::new(0));
    // Every call fails in all ways in a soak; otherwise each once, in ways that concern it, in turn.
    let all = std::env::var_os("ZAFFRE_SEEDS").is_some();
    for seed in seeds.clone() {
        let run = runtime().block_on(Run::of(seed, if all { TURNS } else { 1 }));
        in_parallel(0..WORKERS, |worker| {
            let (mut player, runtime) = (run.tape.play(), runtime());
            let mine = run.made.iter().zip(0..).filter(|(_, step)| step % WORKERS == worker);
            for (made, step) in mine {
                let start = player.at(made.from);
                let count = runtime.block_on(faults::calls(&start, made));
                calls.fetch_add(count, Ordering::Relaxed);
                for call in 0..count {
                    for way in 0..faults::FAULTS.len() as u64 {
                        let way = usize::try_from((step + call + way) % 4).unwrap_or(0);
                        let met = faults::fail(&run, &start, made, faults::FAULTS[way], call);
                        let met = runtime.block_on(met);
                        failed.fetch_add(met.into(), Ordering::Relaxed);
                        if met && !all {
                            break;
                        }
                    }
                }
            }
        });
    }
    let (failed, calls) = (failed.into_inner(), calls.into_inner());
    println!(
        "figure fault-points: {failed} failing calls, seed {}, among {calls} calls of the disk, 0 \
         lost, nothing acknowledged that was not kept",
        seeds.start
    );
    assert!(failed >= FAULTS, "did too little: {failed}");
}
