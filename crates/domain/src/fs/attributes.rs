//! The attributes of files and directories: their bits, their names, and who may have which.

use super::FileRefusal;
use alloc::string::String;
use alloc::vec::Vec;

/// A set of attributes, with the bits that SMB gives them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Attributes(u32);

/// What an attribute may be set on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum On {
    Both,
    Files,
    Directories,
}

const KNOWN: [(&str, u32, On); 9] = [
    ("ReadOnly", Attributes::READ_ONLY.0, On::Both),
    ("Hidden", Attributes::HIDDEN.0, On::Both),
    ("System", Attributes::SYSTEM.0, On::Both),
    ("Directory", Attributes::DIRECTORY.0, On::Directories),
    ("Archive", Attributes::ARCHIVE.0, On::Both),
    ("Temporary", Attributes::TEMPORARY.0, On::Files),
    ("Offline", Attributes::OFFLINE.0, On::Both),
    ("NotContentIndexed", Attributes::NOT_CONTENT_INDEXED.0, On::Both),
    ("NoScrubData", Attributes::NO_SCRUB_DATA.0, On::Both),
];

impl Attributes {
    /// None at all; shown as `None` by REST and as NORMAL by SMB.
    pub const NONE: Self = Self(0);
    /// No writing, no deleting.
    pub const READ_ONLY: Self = Self(0x1);
    /// Not shown by default.
    pub const HIDDEN: Self = Self(0x2);
    /// Part of an operating system.
    pub const SYSTEM: Self = Self(0x4);
    /// A directory; every directory has it and no file.
    pub const DIRECTORY: Self = Self(0x10);
    /// To be backed up.
    pub const ARCHIVE: Self = Self(0x20);
    /// Files that are soon deleted.
    pub const TEMPORARY: Self = Self(0x100);
    /// Not at hand.
    pub const OFFLINE: Self = Self(0x1000);
    /// Not to be indexed.
    pub const NOT_CONTENT_INDEXED: Self = Self(0x2000);
    /// Not to be scrubbed.
    pub const NO_SCRUB_DATA: Self = Self(0x2_0000);
    /// What SMB shows for none at all.
    const NORMAL: u32 = 0x80;

    /// The known ones among these bits.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits & KNOWN.iter().fold(0, |all, (_, bit, _)| all | bit))
    }

    /// Its bits as they are stored.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Its bits as SMB shows them, where none at all is a bit too.
    pub fn smb_bits(self) -> u32 {
        if self.0 == 0 { Self::NORMAL } else { self.0 }
    }

    /// Whether all of `other` are among these.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Reads `ReadOnly|Hidden`; case does not count, and `None` stands alone.
    pub fn parse(text: &str) -> Result<Self, FileRefusal> {
        if text.trim().eq_ignore_ascii_case("None") {
            return Ok(Self::NONE);
        }
        let mut all = Self::NONE;
        for name in text.split('|') {
            let known = KNOWN.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name.trim()));
            let (_, bit, _) = known.ok_or(FileRefusal::InvalidAttributes)?;
            all = all.with(Self(*bit));
        }
        Ok(all)
    }

    /// `ReadOnly | Hidden`, or `None`.
    pub fn text(self) -> String {
        let names = KNOWN.iter().filter(|(_, bit, _)| self.0 & bit != 0).map(|(name, ..)| *name);
        let names: Vec<&str> = names.collect();
        if names.is_empty() { String::from("None") } else { names.join("|") }
    }

    /// The attributes that a resource of its kind has when these are set.
    pub fn of_kind(self, directory: bool) -> Result<Self, FileRefusal> {
        let wrong =
            |on: On| matches!((on, directory), (On::Files, true) | (On::Directories, false));
        if KNOWN.iter().any(|(_, bit, on)| self.0 & bit != 0 && wrong(*on)) {
            return Err(FileRefusal::InvalidAttributes);
        }
        Ok(if directory { self.with(Self::DIRECTORY) } else { self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (text, bits, shown) in [
            ("None", 0, "None"),
            ("none", 0, "None"),
            ("readonly", 0x1, "ReadOnly"),
            ("Hidden|ReadOnly", 0x3, "ReadOnly|Hidden"),
            ("Archive | System", 0x24, "System|Archive"),
            (
                "NoScrubData|NotContentIndexed|Offline",
                0x2_3000,
                "Offline|NotContentIndexed|NoScrubData",
            ),
            ("Directory", 0x10, "Directory"),
            ("Temporary", 0x100, "Temporary"),
        ] {
            let read = Attributes::parse(text);
            assert_eq!(read.map(Attributes::bits), Ok(bits), "{text}");
            assert_eq!(read.map(Attributes::text).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", "|", "ReadOnly|", "None|Hidden", "Compressed", "1"] {
            assert_eq!(Attributes::parse(text), Err(FileRefusal::InvalidAttributes), "{text}");
        }
    }

    #[test]
    fn kinds() {
        let refused = Err(FileRefusal::InvalidAttributes);
        for (given, directory, want) in [
            (Attributes::NONE, false, Ok(Attributes::NONE)),
            (Attributes::NONE, true, Ok(Attributes::DIRECTORY)),
            (Attributes::DIRECTORY, true, Ok(Attributes::DIRECTORY)),
            (Attributes::DIRECTORY, false, refused),
            (Attributes::TEMPORARY, false, Ok(Attributes::TEMPORARY)),
            (Attributes::TEMPORARY, true, refused),
        ] {
            assert_eq!(given.of_kind(directory), want, "{given:?} {directory}");
        }
        assert_eq!(Attributes::NONE.smb_bits(), 0x80);
        assert_eq!(Attributes::from_bits(0xFFFF_FFFF).bits(), 0x2_3137);
    }

    #[test]
    fn attributes_as_sets() {
        let (hidden, archive) = (Attributes::HIDDEN, Attributes::ARCHIVE);
        let both = hidden.with(archive);
        for (these, others, contained, less) in [
            (both, hidden, true, archive),
            (both, both, true, Attributes::NONE),
            (hidden, both, false, Attributes::NONE),
            (hidden, archive, false, hidden),
            (hidden, Attributes::NONE, true, hidden),
            (Attributes::NONE, hidden, false, Attributes::NONE),
        ] {
            assert_eq!(these.contains(others), contained, "{these:?} {others:?}");
            assert_eq!(these.without(others), less, "{these:?} {others:?}");
        }
        assert_eq!(hidden.with(hidden), hidden);
        assert_eq!(hidden.smb_bits(), 0x2);
    }
}
