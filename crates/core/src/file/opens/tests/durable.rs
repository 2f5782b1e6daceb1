//! Handles without a client, handles in lists, and files that move under their handles.

use super::*;

#[test]
fn an_orphan_is_taken_up_again_or_ends() {
    let rig = Rig::new();
    let until = rig.opens.monotonic() + SECOND * 60;
    let handle = rig.open(&rig.request("RD")).handle;
    assert!(rig.opens.adopt(handle, rig.owner(), Timestamp(1)).is_err(), "no orphan");
    rig.opens.orphan(handle, until, rig.ear.clone()).expect("open");
    rig.opens.adopt(handle, rig.owner(), Timestamp(5)).expect("an orphan");
    let info = rig.opens.handles(Incarnation(1), Under::All);
    assert_eq!(info[0].reconnected, Some(Timestamp(5)));
    rig.opens.orphan(handle, until, rig.ear.clone()).expect("open");
    rig.opens.set_delete(handle, true).expect("open");
    assert_eq!(rig.opens.sweep(until.saturating_sub(SECOND)).len(), 0);
    let swept = rig.opens.sweep(until);
    assert_eq!(swept.len(), 1, "its file was marked: remove it");
    assert!(swept[0].removal.is_some());
    assert_eq!(rig.ear.take(), [Event::Closed { handle }]);
    assert!(rig.opens.is_delete_pending(file(7)));
    drop(swept);
    assert!(rig.opens.state().nodes.is_empty());
}

#[test]
fn an_orphan_makes_room_for_who_conflicts_with_it() {
    // What it caches, what it shares, what comes, whether the orphan is still there after.
    let rows = [
        (Caching::RWH, "RWD", "R", false),
        (Caching::RWH, "RWD", "attributes", true),
        (Caching::RH, "RWD", "R", true),
        (Caching::RH, "R", "W", false),
        (Caching::RH, "none", "R", false),
    ];
    for (caching, share, comes, stays) in rows {
        let rig = Rig::new();
        let mut there = rig.request("R");
        there.mode.share = mask(share).classes();
        there.wanted = lease(1, caching);
        let handle = rig.open(&there).handle;
        let until = rig.opens.monotonic() + SECOND * 60;
        rig.opens.orphan(handle, until, rig.ear.clone()).expect("open");
        assert_eq!(outcome(&rig.attempt(&rig.request(comes))), "ok", "{caching:?} {comes}");
        let adopted = rig.opens.adopt(handle, rig.owner(), Timestamp(0)).is_ok();
        assert_eq!(adopted, stays, "{caching:?} {share} {comes}");
    }
}

#[test]
fn rest_closes_an_orphan_that_cannot_give_back_what_it_caches() {
    for (caching, op, want, stays) in [
        (Caching::RWH, RestOp::GetProperties, "ok", false),
        (Caching::RH, RestOp::GetProperties, "ok", true),
        (Caching::RH, RestOp::PutRange, "ok", true),
        (Caching::RWH, RestOp::Delete, "SharingViolation", true),
        (Caching::RH, RestOp::RenameDirectory, "SharingViolation", true),
    ] {
        let rig = Rig::new();
        let mut there = rig.request("R");
        there.wanted = lease(1, caching);
        let handle = rig.open(&there).handle;
        let until = rig.opens.monotonic() + SECOND * 60;
        rig.opens.orphan(handle, until, rig.ear.clone()).expect("open");
        assert_eq!(outcome(&rig.enter(op)), want, "{caching:?} {op:?}");
        let kept = if op == RestOp::PutRange { Caching::NONE } else { caching };
        assert!(
            !stays || rig.opens.caching(handle).caching == kept,
            "what its client hears on return"
        );
        assert_eq!(rig.opens.adopt(handle, rig.owner(), Timestamp(0)).is_ok(), stays, "{op:?}");
    }
}

#[test]
fn whoever_waits_for_a_client_that_goes_is_woken() {
    let rig = Rig::new();
    let mut there = rig.request("RW");
    there.wanted = lease(1, Caching::RWH);
    let handle = rig.open(&there).handle;
    let Ok(Attempt::Wait(waiting)) = rig.attempt(&rig.request("R")) else { panic!("waits") };
    let until = rig.opens.monotonic() + SECOND * 60;
    let orphaned = rig.opens.orphan(handle, until, rig.ear.clone());
    assert!(matches!(orphaned, Err(Refused::FlushDelay)), "it owes an answer");
    rig.opens.close(handle).expect("open");
    let mut woken = Box::pin(waiting.changed());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(woken.as_mut().poll(&mut context).is_ready());
    assert_eq!(outcome(&rig.attempt(&rig.request("R"))), "ok");
}

#[test]
fn handles_are_listed_and_closed_by_force() {
    let rig = Rig::new();
    let open = |id: u64, above: &[u64], path: &str| {
        let mut request = rig.request("RW");
        request.file = file(id);
        let above = above.iter().map(|id| FileId(*id)).collect();
        request.place = Place { above, path: path.to_owned() };
        rig.open(&request).handle
    };
    let in_a = open(20, &[1, 10], "a/x");
    let in_b = open(21, &[1, 10, 11], "a/b/y");
    let top = open(30, &[1], "z");
    let listed = |under| {
        let all = rig.opens.handles(Incarnation(1), under);
        all.into_iter().map(|info| (info.handle, info.path)).collect::<Vec<_>>()
    };
    assert_eq!(listed(Under::All).len(), 3);
    assert_eq!(listed(Under::Only(FileId(30))), [(top, "z".to_owned())]);
    assert_eq!(
        listed(Under::Tree(FileId(10))),
        [(in_a, "a/x".to_owned()), (in_b, "a/b/y".to_owned())]
    );
    assert!(rig.opens.is_open(Incarnation(1), Under::Tree(FileId(11))));
    assert!(!rig.opens.is_open(Incarnation(2), Under::All));
    let to = Place { above: Arc::from([FileId::ROOT, FileId(40)]), path: "q/c".to_owned() };
    rig.opens.moved(FileKey { file: FileId(11), ..file(0) }, &to);
    assert_eq!(listed(Under::Tree(FileId(40))), [(in_b, "q/c/y".to_owned())]);
    assert_eq!(listed(Under::Tree(FileId(10))).len(), 1);
    assert!(rig.opens.force_close(Incarnation(2), top).is_none(), "another share");
    assert!(rig.opens.force_close(Incarnation(1), top).is_some());
    assert_eq!(rig.ear.take(), [Event::Closed { handle: top }]);
    assert_eq!(rig.opens.force_close_all(Incarnation(1), Under::All).len(), 2);
    assert!(rig.opens.state().nodes.is_empty());
}

#[test]
fn a_forced_close_carries_out_marks_and_makes_none() {
    let rig = Rig::new();
    let mut request = rig.request("RD");
    request.delete_on_close = true;
    let force = |handle| rig.opens.force_close(Incarnation(1), handle).expect("open").removal;
    assert!(force(rig.open(&request).handle).is_none(), "its client did not close it");
    let (wishes, other) = (rig.open(&request).handle, rig.open(&rig.request("R")).handle);
    assert!(force(wishes).is_none());
    assert!(!rig.opens.is_delete_pending(file(7)), "the same beside another handle");
    rig.opens.set_delete(other, true).expect("open");
    assert!(force(other).is_some(), "marked before");
}

#[test]
fn an_open_that_came_to_nothing_deletes_nothing() {
    let rig = Rig::new();
    let mut request = rig.request("RD");
    request.delete_on_close = true;
    rig.opens.retract(rig.open(&request).handle);
    assert!(!rig.opens.is_delete_pending(file(7)));
    let marked = rig.open(&request).handle;
    let other = rig.open(&rig.request("R")).handle;
    assert!(rig.opens.close(marked).expect("open").removal.is_none());
    rig.opens.retract(other);
    assert!(rig.opens.is_delete_pending(file(7)), "the mark of the first stays");
    assert_eq!(rig.opens.sweep(rig.opens.monotonic()).len(), 1);
    assert!(!rig.opens.is_delete_pending(file(7)));
}
