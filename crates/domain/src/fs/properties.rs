//! The properties that files and directories have over both protocols, and what a request says of
//! each: a value, or where to take it from.

use super::{Attributes, FileRefusal};
use crate::fs::security::Descriptor;
use core::fmt;
use zaffre_base::Timestamp;

/// What a file or directory keeps for as long as it lives, whatever its name; never used again
/// within a share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u64);

impl FileId {
    /// The root directory of every share.
    pub const ROOT: Self = Self(1);
    /// What the root is in: nothing.
    pub const NONE: Self = Self(0);
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The key of a security descriptor that a share stores: `hash*slot`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PermissionKey {
    /// Of the descriptor's bytes.
    pub hash: u64,
    /// Which of the descriptors with this hash, from 1.
    pub slot: u16,
}

impl PermissionKey {
    /// Reads `hash*slot`.
    pub fn parse(text: &str) -> Result<Self, FileRefusal> {
        let read = || {
            let (hash, slot) = text.trim().split_once('*')?;
            let plain = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
            (plain(hash) && plain(slot)).then_some(())?;
            Some(Self { hash: hash.parse().ok()?, slot: slot.parse().ok()? })
        };
        read().ok_or(FileRefusal::InvalidPermissionKey)
    }
}

impl fmt::Display for PermissionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}*{}", self.hash, self.slot)
    }
}

/// What a request says of one of the times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeSetting {
    /// The instant of the commit.
    Now,
    /// As it is.
    Preserve,
    /// As the source of a copy has it.
    Source,
    /// This one.
    At(Timestamp),
}

/// What a request says of the attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributesSetting {
    /// As they are.
    Preserve,
    /// As the source of a copy has them.
    Source,
    /// These.
    Set(Attributes),
}

/// What a request says of the security descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PermissionSetting {
    /// Made from the parent's.
    Inherit,
    /// As it is.
    Preserve,
    /// As the source of a copy has it.
    Source,
    /// This one.
    Given(Descriptor),
    /// The one with this key.
    Key(PermissionKey),
}

/// How given properties are taken (`x-ms-file-property-semantics`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Semantics {
    /// Nothing was said: no attributes at all become `Archive`, and a descriptor is taken as given.
    #[default]
    Unsaid,
    /// As for a new file: `Archive` is set, and inheritable entries of the parent are added.
    New,
    /// Word by word, as for a backup that is restored.
    Restore,
}

/// What a request says of all SMB properties. The protocol fills in what a request left out, which
/// differs by operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SmbSettings {
    /// Attributes.
    pub attributes: AttributesSetting,
    /// When it was made.
    pub created: TimeSetting,
    /// When it was last written to.
    pub last_write: TimeSetting,
    /// When it was last changed in any way.
    pub change: TimeSetting,
    /// The security descriptor.
    pub permission: PermissionSetting,
    /// How the values are taken; only creations look at it.
    pub semantics: Semantics,
}

impl SmbSettings {
    /// What a creation does that says nothing.
    pub fn create() -> Self {
        Self {
            attributes: AttributesSetting::Set(Attributes::NONE),
            created: TimeSetting::Now,
            last_write: TimeSetting::Now,
            change: TimeSetting::Now,
            permission: PermissionSetting::Inherit,
            semantics: Semantics::Unsaid,
        }
    }

    /// What a change, or a rename, does that says nothing.
    pub fn preserve() -> Self {
        Self {
            attributes: AttributesSetting::Preserve,
            created: TimeSetting::Preserve,
            last_write: TimeSetting::Preserve,
            change: TimeSetting::Now,
            permission: PermissionSetting::Preserve,
            semantics: Semantics::Restore,
        }
    }
}

/// The times of a file or directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// When it was made.
    pub created: Timestamp,
    /// When its content was last written to.
    pub last_write: Timestamp,
    /// When it was last changed in any way.
    pub change: Timestamp,
    /// When it was last read, as far as anybody keeps track.
    pub last_access: Timestamp,
}

/// 100-ns ticks from year 1 to 1601, where SMB starts to count.
const SMB_EPOCH: u64 = 504_911_232_000_000_000;

/// An instant as SMB writes it; before 1601 there is none.
pub fn to_filetime(at: Timestamp) -> u64 {
    at.0.saturating_sub(SMB_EPOCH)
}

/// An instant that SMB wrote.
pub fn from_filetime(ticks: u64) -> Timestamp {
    Timestamp(ticks.saturating_add(SMB_EPOCH).min(zaffre_base::time::MAX_TICKS))
}

/// What a setting makes of a time. `current` is what is there, or what a source has.
pub fn resolve_time(setting: TimeSetting, current: Timestamp, now: Timestamp) -> Timestamp {
    match setting {
        TimeSetting::Now => now,
        TimeSetting::Preserve | TimeSetting::Source => current,
        TimeSetting::At(at) => at,
    }
}

/// The attributes of a new resource.
pub fn new_attributes(
    setting: AttributesSetting,
    source: Attributes,
    semantics: Semantics,
    directory: bool,
) -> Result<Attributes, FileRefusal> {
    let given = match setting {
        AttributesSetting::Set(given) => given.of_kind(directory)?,
        AttributesSetting::Preserve | AttributesSetting::Source => source.of_kind(directory)?,
    };
    let archived = !directory
        && match semantics {
            Semantics::Unsaid => given == Attributes::NONE,
            Semantics::New => true,
            Semantics::Restore => false,
        };
    Ok(if archived { given.with(Attributes::ARCHIVE) } else { given })
}

/// The attributes after a change.
pub fn changed_attributes(
    setting: AttributesSetting,
    current: Attributes,
    directory: bool,
) -> Result<Attributes, FileRefusal> {
    match setting {
        AttributesSetting::Set(given) => given.of_kind(directory),
        AttributesSetting::Preserve | AttributesSetting::Source => Ok(current),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn keys_of_permissions() {
        let key = PermissionKey { hash: 4_066_528_134_148_476_695, slot: 1 };
        assert_eq!(key.to_string(), "4066528134148476695*1");
        assert_eq!(PermissionKey::parse("4066528134148476695*1"), Ok(key));
        for text in ["", "1", "*", "1*", "*1", "x*1", "1*x", "+1*1", "1*65536", "1*1*1"] {
            assert_eq!(
                PermissionKey::parse(text),
                Err(FileRefusal::InvalidPermissionKey),
                "{text}"
            );
        }
    }

    #[test]
    fn ids_are_shown_as_numbers() {
        assert_eq!([FileId::NONE, FileId::ROOT].map(|id| id.to_string()), ["0", "1"]);
    }

    #[test]
    fn filetimes() {
        for (at, ticks) in [
            (Timestamp(0), 0),
            (Timestamp(SMB_EPOCH), 0),
            (Timestamp(SMB_EPOCH + 7), 7),
            (Timestamp::from_unix_seconds(0), 116_444_736_000_000_000),
        ] {
            assert_eq!(to_filetime(at), ticks);
            assert_eq!(from_filetime(ticks).0.max(SMB_EPOCH), at.0.max(SMB_EPOCH));
        }
        assert_eq!(from_filetime(u64::MAX).0, zaffre_base::time::MAX_TICKS);
    }

    #[test]
    fn attributes_of_what_is_new() {
        use AttributesSetting::{Set, Source};
        let (none, archive, hidden) = (Attributes::NONE, Attributes::ARCHIVE, Attributes::HIDDEN);
        let both = hidden.with(archive);
        for (setting, source, semantics, directory, want) in [
            (Set(none), none, Semantics::Unsaid, false, Ok(archive)),
            (Set(hidden), none, Semantics::Unsaid, false, Ok(hidden)),
            (Set(none), none, Semantics::New, false, Ok(archive)),
            (Set(none), none, Semantics::Restore, false, Ok(none)),
            (Set(hidden), none, Semantics::New, false, Ok(both)),
            (Set(hidden), none, Semantics::Restore, false, Ok(hidden)),
            (Source, hidden, Semantics::Restore, false, Ok(hidden)),
            (Set(none), none, Semantics::New, true, Ok(Attributes::DIRECTORY)),
            (
                Set(Attributes::TEMPORARY),
                none,
                Semantics::New,
                true,
                Err(FileRefusal::InvalidAttributes),
            ),
        ] {
            assert_eq!(new_attributes(setting, source, semantics, directory), want);
        }
    }

    #[test]
    fn attributes_after_a_change() {
        use AttributesSetting::{Preserve, Set, Source};
        let (hidden, archive) = (Attributes::HIDDEN, Attributes::ARCHIVE);
        let kept = hidden.with(Attributes::DIRECTORY);
        let refused = Err(FileRefusal::InvalidAttributes);
        for (setting, current, directory, want) in [
            (Set(archive), hidden, false, Ok(archive)),
            (Set(hidden), Attributes::DIRECTORY, true, Ok(kept)),
            (Set(Attributes::DIRECTORY), hidden, false, refused),
            (Preserve, hidden, false, Ok(hidden)),
            (Source, kept, true, Ok(kept)),
        ] {
            assert_eq!(changed_attributes(setting, current, directory), want, "{current:?}");
        }
    }

    #[test]
    fn what_a_setting_makes_of_a_time() {
        let (current, now, other) = (Timestamp(1), Timestamp(2), Timestamp(3));
        for (setting, want) in [
            (TimeSetting::Now, now),
            (TimeSetting::Preserve, current),
            (TimeSetting::Source, current),
            (TimeSetting::At(other), other),
        ] {
            assert_eq!(resolve_time(setting, current, now), want);
        }
    }
}
