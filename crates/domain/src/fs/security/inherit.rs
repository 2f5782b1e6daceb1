//! What new files and directories take over from the descriptor of the directory they are made in.

use super::{Ace, AceKind, Acl, Descriptor, Sid, control, flags};
use alloc::vec::Vec;

const ALL_ACCESS: u32 = 0x001F_01FF;
const MODIFY: u32 = 0x0013_01BF;
const READ_AND_EXECUTE: u32 = 0x0012_00A9;
const GENERIC_READ_EXECUTE: u32 = 0xA000_0000;
const GENERIC: u32 = 0xF000_0000;

/// What generic rights mean for files.
const MEANINGS: [(u32, u32); 4] = [
    (0x1000_0000, ALL_ACCESS),
    (0x2000_0000, 0x0012_00A0),
    (0x4000_0000, 0x0012_0116),
    (0x8000_0000, 0x0012_0089),
];

/// The descriptor of the root directory of a new share.
pub fn default_root() -> Descriptor {
    let both = flags::OBJECT_INHERIT | flags::CONTAINER_INHERIT;
    let below = both | flags::INHERIT_ONLY;
    let users: (u64, &[u32]) = (5, &[32, 545]);
    let authenticated: (u64, &[u32]) = (5, &[11]);
    let entry = |flags, mask, sid| Ace { kind: AceKind::Allow, flags, mask, sid: Sid::known(sid) };
    let entries = Vec::from([
        entry(both, ALL_ACCESS, Sid::ADMINISTRATORS),
        entry(0, READ_AND_EXECUTE, users),
        entry(below, GENERIC_READ_EXECUTE, users),
        entry(both, MODIFY, authenticated),
        entry(both, ALL_ACCESS, Sid::SYSTEM),
        entry(0, ALL_ACCESS, Sid::SYSTEM),
        entry(below, ALL_ACCESS, Sid::CREATOR_OWNER),
    ]);
    Descriptor {
        owner: Some(Sid::known(Sid::ADMINISTRATORS)),
        group: Some(Sid::known(Sid::SYSTEM)),
        dacl: Some(Acl::Entries(entries)),
        sacl: None,
        control: 0,
    }
}

/// The descriptor of something new whose maker gave none. Who has the account's key is an
/// administrator. Entries are marked as inherited if the parent's were, or nobody has set them.
pub fn inherited(parent: &Descriptor, directory: bool) -> Descriptor {
    let owner = Sid::known(Sid::ADMINISTRATORS);
    let group = Sid::known(Sid::SYSTEM);
    let mut entries = inherited_entries(parent, directory, &owner, &group);
    let marks = parent.control & control::DACL_AUTO_INHERITED != 0 || *parent == default_root();
    let mut bits = if marks { control::DACL_AUTO_INHERITED } else { 0 };
    if !marks {
        for ace in &mut entries {
            ace.flags &= !flags::INHERITED;
        }
    }
    if entries.is_empty() {
        // Nothing to take over: the owner and the system keep access.
        let all =
            |sid: &Sid| Ace { kind: AceKind::Allow, flags: 0, mask: ALL_ACCESS, sid: sid.clone() };
        entries = Vec::from([all(&owner), all(&group)]);
        bits = 0;
    }
    Descriptor {
        owner: Some(owner),
        group: Some(group),
        dacl: Some(Acl::Entries(entries)),
        sacl: None,
        control: bits,
    }
}

/// A given descriptor with what the parent hands down behind its own entries, unless it is protected
/// from that.
pub fn merged(given: &Descriptor, parent: &Descriptor, directory: bool) -> Descriptor {
    let Some(Acl::Entries(own)) = &given.dacl else { return given.clone() };
    if given.control & control::DACL_PROTECTED != 0 {
        return given.clone();
    }
    let owner = given.owner.clone().unwrap_or_else(|| Sid::known(Sid::ADMINISTRATORS));
    let group = given.group.clone().unwrap_or_else(|| Sid::known(Sid::SYSTEM));
    let mut entries: Vec<Ace> =
        own.iter().filter(|ace| ace.flags & flags::INHERITED == 0).cloned().collect();
    entries.extend(inherited_entries(parent, directory, &owner, &group));
    Descriptor {
        dacl: Some(Acl::Entries(entries)),
        control: given.control | control::DACL_AUTO_INHERITED,
        ..given.clone()
    }
}

fn inherited_entries(parent: &Descriptor, directory: bool, owner: &Sid, group: &Sid) -> Vec<Ace> {
    let Some(Acl::Entries(entries)) = &parent.dacl else { return Vec::new() };
    let mut taken = Vec::new();
    for ace in entries {
        hand_down(ace, directory, owner, group, &mut taken);
    }
    taken
}

fn hand_down(ace: &Ace, directory: bool, owner: &Sid, group: &Sid, taken: &mut Vec<Ace>) {
    let (for_files, for_directories) =
        (ace.flags & flags::OBJECT_INHERIT != 0, ace.flags & flags::CONTAINER_INHERIT != 0);
    let audits = ace.flags & (flags::AUDIT_SUCCESS | flags::AUDIT_FAILURE);
    let goes_on = ace.flags & flags::NO_PROPAGATE == 0;
    let counts = Ace {
        flags: flags::INHERITED | audits,
        mask: meaning(ace.mask),
        sid: if ace.sid.is(Sid::CREATOR_OWNER) {
            owner.clone()
        } else if ace.sid.is(Sid::CREATOR_GROUP) {
            group.clone()
        } else {
            ace.sid.clone()
        },
        ..ace.clone()
    };
    if !directory {
        if for_files {
            taken.push(counts);
        }
        return;
    }
    let kept = ace.flags & (flags::OBJECT_INHERIT | flags::CONTAINER_INHERIT);
    match (for_directories, goes_on) {
        (true, false) => taken.push(counts),
        // An entry that means something else here than below becomes two.
        (true, true) if counts.sid != ace.sid || counts.mask != ace.mask => {
            taken.push(counts);
            let flags = kept | flags::INHERIT_ONLY | flags::INHERITED | audits;
            taken.push(Ace { flags, ..ace.clone() });
        }
        (true, true) => taken.push(Ace { flags: counts.flags | kept, ..counts }),
        (false, true) if for_files => {
            let flags = flags::OBJECT_INHERIT | flags::INHERIT_ONLY | flags::INHERITED | audits;
            taken.push(Ace { flags, ..ace.clone() });
        }
        (false, _) => {}
    }
}

/// The mask with generic rights spelled out.
pub(super) fn meaning(mask: u32) -> u32 {
    let spelled = MEANINGS.iter().filter(|(bit, _)| mask & bit != 0).map(|(_, meaning)| meaning);
    spelled.fold(mask & !GENERIC, |all, meaning| all | meaning)
}
