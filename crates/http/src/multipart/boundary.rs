//! The boundary between parts, as the content type names it, and the lines it makes.

use super::MultipartError;
use crate::limits::BOUNDARY_BYTES;
use memchr::memmem::Finder;

/// What stands between parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Boundary(String);

/// What a line of the body is to a boundary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    Content,
    Delimiter,
    Last,
}

impl Boundary {
    /// Reads the boundary of a `multipart/mixed` content type; it may be quoted.
    pub fn of_content_type(value: &str) -> Result<Self, MultipartError> {
        let mut pieces = value.split(';').map(str::trim);
        let kind = pieces.next().unwrap_or_default();
        if !kind.eq_ignore_ascii_case("multipart/mixed") {
            return Err(MultipartError::ContentType);
        }
        let mut named = pieces.filter_map(|piece| piece.split_once('='));
        let (_, text) = named
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"))
            .ok_or(MultipartError::ContentType)?;
        let text = text.trim();
        let text = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
        let legal = |b: u8| b.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&b);
        let fits = (1..=BOUNDARY_BYTES).contains(&text.len()) && !text.ends_with(' ');
        if fits && text.bytes().all(legal) {
            Ok(Self(text.to_owned()))
        } else {
            Err(MultipartError::ContentType)
        }
    }

    /// Where the lines of `body` begin that start as a delimiter does.
    pub(super) fn lines<'b>(&self, body: &'b [u8]) -> impl Iterator<Item = usize> + use<'b> {
        let starts = Finder::new(&format!("--{}", self.0)).into_owned();
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let at = from + starts.find(&body[from..])?;
                from = at + 1;
                if at == 0 || body[at - 1] == b'\n' {
                    return Some(at);
                }
            }
        })
    }

    /// What `line`, without its end, is.
    pub(super) fn classify(&self, line: &[u8]) -> Line {
        let rest = line.strip_prefix(b"--").and_then(|rest| rest.strip_prefix(self.0.as_bytes()));
        let Some(rest) = rest else { return Line::Content };
        match rest.trim_ascii_end() {
            b"" => Line::Delimiter,
            b"--" => Line::Last,
            _ => Line::Content,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types() {
        let long = |n: usize| format!("multipart/mixed; boundary={}", "x".repeat(n));
        for (value, want) in [
            ("multipart/mixed; boundary=batch_1", Some("batch_1")),
            ("Multipart/Mixed;BOUNDARY=\"a b\"", Some("a b")),
            ("multipart/mixed; charset=x; boundary=a=b", Some("a=b")),
            (&*long(70), Some(&*"x".repeat(70))),
            (&*long(71), None),
            ("multipart/mixed; boundary=", None),
            ("multipart/mixed; boundary=\"a \"", None),
            ("multipart/mixed; boundary=é", None),
            ("multipart/mixed", None),
            ("multipart/form-data; boundary=a", None),
            ("", None),
        ] {
            let found = Boundary::of_content_type(value);
            assert_eq!(found.ok().map(|b| b.0).as_deref(), want, "{value}");
        }
    }

    #[test]
    fn lines() {
        let boundary = Boundary("b".to_owned());
        for (line, want) in [
            ("--b", Line::Delimiter),
            ("--b  \t", Line::Delimiter),
            ("--b--", Line::Last),
            ("--b-- ", Line::Last),
            ("--bc", Line::Content),
            ("--b-", Line::Content),
            (" --b", Line::Content),
            ("b", Line::Content),
            ("", Line::Content),
        ] {
            assert_eq!(boundary.classify(line.as_bytes()), want, "{line}");
        }
    }
}
