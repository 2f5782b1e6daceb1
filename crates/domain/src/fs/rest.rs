//! What each REST operation on an existing file or directory is to those who have it open.
//!
//! Must never know a request: `spec/file_rest_access.csv` has every row, and what follows from it
//! is in `spec/file_rest_sharing.csv` and `spec/file_rest_breaks.csv`.

use super::access::Classes;
use super::locks::{LockTable, Range, Touch};
use super::oplock::Cause;
use super::share_mode::OpenMode;

const READ: Classes = Classes { read: true, write: false, delete: false };
const WRITE: Classes = Classes { read: false, write: true, delete: false };
const DELETE: Classes = Classes { read: false, write: false, delete: true };
const WRITE_DELETE: Classes = Classes { read: false, write: true, delete: true };

/// What a REST operation does to a file or directory that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestOp {
    /// Names are listed, or handles; nothing is opened.
    List,
    /// Get File; also the source of a copy.
    GetFile(Range),
    /// List Ranges.
    ListRanges(Range),
    /// Get File Properties, Get File Metadata; also those of a directory.
    GetProperties,
    /// Put Range, Put Range From URL, and clearing one.
    PutRange,
    /// Set File Properties, Set File Metadata; also those of a directory. With the size after it
    /// when it changes.
    SetProperties {
        /// The new size.
        size: Option<u64>,
    },
    /// Create File over an existing one, or a copy over one.
    Overwrite,
    /// Delete File, or the file that a rename replaces.
    Delete,
    /// Lease File, acquire.
    AcquireLease,
    /// Rename File, of the file that is renamed.
    Rename,
    /// Delete Directory.
    DeleteDirectory,
    /// Rename Directory.
    RenameDirectory,
}

/// Which byte-range locks are in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockRule {
    /// None.
    Ignored,
    /// Those that keep others from reading the range.
    Reading(Range),
    /// Any that reaches to or beyond this offset.
    From(u64),
}

impl LockRule {
    /// Whether one of `locks` is in the way.
    pub fn refuses<O: Copy + PartialEq>(self, locks: &LockTable<O>) -> bool {
        match self {
            Self::Ignored => false,
            Self::Reading(range) => locks.forbids(None, range, Touch::Read),
            Self::From(offset) => locks.reach_beyond(offset),
        }
    }
}

/// Which handles are in the way, whatever they share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandleRule {
    /// None.
    Ignored,
    /// Any on the file or directory itself.
    None,
    /// Any on it or on anything below.
    NoneBelow,
}

impl RestOp {
    /// The open that it is for as long as it lasts.
    pub const fn mode(self) -> OpenMode {
        let (access, share) = match self {
            Self::List | Self::GetProperties => (Classes::NONE, Classes::ALL),
            Self::GetFile(_) | Self::ListRanges(_) => (READ, Classes::ALL),
            Self::PutRange | Self::SetProperties { .. } => (WRITE, Classes::ALL),
            Self::Overwrite => (WRITE_DELETE, Classes::ALL),
            Self::Delete | Self::Rename | Self::DeleteDirectory | Self::RenameDirectory => {
                (DELETE, Classes::ALL)
            }
            Self::AcquireLease => (Classes::ALL, READ),
        };
        OpenMode { access, share }
    }

    /// The locks that refuse it.
    pub const fn locks(self) -> LockRule {
        match self {
            Self::GetFile(range) | Self::ListRanges(range) => LockRule::Reading(range),
            Self::PutRange | Self::Overwrite => LockRule::From(0),
            Self::SetProperties { size: Some(size) } => LockRule::From(size),
            Self::SetProperties { size: None }
            | Self::List
            | Self::GetProperties
            | Self::Delete
            | Self::AcquireLease
            | Self::Rename
            | Self::DeleteDirectory
            | Self::RenameDirectory => LockRule::Ignored,
        }
    }

    /// The handles that refuse it.
    pub const fn handles(self) -> HandleRule {
        match self {
            Self::Delete | Self::Rename | Self::DeleteDirectory => HandleRule::None,
            Self::RenameDirectory => HandleRule::NoneBelow,
            Self::List
            | Self::GetFile(_)
            | Self::ListRanges(_)
            | Self::GetProperties
            | Self::PutRange
            | Self::SetProperties { .. }
            | Self::Overwrite
            | Self::AcquireLease => HandleRule::Ignored,
        }
    }

    /// What it is to those who cache.
    pub const fn cause(self) -> Option<Cause> {
        match self {
            Self::List => None,
            Self::GetFile(_) | Self::ListRanges(_) | Self::GetProperties => Some(Cause::RestRead),
            Self::PutRange | Self::SetProperties { .. } => Some(Cause::RestWrite),
            Self::Overwrite => Some(Cause::RestOverwrite),
            Self::Delete | Self::Rename | Self::DeleteDirectory | Self::RenameDirectory => {
                Some(Cause::RestDelete)
            }
            Self::AcquireLease => Some(Cause::RestLease),
        }
    }

    /// Whether it may go on while the file waits for its last handle to be closed.
    pub const fn ignores_deletion(self) -> bool {
        matches!(self, Self::List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::fs::locks::LockKind::{Exclusive, Shared};

    #[test]
    fn locks_in_the_way() {
        let range = |offset, len| Range::new(offset, len).expect("a range");
        for (kind, rule, want) in [
            (Exclusive, LockRule::Ignored, false),
            (Exclusive, LockRule::Reading(range(19, 1)), true),
            (Exclusive, LockRule::Reading(range(20, 1)), false),
            (Shared, LockRule::Reading(range(10, 10)), false),
            (Shared, LockRule::From(0), true),
            (Shared, LockRule::From(10), true),
            (Shared, LockRule::From(19), true),
            (Exclusive, LockRule::From(20), false),
        ] {
            let mut locks = LockTable::default();
            assert!(!rule.refuses(&locks), "{rule:?} without locks");
            locks.lock(1, range(10, 10), kind).expect("the first");
            assert_eq!(rule.refuses(&locks), want, "{kind:?} {rule:?}");
        }
    }

    #[test]
    fn what_waits_for_its_last_handle_is_only_listed() {
        for (op, want) in [
            (RestOp::List, true),
            (RestOp::GetProperties, false),
            (RestOp::PutRange, false),
            (RestOp::Delete, false),
        ] {
            assert_eq!(op.ignores_deletion(), want, "{op:?}");
        }
    }
}
