//! The parts between the delimiters.
//!
//! Lines may end with LF alone, and blank lines before the first delimiter and around content mean
//! nothing: clients differ in both. Must never look past the last delimiter.

use super::boundary::{Boundary, Line};
use super::{MultipartError, PartHeaders, PartRequest};
use memchr::memchr;

/// One part: its own headers and what it carries.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// `Content-Type`, `Content-Transfer-Encoding`, `Content-ID`
    pub headers: PartHeaders<'a>,
    /// What follows the headers, without the blank lines around it.
    pub content: &'a [u8],
}

/// All parts of a body, in order.
#[derive(Clone, Debug)]
pub struct Parts<'a>(pub Vec<Part<'a>>);

impl<'a> Parts<'a> {
    /// Takes `body` apart; refuses more than `limit` parts.
    pub fn read(body: &'a [u8], boundary: &Boundary, limit: usize) -> Result<Self, MultipartError> {
        let mut parts: Vec<Part<'a>> = Vec::new();
        // Where the part under way begins; none before the first delimiter.
        let mut open: Option<usize> = None;
        for at in boundary.lines(body) {
            let (line, next) = line_at(body, at);
            let kind = boundary.classify(line);
            match (kind, open) {
                (Line::Content, _) => continue,
                (Line::Last, None) => return Err(MultipartError::NoParts),
                (Line::Delimiter, None) => {
                    if !body[..at].trim_ascii().is_empty() {
                        return Err(MultipartError::NoParts);
                    }
                }
                (Line::Delimiter | Line::Last, Some(start)) => {
                    let blank = body[start..at].trim_ascii().is_empty();
                    // Some clients end with one more ordinary delimiter before the last.
                    if !(blank && kind == Line::Last) {
                        if parts.len() == limit {
                            return Err(MultipartError::TooManyParts { limit });
                        }
                        let before = parts.last().map(|part| &part.headers);
                        parts.push(Part::read(&body[start..at], before)?);
                    }
                }
            }
            open = Some(next);
            if kind == Line::Last {
                return if parts.is_empty() {
                    Err(MultipartError::NoParts)
                } else {
                    Ok(Self(parts))
                };
            }
        }
        // A last delimiter written like the others is accepted when nothing follows it.
        let ended = open.is_some_and(|start| body[start..].trim_ascii().is_empty());
        match (ended, parts.is_empty()) {
            (true, false) => Ok(Self(parts)),
            (true, true) => Err(MultipartError::NoParts),
            (false, _) if open.is_none() => Err(MultipartError::NoParts),
            (false, _) => Err(MultipartError::Unfinished),
        }
    }
}

impl<'a> Part<'a> {
    fn read(bytes: &'a [u8], before: Option<&PartHeaders<'a>>) -> Result<Self, MultipartError> {
        let (headers, rest) =
            PartHeaders::read(bytes, before).ok_or(MultipartError::PartHeaders)?;
        Ok(Self { headers, content: without_blank_lines(rest) })
    }

    /// The boundary of the parts inside this one, if it is a multipart body itself.
    pub fn nested(&self) -> Option<Boundary> {
        Boundary::of_content_type(self.text("content-type")?).ok()
    }

    /// Whether it says that it carries a request.
    pub fn is_request(&self) -> bool {
        let kind = self.text("content-type").and_then(|value| value.split(';').next());
        kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/http"))
    }

    /// `Content-ID` as sent, to be echoed.
    pub fn content_id(&self) -> Option<&'a str> {
        self.text("content-id")
    }

    /// The first value of a name, if it is plain text.
    fn text(&self, name: &str) -> Option<&'a str> {
        let value = self.headers.all(name).next()?;
        std::str::from_utf8(value).ok().filter(|text| text.is_ascii())
    }

    /// The request it carries; `before` is the one before it, if there was one.
    pub fn request(
        &self,
        before: Option<&PartRequest<'a>>,
    ) -> Result<PartRequest<'a>, MultipartError> {
        PartRequest::read(self.content, before)
    }
}

/// The line that begins at `at`, without its end, and where the next one begins.
pub(super) fn line_at(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &bytes[at..];
    let (line, next) = match memchr(b'\n', rest) {
        Some(end) => (&rest[..end], at + end + 1),
        None => (rest, bytes.len()),
    };
    (line.strip_suffix(b"\r").unwrap_or(line), next)
}

pub(super) fn without_blank_lines(bytes: &[u8]) -> &[u8] {
    let is_end = |b: &u8| matches!(*b, b'\r' | b'\n');
    let start = bytes.iter().position(|b| !is_end(b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_end(b)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, limit: usize) -> Result<Vec<String>, MultipartError> {
        let boundary = Boundary::of_content_type("multipart/mixed; boundary=b")?;
        let parts = Parts::read(body.as_bytes(), &boundary, limit)?;
        let text = |part: &Part<'_>| String::from_utf8_lossy(part.content).into_owned();
        Ok(parts.0.iter().map(text).collect())
    }

    #[test]
    fn bodies() {
        use MultipartError as E;
        let one = "--b\r\nContent-Type: application/http\r\n\r\nx\r\n";
        let owned = |texts: &[&str]| Ok(texts.iter().map(|t| (*t).to_owned()).collect());
        for (body, want) in [
            (format!("{one}--b--"), owned(&["x"])),
            (format!("{one}--b--\r\n"), owned(&["x"])),
            (format!("{one}--b--\r\nepilogue --b\r\n--b\r\n"), owned(&["x"])),
            (format!("\r\n\r\n{one}--b--"), owned(&["x"])),
            (format!("{one}{one}--b--"), owned(&["x", "x"])),
            (format!("{one}--b\r\n--b--"), owned(&["x"])),
            (format!("{one}--b\r\n"), owned(&["x"])),
            (one.replace('\r', "") + "--b--\n", owned(&["x"])),
            ("--b\r\n\r\nx\r\n--b--".to_owned(), owned(&["x"])),
            ("--b\r\n\r\n\r\n\r\nx\ny\r\n\r\n\r\n--b--".to_owned(), owned(&["x\ny"])),
            (format!("{one}--b\r\nA: 1\r\n\r\n--b--"), owned(&["x", ""])),
            (format!("{one}{one}{one}--b--"), Err(E::TooManyParts { limit: 2 })),
            (one.to_owned(), Err(E::Unfinished)),
            (String::new(), Err(E::NoParts)),
            ("--b--".to_owned(), Err(E::NoParts)),
            ("--b\r\n--b--".to_owned(), Err(E::NoParts)),
            ("--b".to_owned(), Err(E::NoParts)),
            ("hello".to_owned(), Err(E::NoParts)),
            (format!("preamble\r\n{one}--b--"), Err(E::NoParts)),
            ("--b\r\nno header\r\n\r\nx\r\n--b--".to_owned(), Err(E::PartHeaders)),
            ("--b\r\nA: 1\r\n folded\r\n\r\nx\r\n--b--".to_owned(), Err(E::PartHeaders)),
            (format!("{one}--b\r\n--b\r\n\r\n--b--"), owned(&["x", ""])),
        ] {
            assert_eq!(read(&body, 2), want, "{body:?}");
        }
    }

    #[test]
    fn nested_parts() {
        let body = "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\nx\n--c--\n--b--";
        let boundary = Boundary::of_content_type("multipart/mixed; boundary=b").expect("legal");
        let outer = Parts::read(body.as_bytes(), &boundary, 1).expect("legal");
        let nested = outer.0[0].nested().expect("multipart");
        let inner = Parts::read(outer.0[0].content, &nested, 1).expect("legal");
        assert_eq!(inner.0[0].content, b"x");
        assert!(inner.0[0].nested().is_none() && !inner.0[0].is_request());
    }
}
