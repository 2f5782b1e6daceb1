//! Leases: one state machine for blobs and containers.
//!
//! Must never read a clock: every instant is an argument, every stored instant absolute.
//!
//! ```text
//!                  acquire                     break, time left
//!  +-----------+ ----------> +-----------+ -------------------> +-------------+
//!  | Available |             | Leased(A) |                      | Breaking(A) |
//!  +-----------+             +-----------+                      +-------------+
//!        ^                    |    ^    |                              |
//!        |          time runs |    |    | break,                       | time runs out,
//!        |                out |    |    | no time left                 | or break 0
//!        |                    |    |    +------------+                 |
//!        |                    v    | renew A         v                 |
//!        |               +------------+   break   +-----------+        |
//!        |               | Expired(A) | --------> | Broken(A) | <------+
//!        |               +------------+           +-----------+
//!        |                     |                        |
//!        +---------------------+------------------------+
//!              a write to the blob: see `after_write`
//! ```
//!
//! Not drawn: release A leads from every state to Available. Acquire leads from Expired and Broken
//! to Leased. Renew A, acquire A and change A to B stay in Leased. A break of Breaking only shortens.
//!
//! The states are not stored: [`Lease::state`] derives them from the stored instants and `now`,
//! so a lease runs out without anybody writing anything and survives restarts.

mod step;
mod usage;

pub use step::{LeaseReply, step, step_before_2012};
pub use usage::{LeaseAccess, admits, admits_missing, after_write, holds};

use core::ops::RangeInclusive;
use core::time::Duration;
use zaffre_base::planted::{Bug, planted};
use zaffre_base::{Guid, Timestamp};

/// How many seconds a lease may be taken for, unless for ever.
pub const LEASE_SECONDS: RangeInclusive<u64> = 15..=60;
/// How many seconds a break may ask for.
pub const BREAK_SECONDS: RangeInclusive<u64> = 0..=60;

/// What a lease request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseCommand {
    /// Take the lease.
    Acquire {
        /// 15..=60 seconds, or `None` for ever.
        seconds: Option<u64>,
        /// The id the client proposes.
        proposed: Option<Guid>,
        /// The id used when the client proposes none; drawn by the protocol.
        fallback: Guid,
    },
    /// Start the lease's time again.
    Renew {
        /// Its id.
        id: Guid,
    },
    /// Swap the id.
    Change {
        /// Its id.
        id: Guid,
        /// The id it gets.
        proposed: Guid,
    },
    /// Give it up.
    Release {
        /// Its id.
        id: Guid,
    },
    /// End it without the id.
    Break {
        /// 0..=60 seconds, if given.
        period: Option<u64>,
    },
}

/// A lease as a reader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseView {
    /// Free.
    Available,
    /// Held.
    Leased {
        /// For ever (`infinite`) rather than `fixed`.
        infinite: bool,
    },
    /// Being broken, still held.
    Breaking,
    /// Broken.
    Broken,
    /// Run out.
    Expired,
}

impl LeaseView {
    /// Whether writes need the id (`x-ms-lease-status: locked`).
    pub fn is_locked(self) -> bool {
        matches!(self, Self::Leased { .. } | Self::Breaking)
    }
}

/// A lease as stored beside its blob or container; the default was never leased.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lease {
    /// Who holds it, or held it last; `None` means available and nothing else is set.
    pub id: Option<Guid>,
    /// How many seconds it was taken for, which is what a renewal gives again; `None` = for ever.
    pub seconds: Option<u64>,
    /// When it runs out; `None` = never.
    pub expires: Option<Timestamp>,
    /// When the break completes, once one was asked for; from then on `expires` is not looked at.
    pub breaks: Option<Timestamp>,
}

/// Where a lease stands at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseState {
    /// Nobody holds it and no id is remembered.
    Available,
    /// Held by this id.
    Leased(Guid),
    /// Held by this id until the break completes.
    Breaking(Guid),
    /// Was held by this id until a break completed.
    Broken(Guid),
    /// Was held by this id until it ran out.
    Expired(Guid),
}

impl Lease {
    /// The state at `now`. An instant that is reached has passed.
    pub fn state(&self, now: Timestamp) -> LeaseState {
        let Some(id) = self.id else {
            return LeaseState::Available;
        };
        match (self.breaks, self.expires) {
            (Some(breaks), _) if now < breaks => LeaseState::Breaking(id),
            (Some(_), _) => LeaseState::Broken(id),
            (None, Some(expires)) if now >= expires.plus(late()) => LeaseState::Expired(id),
            (None, _) => LeaseState::Leased(id),
        }
    }
}

/// Nothing, unless a test wants to see that it is found.
fn late() -> Duration {
    if planted(Bug::LateExpiry) { Duration::from_secs(1) } else { Duration::ZERO }
}

/// The lease as a reader sees it at `now`.
pub fn view(lease: &Lease, now: Timestamp) -> LeaseView {
    match lease.state(now) {
        LeaseState::Available => LeaseView::Available,
        LeaseState::Leased(_) => LeaseView::Leased { infinite: lease.expires.is_none() },
        LeaseState::Breaking(_) => LeaseView::Breaking,
        LeaseState::Broken(_) => LeaseView::Broken,
        LeaseState::Expired(_) => LeaseView::Expired,
    }
}
