//! Pins and open writes under all schedules: nothing that a reader or a writer holds is ever freed.
//!
//! Run with `--features shuttle`, which swaps the locks inside the store.

#![cfg(feature = "shuttle")]

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use std::collections::BTreeSet;
use zaffre_base::{ContentId, Stamp};
use zaffre_store::Placement;
use zaffre_store::extents::OpenWrites;
use zaffre_store::pins::Pins;
use zaffre_testkit::schedules;

/// Random schedules of `run`.
fn check(what: &str, run: impl Fn() + Send + Sync + 'static) {
    schedules(what, |seed, count| shuttle::check_random_with_seed(run, seed, count));
}

/// A store so small that its rules are plain: one row that says what is current, and what is freed.
#[derive(Default)]
struct World {
    last: u64,
    current: u128,
    freed: BTreeSet<u128>,
}

#[derive(Clone, Default)]
struct Store(Arc<Mutex<World>>);

impl Store {
    fn last_stamp(&self) -> Stamp {
        Stamp(self.0.lock().expect("no panic").last)
    }

    fn snapshot(&self) -> u128 {
        self.0.lock().expect("no panic").current
    }

    /// Makes `next` current; returns what it replaced and when.
    fn replace(&self, next: u128) -> (u128, Stamp) {
        let mut world = self.0.lock().expect("no panic");
        world.last += 1;
        let old = std::mem::replace(&mut world.current, next);
        (old, Stamp(world.last))
    }

    fn free(&self, what: u128) {
        self.0.lock().expect("no panic").freed.insert(what);
    }

    fn use_it(&self, what: u128) {
        // Outside the lock, so that the first panic is this one.
        let freed = self.0.lock().expect("no panic").freed.contains(&what);
        assert!(!freed, "a reader's bytes {what} were freed");
    }
}

fn place() -> Placement {
    Placement::new(&b"p"[..])
}

/// Replaces the content a few times and frees what may be freed.
fn sweeper(store: &Store, pins: &Pins, rounds: u128) {
    let mut retired = Vec::new();
    for next in 1..=rounds {
        retired.push(store.replace(next));
        retired.retain(|(old, at)| {
            let free = pins.may_free(*at, &place(), ContentId(*old));
            if free {
                store.free(*old);
            }
            !free
        });
    }
}

fn careful_reader(store: &Store, pins: &Pins) {
    let pin = pins.enter(store.last_stamp());
    let content = store.snapshot();
    store.use_it(content);
    let pin = pin.narrow(&place(), ContentId(content));
    store.use_it(content);
    drop(pin);
}

/// The mistake the rule forbids: the snapshot first, the pin after it.
fn careless_reader(store: &Store, pins: &Pins) {
    let content = store.snapshot();
    let pin = pins.enter(store.last_stamp());
    store.use_it(content);
    drop(pin);
}

fn contents(readers: usize, rounds: u128, reader: fn(&Store, &Pins)) {
    let (store, pins) = (Store::default(), Pins::new());
    let threads: Vec<_> = (0..readers)
        .map(|_| {
            let (store, pins) = (store.clone(), pins.clone());
            thread::spawn(move || reader(&store, &pins))
        })
        .collect();
    sweeper(&store, &pins, rounds);
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert_eq!(pins.count(), 0);
}

#[test]
fn a_pinned_content_is_never_freed_in_any_schedule() {
    shuttle::check_dfs(|| contents(1, 1, careful_reader), None);
}

#[test]
fn pinned_contents_are_never_freed_with_many_readers() {
    check("pins, many readers", || contents(3, 3, careful_reader));
}

#[test]
#[should_panic(expected = "a reader's bytes")]
fn a_reader_that_pins_too_late_is_found_out() {
    check("pins, taken too late", || contents(2, 2, careless_reader));
}

/// Compaction: the content stays, its address changes, the old place is freed.
fn mover(store: &Store, pins: &Pins, rounds: u128) {
    let mut old = Vec::new();
    for address in 1..=rounds {
        old.push(store.replace(address));
        old.retain(|(address, at)| {
            let free = pins.may_move(*at);
            if free {
                store.free(*address);
            }
            !free
        });
    }
}

fn long_reader(store: &Store, pins: &Pins) {
    let pin = pins.enter(store.last_stamp());
    let address = store.snapshot();
    let mut pin = pin.narrow(&place(), ContentId(77));
    store.use_it(address);
    pin.renew(store.last_stamp());
    let address = store.snapshot();
    store.use_it(address);
}

fn moves(readers: usize, rounds: u128) {
    let (store, pins) = (Store::default(), Pins::new());
    let threads: Vec<_> = (0..readers)
        .map(|_| {
            let (store, pins) = (store.clone(), pins.clone());
            thread::spawn(move || long_reader(&store, &pins))
        })
        .collect();
    mover(&store, &pins, rounds);
    for thread in threads {
        thread.join().expect("no panic");
    }
}

#[test]
fn an_address_in_use_is_never_freed_in_any_schedule() {
    shuttle::check_dfs(|| moves(1, 1), None);
}

#[test]
fn addresses_in_use_are_never_freed_with_many_readers() {
    check("pins, while contents move", || moves(3, 3));
}

/// Records by sequence: which exist, which a row names, which were freed as orphans.
#[derive(Default)]
struct Records {
    written: BTreeSet<u64>,
    named: BTreeSet<u64>,
    freed: BTreeSet<u64>,
}

fn write(writes: &OpenWrites, records: &Mutex<Records>, guarded: bool) {
    let guard = guarded.then(|| writes.begin());
    for _ in 0..2 {
        let sequence = writes.next_sequence();
        records.lock().expect("no panic").written.insert(sequence);
    }
    let mut all = records.lock().expect("no panic");
    let mine: Vec<u64> = all.written.difference(&all.named).copied().collect();
    all.named.extend(mine);
    drop(all);
    drop(guard);
}

fn scan(writes: &OpenWrites, records: &Mutex<Records>) {
    let seen: Vec<u64> = records.lock().expect("no panic").written.iter().copied().collect();
    let watermark = writes.watermark();
    let mut all = records.lock().expect("no panic");
    let unnamed =
        seen.into_iter().filter(|sequence| *sequence < watermark && !all.named.contains(sequence));
    let unnamed: Vec<u64> = unnamed.collect();
    all.freed.extend(unnamed);
}

fn orphans(guarded: bool) {
    let writes = OpenWrites::starting_at(1 << 32);
    let records = Arc::new(Mutex::new(Records::default()));
    let thread = {
        let (writes, records) = (writes.clone(), Arc::clone(&records));
        thread::spawn(move || write(&writes, &records, guarded))
    };
    scan(&writes, &records);
    scan(&writes, &records);
    thread.join().expect("no panic");
    let all = records.lock().expect("no panic");
    assert!(all.freed.is_disjoint(&all.named), "a committed record was freed as an orphan");
}

#[test]
fn a_record_of_an_open_write_is_never_an_orphan_in_any_schedule() {
    shuttle::check_dfs(|| orphans(true), None);
}

#[test]
#[should_panic(expected = "freed as an orphan")]
fn a_write_without_a_guard_is_found_out() {
    check("open writes", || orphans(false));
}
