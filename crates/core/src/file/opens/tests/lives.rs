//! Handles, caches and locks from their beginning to their end.

use super::*;
use zaffre_domain::fs::locks::LockKind::{Exclusive, Shared};
use zaffre_domain::fs::oplock::{AnswerError, Cause};

const WHOLE: Range = Range { offset: 0, len: 10 };

#[test]
fn the_last_handle_of_a_marked_file_removes_it() {
    let rig = Rig::new();
    let first = rig.open(&rig.request("RD")).handle;
    let mut on_close = rig.request("RD");
    on_close.delete_on_close = true;
    let second = rig.open(&on_close).handle;
    assert!(!rig.opens.is_delete_pending(file(7)), "not before that handle is closed");
    assert!(rig.opens.close(second).expect("open").removal.is_none());
    assert!(rig.opens.is_delete_pending(file(7)));
    assert_eq!(outcome(&rig.attempt(&rig.request("R"))), "DeletePending");
    let closed = rig.opens.close(first).expect("open");
    let removal = closed.removal.expect("the last");
    assert_eq!(removal.file(), file(7));
    assert_eq!(outcome(&rig.attempt(&rig.request("R"))), "wait", "gone in a moment");
    let found = rig.opens.try_find(file(7), rig.opens.monotonic());
    assert_eq!(outcome(&found), "wait");
    assert_eq!(outcome(&rig.enter(RestOp::GetProperties)), "DeletePending");
    drop(removal);
    assert!(rig.opens.state().nodes.is_empty());
    assert!(matches!(rig.opens.close(first), Err(Refused::NoSuchHandle)));
}

#[test]
fn an_oplock_is_broken_answered_and_given_up() {
    let rig = Rig::new();
    let mut batch = rig.request("RW");
    batch.wanted = Wanted::Oplock(Caching::RWH);
    let first = rig.open(&batch);
    assert_eq!(first.caching, Caching::RWH);
    assert_eq!(rig.opens.answer_oplock(first.handle, Caching::R), Err(AnswerError::NotBreaking));
    let second = rig.request("R");
    assert_eq!(outcome(&rig.attempt(&second)), "wait");
    assert_eq!(outcome(&rig.attempt(&second)), "wait");
    let told = rig.ear.take();
    let [Event::Oplock { handle, notice }] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((*handle, notice.to, notice.answer), (first.handle, Caching::R, true));
    assert_eq!(rig.opens.answer_oplock(first.handle, Caching::RW), Err(AnswerError::TooMuch));
    rig.opens.answer_oplock(first.handle, Caching::R).expect("was asked");
    let mut level2 = rig.request("R");
    level2.wanted = Wanted::Oplock(Caching::RWH);
    assert_eq!(rig.open(&level2).caching, Caching::R);
    let mut overwrite = rig.request("W");
    overwrite.overwrites = true;
    assert_eq!(outcome(&rig.attempt(&overwrite)), "ok");
    assert_eq!(rig.ear.take().len(), 2, "both are told, none is waited for");
    assert_eq!(rig.opens.caching(first.handle).caching, Caching::NONE);
}

#[test]
fn a_silent_client_loses_what_it_caches() {
    let rig = Rig::new();
    let mut silent = rig.request("RW");
    silent.wanted = lease(1, Caching::RWH);
    let handle = rig.open(&silent).handle;
    let start = rig.opens.monotonic();
    let at = |seconds: u32| {
        let now = start + SECOND * seconds;
        outcome(&rig.opens.try_open(&rig.request("R"), false, now, Timestamp(0)))
    };
    assert_eq!(at(0), "wait");
    assert_eq!(at(34), "wait");
    assert_eq!(at(36), "ok");
    assert_eq!(rig.opens.caching(handle).caching, Caching::NONE);
    let late = rig.opens.answer_lease(LeaseId { client: 1, key: 1 }, Caching::R);
    assert_eq!(late, Err(AnswerError::NotBreaking));
}

#[test]
fn handles_of_one_lease_do_not_break_each_other() {
    let rig = Rig::new();
    let mut first = rig.request("RW");
    first.wanted = lease(1, Caching::R);
    let a = rig.open(&first).handle;
    let mut second = rig.request("RW");
    second.wanted = lease(1, Caching::RWH);
    let b = rig.open(&second);
    assert_eq!((b.caching, b.epoch), (Caching::RWH, 2), "raised");
    assert!(rig.ear.take().is_empty());
    let mut elsewhere = rig.request("R");
    elsewhere.file = file(8);
    elsewhere.wanted = lease(1, Caching::R);
    assert!(matches!(rig.attempt(&elsewhere), Err(Refused::LeaseElsewhere)));
    rig.opens.close(a).expect("open");
    assert!(matches!(rig.attempt(&elsewhere), Err(Refused::LeaseElsewhere)));
    rig.opens.close(b.handle).expect("open");
    assert_eq!(outcome(&rig.attempt(&elsewhere)), "ok", "the lease went with its last handle");
}

#[test]
fn a_change_ends_cached_reads_of_others_without_waiting() {
    let rig = Rig::new();
    let open = |key, access| {
        let mut request = rig.request(access);
        request.wanted = lease(key, Caching::RH);
        rig.open(&request).handle
    };
    let (reader, writer) = (open(1, "R"), open(2, "RW"));
    let now = rig.opens.monotonic();
    let changed = rig.opens.try_contend(writer, Cause::Change, now);
    assert!(matches!(changed, Ok(Attempt::Done(()))));
    let told = rig.ear.take();
    assert!(matches!(told.as_slice(), [Event::Lease { handle, .. }] if *handle == reader));
    assert_eq!(rig.opens.caching(writer).caching, Caching::RH);
    let renamed = rig.opens.try_contend(reader, Cause::NameChange, now);
    assert!(matches!(renamed, Ok(Attempt::Wait(_))), "the writer's handle is cached");
}

#[test]
fn nothing_is_cached_beside_a_change_by_rest() {
    let rig = Rig::new();
    let mut request = rig.request("R");
    request.wanted = lease(1, Caching::RWH);
    for (op, want) in [
        (RestOp::PutRange, Caching::NONE),
        (RestOp::GetFile(WHOLE), Caching::RH),
        (RestOp::GetProperties, Caching::RH),
    ] {
        let guard = rig.enter(op).expect("free");
        let opened = rig.open(&request);
        assert_eq!(opened.caching, want, "{op:?}");
        rig.opens.close(opened.handle).expect("open");
        drop(guard);
        let opened = rig.open(&request);
        assert_eq!(opened.caching, Caching::RWH, "after {op:?}");
        rig.opens.close(opened.handle).expect("open");
    }
}

#[test]
fn a_deletion_by_rest_keeps_new_handles_waiting() {
    let rig = Rig::new();
    let guard = rig.enter(RestOp::Delete).expect("free");
    let Ok(Attempt::Wait(waiting)) = rig.attempt(&rig.request("R")) else { panic!("waits") };
    drop(guard);
    let mut waiting = tokio_test_poll(waiting.changed());
    assert!(waiting(), "woken");
    assert_eq!(outcome(&rig.attempt(&rig.request("R"))), "ok");
    let mut below = rig.request("R");
    below.file = file(9);
    below.place.above = Arc::from([FileId::ROOT, FileId(8)]);
    let moving = rig.opens.try_enter(file(8), RestOp::RenameDirectory, Duration::ZERO);
    assert_eq!(outcome(&rig.attempt(&below)), "wait", "the directory above is moved");
    drop(moving);
    let handle = rig.open(&below).handle;
    let moving = || rig.opens.try_enter(file(8), RestOp::RenameDirectory, Duration::ZERO);
    assert_eq!(outcome(&moving()), "SharingViolation");
    rig.opens.close(handle).expect("open");
    assert_eq!(outcome(&moving()), "ok");
}

/// Polls once; whether it is ready.
fn tokio_test_poll(future: impl Future<Output = ()>) -> impl FnMut() -> bool {
    let mut future = Box::pin(future);
    move || {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        future.as_mut().poll(&mut context).is_ready()
    }
}

#[tokio::test]
async fn locks_wait_in_order_and_end_with_their_handle() {
    let rig = Rig::new();
    let [a, b, c] = [(); 3].map(|()| rig.open(&rig.request("RW")).handle);
    let lock = |handle, kind, queue| rig.opens.lock(handle, &[(WHOLE, kind)], queue, None);
    assert!(matches!(lock(a, Exclusive, true), Ok(Locking::Granted)));
    assert!(matches!(lock(b, Shared, false), Err(LockRefused::NotGranted)));
    let Ok(Locking::Pending(wait_b)) = lock(b, Exclusive, true) else { panic!("queued") };
    let Ok(Locking::Pending(wait_c)) = lock(c, Shared, true) else { panic!("queued") };
    assert_eq!(outcome(&rig.touch(b, WHOLE, Touch::Read)), "FileLockConflict");
    rig.opens.unlock(a, &[WHOLE], None).expect("locked");
    assert_eq!(wait_b.await, Ok(()), "the oldest first");
    let Ok(Locking::Pending(dropped)) = lock(a, Shared, true) else { panic!("queued") };
    drop(dropped);
    rig.opens.close(b).expect("open");
    assert_eq!(wait_c.await, Ok(()));
    let Ok(Locking::Pending(wait_a)) = lock(a, Exclusive, true) else { panic!("queued") };
    rig.opens.close(a).expect("open");
    assert_eq!(wait_a.await, Err(LockRefused::Closed));
    assert_eq!(rig.opens.unlock(c, &[WHOLE], None), Ok(()));
    assert_eq!(rig.opens.unlock(c, &[WHOLE], None), Err(UnlockRefused::NotLocked));
    assert!(matches!(lock(a, Shared, false), Err(LockRefused::Closed)));
}

#[tokio::test]
async fn no_lock_comes_between_a_write_and_its_end() {
    let rig = Rig::new();
    let [a, b] = [(); 2].map(|()| rig.open(&rig.request("RW")).handle);
    let lock = |handle, kind, queue| rig.opens.lock(handle, &[(WHOLE, kind)], queue, None);
    let writing = rig.touching(a, WHOLE, Touch::Write);
    assert!(matches!(lock(a, Exclusive, false), Ok(Locking::Granted)), "its own");
    rig.opens.unlock(a, &[WHOLE], None).expect("locked");
    let Ok(Locking::Pending(first)) = lock(b, Exclusive, false) else { panic!("a writes") };
    let Ok(Locking::Pending(second)) = lock(b, Shared, false) else { panic!("a writes") };
    let Ok(Locking::Pending(third)) = lock(b, Exclusive, false) else { panic!("the first waits") };
    assert_eq!(outcome(&rig.touch(a, WHOLE, Touch::Write)), "wait", "nobody else comes in");
    drop(writing);
    assert_eq!(outcome(&rig.touch(a, WHOLE, Touch::Write)), "FileLockConflict");
    assert_eq!(first.await, Ok(()));
    assert_eq!(second.await, Ok(()), "its own exclusive lock is not in the way of a shared one");
    assert_eq!(third.await, Err(LockRefused::NotGranted), "it waited for the first to be granted");
    rig.opens.unlock(b, &[WHOLE], None).expect("locked");
    assert_eq!(outcome(&rig.touch(a, WHOLE, Touch::Write)), "FileLockConflict");
    rig.opens.unlock(b, &[WHOLE], None).expect("locked");
    let entered = rig.enter(operation("Put Range"));
    assert_eq!(outcome(&entered), "ok");
    let Ok(Locking::Pending(wait)) = lock(b, Shared, false) else { panic!("REST is writing") };
    drop(entered);
    assert_eq!(wait.await, Ok(()));
    let own = outcome(&rig.touch(b, Range { offset: 0, len: 1 }, Touch::Write));
    assert_eq!(own, "FileLockConflict", "a shared lock keeps its own holder from writing");
}

/// Found by a history: a read that was let through gave what the holder of a later lock had written.
#[tokio::test]
async fn no_lock_comes_between_a_read_and_its_end() {
    let rig = Rig::new();
    let [a, b] = [(); 2].map(|()| rig.open(&rig.request("RW")).handle);
    let lock = |kind| rig.opens.lock(b, &[(WHOLE, kind)], false, None);
    let reading = rig.touching(a, WHOLE, Touch::Read);
    assert!(matches!(lock(Shared), Ok(Locking::Granted)), "keeps nobody from reading");
    rig.opens.unlock(b, &[WHOLE], None).expect("locked");
    let Ok(Locking::Pending(wait)) = lock(Exclusive) else { panic!("SMB is reading") };
    drop(reading);
    assert_eq!(wait.await, Ok(()));
    assert_eq!(outcome(&rig.touch(a, WHOLE, Touch::Read)), "FileLockConflict");
    rig.opens.unlock(b, &[WHOLE], None).expect("locked");
    let entered = rig.enter(operation("Get File"));
    assert_eq!(outcome(&entered), "ok");
    assert!(matches!(lock(Exclusive), Ok(Locking::Granted)), "of other bytes");
    let read = [(Range { offset: 150, len: 1 }, Exclusive)];
    let Ok(Locking::Pending(wait)) = rig.opens.lock(b, &read, false, None) else {
        panic!("REST is reading")
    };
    drop(entered);
    assert_eq!(wait.await, Ok(()));
}

#[test]
fn a_granted_lock_that_nobody_took_is_given_back() {
    let rig = Rig::new();
    let [a, b] = [(); 2].map(|()| rig.open(&rig.request("RW")).handle);
    let lock = |handle, queue| rig.opens.lock(handle, &[(WHOLE, Exclusive)], queue, None);
    assert!(matches!(lock(a, false), Ok(Locking::Granted)));
    let Ok(Locking::Pending(wait)) = lock(b, true) else { panic!("queued") };
    rig.opens.unlock(a, &[WHOLE], None).expect("locked");
    drop(wait);
    assert!(matches!(lock(a, false), Ok(Locking::Granted)), "not left with b");
}

#[test]
fn a_numbered_lock_request_acts_once() {
    let rig = Rig::new();
    let handle = rig.open(&rig.request("RW")).handle;
    let lock = |sequence| rig.opens.lock(handle, &[(WHOLE, Exclusive)], false, sequence);
    assert!(matches!(lock(Some((1, 1))), Ok(Locking::Granted)));
    assert!(matches!(lock(Some((1, 1))), Ok(Locking::Granted)), "the same again");
    assert!(matches!(lock(Some((2, 1))), Err(LockRefused::NotGranted)), "another request");
    rig.opens.unlock(handle, &[WHOLE], Some((1, 2))).expect("locked");
    rig.opens.unlock(handle, &[WHOLE], Some((1, 2))).expect("the same again");
    assert_eq!(rig.opens.unlock(handle, &[WHOLE], None), Err(UnlockRefused::NotLocked));
}

#[tokio::test]
async fn rest_waits_only_so_long_for_a_client() {
    let rig = Rig::new();
    let mut silent = rig.request("RW");
    silent.wanted = lease(1, Caching::RWH);
    rig.open(&silent);
    let waited = rig.opens.enter(file(7), RestOp::GetProperties, Duration::from_millis(20)).await;
    assert!(matches!(waited, Err(Refused::FlushDelay)));
    let (opens, ear) = (rig.opens.clone(), rig.ear.clone());
    let entered = tokio::spawn(async move {
        opens.enter(file(7), RestOp::GetProperties, SECOND * 30).await.map(drop)
    });
    assert_eq!(ear.take().len(), 1, "asked once");
    rig.opens.answer_lease(LeaseId { client: 1, key: 1 }, Caching::RH).expect("was asked");
    assert!(matches!(entered.await, Ok(Ok(()))));
}

#[test]
fn there_are_only_so_many_handles_and_waiters() {
    let rig = Rig::new();
    for _ in 0..HANDLES_PER_FILE {
        rig.open(&rig.request("R"));
    }
    assert!(matches!(rig.attempt(&rig.request("R")), Err(Refused::TooMany)));
    let rig = Rig::new();
    let _guard = rig.enter(RestOp::Delete).expect("free");
    let waiting: Vec<_> = (0..WAITERS_PER_FILE).map(|_| rig.attempt(&rig.request("R"))).collect();
    assert!(waiting.iter().all(Result::is_ok));
    assert!(matches!(rig.attempt(&rig.request("R")), Err(Refused::TooMany)));
    drop(waiting);
    assert_eq!(outcome(&rig.attempt(&rig.request("R"))), "wait", "those who left do not count");
}

#[test]
fn a_marked_file_asks_for_handles_that_are_only_cached() {
    let rig = Rig::new();
    let mut cached = rig.request("R");
    cached.wanted = lease(1, Caching::RH);
    let handle = rig.open(&cached).handle;
    let mut deletes = rig.request("D");
    deletes.delete_on_close = true;
    let marks = rig.open(&deletes).handle;
    assert!(rig.ear.take().is_empty(), "both share everything");
    assert!(rig.opens.close(marks).expect("open").removal.is_none());
    let told = rig.ear.take();
    let [Event::Lease { notice, .. }] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((notice.from, notice.to), (Caching::RH, Caching::R));
    assert!(rig.opens.close(handle).expect("open").removal.is_some());
}
