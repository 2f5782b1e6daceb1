//! Every point at which a script of every write operation can lose its power: what was
//! acknowledged is there, the operation under way is whole or absent. All services run in this process, on disks in memory.

mod crashes;
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
/// Operations that a script has at least.
const OPERATIONS: usize = 200;
/// Power losses of one script, at least.
const CRASHES: u64 = 2_000;

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
        let run = runtime().block_on(Run::of(seed));
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
    let run = runtime().block_on(Run::of(1));
    let tape = run.tape.lying_after(run.opened);
    let disk = tape.play().at(tape.len());
    let found = std::panic::catch_unwind(|| {
        runtime().block_on(crashes::crash(&run, &disk, run.tape.len(), Survival::None));
    });
    assert!(found.is_err(), "nothing was missed");
}
