//! Every I/O error at every call of a script: what was acknowledged stays, nothing is acknowledged
//! after a failed sync, and the store works again when the disk does.

mod store_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store_support::{Model, User, open, runtime};
use zaffre_store::StoreError;
use zaffre_store::disk::{Disk, FailDisk, Fault, FaultPlan, MemDisk};
use zaffre_testkit::in_parallel;

const SCRIPT: u64 = 200;
const SCRIPT_SEED: u64 = 42;

/// What the script does under a plan: how it ends and what it may rely on.
async fn run(disk: &Arc<FailDisk>, plan: FaultPlan) -> Model {
    let Ok(store) = open(Arc::clone(disk) as Arc<dyn Disk>) else { return Model::default() };
    let mut user = User::new(store, SCRIPT_SEED);
    for _ in 0..SCRIPT {
        let hit = disk.hits() > 0;
        let poisoned = user.store.is_poisoned();
        let acknowledged = user.model.acknowledged;
        let outcome = user.step().await;
        let more = user.model.acknowledged > acknowledged;
        assert!(!(poisoned && more), "acknowledged after a failed sync ({plan:?})");
        if let Err(StoreError::Limit(what)) = outcome {
            panic!("{what} ({plan:?})");
        }
        if plan.fault == Fault::FailedSync && hit && poisoned {
            assert!(!more);
        }
    }
    user.stop()
}

/// The disk works again: everything is there and the store can be used.
async fn come_back(disk: Arc<dyn Disk>, mut model: Model, plan: FaultPlan) {
    let store =
        open(Arc::clone(&disk)).unwrap_or_else(|e| panic!("does not open after {plan:?}: {e}"));
    model.verify(&store).await;
    let mut user = User::with_model(store, model, 7);
    for _ in 0..5 {
        user.step().await.unwrap_or_else(|e| panic!("does not work after {plan:?}: {e}"));
    }
    user.stop().verify(&open(disk).expect("opens")).await;
}

#[test]
fn every_error_at_every_call() {
    let disk = Arc::new(FailDisk::new(Arc::new(MemDisk::new())));
    let none = FaultPlan { fault: Fault::Eio, from: u64::MAX, count: 0 };
    runtime().block_on(run(&disk, none));
    let calls = disk.calls();
    let hits = AtomicU64::new(0);
    let faults = [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync];
    let cases = calls * 4;
    in_parallel(0..cases, |case| {
        let fault = faults[usize::try_from(case % 4).expect("small")];
        // Mostly one failing call; now and then a disk that stays broken for a while.
        let count = if case % 7 == 0 { 25 } else { 1 };
        let plan = FaultPlan { fault, from: case / 4, count };
        let below: Arc<dyn Disk> = Arc::new(MemDisk::new());
        let disk = Arc::new(FailDisk::new(Arc::clone(&below)));
        disk.set_plan(Some(plan));
        runtime().block_on(async {
            let model = run(&disk, plan).await;
            hits.fetch_add(disk.hits().min(1), Ordering::Relaxed);
            disk.set_plan(None);
            come_back(below, model, plan).await;
        });
    });
    let hits = hits.into_inner();
    println!("{cases} runs over {calls} calls, {hits} of them met their error, 0 lost");
    assert!(hits >= calls, "too few errors were met: {hits}");
}

#[test]
fn a_full_disk_refuses_and_comes_back() {
    let below: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let disk = Arc::new(FailDisk::new(below));
    runtime().block_on(async {
        let store = open(Arc::clone(&disk) as Arc<dyn Disk>).expect("opens");
        let mut user = User::new(store, 3);
        for _ in 0..20 {
            user.step().await.expect("works");
        }
        let from = disk.calls();
        disk.set_plan(Some(FaultPlan { fault: Fault::Enospc, from, count: u64::MAX }));
        let mut refused = 0;
        for _ in 0..40 {
            match user.step().await {
                Err(StoreError::Full { .. }) => refused += 1,
                Err(error) => panic!("a full disk is called {error}"),
                Ok(()) => {}
            }
        }
        assert!(refused > 10, "only {refused} writes were refused");
        disk.set_plan(None);
        let mut model = user.model.clone();
        model.verify(&user.store).await;
        let mut user = User::with_model(user.store.clone(), model, 4);
        for _ in 0..20 {
            user.step().await.expect("works again without a restart");
        }
    });
}
