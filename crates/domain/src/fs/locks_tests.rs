//! The rules of byte-range locks as tables.

use super::*;
use LockKind::{Exclusive, Shared};

const A: u32 = 1;
const B: u32 = 2;

fn range(offset: u64, len: u64) -> Range {
    Range::new(offset, len).expect("a range")
}

#[test]
fn a_lock_beside_a_lock() {
    // Existing lock of A, wanted lock, granted to A, granted to B.
    let rows = [
        (Exclusive, Exclusive, false, false),
        (Exclusive, Shared, true, false),
        (Shared, Shared, true, true),
        (Shared, Exclusive, false, false),
    ];
    for (there, wanted, same, other) in rows {
        for (owner, want) in [(A, same), (B, other)] {
            let mut table = LockTable::default();
            table.lock(A, range(10, 10), there).expect("the first");
            let got = table.lock(owner, range(15, 10), wanted).is_ok();
            assert_eq!(got, want, "{there:?} then {wanted:?} by {owner}");
        }
    }
}

#[test]
fn reading_and_writing_under_a_lock() {
    // Lock of A, touch, allowed to A, to B, to one without an open.
    let rows = [
        (Exclusive, Touch::Read, true, false, false),
        (Exclusive, Touch::Write, true, false, false),
        (Shared, Touch::Read, true, true, true),
        (Shared, Touch::Write, false, false, false),
    ];
    for (kind, touch, same, other, nobody) in rows {
        let mut table = LockTable::default();
        table.lock(A, range(10, 10), kind).expect("the first");
        for (owner, want) in [(Some(A), same), (Some(B), other), (None, nobody)] {
            assert_eq!(!table.forbids(owner, range(19, 1), touch), want, "{kind:?} {touch:?}");
            assert!(!table.forbids(owner, range(20, 1), touch), "beside it");
            assert!(!table.forbids(owner, range(0, 10), touch), "before it");
            assert!(!table.forbids(owner, range(15, 0), touch), "nothing of it");
        }
    }
}

#[test]
fn ranges_overlap_or_not() {
    let max = u64::MAX;
    let rows = [
        ((0, 10), (10, 10), false),
        ((0, 11), (10, 10), true),
        ((10, 0), (10, 10), false),
        ((11, 0), (10, 10), true),
        ((20, 0), (10, 10), false),
        ((0, 0), (0, 10), false),
        ((0, 0), (0, 0), false),
        ((10, 0), (10, 0), false),
        ((max, 1), (max, 1), true),
        ((max - 1, 1), (max, 1), false),
        ((1, max), (max, 1), true),
        ((0, max), (max, 1), false),
    ];
    for ((a, alen), (b, blen), want) in rows {
        let (first, second) = (range(a, alen), range(b, blen));
        assert_eq!(first.overlaps(second), want, "{first:?} {second:?}");
        assert_eq!(second.overlaps(first), want, "{second:?} {first:?}");
    }
}

#[test]
fn a_range_ends_within_the_offsets() {
    let max = u64::MAX;
    let rows = [
        (0, 0, true),
        (max, 0, true),
        (max, 1, true),
        (max, 2, false),
        (1, max, true),
        (2, max, false),
        (0, max, true),
    ];
    for (offset, len, want) in rows {
        assert_eq!(Range::new(offset, len).is_some(), want, "{offset} {len}");
    }
}

#[test]
fn stacked_locks_go_one_by_one_the_exclusive_first() {
    let mut table = LockTable::default();
    table.lock(A, range(0, 10), Exclusive).expect("exclusive");
    table.lock(A, range(0, 10), Shared).expect("stacks");
    table.lock(A, range(0, 10), Shared).expect("stacks again");
    assert!(table.forbids(Some(B), range(0, 1), Touch::Read));
    assert_eq!(table.unlock(B, range(0, 10)), Err(NotLocked));
    assert_eq!(table.unlock(A, range(0, 9)), Err(NotLocked));
    table.unlock(A, range(0, 10)).expect("the exclusive");
    assert!(!table.forbids(Some(B), range(0, 1), Touch::Read));
    table.unlock(A, range(0, 10)).expect("a shared");
    table.unlock(A, range(0, 10)).expect("the other shared");
    assert_eq!(table.unlock(A, range(0, 10)), Err(NotLocked));
    assert!(table.is_empty());
}

#[test]
fn an_array_is_locked_whole_or_not_at_all() {
    let mut table = LockTable::default();
    table.lock(B, range(100, 10), Shared).expect("in the way");
    let wanted = [(range(0, 10), Exclusive), (range(105, 1), Exclusive)];
    assert_eq!(table.lock_all(A, &wanted), Err(LockRefusal::NotGranted));
    assert_eq!(table.held_by(A), 0);
    assert!(table.release(B));
    assert!(!table.release(B));
    assert_eq!(table.lock_all(A, &wanted), Ok(()));
    assert_eq!(table.held_by(A), 2);
    let against_itself = [(range(200, 10), Exclusive), (range(205, 1), Exclusive)];
    assert_eq!(table.lock_all(A, &against_itself), Err(LockRefusal::NotGranted));
    assert_eq!(table.held_by(A), 2);
}

#[test]
fn a_promised_lock_keeps_others_out_as_a_held_one_does() {
    // Kind, touch or lock of B, whether it is kept out: for now by a promise, then for good.
    let touches = [
        (Exclusive, Touch::Read, true),
        (Exclusive, Touch::Write, true),
        (Shared, Touch::Read, false),
        (Shared, Touch::Write, true),
    ];
    let locks = [
        (Exclusive, Exclusive, true),
        (Exclusive, Shared, true),
        (Shared, Exclusive, true),
        (Shared, Shared, false),
    ];
    for step in 0..3 {
        let table = |kind| {
            let mut table = LockTable::default();
            table.promise_all(A, &[(range(10, 10), kind)], 1).expect("the first");
            assert!(!table.keep(1), "not granted");
            assert!(step < 1 || table.grant(1));
            assert!(step < 2 || table.keep(1));
            table
        };
        let for_good = step > 0;
        for (kind, touch, want) in touches {
            let got = table(kind).forbids(Some(B), range(19, 1), touch);
            assert_eq!(got, want, "{kind:?} {touch:?}, step {step}");
            let got = table(kind).granted().forbids(Some(B), range(19, 1), touch);
            assert_eq!(got, want && for_good, "{kind:?} {touch:?}, step {step}");
        }
        for (kind, wanted, want) in locks {
            let got = table(kind).lock(B, range(15, 10), wanted).is_err();
            assert_eq!(got, want, "{kind:?} {wanted:?}, step {step}");
            let got = table(kind).granted().lock(B, range(15, 10), wanted).is_err();
            assert_eq!(got, want && for_good, "{kind:?} {wanted:?}, step {step}");
        }
        assert!(table(Shared).reach_beyond(19) && table(Shared).held_by_others(B));
        assert_eq!(table(Shared).held_by(A), 1);
    }
}

#[test]
fn a_promise_is_kept_or_withdrawn_whole() {
    let mut table = LockTable::default();
    let wanted = [(range(0, 10), Exclusive), (range(20, 10), Shared)];
    table.promise_all(A, &wanted, 1).expect("the first");
    assert_eq!(table.promise_all(B, &[(range(40, 1), Shared), wanted[0]], 2), {
        Err(LockRefusal::NotGranted)
    });
    assert_eq!(table.held_by(B), 0, "all or none");
    assert_eq!(table.unlock(A, range(0, 10)), Err(NotLocked), "not held yet");
    table.lock(A, range(0, 10), Shared).expect("beside one's own");
    table.unlock(A, range(0, 10)).expect("the one that is held");
    assert!(table.forbids(Some(B), range(0, 1), Touch::Read), "the promise is still there");
    assert!(!table.withdraw(2) && !table.grant(2), "another's, of which there is none");
    assert!(table.grant(1) && !table.grant(1));
    assert_eq!(table.unlock(A, range(0, 10)), Err(NotLocked), "its owner does not know");
    assert!(table.keep(1));
    assert!(!table.keep(1) && !table.withdraw(1), "held");
    table.unlock(A, range(0, 10)).expect("held now");
    table.unlock(A, range(20, 10)).expect("held now");
    table.promise_all(A, &wanted, 3).expect("free again");
    table.lock(A, range(20, 10), Shared).expect("stacks");
    assert!(table.grant(3) && table.withdraw(3), "granted or not");
    assert_eq!(table.held_by(A), 1, "what was held beside it stays");
    table.promise_all(A, &wanted[..1], 4).expect("free");
    assert!(table.release(A) && table.is_empty(), "with its open goes what it was promised");
}

#[test]
fn an_open_holds_only_so_many() {
    let mut table = LockTable::default();
    for at in 0..LOCKS_PER_OPEN {
        let at = u64::try_from(at).expect("small");
        table.lock(A, range(at, 1), Exclusive).expect("below the limit");
    }
    let beyond = u64::try_from(LOCKS_PER_OPEN).expect("small");
    assert_eq!(table.lock(A, range(beyond, 1), Shared), Err(LockRefusal::TooMany));
    assert_eq!(table.lock(B, range(beyond, 1), Shared), Ok(()));
}

#[test]
fn a_numbered_request_is_known_when_it_comes_again() {
    let mut known = LockSequences::default();
    assert!(!known.is_replay(1, 7));
    known.done(1, 7);
    assert!(known.is_replay(1, 7));
    assert!(known.is_replay(1, 7), "as often as it comes");
    assert!(!known.is_replay(2, 7));
    assert!(!known.is_replay(1, 8), "another number, which forgets the first");
    assert!(!known.is_replay(1, 7));
    for (index, number) in [(2, 8), (1, 9), (1, 10), (64, 1)] {
        known.done(index, number);
    }
    for (index, number, want) in [(2, 8, true), (1, 9, false), (1, 10, false), (64, 1, true)] {
        assert_eq!(known.is_replay(index, number), want, "{index} {number}");
    }
    known.done(0, 1);
    known.done(65, 1);
    assert!(!known.is_replay(0, 1));
    assert!(!known.is_replay(65, 1));
}

#[test]
fn who_holds_what_and_how_far() {
    let mut table = LockTable::default();
    assert!(table.is_empty() && !table.reach_beyond(0) && !table.held_by_others(A));
    table.lock(A, range(10, 10), Shared).expect("the first");
    table.lock(A, range(30, 0), Exclusive).expect("an empty one");
    assert!(!table.is_empty());
    for (owner, held, others) in [(A, 2, false), (B, 0, true)] {
        assert_eq!((table.held_by(owner), table.held_by_others(owner)), (held, others));
    }
    let mut table = LockTable::default();
    table.lock(B, range(10, 10), Shared).expect("the first");
    for (offset, want) in [(0, true), (10, true), (19, true), (20, false), (u64::MAX, false)] {
        assert_eq!(table.reach_beyond(offset), want, "{offset}");
    }
    let mut table = LockTable::default();
    table.lock(B, range(10, 0), Shared).expect("the first");
    for (offset, want) in [(9, true), (10, true), (11, false)] {
        assert_eq!(table.reach_beyond(offset), want, "empty, {offset}");
    }
}
