//! Names of files and directories, and paths of them: validated once, then legal everywhere.
//!
//! Must never be turned into a path of the host: a name is a key of the store and nothing else.

use super::FileRefusal;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use zaffre_base::limits::{FILE_NAME_UNITS, FILE_PATH_DEPTH, FILE_PATH_UNITS};

/// Names that devices once had.
const RESERVED: [&str; 5] = ["CON", "PRN", "AUX", "NUL", "CLOCK$"];

/// What becomes of dots at the end of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TrailingDots {
    /// They are left off.
    #[default]
    Trim,
    /// They are part of the name.
    Keep,
}

/// The name of a file or directory inside its parent. Two names are the same if they differ in the
/// case of letters only; the case of the first one is kept.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EntryName(String);

impl EntryName {
    /// The name, if it is a legal one.
    pub fn parse(text: &str) -> Result<Self, FileRefusal> {
        let units = text.encode_utf16().count();
        if units == 0 || text == "." || text == ".." || is_reserved(text) {
            return Err(FileRefusal::InvalidResourceName);
        }
        if units > FILE_NAME_UNITS {
            return Err(FileRefusal::InvalidPath);
        }
        if text.chars().all(is_legal) {
            Ok(Self(text.to_owned()))
        } else {
            Err(FileRefusal::InvalidResourceName)
        }
    }

    /// The name of a stream, which may have nearly any character.
    pub fn of_stream(text: &str) -> Result<Self, FileRefusal> {
        if text.encode_utf16().count() > FILE_NAME_UNITS {
            return Err(FileRefusal::InvalidPath);
        }
        if text.is_empty() || text.contains(['\0', '/', '\\', ':']) {
            return Err(FileRefusal::InvalidResourceName);
        }
        Ok(Self(text.to_owned()))
    }

    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What names that are the same have in common.
    pub fn folded(&self) -> String {
        fold(&self.0)
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_legal(c: char) -> bool {
    const NONCHARACTERS: u32 = 0xFFFE;
    let forbidden = matches!(c, '"' | '\\' | '/' | ':' | '|' | '<' | '>' | '*' | '?');
    let bits = u32::from(c);
    let nowhere = bits & NONCHARACTERS == NONCHARACTERS || (0xFDD0..=0xFDEF).contains(&bits);
    !forbidden && bits >= 0x20 && !nowhere
}

/// A device's name is reserved by itself and not as the front of a longer one.
fn is_reserved(text: &str) -> bool {
    let numbered = |front: &str| {
        let rest = text.get(..3).filter(|start| start.eq_ignore_ascii_case(front));
        rest.is_some() && text.len() == 4 && matches!(text.as_bytes().last(), Some(b'1'..=b'9'))
    };
    RESERVED.iter().any(|name| text.eq_ignore_ascii_case(name))
        || numbered("COM")
        || numbered("LPT")
}

/// Each letter in upper case where that is one letter: Unicode's simple mapping, per UTF-16 unit.
pub fn fold(text: &str) -> String {
    text.chars().map(fold_char).collect()
}

fn fold_char(c: char) -> char {
    // Greek letters with a subscript: their full mapping is two letters, their simple one is one.
    let subscript = match c {
        '\u{1F80}'..='\u{1F87}' | '\u{1F90}'..='\u{1F97}' | '\u{1FA0}'..='\u{1FA7}' => 8,
        '\u{1FB3}' | '\u{1FC3}' | '\u{1FF3}' => 9,
        _ => 0,
    };
    if subscript > 0 {
        return char::from_u32(u32::from(c) + subscript).unwrap_or(c);
    }
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) if u32::from(c) <= 0xFFFF && u32::from(one) <= 0xFFFF => one,
        _ => c,
    }
}

/// The way from a share's root to a file or directory; empty for the root itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FilePath {
    names: Vec<EntryName>,
    /// The names with slashes between them.
    text: String,
}

impl FilePath {
    /// The root directory.
    pub const ROOT: Self = Self { names: Vec::new(), text: String::new() };

    /// Reads `a/b/c`; slashes at the ends do not count.
    pub fn parse(text: &str, dots: TrailingDots) -> Result<Self, FileRefusal> {
        let text = text.trim_matches('/');
        if text.is_empty() {
            return Ok(Self::ROOT);
        }
        if text.encode_utf16().count() > FILE_PATH_UNITS {
            return Err(FileRefusal::InvalidPath);
        }
        let name = |part: &str| {
            let bare = part.trim_end_matches('.');
            match dots {
                // A name of dots only is `.`, `..` or none: nothing is left off it.
                TrailingDots::Trim if !bare.is_empty() => EntryName::parse(bare),
                TrailingDots::Trim | TrailingDots::Keep => EntryName::parse(part),
            }
        };
        Self::of(text.split('/').map(name).collect::<Result<_, _>>()?)
    }

    /// The path of these names.
    pub fn of(names: Vec<EntryName>) -> Result<Self, FileRefusal> {
        let units = names.iter().map(|name| name.0.encode_utf16().count() + 1).sum::<usize>();
        if names.len() > FILE_PATH_DEPTH || units > FILE_PATH_UNITS + 1 {
            return Err(FileRefusal::InvalidPath);
        }
        let text = names.iter().map(EntryName::as_str).collect::<Vec<_>>().join("/");
        Ok(Self { names, text })
    }

    /// Its names with slashes between them; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its names, from the root on.
    pub fn names(&self) -> &[EntryName] {
        &self.names
    }

    /// Whether it is the root.
    pub fn is_root(&self) -> bool {
        self.names.is_empty()
    }

    /// The names of the directories above and its own name; `None` for the root.
    pub fn split_last(&self) -> Option<(&[EntryName], &EntryName)> {
        self.names.split_last().map(|(last, above)| (above, last))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names() {
        let long = "é".repeat(255);
        let wide = "😀".repeat(128);
        for (text, want) in [
            ("a", Ok(())),
            ("a b", Ok(())),
            ("...a", Ok(())),
            ("CON.txt", Ok(())),
            ("COM0", Ok(())),
            ("COM10", Ok(())),
            (long.as_str(), Ok(())),
            ("", Err(FileRefusal::InvalidResourceName)),
            (".", Err(FileRefusal::InvalidResourceName)),
            ("..", Err(FileRefusal::InvalidResourceName)),
            ("con", Err(FileRefusal::InvalidResourceName)),
            ("Lpt9", Err(FileRefusal::InvalidResourceName)),
            ("clock$", Err(FileRefusal::InvalidResourceName)),
            ("a\u{1}", Err(FileRefusal::InvalidResourceName)),
            ("a\u{FFFE}", Err(FileRefusal::InvalidResourceName)),
            ("a\u{FDD0}", Err(FileRefusal::InvalidResourceName)),
            (wide.as_str(), Err(FileRefusal::InvalidPath)),
        ] {
            let name = EntryName::parse(text);
            assert_eq!(name.as_ref().map(|_| ()).map_err(Clone::clone), want, "{text}");
            assert!(name.is_err() || name.is_ok_and(|name| name.to_string() == text));
        }
        for c in ['"', '\\', '/', ':', '|', '<', '>', '*', '?'] {
            let text = alloc::format!("a{c}b");
            assert_eq!(EntryName::parse(&text), Err(FileRefusal::InvalidResourceName), "{c}");
        }
    }

    #[test]
    fn the_same_names() {
        for (a, b, same) in [
            ("readme", "README", true),
            ("straße", "STRASSE", false),
            ("straße", "STRAßE", true),
            ("ÿ", "Ÿ", true),
            ("ᾳ", "ᾼ", true),
            ("ᾀ", "ᾈ", true),
            ("𐐨", "𐐀", false),
            ("a", "b", false),
        ] {
            assert_eq!(fold(a) == fold(b), same, "{a} {b}");
            let [a, b] = [a, b].map(|text| EntryName::parse(text).expect("a name"));
            assert_eq!(a.folded() == b.folded(), same, "{a} {b}");
        }
    }

    #[test]
    fn upper_case_has_no_upper_case_of_its_own() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
            assert_eq!(fold_char(fold_char(c)), fold_char(c), "{c:?}");
        }
    }

    #[test]
    fn paths() {
        use TrailingDots::{Keep, Trim};
        let deep = "a/".repeat(250);
        let deeper = "a/".repeat(251);
        for (text, dots, want) in [
            ("", Trim, Ok("")),
            ("/", Trim, Ok("")),
            ("a/b/", Trim, Ok("a/b")),
            ("a../b.", Trim, Ok("a/b")),
            ("a../b.", Keep, Ok("a../b.")),
            ("a/.../b", Keep, Ok("a/.../b")),
            ("a/.../b", Trim, Ok("a/.../b")),
            ("a/../b", Trim, Err(FileRefusal::InvalidResourceName)),
            ("a/./b", Keep, Err(FileRefusal::InvalidResourceName)),
            ("a//b", Trim, Err(FileRefusal::InvalidResourceName)),
            (deep.as_str(), Trim, Ok(deep.trim_end_matches('/'))),
            (deeper.as_str(), Trim, Err(FileRefusal::InvalidPath)),
        ] {
            let got = FilePath::parse(text, dots).map(|path| path.to_string());
            assert_eq!(got, want.map(ToOwned::to_owned), "{text} {dots:?}");
        }
        let long = alloc::format!("{}/{}", "a".repeat(255), "b/".repeat(240));
        assert!(FilePath::parse(&long, Trim).is_ok());
        let long = ["a".repeat(255).as_str(); 9].join("/");
        assert_eq!(FilePath::parse(&long, Trim), Err(FileRefusal::InvalidPath));
    }

    #[test]
    fn the_longest_path() {
        use TrailingDots::{Keep, Trim};
        // 2,039 units; 2,048 is the most.
        let start = ["a".repeat(254).as_str(); 8].join("/");
        for (more, dots, want) in [
            ("/12345678", Keep, true),
            ("/123456789", Keep, false),
            ("/1234567890", Keep, false),
            ("/12345678/", Keep, true),
            ("/1234567.", Trim, true),
            ("/1234567..", Trim, false),
            ("/12345678..", Trim, false),
        ] {
            let path = FilePath::parse(&alloc::format!("{start}{more}"), dots);
            assert_eq!(path.is_ok(), want, "{more} {dots:?}");
        }
        for (last, want) in [("12345678", true), ("123456789", false)] {
            let name = EntryName::parse(&"a".repeat(254)).expect("a name");
            let mut names = alloc::vec![name; 8];
            names.push(EntryName::parse(last).expect("a name"));
            assert_eq!(FilePath::of(names).is_ok(), want, "{last}");
        }
    }

    #[test]
    fn names_of_a_path() {
        for (text, names) in [("", &[][..]), ("a", &["a"]), ("/a/b/c/", &["a", "b", "c"])] {
            let path = FilePath::parse(text, TrailingDots::Keep).expect("a path");
            let found: Vec<&str> = path.names().iter().map(EntryName::as_str).collect();
            assert_eq!(found, names);
            assert_eq!(path.is_root(), names.is_empty());
            assert_eq!(path.as_str(), names.join("/"));
            let last = path.split_last().map(|(above, last)| (above.len(), last.as_str()));
            assert_eq!(last, names.split_last().map(|(last, above)| (above.len(), *last)));
        }
    }
}
