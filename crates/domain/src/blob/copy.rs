//! Copies between blobs: who may have a blob copied to, when one ends, and what is said about it.
//!
//! Must never know where bytes are, nor how far a copy has come.

use crate::Refusal;
use crate::lease::{Lease, LeaseState};
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use zaffre_base::limits::COPY_DAYS;
use zaffre_base::{Guid, Timestamp};

/// What only copies refuse, or what is refused because of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyRefusal {
    /// The blob is being copied to, and nothing else may change it meanwhile.
    PendingCopyOperation,
    /// There is no copy to abort.
    NoPendingCopyOperation,
    /// Another copy is under way than the one to abort.
    CopyIdMismatch,
    /// Only the holder of a lease without end may have a blob copied to.
    InfiniteLeaseDurationRequired,
    /// The source is of a kind that cannot be copied in this way.
    InvalidSourceBlobType,
    /// The source is larger than what is copied before the answer.
    CopySourceTooLarge,
    /// An incremental copy takes snapshots only.
    IncrementalCopySourceMustBeSnapshot,
    /// The blob was made from another source.
    IncrementalCopyBlobMismatch,
    /// A later snapshot was copied already.
    IncrementalCopyOfEarlierSnapshotNotAllowed,
    /// What incremental copies made is read by its snapshots alone.
    OperationNotAllowedOnIncrementalCopyBlob,
}

impl From<CopyRefusal> for Refusal {
    fn from(refusal: CopyRefusal) -> Self {
        Self::Copy(refusal)
    }
}

/// How a copy stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyStatus {
    /// Under way.
    Pending,
    /// Done.
    Success,
    /// Stopped by Abort Copy Blob.
    Aborted,
    /// Ended by itself; its description says why.
    Failed,
}

/// Why a copy failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyFailure {
    /// The source is not what it was when the copy was asked for.
    SourceChanged,
    /// The source is not there any more.
    SourceGone,
    /// The source's server refused to go on.
    SourceRefused,
    /// The source cannot be read.
    SourceUnreadable,
    /// It took longer than two weeks.
    TooLong,
}

impl core::fmt::Display for CopyFailure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.description())
    }
}

impl CopyFailure {
    /// `x-ms-copy-status-description`: status, code and text of what went wrong.
    pub fn description(self) -> String {
        const READING: &str = "Copy failed when reading the source.";
        let (status, code, text) = match self {
            Self::SourceChanged => (412, "ConditionNotMet", READING),
            Self::SourceGone => (404, "BlobNotFound", READING),
            Self::SourceRefused => (403, "CannotVerifyCopySource", READING),
            Self::SourceUnreadable => (500, "InternalError", READING),
            Self::TooLong => {
                (500, "OperationCancelled", "The copy exceeded the maximum allowed time.")
            }
        };
        format!("{status} {code} \"{text}\"")
    }
}

/// Whether a copy that goes on after its answer may be made over a blob with this lease: nobody
/// renews a lease meanwhile, so that an active one must be without end. Whether its id was given is
/// asked before, as of every write.
pub fn admits_later_copy(lease: &Lease, now: Timestamp) -> Result<(), Refusal> {
    match lease.state(now) {
        LeaseState::Leased(_) if lease.seconds.is_some() => {
            Err(Refusal::Copy(CopyRefusal::InfiniteLeaseDurationRequired))
        }
        LeaseState::Breaking(_) => Err(Refusal::Copy(CopyRefusal::InfiniteLeaseDurationRequired)),
        LeaseState::Leased(_)
        | LeaseState::Available
        | LeaseState::Broken(_)
        | LeaseState::Expired(_) => Ok(()),
    }
}

/// Whether the copy `asked` for can be aborted, given the one under way, if there is one.
pub fn admits_abort(pending: Option<Guid>, asked: Guid) -> Result<(), Refusal> {
    match pending {
        None => Err(Refusal::Copy(CopyRefusal::NoPendingCopyOperation)),
        Some(id) if id != asked => Err(Refusal::Copy(CopyRefusal::CopyIdMismatch)),
        Some(_) => Ok(()),
    }
}

/// Whether a copy has taken too long.
pub fn has_taken_too_long(started: Timestamp, now: Timestamp) -> bool {
    now.since(started) >= Duration::from_hours(COPY_DAYS * 24)
}

/// Whether a snapshot may be copied into a blob that incremental copies made, the last of them
/// from `last`.
pub fn admits_snapshot(
    same_source: bool,
    last: Timestamp,
    snapshot: Timestamp,
) -> Result<(), Refusal> {
    if !same_source {
        return Err(Refusal::Copy(CopyRefusal::IncrementalCopyBlobMismatch));
    }
    if snapshot <= last {
        return Err(Refusal::Copy(CopyRefusal::IncrementalCopyOfEarlierSnapshotNotAllowed));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases() {
        let now = Timestamp(100);
        let lease = |seconds, expires, breaks: Option<u64>| Lease {
            id: Some(Guid(1)),
            seconds,
            expires,
            breaks: breaks.map(Timestamp),
        };
        let finite = Err(Refusal::Copy(CopyRefusal::InfiniteLeaseDurationRequired));
        for (what, lease, want) in [
            ("none", Lease::default(), Ok(())),
            ("infinite", lease(None, None, None), Ok(())),
            ("finite", lease(Some(15), Some(Timestamp(200)), None), finite.clone()),
            ("expired", lease(Some(15), Some(Timestamp(50)), None), Ok(())),
            ("breaking", lease(None, None, Some(200)), finite),
            ("broken", lease(None, None, Some(50)), Ok(())),
        ] {
            assert_eq!(admits_later_copy(&lease, now), want, "{what}");
        }
    }

    #[test]
    fn aborts_and_snapshots() {
        for (pending, want) in [
            (None, Err(Refusal::Copy(CopyRefusal::NoPendingCopyOperation))),
            (Some(Guid(2)), Err(Refusal::Copy(CopyRefusal::CopyIdMismatch))),
            (Some(Guid(1)), Ok(())),
        ] {
            assert_eq!(admits_abort(pending, Guid(1)), want, "{pending:?}");
        }
        let earlier = Err(Refusal::Copy(CopyRefusal::IncrementalCopyOfEarlierSnapshotNotAllowed));
        for (same, last, snapshot, want) in [
            (true, 5, 6, Ok(())),
            (true, 5, 5, earlier.clone()),
            (true, 5, 4, earlier),
            (false, 5, 6, Err(Refusal::Copy(CopyRefusal::IncrementalCopyBlobMismatch))),
        ] {
            let got = admits_snapshot(same, Timestamp(last), Timestamp(snapshot));
            assert_eq!(got, want, "{same} {last} {snapshot}");
        }
    }

    #[test]
    fn two_weeks() {
        let day = Duration::from_hours(24);
        let start = Timestamp(7);
        assert!(!has_taken_too_long(start, start.plus(13 * day)));
        assert!(has_taken_too_long(start, start.plus(14 * day)));
        let said = CopyFailure::TooLong.description();
        let want = "500 OperationCancelled \"The copy exceeded the maximum allowed time.\"";
        assert_eq!(said, want);
    }

    #[test]
    fn failures_read_as_their_descriptions() {
        for (failure, want) in [
            (CopyFailure::SourceGone, "404 BlobNotFound \"Copy failed when reading the source.\""),
            (
                CopyFailure::TooLong,
                "500 OperationCancelled \"The copy exceeded the maximum allowed time.\"",
            ),
        ] {
            assert_eq!(failure.description(), want);
            assert_eq!(alloc::string::ToString::to_string(&failure), want);
        }
    }
}
