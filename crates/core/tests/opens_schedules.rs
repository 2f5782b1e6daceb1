//! The open table under all schedules: no waiter is forgotten, nothing deadlocks, whatever is
//! dropped lets go, and no two that exclude each other are ever in at once.
//!
//! Run with `--features shuttle`, which swaps the table's lock.

#![cfg(feature = "shuttle")]

use shuttle::future::block_on;
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use std::time::Duration;
use zaffre_base::{Incarnation, Timestamp};
use zaffre_core::file::opens::{
    Attempt, Event, FileKey, HandleId, LeaseId, Listener, Locking, OpenRequest, Opens, Owner,
    Place, Refused, Under, Wanted,
};
use zaffre_domain::fs::FileId;
use zaffre_domain::fs::access::{AccessMask, Classes};
use zaffre_domain::fs::locks::{LockKind, Range};
use zaffre_domain::fs::oplock::Caching;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::share_mode::OpenMode;
use zaffre_store::Clock;

const SCHEDULES: usize = 10_000;
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

fn request(access: AccessMask, share: Classes, ear: &Ear) -> OpenRequest {
    OpenRequest {
        base: None,
        file: FILE,
        place: Place { above: [FileId::ROOT].into(), path: "seven".to_owned() },
        directory: false,
        access,
        mode: OpenMode { access: access.classes(), share },
        overwrites: false,
        delete_on_close: false,
        wanted: Wanted::Nothing,
        rest_leased: false,
        owner: Owner {
            listener: std::sync::Arc::new(ear.clone()),
            session: 1,
            tree: 1,
            client_address: "a".into(),
            client_name: "a".into(),
        },
    }
}

/// Opens, waiting as often as needed.
fn open(opens: &Opens, request: &OpenRequest) -> Result<HandleId, Refused> {
    let mut again = false;
    loop {
        match opens.try_open(request, again, NOW, Timestamp(0))? {
            Attempt::Done(opened) => return Ok(opened.handle),
            Attempt::Wait(waiting) => block_on(waiting.changed()),
        }
        again = true;
    }
}

/// Enters, waiting as often as needed.
fn enter(opens: &Opens, op: RestOp) -> Result<impl Drop, Refused> {
    loop {
        match opens.try_enter(FILE, op, NOW)? {
            Attempt::Done(guard) => return Ok(guard),
            Attempt::Wait(waiting) => block_on(waiting.changed()),
        }
    }
}

/// Answers what the client was asked, once.
fn answer(opens: &Opens, ear: &Ear) -> bool {
    let heard = std::mem::take(&mut *ear.0.lock().expect("no panic"));
    for event in &heard {
        if let Event::Lease { lease, notice, .. } = event
            && notice.answer
        {
            // The handle may be closed by now, which is an answer as well.
            let _ = opens.answer_lease(*lease, notice.to);
        }
    }
    !heard.is_empty()
}

fn nothing_is_left(opens: &Opens) {
    assert!(opens.handles(FILE.share, Under::All).is_empty());
    assert!(!opens.is_delete_pending(FILE));
    assert!(matches!(opens.try_enter(FILE, RestOp::Delete, NOW), Ok(Attempt::Done(_))));
}

/// A client caches everything; others open, read and write; the client answers or closes.
#[test]
fn breaks_are_answered_and_everybody_goes_on() {
    let run = || {
        let opens = Opens::new(Clock::default());
        let ear = Ear::default();
        let mut first = request(AccessMask::READ_DATA, Classes::ALL, &ear);
        first.wanted =
            Wanted::Lease { lease: LEASE, caching: Caching::RWH, epoch: 0, second_version: true };
        let handle = open(&opens, &first).expect("the first");
        let others: Vec<_> = (0..3)
            .map(|which| {
                let (opens, ear) = (opens.clone(), ear.clone());
                thread::spawn(move || match which {
                    0 => drop(enter(&opens, RestOp::GetProperties).expect("no conflict")),
                    1 => drop(enter(&opens, RestOp::PutRange).expect("no conflict")),
                    _ => {
                        let second = request(AccessMask::READ_DATA, Classes::ALL, &ear);
                        let handle = open(&opens, &second).expect("no conflict");
                        opens.close(handle).expect("open");
                    }
                })
            })
            .collect();
        let client = {
            let (opens, ear) = (opens.clone(), ear.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    answer(&opens, &ear);
                    thread::yield_now();
                }
                opens.close(handle).expect("open");
            })
        };
        for other in others {
            other.join().expect("no panic");
        }
        client.join().expect("no panic");
        nothing_is_left(&opens);
    };
    shuttle::check_random(run, SCHEDULES);
}

/// Two who want the same bytes alone, a third who gives up: never two at once, never none for ever.
#[test]
fn locks_exclude_and_no_waiter_is_forgotten() {
    let run = || {
        let opens = Opens::new(Clock::default());
        let ear = Ear::default();
        let inside = Arc::new(Mutex::new(0_u32));
        let range = Range { offset: 0, len: 10 };
        let threads: Vec<_> = (0..3)
            .map(|which| {
                let (opens, inside, ear) = (opens.clone(), inside.clone(), ear.clone());
                thread::spawn(move || {
                    let mine = request(AccessMask::WRITE_DATA, Classes::ALL, &ear);
                    let handle = open(&opens, &mine).expect("all is shared");
                    let wanted = [(range, LockKind::Exclusive)];
                    match opens.lock(handle, &wanted, true, None).expect("queued") {
                        Locking::Granted => {}
                        Locking::Queued(wait) if which == 2 => {
                            drop(wait);
                            opens.close(handle).expect("open");
                            return;
                        }
                        Locking::Queued(wait) => block_on(wait).expect("granted in the end"),
                    }
                    *inside.lock().expect("no panic") += 1;
                    thread::yield_now();
                    let mut now = inside.lock().expect("no panic");
                    assert_eq!(*now, 1, "two hold the same bytes");
                    *now -= 1;
                    drop(now);
                    if which == 0 {
                        opens.unlock(handle, &[range], None).expect("locked");
                    }
                    opens.close(handle).expect("open");
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("no panic");
        }
        nothing_is_left(&opens);
    };
    shuttle::check_random(run, SCHEDULES);
}

/// REST deletes while SMB opens and closes, one of them with a mark: the file is removed by one of
/// them only, and nobody holds it while that happens.
#[test]
fn a_file_is_removed_by_one_while_nobody_has_it() {
    let run = || {
        let opens = Opens::new(Clock::default());
        let ear = Ear::default();
        let alive = Arc::new(Mutex::new(true));
        let smb: Vec<_> = [false, true]
            .into_iter()
            .map(|delete_on_close| {
                let (opens, alive, ear) = (opens.clone(), alive.clone(), ear.clone());
                thread::spawn(move || {
                    let access = AccessMask::READ_DATA.union(AccessMask::DELETE);
                    let mut mine = request(access, Classes::ALL, &ear);
                    mine.delete_on_close = delete_on_close;
                    let handle = match open(&opens, &mine) {
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
                    if let Some(removal) = opens.close(handle).expect("open").removal {
                        assert!(opens.handles(FILE.share, Under::All).is_empty());
                        *alive.lock().expect("no panic") = false;
                        drop(removal);
                    }
                })
            })
            .collect();
        let rest = {
            let (opens, alive) = (opens.clone(), alive.clone());
            thread::spawn(move || {
                let Ok(guard) = enter(&opens, RestOp::Delete) else { return };
                *alive.lock().expect("no panic") = false;
                thread::yield_now();
                assert!(opens.handles(FILE.share, Under::All).is_empty());
                drop(guard);
            })
        };
        for thread in smb.into_iter().chain([rest]) {
            thread.join().expect("no panic");
        }
        nothing_is_left(&opens);
    };
    shuttle::check_random(run, SCHEDULES);
}

/// A client goes while others wait for its answer, and comes back or does not.
#[test]
fn a_client_that_goes_holds_nobody_up() {
    let run = || {
        let opens = Opens::new(Clock::default());
        let ear = Ear::default();
        let mut first = request(AccessMask::READ_DATA, Classes::ALL, &ear);
        first.wanted =
            Wanted::Lease { lease: LEASE, caching: Caching::RWH, epoch: 0, second_version: true };
        let handle = open(&opens, &first).expect("the first");
        let waiter = {
            let (opens, ear) = (opens.clone(), ear.clone());
            thread::spawn(move || {
                let second = request(AccessMask::READ_DATA, Classes::ALL, &ear);
                let handle = open(&opens, &second).expect("room was made");
                opens.close(handle).expect("open");
            })
        };
        let client = {
            let (opens, ear) = (opens.clone(), ear.clone());
            thread::spawn(move || {
                let nobody = std::sync::Arc::new(ear.clone());
                let orphaned = opens.orphan(handle, Duration::from_mins(1), nobody);
                let owner = request(AccessMask::READ_DATA, Classes::ALL, &ear).owner;
                let back = orphaned.and_then(|()| opens.adopt(handle, owner, Timestamp(0)));
                while back.is_ok() && answer(&opens, &ear) {
                    thread::yield_now();
                }
                let _ = opens.close(handle);
            })
        };
        waiter.join().expect("no panic");
        client.join().expect("no panic");
        nothing_is_left(&opens);
    };
    shuttle::check_random(run, SCHEDULES);
}
