//! Grouping names by a delimiter, the way List Blobs shows directories.
//!
//! Must never see more than one name at a time: a listing of any size is a scan with seeks.

use alloc::vec::Vec;
use zaffre_base::key::{push_prefix, successor};

/// How a name appears in a listing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listed<'a> {
    /// As itself.
    Blob,
    /// Together with every other name that starts so, once.
    Prefix(&'a str),
}

/// How `name` appears under `prefix`; `None` = not at all. An empty delimiter is no delimiter.
pub fn listed<'a>(prefix: &str, delimiter: Option<&str>, name: &'a str) -> Option<Listed<'a>> {
    let rest = name.strip_prefix(prefix)?;
    let found = delimiter.filter(|d| !d.is_empty()).and_then(|d| Some((rest.find(d)?, d)));
    let Some((at, delimiter)) = found else {
        return Some(Listed::Blob);
    };
    let group = name.get(..prefix.len() + at + delimiter.len())?;
    Some(Listed::Prefix(group))
}

/// The smallest name key that is greater than that of every name starting with `group`, to append
/// to the key of the container; `None` = nothing can follow.
pub fn key_after(group: &str) -> Option<Vec<u8>> {
    let mut key = Vec::new();
    push_prefix(&mut key, group);
    successor(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use zaffre_base::key::push_name;

    #[test]
    fn grouping() {
        let rows = [
            ("", None, "a/b", Some(Listed::Blob)),
            ("", Some(""), "a/b", Some(Listed::Blob)),
            ("", Some("/"), "a", Some(Listed::Blob)),
            ("", Some("/"), "a/b", Some(Listed::Prefix("a/"))),
            ("", Some("/"), "/a", Some(Listed::Prefix("/"))),
            ("", Some("/"), "a//b", Some(Listed::Prefix("a/"))),
            ("a", Some("/"), "a/b", Some(Listed::Prefix("a/"))),
            ("a/", Some("/"), "a/b", Some(Listed::Blob)),
            ("a/", Some("/"), "a/", Some(Listed::Blob)),
            ("a/", Some("/"), "a/b/c", Some(Listed::Prefix("a/b/"))),
            ("a/b", Some("/"), "a/b/c", Some(Listed::Prefix("a/b/"))),
            ("a/b", Some("/"), "a/bc", Some(Listed::Blob)),
            ("b", Some("/"), "a/b", None),
            ("a/b", None, "a", None),
            ("", Some("--"), "a-b--c", Some(Listed::Prefix("a-b--"))),
            ("", Some("é"), "xéy", Some(Listed::Prefix("xé"))),
        ];
        for (prefix, delimiter, name, want) in rows {
            assert_eq!(listed(prefix, delimiter, name), want, "{prefix} {delimiter:?} {name}");
        }
    }

    #[test]
    fn seeking_passes_the_whole_group_and_nothing_else() {
        let key = |name: &str| {
            let mut key = Vec::new();
            push_name(&mut key, name);
            key
        };
        let after = key_after("a/").expect("something follows");
        for inside in ["a/", "a/b", "a/\u{FFFD}", "a/\u{10FFFF}", "a/\u{FFFF}\u{FFFF}"] {
            assert!(key(inside) < after, "{inside}");
        }
        for beyond in ["a0", "a0/", "aa", "b", "\u{10000}"] {
            assert!(key(beyond) > after, "{beyond}");
        }
        let last = "\u{FFFF}".to_string();
        assert_eq!(key_after(&last), None);
    }
}
