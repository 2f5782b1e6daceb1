//! Every cell of `spec/file_rest_*.csv` and of the share modes, on the table itself.

use super::*;
use zaffre_domain::fs::locks::LockKind;

/// Runs `check` on every row: cells by their column's place.
fn run(csv: &str, rows: usize, check: impl Fn(&[&str])) {
    let lines = csv.lines().filter(|line| !line.starts_with('#')).skip(1);
    let cells = lines.map(|line| line.split(',').map(str::trim).collect::<Vec<_>>());
    let ran = cells.map(|row| check(&row)).count();
    assert_eq!(ran, rows, "rows of the table");
}

fn classes(text: &str) -> Classes {
    mask(text).classes()
}

#[test]
fn share_modes() {
    run(include_str!("../../../../../../spec/file_share_modes.csv"), 64, |row| {
        let [share, wants, want] = row else { panic!("{row:?}") };
        for access in ["R", "W", "D", "RWD"] {
            let rig = Rig::new();
            let mut first = rig.request(access);
            first.mode.share = classes(share);
            let second = rig.request(wants);
            let want = if *want == "ok" { "ok" } else { "SharingViolation" };
            for (there, comes) in [(&first, &second), (&second, &first)] {
                let handle = rig.open(there).handle;
                let tried = rig.attempt(comes);
                assert_eq!(outcome(&tried), want, "{access} {row:?}");
                if let Ok(Attempt::Done(opened)) = tried {
                    rig.opens.close(opened.handle).expect("open");
                }
                rig.opens.close(handle).expect("open");
            }
            assert!(rig.opens.state().nodes.is_empty(), "nothing is left");
        }
    });
}

#[test]
fn rest_beside_share_modes() {
    run(include_str!("../../../../../../spec/file_rest_sharing.csv"), 118, |row| {
        let [share, access, op, want] = row else { panic!("{row:?}") };
        let rig = Rig::new();
        let mut there = rig.request(access);
        there.mode.share = classes(share);
        rig.open(&there);
        assert_eq!(outcome(&rig.enter(operation(op))), *want, "{row:?}");
    });
}

/// A refused operation first asks for the handle, if that is only cached, and then goes on.
#[test]
fn rest_beside_share_modes_of_cached_handles() {
    run(include_str!("../../../../../../spec/file_rest_sharing.csv"), 118, |row| {
        let [share, access, op, want] = row else { panic!("{row:?}") };
        let rig = Rig::new();
        let mut there = rig.request(access);
        there.mode.share = classes(share);
        there.wanted = lease(1, Caching::RH);
        let handle = rig.open(&there).handle;
        let tried = rig.enter(operation(op));
        if *want == "ok" {
            let waits = op == &"Create File";
            assert_eq!(outcome(&tried), if waits { "wait" } else { "ok" }, "{row:?}");
            return;
        }
        assert_eq!(outcome(&tried), "wait", "{row:?}");
        rig.opens.close(handle).expect("open");
        assert_eq!(outcome(&rig.enter(operation(op))), "ok", "{row:?}");
    });
}

#[test]
fn rest_beside_caching() {
    run(include_str!("../../../../../../spec/file_rest_breaks.csv"), 27, |row| {
        let [op, held, to, then] = row else { panic!("{row:?}") };
        let rig = Rig::new();
        let mut there = rig.request("R");
        there.wanted = lease(1, caching(held));
        let opened = rig.open(&there);
        assert_eq!(opened.caching, caching(held));
        let tried = rig.enter(operation(op));
        let told: Vec<_> = rig.ear.take();
        if *to == "-" {
            assert_eq!(told, [], "{row:?}");
            let refused = ["Delete File"].contains(op);
            let want = if refused { "SharingViolation" } else { "ok" };
            assert_eq!(outcome(&tried), want, "{row:?}");
            return;
        }
        let [Event::Lease { notice, .. }] = told.as_slice() else { panic!("{row:?} {told:?}") };
        assert_eq!((notice.from, notice.to), (caching(held), caching(to)), "{row:?}");
        assert_eq!(outcome(&tried), if *then == "wait" { "wait" } else { "ok" }, "{row:?}");
        if *then != "wait" {
            return;
        }
        assert_eq!(outcome(&rig.enter(operation(op))), "wait", "{row:?}: still");
        assert!(rig.ear.take().is_empty(), "told once");
        let lease = LeaseId { client: 1, key: 1 };
        rig.opens.answer_lease(lease, notice.to).expect("was asked");
        let refused = *op == "Delete File";
        let want = if refused { "SharingViolation" } else { "ok" };
        assert_eq!(outcome(&rig.enter(operation(op))), want, "{row:?}: answered");
    });
}

#[test]
fn rest_beside_locks() {
    run(include_str!("../../../../../../spec/file_rest_locks.csv"), 22, |row| {
        let [kind, op, want] = row else { panic!("{row:?}") };
        let rig = Rig::new();
        let handle = rig.open(&rig.request("RW")).handle;
        let kind = if *kind == "shared" { LockKind::Shared } else { LockKind::Exclusive };
        let range = Range { offset: 100, len: 100 };
        let locked = rig.opens.lock(handle, &[(range, kind)], false, None);
        assert!(matches!(locked, Ok(Locking::Granted)));
        assert_eq!(outcome(&rig.enter(operation(op))), *want, "{row:?}");
        rig.opens.unlock(handle, &[range], None).expect("locked");
        assert_eq!(outcome(&rig.enter(operation(op))), "ok", "{row:?}: unlocked");
    });
}

#[test]
fn rest_beside_deletion() {
    run(include_str!("../../../../../../spec/file_rest_deletion.csv"), 35, |row| {
        let [state, op, want] = row else { panic!("{row:?}") };
        let rig = Rig::new();
        let mut there = rig.request("RWD");
        there.delete_on_close = *state == "on close";
        let handle = rig.open(&there).handle;
        match *state {
            "pending" => rig.opens.set_delete(handle, true).expect("open"),
            "disconnected" => {
                let until = rig.opens.monotonic() + SECOND * 60;
                rig.opens.orphan(handle, until, rig.ear.clone()).expect("open");
            }
            "cleared and closed" => {
                rig.opens.set_delete(handle, true).expect("open");
                rig.opens.set_delete(handle, false).expect("open");
                assert!(rig.opens.close(handle).expect("open").removal.is_none());
            }
            _ => {}
        }
        assert_eq!(rig.opens.is_delete_pending(file(7)), *state == "pending");
        assert_eq!(outcome(&rig.enter(operation(op))), *want, "{row:?}");
    });
}
