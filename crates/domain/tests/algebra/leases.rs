//! Laws of leases, over random histories of several clients.

use core::time::Duration;
use proptest::prelude::*;
use zaffre_base::{Guid, Timestamp};
use zaffre_domain::LeaseOn;
use zaffre_domain::lease::{
    Lease, LeaseAccess, LeaseCommand, LeaseReply, LeaseView, admits, after_write, holds, step, view,
};

const IDS: [Guid; 4] = [Guid(1), Guid(2), Guid(3), Guid(4)];
const START: Timestamp = Timestamp(638_000_000_000_000_000);

/// One thing that happens: time passes, then a lease action or a write without an id.
#[derive(Clone, Copy, Debug)]
struct Event {
    wait: Duration,
    action: Option<LeaseCommand>,
}

fn id() -> impl Strategy<Value = Guid> {
    prop::sample::select(&IDS[..3])
}

fn command() -> impl Strategy<Value = LeaseCommand> {
    let seconds = prop::option::of(15_u64..=60);
    let acquire = (seconds, prop::option::of(id())).prop_map(|(seconds, proposed)| {
        LeaseCommand::Acquire { seconds, proposed, fallback: IDS[3] }
    });
    prop_oneof![
        acquire,
        id().prop_map(|id| LeaseCommand::Renew { id }),
        (id(), id()).prop_map(|(id, proposed)| LeaseCommand::Change { id, proposed }),
        id().prop_map(|id| LeaseCommand::Release { id }),
        prop::option::of(0_u64..=60).prop_map(|period| LeaseCommand::Break { period }),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let wait = prop_oneof![Just(0), 0_u64..20_000, 0_u64..70_000].prop_map(Duration::from_millis);
    let action = prop::option::weighted(0.9, command());
    (wait, action).prop_map(|(wait, action)| Event { wait, action })
}

/// A lease that some history leads to, and the time.
fn history() -> impl Strategy<Value = (Lease, Timestamp)> {
    prop::collection::vec(event(), 0..12).prop_map(|events| {
        events.into_iter().fold((Lease::default(), START), |(lease, now), event| {
            let now = now.plus(event.wait);
            let next = match event.action {
                Some(command) => step(lease, command, LeaseOn::Blob, now).map_or(lease, |(l, _)| l),
                None if holds_nobody(&lease, now) => after_write(lease, now),
                None => lease,
            };
            (next, now)
        })
    })
}

/// A lease whose break is under way, and the time.
fn breaking() -> impl Strategy<Value = (Lease, Timestamp)> {
    let seconds = prop::option::of(15_u64..=60);
    (id(), seconds, 0_u64..15, 1_u64..=60).prop_map(|(id, seconds, wait, period)| {
        let acquire = LeaseCommand::Acquire { seconds, proposed: Some(id), fallback: id };
        let now = START.plus(Duration::from_secs(wait));
        let lease = [(acquire, START), (LeaseCommand::Break { period: Some(period) }, now)]
            .into_iter()
            .fold(Lease::default(), |lease, (command, at)| {
                step(lease, command, LeaseOn::Blob, at).expect("free, then held").0
            });
        (lease, now)
    })
}

fn admitted(lease: &Lease, id: Option<Guid>, now: Timestamp) -> bool {
    admits(lease, id, LeaseAccess::Write, LeaseOn::Blob, now).is_ok()
}

fn holds_nobody(lease: &Lease, now: Timestamp) -> bool {
    !view(lease, now).is_locked()
}

/// When writes without the id are let in again.
fn lock_ends(lease: &Lease, now: Timestamp) -> Timestamp {
    if holds_nobody(lease, now) {
        return now;
    }
    lease.breaks.or(lease.expires).unwrap_or(Timestamp(u64::MAX))
}

/// The ids a command speaks with.
fn names(command: LeaseCommand, id: Guid) -> bool {
    match command {
        LeaseCommand::Acquire { proposed, .. } => proposed == Some(id),
        LeaseCommand::Renew { id: named } | LeaseCommand::Release { id: named } => named == id,
        LeaseCommand::Change { id: named, proposed } => named == id || proposed == id,
        LeaseCommand::Break { .. } => false,
    }
}

fn shifted(lease: Lease, by: Duration) -> Lease {
    Lease {
        expires: lease.expires.map(|at| at.plus(by)),
        breaks: lease.breaks.map(|at| at.plus(by)),
        ..lease
    }
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn a_lock_has_exactly_one_holder((lease, now) in history()) {
        let holders = IDS.iter().filter(|id| admitted(&lease, Some(**id), now)).count();
        let locked = view(&lease, now).is_locked();
        prop_assert_eq!(holders, usize::from(locked));
        prop_assert_eq!(admitted(&lease, None, now), !locked);
        for id in IDS {
            prop_assert_eq!(holds(&lease, Some(id), now), admitted(&lease, Some(id), now));
        }
    }

    #[test]
    fn reads_without_an_id_always_pass((lease, now) in history()) {
        let read = admits(&lease, None, LeaseAccess::Read, LeaseOn::Blob, now);
        prop_assert_eq!(read, Ok(()));
    }

    #[test]
    fn only_its_holder_or_a_break_touches_a_held_lease(
        (lease, now) in history(),
        command in command(),
    ) {
        let holder = lease.id.filter(|_| view(&lease, now).is_locked());
        if let (Some(holder), Ok((next, _))) = (holder, step(lease, command, LeaseOn::Blob, now)) {
            let is_break = matches!(command, LeaseCommand::Break { .. });
            prop_assert!(next == lease || is_break || names(command, holder));
        }
    }

    #[test]
    fn a_break_only_shortens(
        (lease, now) in history(),
        period in prop::option::of(0_u64..=60),
    ) {
        let result = step(lease, LeaseCommand::Break { period }, LeaseOn::Blob, now);
        prop_assert_eq!(result.is_ok(), lease.id.is_some());
        if let Ok((next, reply)) = result {
            let (before, after) = (lock_ends(&lease, now), lock_ends(&next, now));
            prop_assert!(after <= before);
            prop_assert_eq!(next.id, lease.id);
            let left = Duration::from_secs(reply.break_seconds.unwrap_or(u64::MAX));
            prop_assert!(left <= Duration::from_mins(1));
            prop_assert!(after <= now.plus(left), "the announced time is never too short");
            prop_assert!(after.since(now) + Duration::from_secs(1) > left, "nor a second too long");
            if let Some(period) = period {
                prop_assert!(after <= now.plus(Duration::from_secs(period)));
            }
        }
    }

    #[test]
    fn a_break_that_has_begun_always_completes(
        (lease, now) in breaking(),
        events in prop::collection::vec(event(), 0..12),
    ) {
        prop_assert_eq!(view(&lease, now), LeaseView::Breaking);
        let mut end = lock_ends(&lease, now);
        let (mut lease, mut now) = (lease, now);
        for event in events {
            now = now.plus(event.wait);
            if now >= end {
                break;
            }
            let done = event.action.map(|command| step(lease, command, LeaseOn::Blob, now));
            if let Some(Ok((next, _))) = done {
                lease = next;
            }
            if holds_nobody(&lease, now) {
                return Ok(());
            }
            prop_assert!(lock_ends(&lease, now) <= end);
            end = lock_ends(&lease, now);
        }
        prop_assert!(holds_nobody(&lease, end));
    }

    #[test]
    fn time_alone_never_locks((lease, now) in history(), wait in 0_u64..200_000) {
        let then = now.plus(Duration::from_millis(wait));
        let next = match view(&lease, now) {
            LeaseView::Leased { infinite: false } => Some(LeaseView::Expired),
            LeaseView::Breaking => Some(LeaseView::Broken),
            LeaseView::Available
            | LeaseView::Leased { infinite: true }
            | LeaseView::Broken
            | LeaseView::Expired => None,
        };
        let seen = view(&lease, then);
        prop_assert!(seen == view(&lease, now) || Some(seen) == next);
    }

    #[test]
    fn a_write_forgets_what_ran_out_and_nothing_else((lease, now) in history()) {
        let written = after_write(lease, now);
        prop_assert_eq!(after_write(written, now), written);
        if view(&lease, now).is_locked() {
            prop_assert_eq!(written, lease);
        } else {
            prop_assert_eq!(written, Lease::default());
        }
    }

    #[test]
    fn who_acquires_holds_and_who_releases_frees((lease, now) in history(), command in command()) {
        if let Ok((next, reply)) = step(lease, command, LeaseOn::Blob, now) {
            match command {
                LeaseCommand::Release { .. } => {
                    prop_assert_eq!(next, Lease::default());
                    prop_assert_eq!(reply, LeaseReply::default());
                }
                LeaseCommand::Break { .. } => prop_assert!(reply.id.is_none()),
                _ => prop_assert!(reply.id.is_some() && holds(&next, reply.id, now)),
            }
        }
    }

    #[test]
    fn only_differences_of_time_count(
        (lease, now) in history(),
        command in command(),
        days in 0_u64..10_000,
    ) {
        let by = Duration::from_secs(days * 86_400);
        let here = step(lease, command, LeaseOn::Blob, now);
        let there = step(shifted(lease, by), command, LeaseOn::Blob, now.plus(by));
        prop_assert_eq!(here.map(|(lease, reply)| (shifted(lease, by), reply)), there);
    }
}
