//! How a store ends, and what it leaves for the next one: the lock lasts as long as anything that
//! writes, and what a new start shows is durable before it is shown.

use std::sync::Arc;
use zaffre_store::disk::{CrashDisk, Disk, FailDisk, Fault, FaultPlan, MemDisk, Survival};
use zaffre_store::{OpenError, Placement, Store, StoreError, StoreOptions, TransactError, Tx};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn open(disk: Arc<dyn Disk>) -> Result<Store, OpenError> {
    Store::open(disk, &StoreOptions::default())
}

/// With so little memory that a few rows make a checkpoint.
fn open_small(disk: Arc<dyn Disk>) -> Result<Store, OpenError> {
    Store::open(disk, &StoreOptions { memory_bytes: 50_000, ..StoreOptions::default() })
}

fn place() -> Placement {
    Placement::new(&b"p"[..])
}

/// A value so large that the next batch shares no page with most of it.
fn value(number: u8) -> Vec<u8> {
    vec![number; 20_000]
}

async fn put(store: &Store, number: u8) -> Result<(), StoreError> {
    let body = move |tx: &mut Tx<'_>| Ok(tx.put(&[number], &value(number))?);
    store.meta.transact(&place(), body).await.map_err(|error| match error {
        TransactError::Store(error) => error,
        TransactError::Body(()) => panic!("the body refuses nothing"),
    })
}

/// Whether the value is there; if so, it is whole.
async fn has(store: &Store, number: u8) -> bool {
    let rows = store.meta.snapshot(&place()).await.expect("a snapshot");
    let found = rows.get(&[number]).expect("readable");
    assert!(found.as_ref().is_none_or(|found| *found == value(number)), "not what was put");
    found.is_some()
}

#[test]
fn the_lock_lasts_until_everything_that_writes_has_ended() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    runtime().block_on(async {
        let store = open(Arc::clone(&disk)).expect("opens");
        let (meta, extents) = (store.meta.clone(), store.extents.clone());
        drop(store);
        let locked = |what: &str| {
            let opened = open(Arc::clone(&disk));
            assert!(matches!(opened, Err(OpenError::Locked)), "with {what} in use: {opened:?}");
        };
        locked("metadata and extents");
        drop(extents);
        locked("metadata");
        drop(meta);
        let store = open(Arc::clone(&disk)).expect("opens when nothing is in use");
        let extents = store.extents.clone();
        drop(store);
        locked("extents");
        drop(extents);
        open(disk).expect("opens when nothing is in use");
    });
}

/// A failed sync leaves pages that can be read but will never be written. A restart of the program
/// alone reads them back, so it must not build on them before they are durable.
#[test]
fn what_a_failed_sync_left_behind_is_durable_before_it_is_shown() {
    let power = CrashDisk::new();
    let disk = Arc::new(FailDisk::new(Arc::new(power.clone())));
    runtime().block_on(async {
        let store = open(Arc::clone(&disk) as Arc<dyn Disk>).expect("opens");
        put(&store, 1).await.expect("works");
        let plan = FaultPlan { fault: Fault::FailedSync, from: disk.calls(), count: u64::MAX };
        disk.set_plan(Some(plan));
        let failed = put(&store, 2).await;
        assert!(matches!(failed, Err(StoreError::Poisoned)), "{failed:?}");
        drop(store);
        disk.set_plan(None);
        power.forget_unsynced();

        let store = open(Arc::new(power.clone())).expect("opens again");
        let seen = has(&store, 2).await;
        put(&store, 3).await.expect("works again");
        power.power_off();
        drop(store);

        let store =
            open(Arc::new(power.reboot(Survival::None, 1))).expect("opens after power loss");
        assert!(has(&store, 1).await, "what was acknowledged is gone");
        assert_eq!(has(&store, 2).await, seen, "what was shown is gone");
        assert!(has(&store, 3).await, "what was acknowledged is gone");
    });
}

/// A killed program may leave a batch that is written but not synced; whoever shows it first has
/// to make it durable.
#[test]
fn what_a_kill_left_behind_is_durable_before_it_is_shown() {
    let power = CrashDisk::new();
    let disk = Arc::new(FailDisk::new(Arc::new(power.clone())));
    runtime().block_on(async {
        let store = open(Arc::clone(&disk) as Arc<dyn Disk>).expect("opens");
        put(&store, 1).await.expect("works");
        let plan = FaultPlan { fault: Fault::FailedSync, from: disk.calls(), count: u64::MAX };
        disk.set_plan(Some(plan));
        put(&store, 2).await.expect_err("not durable");
        drop(store);

        let store = open(Arc::new(power.clone())).expect("opens again");
        let seen = has(&store, 2).await;
        assert!(seen, "the test wants the batch to be there");
        power.power_off();
        drop(store);
        let store =
            open(Arc::new(power.reboot(Survival::None, 1))).expect("opens after power loss");
        assert_eq!(has(&store, 2).await, seen, "what was shown is gone");
    });
}

/// Puts `numbers` in order until one fails; returns those that were acknowledged.
async fn put_all(store: &Store, numbers: std::ops::Range<u8>) -> Vec<u8> {
    let mut done = Vec::new();
    for number in numbers {
        match put(store, number).await {
            Ok(()) => done.push(number),
            Err(_) => break,
        }
    }
    done
}

/// The sync that fails is each one of a script in turn, those of checkpoints included; power then
/// goes some rows after the restart.
#[test]
fn every_failed_sync_and_then_a_power_loss() {
    let mut runs = 0;
    for from in 0.. {
        let power = CrashDisk::new();
        let disk = Arc::new(FailDisk::new(Arc::new(power.clone())));
        let store = open_small(Arc::clone(&disk) as Arc<dyn Disk>).expect("opens");
        let from = disk.calls() + from;
        disk.set_plan(Some(FaultPlan { fault: Fault::FailedSync, from, count: u64::MAX }));
        let met = runtime().block_on(async {
            let mut acknowledged = put_all(&store, 0..12).await;
            drop(store);
            let met = disk.hits() > 0;
            power.forget_unsynced();

            let store = open_small(Arc::new(power.clone())).expect("opens again");
            let mut shown = Vec::new();
            for number in 0..12 {
                if has(&store, number).await {
                    shown.push(number);
                }
            }
            assert!(acknowledged.iter().all(|number| shown.contains(number)), "call {from}");
            let more = u8::try_from(from % 11).expect("small");
            acknowledged.extend(put_all(&store, 100..100 + more).await);
            power.power_off();
            drop(store);

            let rebooted = power.reboot(Survival::None, from);
            let store = open_small(Arc::new(rebooted))
                .unwrap_or_else(|error| panic!("call {from}: does not open: {error}"));
            for number in acknowledged.into_iter().chain(shown) {
                assert!(has(&store, number).await, "call {from}: row {number} is gone");
            }
            met
        });
        if !met {
            break;
        }
        runs += 1;
    }
    println!("{runs} failed syncs, each followed by a power loss, 0 lost");
    assert!(runs >= 30, "too few: {runs}");
}
