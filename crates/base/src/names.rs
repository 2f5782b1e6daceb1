//! Account, container, blob and table names as validated types: the URL is decoded into these once.
//!
//! A value of one of these types is always legal; every layer below may rely on it.

use std::fmt;
use std::sync::Arc;

/// Why a name is not legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameError {
    /// Azure: 400 OutOfRangeInput.
    Length,
    /// Azure: 400 InvalidResourceName.
    Characters,
}

// Shared: what a request names goes into several places.
macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` against the rules for this kind of name.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                $check(text).map(|()| Self(text.into()))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name_type!(
    /// A storage account: 3–24 lower-case letters and digits, as Azure has it; operators of an
    /// emulator also use other short names, so up to 63 of `[a-z0-9-]` pass.
    AccountName,
    check_account
);
name_type!(
    /// A blob container, `$root`, `$web`, `$logs` and `$blobchangefeed` included.
    ContainerName,
    check_container
);
name_type!(
    /// A blob: 1–1,024 UTF-16 units in at most 254 path segments.
    BlobName,
    check_blob
);

name_type!(
    /// A queue: 3–63 lower-case letters, digits and single hyphens between them.
    QueueName,
    check_queue
);

name_type!(
    /// A share: 3–63 lower-case letters, digits and single hyphens between them.
    ShareName,
    check_queue
);

name_type!(
    /// A table: a letter and then 2–62 letters and digits. Keeps the case it was given; tables whose
    /// names differ in case alone are the same table, see [`TableName::folded`].
    TableName,
    check_table
);

impl TableName {
    /// The name in lower case: what tables are found and told apart by.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

/// Containers whose names break the ordinary rules because the service itself owns them.
pub const SYSTEM_CONTAINERS: [&str; 4] = ["$root", "$web", "$logs", "$blobchangefeed"];

fn check_account(text: &str) -> Result<(), NameError> {
    if !(3..=63).contains(&text.len()) {
        return Err(NameError::Length);
    }
    let legal = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if legal { Ok(()) } else { Err(NameError::Characters) }
}

fn check_container(text: &str) -> Result<(), NameError> {
    if SYSTEM_CONTAINERS.contains(&text) { Ok(()) } else { check_queue(text) }
}

fn check_queue(text: &str) -> Result<(), NameError> {
    let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    if !text.bytes().all(|b| alphanumeric(b) || b == b'-') || text.contains("--") {
        return Err(NameError::Characters);
    }
    if !(3..=63).contains(&text.len()) {
        return Err(NameError::Length);
    }
    let ends = text.starts_with('-') || text.ends_with('-');
    if ends { Err(NameError::Characters) } else { Ok(()) }
}

fn check_table(text: &str) -> Result<(), NameError> {
    if text.starts_with(|c: char| c.is_ascii_digit())
        || !text.bytes().all(|b| b.is_ascii_alphanumeric())
    {
        return Err(NameError::Characters);
    }
    if (3..=63).contains(&text.len()) { Ok(()) } else { Err(NameError::Length) }
}

fn check_blob(text: &str) -> Result<(), NameError> {
    let units = text.encode_utf16().count();
    if units == 0 || units > crate::limits::BLOB_NAME_UNITS {
        return Err(NameError::Length);
    }
    if text.split('/').count() > crate::limits::BLOB_NAME_SEGMENTS {
        return Err(NameError::Characters);
    }
    if text.chars().any(is_forbidden_in_blob_name) {
        return Err(NameError::Characters);
    }
    Ok(())
}

/// The characters Azure does not allow. U+FFFE and U+FFFF stay legal: listings encode them.
fn is_forbidden_in_blob_name(c: char) -> bool {
    matches!(u32::from(c),
        0x00..=0x1F | 0x7F | 0x80 | 0x82..=0x8C | 0x8E | 0x91..=0x9C | 0x9E | 0x9F
        | 0xFDD1..=0xFDDC | 0xFDDE..=0xFDEF | 0xFFF0..=0xFFFD)
        && c != '\u{FFFD}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers() {
        for (name, want) in [
            ("abc", Ok(())),
            ("a-b-1", Ok(())),
            ("$root", Ok(())),
            ("$web", Ok(())),
            ("$foo", Err(NameError::Characters)),
            ("ab", Err(NameError::Length)),
            ("Abc", Err(NameError::Characters)),
            ("a--b", Err(NameError::Characters)),
            ("-abc", Err(NameError::Characters)),
            ("abc-", Err(NameError::Characters)),
            ("a_b", Err(NameError::Characters)),
        ] {
            assert_eq!(ContainerName::parse(name).map(|_| ()), want, "{name}");
        }
        assert_eq!(ContainerName::parse(&"a".repeat(63)).map(|_| ()), Ok(()));
        assert_eq!(ContainerName::parse(&"a".repeat(64)).map(|_| ()), Err(NameError::Length));
    }

    #[test]
    fn queues() {
        for (name, want) in [
            ("a-b-1", Ok(())),
            ("$root", Err(NameError::Characters)),
            ("ab", Err(NameError::Length)),
            ("a--b", Err(NameError::Characters)),
            ("-ab", Err(NameError::Characters)),
            ("Abc", Err(NameError::Characters)),
        ] {
            assert_eq!(QueueName::parse(name).map(|_| ()), want, "{name}");
        }
    }

    #[test]
    fn tables() {
        for (name, want) in [
            ("abc", Ok(())),
            ("MyTable9", Ok(())),
            ("", Err(NameError::Length)),
            ("ab", Err(NameError::Length)),
            ("9abc", Err(NameError::Characters)),
            ("my-table", Err(NameError::Characters)),
            ("$Metrics", Err(NameError::Characters)),
            ("täble", Err(NameError::Characters)),
        ] {
            assert_eq!(TableName::parse(name).map(|_| ()), want, "{name}");
        }
        assert_eq!(TableName::parse(&"a".repeat(63)).map(|n| n.folded().len()), Ok(63));
        assert_eq!(TableName::parse(&"a".repeat(64)), Err(NameError::Length));
        assert_eq!(TableName::parse("MyTable").map(|n| n.folded()), Ok("mytable".to_owned()));
    }

    #[test]
    fn blobs() {
        for (name, want) in [
            ("a".to_owned(), Ok(())),
            ("a".repeat(1024), Ok(())),
            ("a".repeat(1025), Err(NameError::Length)),
            ("\u{10000}".repeat(512), Ok(())),
            ("\u{10000}".repeat(513), Err(NameError::Length)),
            (String::new(), Err(NameError::Length)),
            ("a/".repeat(253), Ok(())),
            ("a/".repeat(254), Err(NameError::Characters)),
            ("a\u{7}".to_owned(), Err(NameError::Characters)),
            ("a\u{FDD5}".to_owned(), Err(NameError::Characters)),
            ("ünï cødé?#%".to_owned(), Ok(())),
        ] {
            assert_eq!(BlobName::parse(&name).map(|_| ()), want, "{name}");
        }
    }
}
