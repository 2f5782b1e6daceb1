//! The rights of an open: what its disposition needs, what is permitted, and what it gets.
//!
//! Must never be decided anywhere else: what a handle may do is what was granted here.

use super::ask::{Ask, Disposition};
use crate::files::disk::Disk;
use crate::options::Descriptors;
use crate::status::{Failure, Status};
use zaffre_core::Error;
use zaffre_core::file::mount::NodeFacts;
use zaffre_domain::Refusal;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::security::{Token, granted};
use zaffre_domain::fs::{Attributes, FileId, FilePath, FileRefusal};

/// The most that may be done to what is there: what the file itself admits and, where descriptors
/// are enforced, what they permit.
pub(crate) async fn permitted(
    disk: &Disk,
    id: FileId,
    facts: &NodeFacts,
) -> Result<AccessMask, Failure> {
    let admitted = admitted(disk.is_snapshot(), facts);
    match disk.options.descriptors {
        Descriptors::Store => Ok(admitted),
        Descriptors::Enforce => {
            let permitted = disk.mount.permitted(id, &Token::of_key_holder()).await?;
            Ok(permitted.intersection(admitted))
        }
    }
}

/// What a file admits whoever asks.
fn admitted(snapshot: bool, facts: &NodeFacts) -> AccessMask {
    const CHANGES: AccessMask = AccessMask(0x000D_0156);
    let writes = AccessMask::WRITE_DATA.union(AccessMask::APPEND_DATA);
    if snapshot {
        AccessMask::ALL.without(CHANGES)
    } else if facts.attributes.contains(Attributes::READ_ONLY) && !facts.directory {
        AccessMask::ALL.without(writes)
    } else {
        AccessMask::ALL
    }
}

/// What must be permitted beside the rights that a request names.
fn needed(disposition: Disposition) -> AccessMask {
    if disposition.overwrites() { AccessMask::WRITE_DATA } else { AccessMask(0) }
}

/// The rights that an open of what is there gets.
pub(super) fn grant(
    disk: &Disk,
    ask: &Ask,
    facts: &NodeFacts,
    permitted: AccessMask,
) -> Result<AccessMask, Status> {
    let access = ask.rights(permitted)?;
    let read_only = facts.attributes.contains(Attributes::READ_ONLY);
    if ask.deletes_on_close() && read_only {
        return Err(Status::CANNOT_DELETE);
    }
    if !permitted.contains(access.union(needed(ask.disposition))) {
        return Err(Status::ACCESS_DENIED);
    }
    if ask.disposition.overwrites() {
        let kept = [Attributes::HIDDEN, Attributes::SYSTEM];
        let lost =
            |one: &Attributes| facts.attributes.contains(*one) && !ask.attributes.contains(*one);
        if read_only || disk.is_snapshot() || kept.iter().any(lost) {
            return Err(Status::ACCESS_DENIED);
        }
    }
    Ok(access)
}

/// Whether the descriptor of something lets it be read in every way.
pub(crate) async fn may_read(disk: &Disk, id: FileId) -> Result<bool, Failure> {
    const WHOLLY: AccessMask = AccessMask::READ_DATA
        .union(AccessMask::READ_EA)
        .union(AccessMask::READ_ATTRIBUTES)
        .union(AccessMask::READ_CONTROL);
    let descriptor = disk.mount.descriptor(id).await?;
    Ok(granted(&descriptor, &Token::of_key_holder()).contains(WHOLLY))
}

/// Refuses to put something where its directory does not permit it.
pub(crate) async fn may_make(disk: &Disk, path: &FilePath, directory: bool) -> Result<(), Failure> {
    if disk.options.descriptors == Descriptors::Store {
        return Ok(());
    }
    let needed = if directory { AccessMask::APPEND_DATA } else { AccessMask::WRITE_DATA };
    match disk.mount.permitted_around(path, &Token::of_key_holder()).await {
        Ok(permitted) if permitted.contains(needed) => Ok(()),
        // Whoever makes it finds out why it cannot be made.
        Err(Error::Refused(Refusal::File(FileRefusal::ParentNotFound))) => Ok(()),
        Ok(_) => Err(Status::ACCESS_DENIED.into()),
        Err(error) => Err(error.into()),
    }
}
