//! Small things about text that every request needs many times.

/// As [`str::trim`]; most texts have nothing to trim, and that takes two looks to know.
pub fn trimmed(text: &str) -> &str {
    match (text.as_bytes().first(), text.as_bytes().last()) {
        (Some(b'!'..=b'~'), Some(b'!'..=b'~')) => text,
        _ => text.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trims_as_the_library_does() {
        for text in ["", " ", "a", " a", "a\t", "\u{a0}a", "a\u{3000}", "é", "a b", "\u{7f}a", "\n"]
        {
            assert_eq!(trimmed(text), text.trim(), "{text:?}");
        }
    }
}
