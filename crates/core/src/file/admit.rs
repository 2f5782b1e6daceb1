//! What must hold before a file is read or written: its lease, and that it is not read-only.

use super::records::Inode;
use zaffre_base::{Guid, Timestamp};
use zaffre_domain::fs::{Attributes, FileRefusal};
use zaffre_domain::lease::{LeaseAccess, admits, after_write};
use zaffre_domain::{LeaseOn, Refusal};

/// What a write does to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// Changes its content or metadata, or replaces it.
    Content,
    /// Deletes it.
    Delete,
    /// Changes its properties, with which the attribute itself can be cleared.
    Properties,
    /// Replaces it, whatever the attribute says.
    Forced,
}

/// Whether a write may go on.
pub(super) fn write(
    inode: &Inode,
    lease: Option<Guid>,
    how: Use,
    now: Timestamp,
) -> Result<(), Refusal> {
    if let Some(file) = &inode.file {
        admits(&file.lease, lease, LeaseAccess::Write, LeaseOn::File, now)?;
    }
    match how {
        Use::Content | Use::Delete => not_read_only(inode),
        Use::Properties | Use::Forced => Ok(()),
    }
}

/// Whether a read may go on.
pub(super) fn read(inode: &Inode, lease: Option<Guid>, now: Timestamp) -> Result<(), Refusal> {
    match &inode.file {
        Some(file) => admits(&file.lease, lease, LeaseAccess::Read, LeaseOn::File, now),
        None => Ok(()),
    }
}

/// Refuses what is read-only.
pub(super) fn not_read_only(inode: &Inode) -> Result<(), Refusal> {
    if inode.attributes().contains(Attributes::READ_ONLY) {
        return Err(FileRefusal::ReadOnlyAttribute.into());
    }
    Ok(())
}

/// What a write leaves of the lease.
pub(super) fn written(inode: &mut Inode, now: Timestamp) {
    if let Some(file) = &mut inode.file {
        file.lease = after_write(file.lease, now);
    }
}
