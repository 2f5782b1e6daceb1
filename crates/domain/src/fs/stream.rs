//! Named streams: `file:stream:$DATA`, where the server is told to have them. A stream is a file in
//! a directory of its own that no path leads to.
//!
//! Must never let a stream's name be taken for that of a file.

use super::{EntryName, FileId, FileRefusal};

/// Which stream of a file or directory is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stream {
    /// The file itself, said with its type: `file::$DATA`.
    Unnamed,
    /// One with a name.
    Named(EntryName),
}

/// The only type of streams that clients may name.
const DATA: &str = "$DATA";

/// Bit of an id that no file has: ids are moments, and those are far in the future.
const STREAMS: u64 = 1 << 63;

impl FileId {
    /// What the streams of this are in.
    #[must_use]
    pub const fn streams(self) -> Self {
        Self(self.0 | STREAMS)
    }

    /// What it has the streams of, if it is what streams are in.
    pub const fn has_streams_of(self) -> Option<Self> {
        if self.0 & STREAMS == 0 { None } else { Some(Self(self.0 & !STREAMS)) }
    }
}

impl Stream {
    /// The last part of a path as the name of the file and the stream that is meant, if one is.
    pub fn split(text: &str) -> Result<(&str, Option<Self>), FileRefusal> {
        let mut parts = text.split(':');
        let file = parts.next().unwrap_or_default();
        let (name, kind, more) = (parts.next(), parts.next(), parts.next());
        let Some(name) = name else { return Ok((text, None)) };
        let is_data = kind.is_none_or(|kind| kind.eq_ignore_ascii_case(DATA));
        if more.is_some() || !is_data || file.is_empty() {
            return Err(FileRefusal::InvalidResourceName);
        }
        if name.is_empty() && kind.is_some() {
            return Ok((file, Some(Self::Unnamed)));
        }
        Ok((file, Some(Self::Named(EntryName::of_stream(name)?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let named = |text: &str| EntryName::of_stream(text).map(Stream::Named);
        for (text, want) in [
            ("f", Ok(("f", None))),
            ("f:s", named("s").map(|s| ("f", Some(s)))),
            ("f:s:$DATA", named("s").map(|s| ("f", Some(s)))),
            ("f:s:$dAtA", named("s").map(|s| ("f", Some(s)))),
            ("f:?a*\u{5}\n", named("?a*\u{5}\n").map(|s| ("f", Some(s)))),
            ("f::$DATA", Ok(("f", Some(Stream::Unnamed)))),
        ] {
            assert_eq!(Stream::split(text), want, "{text}");
        }
        for text in
            ["f:", "f::", "f:s:", "f:s:$FOO", "f:s:$DATA:", ":s", "f:a\0", "f:a/b", "f:a\\b"]
        {
            assert_eq!(Stream::split(text), Err(FileRefusal::InvalidResourceName), "{text}");
        }
        assert!(EntryName::of_stream(&"é".repeat(255)).is_ok());
        let long = "é".repeat(256);
        assert_eq!(EntryName::of_stream(&long), Err(FileRefusal::InvalidPath));
    }

    #[test]
    fn streams_are_in_a_place_of_their_own() {
        let file = FileId(0x0123_4567_89AB_CDEF);
        assert_eq!(file.has_streams_of(), None);
        assert_eq!(file.streams().has_streams_of(), Some(file));
        assert_eq!(file.streams().streams(), file.streams());
        assert_eq!(FileId::ROOT.streams().has_streams_of(), Some(FileId::ROOT));
    }
}
