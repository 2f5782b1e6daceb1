//! The life of held caching as tables; which causes break what is in `spec/`.

use super::*;

const ALL: [Caching; 5] = [Caching::NONE, Caching::R, Caching::RH, Caching::RW, Caching::RWH];

#[test]
fn what_is_granted() {
    let none = Others::default();
    let any = Others { any: true, ..none };
    let handle = Others { any: true, handle: true, ..none };
    let oplock = Others { any: true, oplock: true, ..none };
    let locked = Others { locked: true, ..none };
    let writes = Others { any: true, writes: true, ..none };
    let (lease, old) = (Manner::Lease, Manner::Oplock);
    let rows = [
        (lease, Caching::RWH, none, Caching::RWH),
        (lease, Caching::RW, none, Caching::RW),
        (lease, Caching::RH, none, Caching::RH),
        (lease, Caching::W, none, Caching::NONE),
        (lease, Caching::H, none, Caching::NONE),
        (lease, Caching::W.or(Caching::H), none, Caching::NONE),
        (lease, Caching::RWH, any, Caching::RH),
        (lease, Caching::RW, any, Caching::R),
        (lease, Caching::RWH, handle, Caching::RH),
        (lease, Caching::RWH, oplock, Caching::R),
        (lease, Caching::RWH, locked, Caching::NONE),
        (lease, Caching::R, writes, Caching::NONE),
        (old, Caching::R, writes, Caching::NONE),
        (old, Caching::RWH, none, Caching::RWH),
        (old, Caching::RW, none, Caching::RW),
        (old, Caching::R, none, Caching::R),
        (old, Caching::NONE, none, Caching::NONE),
        (old, Caching::RWH, any, Caching::R),
        (old, Caching::RW, oplock, Caching::R),
        (old, Caching::RWH, handle, Caching::NONE),
        (old, Caching::RWH, locked, Caching::NONE),
    ];
    for (manner, wanted, others, want) in rows {
        assert_eq!(grant(manner, wanted, others), want, "{manner:?} {wanted:?} {others:?}");
    }
}

#[test]
fn a_lease_is_raised_only_to_all_that_was_wanted() {
    let rows = [
        (Caching::R, Caching::RWH, Caching::RWH, Caching::RWH),
        (Caching::R, Caching::RWH, Caching::RH, Caching::R),
        (Caching::RH, Caching::RW, Caching::RW, Caching::RH),
        (Caching::RWH, Caching::R, Caching::R, Caching::RWH),
        (Caching::NONE, Caching::R, Caching::R, Caching::R),
    ];
    for (had, wanted, granted, want) in rows {
        let mut held = Held::granted(Manner::Lease, had, 0);
        held.raise(wanted, granted);
        assert_eq!(held.state(), want, "{had:?} {wanted:?} {granted:?}");
        assert_eq!(held.epoch(), 1 + u16::from(had != want));
    }
    let mut breaking = Held::granted(Manner::Lease, Caching::RH, 0);
    breaking.start(Caching::R);
    breaking.raise(Caching::RWH, Caching::RWH);
    assert_eq!(breaking.state(), Caching::RH, "not while it breaks");
}

#[test]
fn every_break_ends_at_what_was_asked_for_or_less() {
    for from in ALL {
        for to in ALL {
            let mut held = Held::granted(Manner::Lease, from, 5);
            let told = held.start(to);
            let lowered = !to.contains(from);
            assert_eq!(told.is_some(), lowered, "{from:?} to {to:?}");
            let Some(told) = told else { continue };
            assert_eq!((told.from, told.to, told.epoch), (from, to.and(from), 7));
            assert_eq!(told.answer, from != Caching::R);
            assert_eq!(held.is_breaking(), told.answer);
            if told.answer {
                assert_eq!(held.answer(told.to), Ok(None));
            }
            assert_eq!(held.state(), told.to);
        }
    }
}

#[test]
fn a_deeper_break_follows_the_answer_in_steps() {
    let mut held = Held::granted(Manner::Lease, Caching::RWH, 0);
    assert_eq!(held.start(Caching::RH).map(|n| n.to), Some(Caching::RH));
    assert_eq!(held.start(Caching::NONE), None, "told after the answer");
    assert_eq!(held.answer(Caching::RWH), Err(AnswerError::TooMuch));
    let next = held.answer(Caching::RH).expect("an answer").expect("a step");
    assert_eq!((next.from, next.to, next.answer), (Caching::RH, Caching::R, true));
    let last = held.answer(Caching::R).expect("an answer").expect("a step");
    assert_eq!((last.from, last.to, last.answer), (Caching::R, Caching::NONE, false));
    assert_eq!(held.state(), Caching::NONE);
    assert_eq!(held.answer(Caching::NONE), Err(AnswerError::NotBreaking));
}

#[test]
fn less_may_be_kept_than_was_left() {
    let mut held = Held::granted(Manner::Oplock, Caching::RWH, 0);
    held.start(Caching::R);
    assert_eq!(held.answer(Caching::NONE), Ok(None));
    assert_eq!(held.state(), Caching::NONE);
    let mut silent = Held::granted(Manner::Lease, Caching::RWH, 0);
    silent.start(Caching::RH);
    silent.give_up();
    assert_eq!((silent.state(), silent.is_breaking()), (Caching::NONE, false));
}

#[test]
fn without_anybody_to_answer_a_break_is_over_at_once() {
    let mut held = Held::granted(Manner::Lease, Caching::RWH, 0);
    held.start(Caching::RH);
    held.start(Caching::R);
    held.settle();
    assert_eq!((held.state(), held.is_breaking()), (Caching::R, false));
    held.settle();
    assert_eq!(held.state(), Caching::R);
}

#[test]
fn caching_as_it_is_sent() {
    for (bits, want, shown) in [
        (0, Caching::NONE, "none"),
        (1, Caching::R, "R"),
        (2, Caching::H, "H"),
        (3, Caching::RH, "RH"),
        (4, Caching::W, "W"),
        (5, Caching::RW, "RW"),
        (7, Caching::RWH, "RWH"),
        (0xFFFF_FFF8, Caching::NONE, "none"),
        (0x0000_000F, Caching::RWH, "RWH"),
    ] {
        let caching = Caching::from_bits(bits);
        assert_eq!(caching, want, "{bits}");
        assert_eq!(u32::from(caching.bits()), bits & 7);
        assert_eq!(alloc::format!("{caching:?}"), shown);
    }
    assert_eq!(Caching::from_bits(6), Caching::W.or(Caching::H));
    assert_eq!(Caching::RH.or(Caching::RW), Caching::RWH);
}
