//! The open table under all schedules: no waiter is forgotten, nothing deadlocks, whatever is
//! dropped lets go, and no two that exclude each other are ever in at once.
//!
//! Run with `--features shuttle`, which swaps the table's lock.

#![cfg(feature = "shuttle")]

use shuttle::future::block_on;
use shuttle::sync::{Arc, Mutex};
use shuttle::thread::{self, JoinHandle};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use zaffre_base::{Incarnation, Timestamp};
use zaffre_core::file::opens::{
    Attempt, Event, FileKey, HandleId, LeaseId, Listener, Locking, OpenRequest, Opens, Owner,
    Place, Refused, Touching, Under, Wanted,
};
use zaffre_domain::fs::FileId;
use zaffre_domain::fs::access::{AccessMask, Classes};
use zaffre_domain::fs::locks::{LockKind, Range, Touch};
use zaffre_domain::fs::oplock::Caching;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::share_mode::OpenMode;
use zaffre_store::Clock;
use zaffre_testkit::schedules;

const FILE: FileKey = FileKey { share: Incarnation(1), file: FileId(7) };
const LEASE: LeaseId = LeaseId { client: 1, key: 1 };
/// Time stands: whoever waits must be woken, not timed out.
const NOW: Duration = Duration::ZERO;

/// What a client has heard; answered by a thread of its own, since the table is locked here.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<Vec<Event>>>);

impl Listener for Ear {
    fn tell(&self, event: Event) {
        self.0.lock().expect("no panic").push(event);
    }
}

/// The table, and the ear of the client that uses it.
#[derive(Clone)]
struct World {
    opens: Opens,
    ear: Ear,
}

/// Runs `body` under random schedules. The threads that it gives are waited for, and then nothing
/// may be left in the table.
fn check(what: &str, body: impl Fn(&World) -> Vec<JoinHandle<()>> + Send + Sync + 'static) {
    let run = move || {
        let world = World { opens: Opens::new(Clock::default()), ear: Ear::default() };
        for thread in body(&world) {
            thread.join().expect("no panic");
        }
        assert!(world.opens.handles(FILE.share, Under::All).is_empty());
        assert!(!world.opens.is_delete_pending(FILE));
        let entered = world.opens.try_enter(FILE, RestOp::Delete, NOW);
        assert!(matches!(entered, Ok(Attempt::Done(_))));
    };
    schedules(what, |seed, count| shuttle::check_random_with_seed(run, seed, count));
}

impl World {
    /// A thread of its own that has the table.
    fn spawn(&self, body: impl FnOnce(&Self) + Send + 'static) -> JoinHandle<()> {
        let world = self.clone();
        thread::spawn(move || body(&world))
    }

    /// What opening with this access asks for, everything shared.
    fn request(&self, access: AccessMask) -> OpenRequest {
        OpenRequest {
            base: None,
            file: FILE,
            place: Place { above: [FileId::ROOT].into(), path: "seven".to_owned() },
            directory: false,
            access,
            mode: OpenMode { access: access.classes(), share: Classes::ALL },
            overwrites: false,
            delete_on_close: false,
            wanted: Wanted::Nothing,
            rest_leased: false,
            owner: Owner {
                listener: std::sync::Arc::new(self.ear.clone()),
                session: 1,
                tree: 1,
                client_address: "a".into(),
                client_name: "a".into(),
            },
        }
    }

    /// Opens, waiting as often as needed.
    fn open(&self, request: &OpenRequest) -> Result<HandleId, Refused> {
        let mut again = false;
        loop {
            match self.opens.try_open(request, again, NOW, Timestamp(0))? {
                Attempt::Done(opened) => return Ok(opened.handle),
                Attempt::Wait(waiting) => block_on(waiting.changed()),
            }
            again = true;
        }
    }

    /// Opens to read and closes.
    fn visit(&self) {
        let handle = self.open(&self.request(AccessMask::READ_DATA)).expect("all is shared");
        self.opens.close(handle).expect("open");
    }

    /// Opens to read, and caches everything.
    fn open_caching(&self) -> HandleId {
        let mut request = self.request(AccessMask::READ_DATA);
        request.wanted =
            Wanted::Lease { lease: LEASE, caching: Caching::RWH, epoch: 0, second_version: true };
        self.open(&request).expect("the first")
    }

    /// Enters, waiting as often as needed.
    fn enter(&self, op: RestOp) -> Result<impl Drop, Refused> {
        loop {
            match self.opens.try_enter(FILE, op, NOW)? {
                Attempt::Done(guard) => return Ok(guard),
                Attempt::Wait(waiting) => block_on(waiting.changed()),
            }
        }
    }

    /// Answers what the client was asked, once.
    fn answer(&self) -> bool {
        let heard = std::mem::take(&mut *self.ear.0.lock().expect("no panic"));
        for event in &heard {
            if let Event::Lease { lease, notice, .. } = event
                && notice.answer
            {
                // The handle may be closed by now, which is an answer as well.
                let _ = self.opens.answer_lease(*lease, notice.to);
            }
        }
        !heard.is_empty()
    }
}

/// A client caches everything; others open, read and write; the client answers or closes.
#[test]
fn breaks_are_answered_and_everybody_goes_on() {
    check("open table, breaks", |world| {
        let handle = world.open_caching();
        vec![
            world.spawn(|world| drop(world.enter(RestOp::GetProperties).expect("no conflict"))),
            world.spawn(|world| drop(world.enter(RestOp::PutRange).expect("no conflict"))),
            world.spawn(World::visit),
            world.spawn(move |world| {
                for _ in 0..2 {
                    world.answer();
                    thread::yield_now();
                }
                world.opens.close(handle).expect("open");
            }),
        ]
    });
}

/// Who is inside: how many share, and whether somebody is alone.
#[derive(Clone, Default)]
struct Inside(Arc<Mutex<(u32, u32)>>);

impl Inside {
    /// Is there for a while, and looks who else is.
    fn stay(&self, kind: LockKind) {
        let alone = kind == LockKind::Exclusive;
        let look = |by: i64| {
            let mut inside = self.0.lock().expect("no panic");
            let count = if alone { &mut inside.1 } else { &mut inside.0 };
            *count = u32::try_from(i64::from(*count) + by).expect("as many out as in");
            assert!(inside.1 == 0 || *inside == (0, 1), "not alone with the same bytes");
        };
        look(1);
        thread::yield_now();
        look(-1);
    }
}

/// Locks, stays, and lets go by unlocking or by closing; `gives_up` closes instead of waiting.
fn hold(world: &World, inside: &Inside, kind: LockKind, unlocks: bool, gives_up: bool) {
    let range = Range { offset: 0, len: 10 };
    let access = AccessMask::WRITE_DATA.union(AccessMask::READ_DATA);
    let handle = world.open(&world.request(access)).expect("all is shared");
    match world.opens.lock(handle, &[(range, kind)], true, None).expect("queued") {
        Locking::Granted => {}
        Locking::Pending(wait) if gives_up => {
            drop(wait);
            world.opens.close(handle).expect("open");
            return;
        }
        Locking::Pending(wait) => block_on(wait).expect("granted in the end"),
    }
    inside.stay(kind);
    if unlocks {
        world.opens.unlock(handle, &[range], None).expect("locked");
    }
    world.opens.close(handle).expect("open");
}

/// Two who want the same bytes alone, a third who gives up: never two at once, never none for ever.
#[test]
fn locks_exclude_and_no_waiter_is_forgotten() {
    check("lock table, exclusive locks", |world| {
        let inside = Inside::default();
        let one = |which: u32| {
            let inside = inside.clone();
            let (unlocks, gives_up) = (which == 0, which == 2);
            world.spawn(move |world| hold(world, &inside, LockKind::Exclusive, unlocks, gives_up))
        };
        (0..3).map(one).collect()
    });
}

/// Two who share bytes and one who wants them alone.
#[test]
fn shared_locks_keep_out_who_wants_to_be_alone() {
    check("lock table, shared and exclusive locks", |world| {
        let inside = Inside::default();
        let kinds = [LockKind::Shared, LockKind::Exclusive, LockKind::Shared];
        let one = |(which, kind)| {
            let inside = inside.clone();
            world.spawn(move |world| hold(world, &inside, kind, which == 0, false))
        };
        kinds.into_iter().enumerate().map(one).collect()
    });
}

const FIRST: Range = Range { offset: 0, len: 10 };
const SECOND: Range = Range { offset: 20, len: 10 };
/// How often those who come and go are let in, at most.
const VISITS: usize = 3;

/// Who is inside of bytes: one who locked them, or some who read or write; never both.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Found>>);

#[derive(Default)]
struct Found {
    locked: bool,
    touching: usize,
}

/// How often something happened in all schedules; a test in which it never did has shown nothing.
#[derive(Clone, Default)]
struct Tally(std::sync::Arc<AtomicUsize>);

impl Tally {
    fn note(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn happened(&self, what: &str) {
        assert!(self.0.load(Ordering::Relaxed) > 0, "never: {what}");
    }
}

impl Bytes {
    fn look<T>(&self, change: impl FnOnce(&mut Found) -> T) -> T {
        let mut found = self.0.lock().expect("no panic");
        let done = change(&mut found);
        assert!(!found.locked || found.touching == 0, "touched under an answered lock");
        done
    }

    /// Is inside while it reads or writes, by whatever it holds.
    fn touch(&self, holds: Option<impl Drop>) {
        let Some(holds) = holds else { return };
        self.look(|found| found.touching += 1);
        thread::yield_now();
        // Before it lets go: a lock is answered from then on.
        self.look(|found| found.touching -= 1);
        drop(holds);
    }

    /// Is inside under its lock.
    fn stay(&self) {
        self.look(|found| found.locked = true);
        thread::yield_now();
        self.look(|found| found.locked = false);
    }
}

impl World {
    /// A handle that reads and writes, with everything shared.
    fn reads_and_writes(&self) -> HandleId {
        let access = AccessMask::WRITE_DATA.union(AccessMask::READ_DATA);
        self.open(&self.request(access)).expect("all is shared")
    }

    /// Writes, waiting as often as needed.
    fn touch(&self, handle: HandleId, range: Range) -> Option<Touching> {
        loop {
            match self.opens.try_touch(handle, range, Touch::Write, NOW) {
                Ok(Attempt::Done(touching)) => return Some(touching),
                Ok(Attempt::Wait(waiting)) => block_on(waiting.changed()),
                Err(Refused::LockConflict) => return None,
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    /// Somebody who writes one of the ranges by SMB again and again.
    fn writer(&self, bytes: &Bytes, range: Range) -> JoinHandle<()> {
        let bytes = bytes.clone();
        self.spawn(move |world| {
            let handle = world.reads_and_writes();
            for _ in 0..VISITS {
                bytes.touch(world.touch(handle, range));
            }
            world.opens.close(handle).expect("open");
        })
    }

    /// Somebody who reads one of the ranges by REST again and again.
    fn rest_reader(&self, bytes: &Bytes, range: Range) -> JoinHandle<()> {
        let bytes = bytes.clone();
        self.spawn(move |world| {
            for _ in 0..VISITS {
                bytes.touch(world.enter(RestOp::GetFile(range)).ok());
            }
        })
    }
}

/// Reads and writes come and go while one wants to be alone: it is, whoever was there has left by then,
/// and whoever comes after it asked is refused when it has its lock, and not waited for.
#[test]
fn those_who_come_and_go_cannot_keep_a_lock_waiting() {
    let pending = Tally::default();
    let tally = pending.clone();
    check("lock table, one lock among reads and writes", move |world| {
        let bytes = Bytes::default();
        let (alone, tally) = (bytes.clone(), tally.clone());
        let locker = world.spawn(move |world| {
            let handle = world.reads_and_writes();
            let other = world.reads_and_writes();
            let wanted = [(FIRST, LockKind::Exclusive)];
            match world.opens.lock(handle, &wanted, false, None).expect("no other lock") {
                Locking::Granted => {}
                Locking::Pending(wait) => {
                    let late = world.opens.try_touch(other, FIRST, Touch::Read, NOW);
                    assert!(!matches!(late, Ok(Attempt::Done(_))), "comes in after the lock");
                    tally.note();
                    block_on(wait).expect("in already");
                }
            }
            alone.stay();
            world.opens.close(handle).expect("open");
            world.opens.close(other).expect("open");
        });
        vec![world.writer(&bytes, FIRST), world.rest_reader(&bytes, FIRST), locker]
    });
    pending.happened("a lock that is not answered at once");
}

/// The same of two ranges at once, each of which somebody else uses.
#[test]
fn several_ranges_are_locked_together_among_those_who_come_and_go() {
    let pending = Tally::default();
    let tally = pending.clone();
    check("lock table, two ranges among reads and writes", move |world| {
        let (first, second) = (Bytes::default(), Bytes::default());
        let both = [first.clone(), second.clone()];
        let tally = tally.clone();
        let locker = world.spawn(move |world| {
            let handle = world.reads_and_writes();
            let wanted = [FIRST, SECOND].map(|range| (range, LockKind::Exclusive));
            match world.opens.lock(handle, &wanted, false, None).expect("no other lock") {
                Locking::Granted => {}
                Locking::Pending(wait) => {
                    tally.note();
                    block_on(wait).expect("in already");
                }
            }
            both.iter().for_each(Bytes::stay);
            world.opens.unlock(handle, &[FIRST, SECOND], None).expect("both");
            world.opens.close(handle).expect("open");
        });
        vec![world.writer(&first, FIRST), world.rest_reader(&second, SECOND), locker]
    });
    pending.happened("ranges that are not answered at once");
}

/// One asks and goes away before it is answered; another waits for that lock, and gets its own although
/// the first keeps its handle.
#[test]
fn a_lock_that_is_taken_back_lets_the_next_one_in() {
    let taken_back = Tally::default();
    let tally = taken_back.clone();
    check("lock table, a lock that is taken back", move |world| {
        let (bytes, tally) = (Bytes::default(), tally.clone());
        let fickle = world.reads_and_writes();
        let asks = world.spawn(move |world| {
            let wanted = [FIRST, SECOND].map(|range| (range, LockKind::Exclusive));
            match world.opens.lock(fickle, &wanted, false, None) {
                Ok(Locking::Granted) => {
                    // The other one may have closed the handle.
                    let _ = world.opens.unlock(fickle, &[FIRST, SECOND], None);
                }
                Ok(Locking::Pending(wait)) => {
                    thread::yield_now();
                    tally.note();
                    drop(wait);
                }
                Err(_) => {}
            }
        });
        let alone = bytes.clone();
        let stays = world.spawn(move |world| {
            let handle = world.reads_and_writes();
            let wanted = [(FIRST, LockKind::Exclusive)];
            match world.opens.lock(handle, &wanted, true, None).expect("it may wait") {
                Locking::Granted => {}
                Locking::Pending(wait) => block_on(wait).expect("free in the end"),
            }
            alone.stay();
            world.opens.close(handle).expect("open");
            world.opens.close(fickle).expect("open");
        });
        vec![world.writer(&bytes, FIRST), asks, stays]
    });
    taken_back.happened("a request taken back before it was answered");
}

/// Whoever meets a lock that is about to be granted hears of it then, and not only when it goes: its
/// holder keeps it until all others are done.
#[test]
fn whoever_waits_for_a_lock_to_be_granted_hears_of_it() {
    check("lock table, a lock that stays", |world| {
        let handles = [(); 4].map(|()| world.reads_and_writes());
        let [early, late, locks, locks_too] = handles;
        let bytes = Bytes::default();
        let write = |handle| {
            let bytes = bytes.clone();
            world.spawn(move |world| bytes.touch(world.touch(handle, FIRST)))
        };
        let lock = |handle| {
            world.spawn(move |world| {
                let asked = [(FIRST, LockKind::Exclusive)];
                if let Ok(Locking::Pending(wait)) = world.opens.lock(handle, &asked, false, None) {
                    // Granted, or refused because the other one was.
                    let _ = block_on(wait);
                }
            })
        };
        for thread in [write(early), write(late), lock(locks), lock(locks_too)] {
            thread.join().expect("no panic");
        }
        for handle in handles {
            world.opens.close(handle).expect("open");
        }
        Vec::new()
    });
}

/// REST deletes while SMB opens and closes, one of them with a mark: the file is removed by one of
/// them only, and nobody holds it while that happens.
#[test]
fn a_file_is_removed_by_one_while_nobody_has_it() {
    check("open table, removal", |world| {
        let alive = Arc::new(Mutex::new(true));
        let smb = |delete_on_close: bool| {
            let alive = alive.clone();
            world.spawn(move |world| open_and_close(world, &alive, delete_on_close))
        };
        let rest = {
            let alive = alive.clone();
            world.spawn(move |world| {
                let Ok(guard) = world.enter(RestOp::Delete) else { return };
                *alive.lock().expect("no panic") = false;
                thread::yield_now();
                assert!(world.opens.handles(FILE.share, Under::All).is_empty());
                drop(guard);
            })
        };
        vec![smb(false), smb(true), rest]
    });
}

fn open_and_close(world: &World, alive: &Mutex<bool>, delete_on_close: bool) {
    let mut mine = world.request(AccessMask::READ_DATA.union(AccessMask::DELETE));
    mine.delete_on_close = delete_on_close;
    let handle = match world.open(&mine) {
        Ok(handle) => handle,
        Err(Refused::DeletePending) => return,
        Err(other) => panic!("{other:?}"),
    };
    // As every opener does: look again whether the name is still there.
    let there = *alive.lock().expect("no panic");
    thread::yield_now();
    if there {
        assert!(*alive.lock().expect("no panic"), "removed under a handle");
    }
    if let Some(removal) = world.opens.close(handle).expect("open").removal {
        assert!(world.opens.handles(FILE.share, Under::All).is_empty());
        *alive.lock().expect("no panic") = false;
        drop(removal);
    }
}

/// A client goes while others wait for its answer, and comes back or does not.
#[test]
fn a_client_that_goes_holds_nobody_up() {
    check("open table, a client that goes", |world| {
        let handle = world.open_caching();
        let client = world.spawn(move |world| {
            let nobody = std::sync::Arc::new(world.ear.clone());
            let orphaned = world.opens.orphan(handle, Duration::from_mins(1), nobody);
            let owner = world.request(AccessMask::READ_DATA).owner;
            let back = orphaned.and_then(|()| world.opens.adopt(handle, owner, Timestamp(0)));
            while back.is_ok() && world.answer() {
                thread::yield_now();
            }
            let _ = world.opens.close(handle);
        });
        vec![world.spawn(World::visit), client]
    });
}
