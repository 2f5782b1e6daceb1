//! Access masks of opens: their bits, the generic ones resolved, and the classes sharing looks at.
//!
//! Must never decide what a caller is permitted: it only says what a mask means.

/// The rights that an open asks for or holds, as the bits of the file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccessMask(pub u32);

/// Why a mask that came from a client means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaskError {
    /// No bit at all, or bits that no right has.
    Unknown,
    /// Asks for the audit entries, which takes a privilege that nobody has here.
    SystemSecurity,
}

impl AccessMask {
    /// Read bytes, or list a directory.
    pub const READ_DATA: Self = Self(0x1);
    /// Write bytes, or add a file to a directory.
    pub const WRITE_DATA: Self = Self(0x2);
    /// Write at the end, or add a directory to a directory.
    pub const APPEND_DATA: Self = Self(0x4);
    /// Read extended attributes.
    pub const READ_EA: Self = Self(0x8);
    /// Write extended attributes.
    pub const WRITE_EA: Self = Self(0x10);
    /// Run, or walk through a directory.
    pub const EXECUTE: Self = Self(0x20);
    /// Delete what is in a directory.
    pub const DELETE_CHILD: Self = Self(0x40);
    /// Read attributes and times.
    pub const READ_ATTRIBUTES: Self = Self(0x80);
    /// Write attributes and times.
    pub const WRITE_ATTRIBUTES: Self = Self(0x100);
    /// Delete or rename.
    pub const DELETE: Self = Self(0x0001_0000);
    /// Read the security descriptor.
    pub const READ_CONTROL: Self = Self(0x0002_0000);
    /// Write the access list.
    pub const WRITE_DAC: Self = Self(0x0004_0000);
    /// Write the owner.
    pub const WRITE_OWNER: Self = Self(0x0008_0000);
    /// Wait on the handle; means nothing over a network.
    pub const SYNCHRONIZE: Self = Self(0x0010_0000);
    /// Every right there is.
    pub const ALL: Self = Self(0x001F_01FF);

    const SYSTEM_SECURITY: u32 = 0x0100_0000;
    const MAXIMUM_ALLOWED: u32 = 0x0200_0000;
    const GENERIC: [(u32, u32); 4] = [
        (0x1000_0000, 0x001F_01FF),
        (0x2000_0000, 0x0012_00A0),
        (0x4000_0000, 0x0012_0116),
        (0x8000_0000, 0x0012_0089),
    ];
    /// What a lease ignores in an open: it neither reads nor changes what the lease covers.
    const QUIET: u32 = 0x0010_0180;

    /// The rights that a client's mask stands for; "as much as I may" stands for `permitted`.
    pub fn from_wire(bits: u32, permitted: Self) -> Result<Self, MaskError> {
        if bits & Self::SYSTEM_SECURITY != 0 {
            return Err(MaskError::SystemSecurity);
        }
        let mut rights = bits;
        for (generic, meaning) in Self::GENERIC {
            if rights & generic != 0 {
                rights = rights & !generic | meaning;
            }
        }
        if rights & Self::MAXIMUM_ALLOWED != 0 {
            rights = rights & !Self::MAXIMUM_ALLOWED | permitted.0;
        }
        match Self(rights) {
            mask if rights != 0 && Self::ALL.contains(mask) => Ok(mask),
            _ => Err(MaskError::Unknown),
        }
    }

    /// Both masks together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits that both masks have.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// This mask without the bits of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether every bit of `other` is in this mask.
    pub const fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether any bit of `other` is in this mask.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What share modes look at.
    pub const fn classes(self) -> Classes {
        Classes {
            read: self.intersects(Self::READ_DATA.union(Self::EXECUTE)),
            write: self.intersects(Self::WRITE_DATA.union(Self::APPEND_DATA)),
            delete: self.intersects(Self::DELETE),
        }
    }

    /// Whether an open with this mask leaves the oplocks of others alone.
    pub const fn is_quiet(self) -> bool {
        self.0 & !Self::QUIET == 0
    }

    /// Whether an open with this mask leaves the leases of others alone: reading the security
    /// descriptor disturbs an oplock but no lease.
    pub const fn is_quiet_for_leases(self) -> bool {
        self.without(Self::READ_CONTROL).is_quiet()
    }
}

/// The classes of access that opens share or deny each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "three independent classes")]
pub struct Classes {
    /// Reading or running.
    pub read: bool,
    /// Writing or appending.
    pub write: bool,
    /// Deleting or renaming.
    pub delete: bool,
}

impl Classes {
    /// No class: attributes only, or nothing shared.
    pub const NONE: Self = Self { read: false, write: false, delete: false };
    /// All classes.
    pub const ALL: Self = Self { read: true, write: true, delete: true };

    /// The classes of bits 1 read, 2 write, 4 delete, as share access is sent.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits > 7 {
            return None;
        }
        Some(Self { read: bits & 1 != 0, write: bits & 2 != 0, delete: bits & 4 != 0 })
    }

    /// Whether there is no class in it.
    pub const fn is_none(self) -> bool {
        !(self.read || self.write || self.delete)
    }

    /// Whether every class of `other` is in this one.
    pub const fn contains(self, other: Self) -> bool {
        (self.read || !other.read) && (self.write || !other.write) && (self.delete || !other.delete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_of_clients_become_rights() {
        let rows: &[(u32, Result<u32, MaskError>)] = &[
            (0x8000_0000, Ok(0x0012_0089)),
            (0x4000_0000, Ok(0x0012_0116)),
            (0x2000_0000, Ok(0x0012_00A0)),
            (0x1000_0000, Ok(0x001F_01FF)),
            (0xC000_0000, Ok(0x0012_019F)),
            (0x8001_0000, Ok(0x0013_0089)),
            (0x8000_0001, Ok(0x0012_0089)),
            (0x0200_0001, Ok(0x0012_0089)),
            (0x0200_0000, Ok(0x0012_0089)),
            (0x0200_0002, Ok(0x0012_008B)),
            (0x0000_0080, Ok(0x80)),
            (0x001F_01FF, Ok(0x001F_01FF)),
            (0, Err(MaskError::Unknown)),
            (0x0000_0200, Err(MaskError::Unknown)),
            (0x0020_0001, Err(MaskError::Unknown)),
            (0x0800_0001, Err(MaskError::Unknown)),
            (0x0100_0001, Err(MaskError::SystemSecurity)),
        ];
        for (bits, want) in rows {
            let got = AccessMask::from_wire(*bits, AccessMask(0x0012_0089)).map(|mask| mask.0);
            assert_eq!(got, *want, "{bits:#x}");
        }
    }

    #[test]
    fn classes_are_those_of_the_data_and_delete_bits() {
        let rows: &[(u32, [bool; 3])] = &[
            (0x1, [true, false, false]),
            (0x20, [true, false, false]),
            (0x2, [false, true, false]),
            (0x4, [false, true, false]),
            (0x1_0000, [false, false, true]),
            (0x001E_01D8, [false, false, false]),
            (0x001F_01FF, [true, true, true]),
        ];
        for (bits, [read, write, delete]) in rows {
            let want = Classes { read: *read, write: *write, delete: *delete };
            assert_eq!(AccessMask(*bits).classes(), want, "{bits:#x}");
        }
        assert!(AccessMask(0x0010_0180).is_quiet());
        assert!(!AccessMask(0x0002_0080).is_quiet());
        assert!(AccessMask(0x0002_0080).is_quiet_for_leases());
        assert!(!AccessMask(0x1).is_quiet_for_leases());
    }

    #[test]
    fn masks_as_sets() {
        for (a, b, union, intersection, without, contains) in [
            (0b1100, 0b1010, 0b1110, 0b1000, 0b0100, false),
            (0b1110, 0b1010, 0b1110, 0b1010, 0b0100, true),
            (0, 0b1010, 0b1010, 0, 0, false),
            (0b1010, 0, 0b1010, 0, 0b1010, true),
        ] {
            let (a, b) = (AccessMask(a), AccessMask(b));
            assert_eq!(a.union(b), AccessMask(union));
            assert_eq!(a.intersection(b), AccessMask(intersection));
            assert_eq!(a.without(b), AccessMask(without));
            assert_eq!(a.intersects(b), intersection != 0);
            assert_eq!(a.contains(b), contains);
        }
    }
}
