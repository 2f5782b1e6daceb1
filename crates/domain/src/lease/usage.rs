//! What a lease lets other operations do, and what their writes do to the lease.
//!
//! Must never be the only copy of these tables: `spec/lease_use_*.csv` are the vendor's.

use super::{Lease, LeaseState};
use crate::{LeaseOn, Refusal};
use zaffre_base::{ApiVersion, Guid, Timestamp};

/// How an operation treats the lease of what it works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseAccess {
    /// An id is checked when given: reads, Snapshot Blob, and every container operation but Delete.
    Read,
    /// The id of an active lease must be given: blob writes, Delete Blob, Delete Container.
    Write,
}

/// Whether an operation that presents this lease id, or none, may go on.
pub fn admits(
    lease: &Lease,
    presented: Option<Guid>,
    access: LeaseAccess,
    on: LeaseOn,
    now: Timestamp,
) -> Result<(), Refusal> {
    match (lease.state(now), presented) {
        (LeaseState::Leased(_) | LeaseState::Breaking(_), None) => match access {
            LeaseAccess::Read => Ok(()),
            LeaseAccess::Write => Err(Refusal::LeaseIdMissing(on)),
        },
        (_, None) => Ok(()),
        (LeaseState::Available, Some(_)) => Err(Refusal::LeaseNotPresent(on)),
        (LeaseState::Leased(holder) | LeaseState::Breaking(holder), Some(id)) if holder == id => {
            Ok(())
        }
        (LeaseState::Leased(_) | LeaseState::Breaking(_), Some(_)) => {
            Err(Refusal::LeaseIdMismatch(on))
        }
        // Also for an id that never held it. The documentation gives these cells another status
        // than those of a mismatch, and the same one as a lost lease.
        (LeaseState::Broken(_) | LeaseState::Expired(_), Some(_)) => Err(Refusal::LeaseLost(on)),
    }
}

/// Whether an operation that presents this lease id may create a blob that is not there.
pub fn admits_missing(presented: Option<Guid>, version: ApiVersion) -> Result<(), Refusal> {
    const CHECKED_SINCE: ApiVersion = ApiVersion::new(2013, 8, 15);
    if presented.is_some() && version >= CHECKED_SINCE {
        return Err(Refusal::LeaseNotPresent(LeaseOn::Blob));
    }
    Ok(())
}

/// Whether the presented id is that of the active lease.
pub fn holds(lease: &Lease, presented: Option<Guid>, now: Timestamp) -> bool {
    match lease.state(now) {
        LeaseState::Leased(holder) | LeaseState::Breaking(holder) => presented == Some(holder),
        LeaseState::Available | LeaseState::Broken(_) | LeaseState::Expired(_) => false,
    }
}

/// The lease after a successful write to its blob: one that had run out or was broken is forgotten,
/// so that its last holder cannot renew it over somebody else's change. Not for containers, whose
/// lease outlives every change.
pub fn after_write(lease: Lease, now: Timestamp) -> Lease {
    match lease.state(now) {
        LeaseState::Broken(_) | LeaseState::Expired(_) => Lease::default(),
        LeaseState::Available | LeaseState::Leased(_) | LeaseState::Breaking(_) => lease,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_for_a_blob_that_is_not_there() {
        let id = Some(Guid(1));
        let refused = Err(Refusal::LeaseNotPresent(LeaseOn::Blob));
        for (presented, version, want) in [
            (None, ApiVersion::OLDEST, Ok(())),
            (None, ApiVersion::LATEST, Ok(())),
            (id, ApiVersion::new(2012, 2, 12), Ok(())),
            (id, ApiVersion::new(2013, 8, 15), refused.clone()),
            (id, ApiVersion::LATEST, refused),
        ] {
            assert_eq!(admits_missing(presented, version), want, "{presented:?} {version}");
        }
    }
}
