//! Locks that are in the table before their requests are answered: who is kept out meanwhile, what
//! the answer waits for, and how they go.

use super::*;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use zaffre_domain::fs::locks::LockKind::{self, Exclusive, Shared};

const FIRST: Range = Range { offset: 0, len: 10 };
const SECOND_RANGE: Range = Range { offset: 100, len: 100 };

/// A table and handles of one file in it.
fn handles<const N: usize>() -> (Rig, [HandleId; N]) {
    let rig = Rig::new();
    let handles = [(); N].map(|()| rig.open(&rig.request("RW")).handle);
    (rig, handles)
}

/// The wait of a request that has to wait.
fn pending(rig: &Rig, handle: HandleId, wanted: &[(Range, LockKind)], queue: bool) -> LockWait {
    match rig.opens.lock(handle, wanted, queue, None) {
        Ok(Locking::Pending(wait)) => wait,
        other => panic!("{other:?}"),
    }
}

/// What it has come to, if it has.
async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    poll_fn(|cx| {
        Poll::Ready(match future.as_mut().poll(cx) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        })
    })
    .await
}

/// What a request is answered, if it is.
async fn answered(wait: &mut LockWait) -> Option<Result<(), LockRefused>> {
    poll_once(Pin::new(wait)).await
}

/// What was wrong: a lock waited until nobody read, and readers who overlapped never let it.
#[tokio::test]
async fn those_who_keep_coming_do_not_keep_a_lock_waiting() {
    // The lock, what is under way, what becomes of others who read and write before it is granted.
    let rows = [
        (Exclusive, Touch::Read, "wait", "wait"),
        (Exclusive, Touch::Write, "wait", "wait"),
        (Shared, Touch::Write, "ok", "wait"),
    ];
    for (kind, under_way, reads, writes) in rows {
        for queue in [false, true] {
            let (rig, [a, b, c]) = handles();
            let touching = rig.touching(a, FIRST, under_way);
            let mut wait = pending(&rig, b, &[(FIRST, kind)], queue);
            let said = format!("{kind:?} {under_way:?}");
            let look = |reads: &str, writes: &str| {
                for other in [a, c] {
                    assert_eq!(outcome(&rig.touch(other, FIRST, Touch::Read)), reads, "{said}");
                    assert_eq!(outcome(&rig.touch(other, FIRST, Touch::Write)), writes, "{said}");
                }
                assert_eq!(outcome(&rig.enter(RestOp::GetFile(FIRST))), reads, "{said}");
                assert_eq!(outcome(&rig.enter(RestOp::PutRange)), writes, "{said}");
            };
            look(reads, writes);
            let beside = rig.touching(c, SECOND_RANGE, Touch::Write);
            assert_eq!(answered(&mut wait).await, None, "{said}");
            drop(touching);
            let refused = |before| if before == "ok" { "ok" } else { "FileLockConflict" };
            look(refused(reads), refused(writes));
            assert_eq!(answered(&mut wait).await, Some(Ok(())), "not for what is beside it");
            look(refused(reads), refused(writes));
            drop(beside);
        }
    }
}

/// What a history found when they were refused: one was, and then read what was there before a write
/// that had been let in and had not ended. No order of the three explains that.
#[tokio::test]
async fn nobody_hears_of_a_lock_before_it_is_granted() {
    for granted in [true, false] {
        let (rig, [a, b, c]) = handles();
        let writing = rig.touching(a, FIRST, Touch::Write);
        let mut wait = pending(&rig, b, &[(FIRST, Exclusive)], false);
        let mut at_once = pending(&rig, c, &[(SECOND_RANGE, Shared), (FIRST, Exclusive)], false);
        let mut touch = Box::pin(rig.opens.touch(a, FIRST, Touch::Read));
        let mut enter = Box::pin(rig.opens.enter(file(7), RestOp::PutRange, SECOND * 30));
        assert!(poll_once(touch.as_mut()).await.is_none());
        assert!(poll_once(enter.as_mut()).await.is_none());
        assert_eq!(answered(&mut at_once).await, None);
        if granted {
            drop(writing);
            assert_eq!(answered(&mut at_once).await, Some(Err(LockRefused::NotGranted)));
            assert_eq!(touch.await.map(drop), Err(Refused::LockConflict));
            assert_eq!(enter.await.map(drop), Err(Refused::LockConflict));
            assert_eq!(answered(&mut wait).await, Some(Ok(())));
        } else {
            drop(wait);
            assert_eq!(answered(&mut at_once).await, None, "the next to wait for the write");
            drop(at_once);
            assert!(touch.await.is_ok(), "nothing was ever locked");
            assert!(enter.await.is_ok());
            drop(writing);
        }
    }
}

/// A client that uploads slowly keeps a lock waiting, but for those who wait for the lock there is a
/// limit.
#[tokio::test]
async fn nobody_waits_for_a_lock_for_ever() {
    let (rig, [a, b]) = handles();
    let _writing = rig.enter(RestOp::PutRange).expect("no lock");
    let _wait = pending(&rig, b, &[(FIRST, Exclusive)], false);
    let entered = rig.opens.enter(file(7), RestOp::GetFile(FIRST), Duration::ZERO).await;
    assert_eq!(entered.map(drop), Err(Refused::LockConflict));
    let waiting = rig.touch(a, FIRST, Touch::Read);
    assert!(
        matches!(waiting, Ok(Attempt::Wait(waiting)) if waiting.late() == Refused::LockConflict)
    );
}

#[tokio::test]
async fn several_ranges_are_put_in_together_and_answered_when_all_is_at_rest() {
    for rest_first in [false, true] {
        let (rig, [a, b, c]) = handles();
        let wanted = [(FIRST, Exclusive), (SECOND_RANGE, Exclusive)];
        let write = rig.touching(a, FIRST, Touch::Write);
        let read = rig.enter(operation("Get File")).expect("no lock");
        let mut wait = pending(&rig, b, &wanted, false);
        for (range, _) in wanted {
            assert_eq!(outcome(&rig.touch(c, range, Touch::Read)), "wait", "in already");
        }
        let (first, second): (Box<dyn Send>, Box<dyn Send>) = if rest_first {
            (Box::new(read), Box::new(write))
        } else {
            (Box::new(write), Box::new(read))
        };
        drop(first);
        assert_eq!(answered(&mut wait).await, None, "one of two");
        drop(second);
        assert_eq!(answered(&mut wait).await, Some(Ok(())));
        rig.opens.unlock(b, &[FIRST, SECOND_RANGE], None).expect("both are held");
        // A lock in the way of one refuses both, whatever is under way.
        let held = rig.opens.lock(c, &[(SECOND_RANGE, Shared)], false, None);
        assert!(matches!(held, Ok(Locking::Granted)));
        let _write = rig.touching(a, FIRST, Touch::Write);
        let refused = rig.opens.lock(b, &wanted, false, None);
        assert!(matches!(refused, Err(LockRefused::NotGranted)));
        assert_eq!(outcome(&rig.touch(c, FIRST, Touch::Write)), "ok", "none was put in");
    }
}

#[tokio::test]
async fn what_was_put_in_goes_with_its_request() {
    let rows = ["cancelled", "closed", "forced", "orphaned", "cancelled when answered"];
    for how in rows {
        let (rig, [a, b, c]) = handles();
        let touching = rig.touching(a, FIRST, Touch::Read);
        let mut wait = pending(&rig, b, &[(FIRST, Exclusive), (SECOND_RANGE, Exclusive)], false);
        let mut next = pending(&rig, c, &[(SECOND_RANGE, Exclusive)], true);
        assert_eq!(answered(&mut next).await, None, "{how}");
        match how {
            "cancelled" => drop(wait),
            "cancelled when answered" => {
                drop(touching);
                drop(wait);
            }
            _ => {
                match how {
                    "closed" => drop(rig.opens.close(b).expect("open")),
                    "forced" => drop(rig.opens.force_close(Incarnation(1), b).expect("open")),
                    _ => {
                        let until = rig.opens.monotonic() + SECOND;
                        rig.opens.orphan(b, until, rig.ear.clone()).expect("open");
                    }
                }
                assert_eq!(answered(&mut wait).await, Some(Err(LockRefused::Closed)), "{how}");
            }
        }
        assert_eq!(answered(&mut next).await, Some(Ok(())), "{how}: the next in the queue");
        assert_eq!(outcome(&rig.touch(a, FIRST, Touch::Write)), "ok", "{how}");
    }
}

#[tokio::test]
async fn a_lock_that_is_not_answered_cannot_be_unlocked() {
    let (rig, [a, b]) = handles();
    let unlock = |range| rig.opens.unlock(b, &[range], None);
    let touching = rig.touching(a, FIRST, Touch::Read);
    let mut wait = pending(&rig, b, &[(FIRST, Exclusive)], false);
    assert_eq!(unlock(FIRST), Err(UnlockRefused::NotLocked));
    // A shared one of the same handle is granted at once, and is the one that goes.
    assert!(matches!(rig.opens.lock(b, &[(FIRST, Shared)], false, None), Ok(Locking::Granted)));
    unlock(FIRST).expect("the shared one");
    assert_eq!(unlock(FIRST), Err(UnlockRefused::NotLocked));
    drop(touching);
    assert_eq!(unlock(FIRST), Err(UnlockRefused::NotLocked), "nobody has heard of it");
    assert_eq!(answered(&mut wait).await, Some(Ok(())));
    assert_eq!(outcome(&rig.touch(a, FIRST, Touch::Read)), "FileLockConflict", "held");
    unlock(FIRST).expect("answered");
}

#[tokio::test]
async fn a_request_that_was_taken_back_was_not_done() {
    for answered_before in [false, true] {
        let (rig, [a, b]) = handles();
        let lock = || rig.opens.lock(b, &[(FIRST, Exclusive)], false, Some((1, 1)));
        let touching = rig.touching(a, FIRST, Touch::Read);
        let Ok(Locking::Pending(wait)) = lock() else { panic!("a reads") };
        let touching = Some(touching).filter(|_| !answered_before);
        drop(wait);
        drop(touching);
        assert_eq!(outcome(&rig.touch(a, FIRST, Touch::Read)), "ok", "not locked");
        assert!(matches!(lock(), Ok(Locking::Granted)), "the same again, for the first time");
        assert_eq!(outcome(&rig.touch(a, FIRST, Touch::Read)), "FileLockConflict", "locked");
        assert!(matches!(lock(), Ok(Locking::Granted)), "done before");
    }
}

#[tokio::test]
async fn a_write_outlasts_its_handle() {
    let (rig, [a, b]) = handles();
    let touching = rig.touching(a, FIRST, Touch::Write);
    rig.opens.close(a).expect("open");
    let mut wait = pending(&rig, b, &[(FIRST, Exclusive)], false);
    assert_eq!(answered(&mut wait).await, None, "the bytes may still change");
    drop(touching);
    assert_eq!(answered(&mut wait).await, Some(Ok(())));
    let own = rig.touching(b, FIRST, Touch::Write);
    rig.opens.close(b).expect("open");
    assert!(!rig.opens.is_open(Incarnation(1), Under::All));
    drop(own);
    assert!(rig.opens.state().nodes.is_empty(), "nothing is left");
}

#[tokio::test]
async fn a_lock_that_waited_for_a_lock_waits_for_what_that_one_let_in() {
    let (rig, [a, b, c]) = handles();
    assert!(matches!(rig.opens.lock(a, &[(FIRST, Shared)], false, None), Ok(Locking::Granted)));
    let mut wait = pending(&rig, b, &[(FIRST, Exclusive)], true);
    let read = rig.touching(c, FIRST, Touch::Read);
    rig.opens.unlock(a, &[FIRST], None).expect("locked");
    assert_eq!(answered(&mut wait).await, None);
    assert_eq!(outcome(&rig.touch(a, FIRST, Touch::Read)), "wait", "in");
    drop(read);
    assert_eq!(answered(&mut wait).await, Some(Ok(())));
}

#[tokio::test]
async fn there_are_only_so_many_waiting_locks() {
    let (rig, [a, b]) = handles();
    let touching = rig.touching(a, FIRST, Touch::Write);
    let mut waits: Vec<_> =
        (0..LOCK_WAITS_PER_HANDLE).map(|_| pending(&rig, b, &[(FIRST, Shared)], false)).collect();
    let beyond = rig.opens.lock(b, &[(FIRST, Shared)], false, None);
    assert!(matches!(beyond, Err(LockRefused::TooMany)));
    drop(touching);
    for wait in &mut waits {
        assert_eq!(answered(wait).await, Some(Ok(())));
    }
    assert!(matches!(rig.opens.lock(b, &[(FIRST, Shared)], false, None), Ok(Locking::Granted)));
    for _ in 0..=LOCK_WAITS_PER_HANDLE {
        rig.opens.unlock(b, &[FIRST], None).expect("each that was granted");
    }
    assert_eq!(rig.opens.unlock(b, &[FIRST], None), Err(UnlockRefused::NotLocked), "and no more");
}
