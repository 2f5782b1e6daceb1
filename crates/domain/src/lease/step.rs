//! What each lease action does in each state.
//!
//! Must never be the only copy of this table: `spec/lease_actions.csv` is the vendor's, and every
//! cell of it is run against [`step`].

use super::{Lease, LeaseCommand, LeaseState};
use crate::{LeaseOn, Refusal};
use core::time::Duration;
use zaffre_base::time::TICKS_PER_SECOND;
use zaffre_base::{Guid, Timestamp};

/// What the answer to a lease action tells the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeaseReply {
    /// The id now in force; after acquire, renew and change.
    pub id: Option<Guid>,
    /// Whole seconds until the break completes, rounded up; after break.
    pub break_seconds: Option<u64>,
}

/// Applies one lease action; a refusal leaves the lease as it was.
pub fn step(
    lease: Lease,
    command: LeaseCommand,
    on: LeaseOn,
    now: Timestamp,
) -> Result<(Lease, LeaseReply), Refusal> {
    match command {
        LeaseCommand::Acquire { seconds, proposed, fallback } => {
            acquire(lease, seconds, proposed, fallback, now)
        }
        LeaseCommand::Renew { id } => renew(lease, id, on, now),
        LeaseCommand::Change { id, proposed } => change(lease, id, proposed, on, now),
        LeaseCommand::Release { id } => release(lease, id, on),
        LeaseCommand::Break { period } => start_break(lease, period, on, now),
    }
}

/// [`step`] as requests of a version before 2012-02-12 see it: a lease that is breaking or broken
/// cannot be broken again. Everything else of those versions is a narrower command (60 seconds, no
/// proposed id, no period).
pub fn step_before_2012(
    lease: Lease,
    command: LeaseCommand,
    on: LeaseOn,
    now: Timestamp,
) -> Result<(Lease, LeaseReply), Refusal> {
    let is_break = matches!(command, LeaseCommand::Break { .. });
    match lease.state(now) {
        LeaseState::Breaking(_) | LeaseState::Broken(_) if is_break => {
            Err(Refusal::LeaseAlreadyBroken)
        }
        _ => step(lease, command, on, now),
    }
}

fn acquire(
    lease: Lease,
    seconds: Option<u64>,
    proposed: Option<Guid>,
    fallback: Guid,
    now: Timestamp,
) -> Result<(Lease, LeaseReply), Refusal> {
    match lease.state(now) {
        LeaseState::Leased(holder) if proposed != Some(holder) => Err(Refusal::LeaseAlreadyPresent),
        LeaseState::Breaking(holder) if proposed == Some(holder) => {
            Err(Refusal::LeaseIsBreakingAndCannotBeAcquired)
        }
        LeaseState::Breaking(_) => Err(Refusal::LeaseAlreadyPresent),
        _ => Ok(held(proposed.unwrap_or(fallback), seconds, now)),
    }
}

fn renew(
    lease: Lease,
    id: Guid,
    on: LeaseOn,
    now: Timestamp,
) -> Result<(Lease, LeaseReply), Refusal> {
    if lease.id != Some(id) {
        return Err(Refusal::LeaseIdMismatchWithLeaseOperation(on));
    }
    match lease.state(now) {
        LeaseState::Breaking(_) | LeaseState::Broken(_) => {
            Err(Refusal::LeaseIsBrokenAndCannotBeRenewed)
        }
        _ => Ok(held(id, lease.seconds, now)),
    }
}

fn change(
    lease: Lease,
    id: Guid,
    proposed: Guid,
    on: LeaseOn,
    now: Timestamp,
) -> Result<(Lease, LeaseReply), Refusal> {
    match lease.state(now) {
        // A proposal that is in force already is a repeated request whose answer was lost.
        LeaseState::Leased(holder) if holder == id || holder == proposed => {
            let lease = Lease { id: Some(proposed), ..lease };
            Ok((lease, LeaseReply { id: lease.id, break_seconds: None }))
        }
        LeaseState::Breaking(holder) if holder == id => {
            Err(Refusal::LeaseIsBreakingAndCannotBeChanged)
        }
        LeaseState::Leased(_) | LeaseState::Breaking(_) => {
            Err(Refusal::LeaseIdMismatchWithLeaseOperation(on))
        }
        LeaseState::Available | LeaseState::Broken(_) | LeaseState::Expired(_) => {
            Err(Refusal::LeaseNotPresentWithLeaseOperation(on))
        }
    }
}

fn release(lease: Lease, id: Guid, on: LeaseOn) -> Result<(Lease, LeaseReply), Refusal> {
    if lease.id != Some(id) {
        return Err(Refusal::LeaseIdMismatchWithLeaseOperation(on));
    }
    Ok((Lease::default(), LeaseReply::default()))
}

fn start_break(
    lease: Lease,
    period: Option<u64>,
    on: LeaseOn,
    now: Timestamp,
) -> Result<(Lease, LeaseReply), Refusal> {
    let asked = period.map(|seconds| now.plus(Duration::from_secs(seconds)));
    let breaks = match lease.state(now) {
        LeaseState::Available => return Err(Refusal::LeaseNotPresentWithLeaseOperation(on)),
        // Without a period a lease keeps the time it has left, and an infinite one has none to keep.
        LeaseState::Leased(_) => match (asked, lease.expires) {
            (None, None) => now,
            (None, Some(expires)) => expires,
            (Some(asked), None) => asked,
            (Some(asked), Some(expires)) => asked.min(expires),
        },
        LeaseState::Breaking(_) => {
            let current = lease.breaks.unwrap_or(now);
            asked.map_or(current, |asked| asked.min(current))
        }
        // When it broke stays what it was: a break that comes late changes nothing.
        LeaseState::Broken(_) => lease.breaks.unwrap_or(now),
        LeaseState::Expired(_) => now,
    };
    let left = breaks.0.saturating_sub(now.0).div_ceil(TICKS_PER_SECOND);
    let reply = LeaseReply { id: None, break_seconds: Some(left) };
    Ok((Lease { breaks: Some(breaks), ..lease }, reply))
}

fn held(id: Guid, seconds: Option<u64>, now: Timestamp) -> (Lease, LeaseReply) {
    let expires = seconds.map(|seconds| now.plus(Duration::from_secs(seconds)));
    let lease = Lease { id: Some(id), seconds, expires, breaks: None };
    (lease, LeaseReply { id: lease.id, break_seconds: None })
}
