//! What a descriptor permits to whom, where descriptors are enforced.
//!
//! Must never look at anything but descriptors and a token: attributes, snapshots and who has a file
//! open are rules of their own.

use super::{Ace, AceKind, Acl, Descriptor, Sid, flags};
use crate::fs::access::AccessMask;
use alloc::vec::Vec;

/// Who asks: every identifier that stands for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token(Vec<Sid>);

/// Everybody.
const WORLD: (u64, &[u32]) = (1, &[0]);
/// In an entry: whoever owns the file; with such an entry the owner has no rights of their own.
const OWNER_RIGHTS: (u64, &[u32]) = (3, &[4]);
/// Who came over a network.
const NETWORK: (u64, &[u32]) = (5, &[2]);
/// Who has proved who they are.
const AUTHENTICATED: (u64, &[u32]) = (5, &[11]);
/// Who has an account here.
const USERS: (u64, &[u32]) = (5, &[32, 545]);

/// What an owner may do whatever the list says.
const OF_OWNER: AccessMask = AccessMask::READ_CONTROL.union(AccessMask::WRITE_DAC);

impl Token {
    /// Whoever holds an account's key: an administrator, who owns what is made, without privileges
    /// that would pass by descriptors.
    pub fn of_key_holder() -> Self {
        let all = [Sid::ADMINISTRATORS, WORLD, NETWORK, AUTHENTICATED, USERS];
        Self(all.into_iter().map(Sid::known).collect())
    }

    fn has(&self, sid: &Sid) -> bool {
        self.0.contains(sid)
    }
}

/// All that a descriptor grants by itself. The first entry that names a right decides it.
pub fn granted(descriptor: &Descriptor, token: &Token) -> AccessMask {
    let Some(Acl::Entries(entries)) = &descriptor.dacl else { return AccessMask::ALL };
    let owns = descriptor.owner.as_ref().is_some_and(|owner| token.has(owner));
    let counts = |ace: &&Ace| ace.flags & flags::INHERIT_ONLY == 0;
    let is_limited = entries.iter().filter(counts).any(|ace| ace.sid.is(OWNER_RIGHTS));
    let mut granted = if owns && !is_limited { OF_OWNER } else { AccessMask(0) };
    let mut denied = AccessMask(0);
    for ace in entries.iter().filter(counts) {
        let theirs = token.has(&ace.sid) || (owns && ace.sid.is(OWNER_RIGHTS));
        let mask = AccessMask(super::meaning(ace.mask) & AccessMask::ALL.0);
        match ace.kind {
            AceKind::Allow if theirs => granted = granted.union(mask.without(denied)),
            AceKind::Deny if theirs => denied = denied.union(mask.without(granted)),
            AceKind::Allow | AceKind::Deny | AceKind::Audit | AceKind::MandatoryLabel => {}
        }
    }
    granted
}

/// All that may be done to something in a directory: who may delete what is in the directory may
/// delete this, and who may list the directory sees its attributes.
pub fn permitted(own: &Descriptor, above: Option<&Descriptor>, token: &Token) -> AccessMask {
    let above = above.map_or(AccessMask(0), |above| granted(above, token));
    let mut all = granted(own, token);
    for (has, gives) in [
        (AccessMask::DELETE_CHILD, AccessMask::DELETE),
        (AccessMask::READ_DATA, AccessMask::READ_ATTRIBUTES),
    ] {
        if above.contains(has) {
            all = all.union(gives);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Descriptor {
        Descriptor::parse_sddl(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    #[test]
    fn what_is_granted() {
        let token = Token::of_key_holder();
        for (text, want) in [
            ("O:BAG:SYD:NO_ACCESS_CONTROL", 0x001F_01FF),
            ("O:BAG:SY", 0x001F_01FF),
            ("O:BAG:SYD:", 0x0006_0000),
            ("O:SYG:SYD:", 0),
            ("O:SYG:SYD:(A;;FR;;;WD)", 0x0012_0089),
            ("O:SYG:SYD:(A;;GR;;;WD)", 0x0012_0089),
            ("O:SYG:SYD:(A;OICIIO;FA;;;WD)", 0),
            ("O:SYG:SYD:(A;;FA;;;CO)", 0),
            ("O:SYG:SYD:(A;;FA;;;S-1-5-21-1-2-3-500)", 0),
            // The first entry decides.
            ("O:SYG:SYD:(D;;0x1;;;WD)(A;;0x3;;;BA)", 0x2),
            ("O:SYG:SYD:(A;;0x3;;;BA)(D;;0x1;;;WD)", 0x3),
            ("O:SYG:SYD:(D;IO;0x1;;;WD)(A;;0x3;;;BA)", 0x3),
            ("O:SYG:SYD:(D;;0x1;;;S-1-5-21-1-2-3-500)(A;;0x3;;;BA)", 0x3),
            // The owner's own rights, and what replaces them.
            ("O:BAG:SYD:(A;;0x1;;;BA)", 0x0006_0001),
            ("O:BAG:SYD:(A;;0x1;;;BA)(A;;0x2;;;S-1-3-4)", 0x3),
            ("O:BAG:SYD:(D;;0x1;;;S-1-3-4)(A;;0x3;;;BA)", 0x2),
            ("O:BAG:SYD:(A;IO;0x2;;;S-1-3-4)", 0x0006_0000),
            ("O:SYG:SYD:(A;;0x2;;;S-1-3-4)", 0),
            ("O:BAG:SYD:(D;;WD;;;BA)", 0x0006_0000),
        ] {
            assert_eq!(granted(&read(text), &token).0, want, "{text}");
        }
        let root = granted(&super::super::default_root(), &token);
        assert_eq!(root, AccessMask::ALL);
    }

    #[test]
    fn what_a_directory_adds() {
        let token = Token::of_key_holder();
        let own = read("O:SYG:SYD:(A;;0x2;;;WD)");
        for (above, want) in [
            (None, 0x2),
            (Some("O:SYG:SYD:"), 0x2),
            (Some("O:SYG:SYD:(A;;0x40;;;WD)"), 0x0001_0002),
            (Some("O:SYG:SYD:(A;;0x1;;;WD)"), 0x82),
            (Some("O:SYG:SYD:(D;;0x41;;;WD)(A;;FA;;;BA)"), 0x2),
        ] {
            let above = above.map(read);
            assert_eq!(permitted(&own, above.as_ref(), &token).0, want, "{above:?}");
        }
    }
}
