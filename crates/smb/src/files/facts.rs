//! What a file is like, as several answers tell it.

use crate::wire::create::Facts;
use zaffre_core::file::mount::NodeFacts;
use zaffre_domain::fs::properties::to_filetime;

/// The facts as the wire has them.
pub(crate) fn of(facts: &NodeFacts) -> Facts {
    Facts {
        created: to_filetime(facts.times.created),
        accessed: to_filetime(facts.times.last_access),
        written: to_filetime(facts.times.last_write),
        changed: to_filetime(facts.times.change),
        allocation: facts.allocated,
        end_of_file: facts.size,
        attributes: attributes(facts),
    }
}

/// The attributes with the one that only SMB knows.
fn attributes(facts: &NodeFacts) -> u32 {
    const SPARSE: u32 = 0x200;
    if facts.sparse { facts.attributes.bits() | SPARSE } else { facts.attributes.smb_bits() }
}
