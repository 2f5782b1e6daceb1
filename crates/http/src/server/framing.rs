//! A second, independent look at the bytes of a connection: where each request's head is, and
//! what hyper does not tell about it.
//!
//! hyper resolves a request with both Content-Length and Transfer-Encoding, or with two
//! Content-Lengths, without telling; we refuse both, as their readers may disagree. It also lowers
//! the case of header names, which Azure keeps for metadata. Must never change a byte.

use crate::headers::METADATA_PREFIX;
use memchr::memchr;
use std::mem;
use zaffre_base::limits::REQUEST_HEAD_BYTES;

/// What was seen in one head.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct HeadNotes {
    /// The head gives the length of its body in more than one way.
    pub(crate) ambiguous: bool,
    /// Metadata names with their case, prefix cut.
    pub(crate) metadata_names: Vec<String>,
}

/// Follows the bytes a client sends.
#[derive(Debug, Default)]
pub(crate) struct Framing {
    state: State,
    line: Vec<u8>,
    notes: HeadNotes,
    /// How many headers give a length, and what they say.
    lengths: usize,
    length: u64,
    chunked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// Before or inside the request line.
    #[default]
    RequestLine,
    /// Inside the headers.
    Headers,
    /// This many bytes of body are left.
    Body(u64),
    /// Before or inside a chunk's size line.
    ChunkSize,
    /// This many bytes of the chunk are left.
    Chunk(u64),
    /// The line end after a chunk.
    ChunkEnd,
    /// After the last chunk.
    Trailers,
    /// Nothing makes sense any more; hyper will close the connection.
    Lost,
}

impl Framing {
    /// Takes the next bytes in and calls `seen` for every head that ends in them.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut seen: impl FnMut(HeadNotes)) {
        while !bytes.is_empty() {
            bytes = match self.state {
                State::Lost => return,
                State::Body(left) => self.skip(bytes, left, State::Body, State::RequestLine),
                State::Chunk(left) => self.skip(bytes, left, State::Chunk, State::ChunkEnd),
                _ => self.take_line(bytes, &mut seen),
            };
        }
    }

    fn skip<'a>(
        &mut self,
        bytes: &'a [u8],
        left: u64,
        go_on: fn(u64) -> State,
        done: State,
    ) -> &'a [u8] {
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - u64::try_from(here).unwrap_or(left);
        self.state = if left == 0 { done } else { go_on(left) };
        &bytes[here..]
    }

    /// Takes the rest of the current line, and acts on it if its end is there.
    fn take_line<'a>(&mut self, bytes: &'a [u8], seen: &mut impl FnMut(HeadNotes)) -> &'a [u8] {
        let end = memchr(b'\n', bytes);
        let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        if self.line.len() + part.len() > REQUEST_HEAD_BYTES {
            self.state = State::Lost;
            return &[];
        }
        match end {
            None => self.line.extend_from_slice(part),
            // Nearly every line comes in one piece.
            Some(_) if self.line.is_empty() => self.end_line(part, seen),
            Some(_) => {
                self.line.extend_from_slice(part);
                let mut line = mem::take(&mut self.line);
                self.end_line(&line, seen);
                line.clear();
                self.line = line;
            }
        }
        rest
    }

    /// Acts on a line with its newline.
    fn end_line(&mut self, line: &[u8], seen: &mut impl FnMut(HeadNotes)) {
        let trimmed = line.strip_suffix(b"\n").unwrap_or(line);
        self.state = match trimmed.strip_suffix(b"\r") {
            Some(whole) => self.on_line(whole, seen),
            // In a head a newline alone ends a line to hyper too; between chunks and in
            // trailers it does not, and what follows would be another request to us alone.
            None if self.in_head() => self.on_line(trimmed, seen),
            None => State::Lost,
        };
    }

    /// Whether a head has not ended yet, or has not begun; also once nothing makes sense any more.
    pub(crate) fn awaits_head(&self) -> bool {
        self.in_head() || self.state == State::Lost
    }

    fn in_head(&self) -> bool {
        matches!(self.state, State::RequestLine | State::Headers)
    }

    fn on_line(&mut self, line: &[u8], seen: &mut impl FnMut(HeadNotes)) -> State {
        match self.state {
            // Empty lines before a request line are skipped, as hyper does.
            State::RequestLine | State::Trailers if line.is_empty() => State::RequestLine,
            State::RequestLine => State::Headers,
            State::Headers if line.is_empty() => self.end_head(seen),
            State::Headers => self.on_header(line),
            State::ChunkSize => match chunk_size(line) {
                Some(0) => State::Trailers,
                Some(size) => State::Chunk(size),
                None => State::Lost,
            },
            State::ChunkEnd if line.is_empty() => State::ChunkSize,
            State::Trailers => State::Trailers,
            State::ChunkEnd | State::Body(_) | State::Chunk(_) | State::Lost => State::Lost,
        }
    }

    fn on_header(&mut self, line: &[u8]) -> State {
        // The names that count begin with one of these.
        if !matches!(line.first(), Some(b'c' | b'C' | b't' | b'T' | b'x' | b'X')) {
            return State::Headers;
        }
        let Some(colon) = memchr(b':', line) else { return State::Headers };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths += 1;
            let text = std::str::from_utf8(value.trim_ascii()).ok();
            let number = text.and_then(|text| text.parse().ok());
            match number {
                Some(length) => self.length = length,
                None => return State::Lost,
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            // Anything but one plain `chunked` may be read in more than one way.
            let plain = value.trim_ascii().eq_ignore_ascii_case(b"chunked");
            self.lengths += if plain { 1 } else { 2 };
            self.chunked = true;
        } else if let Some(name) = metadata_name(name) {
            self.notes.metadata_names.push(name);
        }
        State::Headers
    }

    fn end_head(&mut self, seen: &mut impl FnMut(HeadNotes)) -> State {
        let mut notes = mem::take(&mut self.notes);
        let chunked = mem::take(&mut self.chunked);
        let length = mem::take(&mut self.length);
        let lengths = mem::take(&mut self.lengths);
        notes.ambiguous = lengths > 1;
        seen(notes);
        match length {
            _ if chunked => State::ChunkSize,
            0 => State::RequestLine,
            length => State::Body(length),
        }
    }
}

fn metadata_name(name: &[u8]) -> Option<String> {
    let (prefix, rest) = name.split_at_checked(METADATA_PREFIX.len())?;
    if !prefix.eq_ignore_ascii_case(METADATA_PREFIX.as_bytes()) {
        return None;
    }
    std::str::from_utf8(rest).ok().map(str::to_owned)
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|b| *b == b';').next()?.trim_ascii();
    let hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| hex)?;
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(ambiguous: bool, names: &[&str]) -> HeadNotes {
        let metadata_names = names.iter().map(|name| (*name).to_owned()).collect();
        HeadNotes { ambiguous, metadata_names }
    }

    #[test]
    fn heads() {
        let plain = || notes(false, &[]);
        for (bytes, want) in [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", vec![plain()]),
            ("\r\n\r\nGET / HTTP/1.1\n\nGET / HTTP/1.1\r\n\r\n", vec![plain(), plain()]),
            (
                "PUT / HTTP/1.1\r\nContent-Length: 5\r\n\r\n\r\n\r\nXGET / HTTP/1.1\r\n\r\n",
                vec![plain(), plain()],
            ),
            (
                "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                 5;x=y\r\n\r\n\r\n!\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1\r\n\r\n",
                vec![plain(), plain()],
            ),
            (
                "PUT / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                vec![notes(true, &[])],
            ),
            (
                "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\ncontent-length: 1\r\n\r\n",
                vec![notes(true, &[])],
            ),
            (
                "PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                vec![notes(true, &[])],
            ),
            (
                "PUT / HTTP/1.1\r\nX-MS-Meta-MyKey: a\r\nx-ms-meta-other: b\r\nx-ms-met: c\r\n\r\n",
                vec![notes(false, &["MyKey", "other"])],
            ),
            ("PUT / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", vec![notes(true, &[])]),
            ("PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\nGET / HTTP/1.1\r\n\r\n", vec![]),
            // What hyper takes for one long trailer must not be a head to us.
            (
                "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                 0\r\n\nGET / HTTP/1.1\r\n\r\n",
                vec![plain()],
            ),
            (
                "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                 0\r\nX: y\n\r\nGET / HTTP/1.1\r\n\r\n",
                vec![plain()],
            ),
        ] {
            for step in [1, 3, bytes.len()] {
                let mut framing = Framing::default();
                let mut seen = Vec::new();
                for piece in bytes.as_bytes().chunks(step) {
                    framing.feed(piece, |notes| seen.push(notes));
                }
                assert_eq!(seen, want, "{bytes:?} by {step}");
            }
        }
    }

    #[test]
    fn lines_are_bounded() {
        let mut framing = Framing::default();
        framing.feed(&vec![b'a'; REQUEST_HEAD_BYTES + 1], |_| ());
        assert_eq!(framing.state, State::Lost);
        assert!(framing.line.len() <= REQUEST_HEAD_BYTES);
    }
}
