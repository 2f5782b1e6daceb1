//! QUERY_DIRECTORY, CHANGE_NOTIFY, QUERY_INFO and SET_INFO.
//!
//! Must never know what a class holds: `files::info` does.

use super::FileId;
use super::cursor::{Malformed, Reader, Writer, index, length16, slice, utf16};
use super::header::HEADER_BYTES;

/// QUERY_DIRECTORY.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectoryRequest {
    /// Which layout entries have.
    pub class: u8,
    /// Restart 1, single 2, index 4, reopen 16.
    pub flags: u8,
    /// Which handle.
    pub file: FileId,
    /// The pattern in UTF-16 units.
    pub pattern: Vec<u16>,
    /// Most bytes of the answer.
    pub output: u32,
}

impl DirectoryRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = body(element, 33)?;
        let (class, flags) = (reader.u8()?, reader.u8()?);
        reader.skip(4)?;
        let file = FileId::read(&mut reader)?;
        let (at, length) = (reader.u16()?, reader.u16()?);
        let output = reader.u32()?;
        let pattern = utf16(slice(element, usize::from(at), usize::from(length))?)?;
        Ok(Self { class, flags, file, pattern, output })
    }
}

/// CHANGE_NOTIFY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotifyRequest {
    /// Whether everything below is watched too.
    pub tree: bool,
    /// Most bytes of the answer.
    pub output: u32,
    /// Which handle.
    pub file: FileId,
    /// Which changes.
    pub filter: u32,
}

impl NotifyRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = body(element, 32)?;
        let flags = reader.u16()?;
        let output = reader.u32()?;
        let file = FileId::read(&mut reader)?;
        let filter = reader.u32()?;
        Ok(Self { tree: flags & 1 != 0, output, file, filter })
    }
}

/// QUERY_INFO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryRequest {
    /// File 1, file system 2, security 3, quota 4.
    pub kind: u8,
    /// The class of that kind.
    pub class: u8,
    /// Most bytes of the answer.
    pub output: u32,
    /// What the class is given.
    pub input: Vec<u8>,
    /// Which parts of a security descriptor.
    pub additional: u32,
    /// Which handle.
    pub file: FileId,
}

impl QueryRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = body(element, 41)?;
        let (kind, class) = (reader.u8()?, reader.u8()?);
        let output = reader.u32()?;
        let at = reader.u16()?;
        reader.skip(2)?;
        let length = reader.u32()?;
        let additional = reader.u32()?;
        reader.skip(4)?;
        let file = FileId::read(&mut reader)?;
        let input = slice(element, usize::from(at), index(length))?.to_vec();
        Ok(Self { kind, class, output, input, additional, file })
    }
}

/// SET_INFO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetRequest {
    /// File 1, file system 2, security 3, quota 4.
    pub kind: u8,
    /// The class of that kind.
    pub class: u8,
    /// Which parts of a security descriptor.
    pub additional: u32,
    /// Which handle.
    pub file: FileId,
    /// What is set.
    pub data: Vec<u8>,
}

impl SetRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = body(element, 33)?;
        let (kind, class) = (reader.u8()?, reader.u8()?);
        let length = reader.u32()?;
        let at = reader.u16()?;
        reader.skip(2)?;
        let additional = reader.u32()?;
        let file = FileId::read(&mut reader)?;
        let data = slice(element, usize::from(at), index(length))?.to_vec();
        Ok(Self { kind, class, additional, file, data })
    }
}

fn body(element: &[u8], size: u16) -> Result<Reader<'_>, Malformed> {
    let mut reader = Reader::starting_at(element, HEADER_BYTES);
    if reader.u16()? == size { Ok(reader) } else { Err(Malformed) }
}

/// The body of an answer that is a buffer: QUERY_DIRECTORY, CHANGE_NOTIFY and QUERY_INFO.
pub fn buffer_response(output: &[u8]) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(9).u16(length16(HEADER_BYTES + 8)).length(output.len());
    if output.is_empty() {
        to.u8(0);
    }
    to.bytes(output);
    to.finish()
}

/// The body of SET_INFO's answer.
pub fn set_response() -> Vec<u8> {
    vec![2, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_lie_within() {
        let element = |length: u32| {
            let mut to = Writer::new();
            to.zeros(HEADER_BYTES).u16(33).u8(1).u8(4).u32(length).u16(96).u16(0).u32(7);
            to.u64(1).u64(2).bytes(&[5; 8]);
            to.finish()
        };
        let read = SetRequest::parse(&element(8)).expect("whole");
        assert_eq!((read.class, read.data.len(), read.additional), (4, 8, 7));
        assert_eq!(SetRequest::parse(&element(9)), Err(Malformed));
        assert_eq!(buffer_response(&[]).len(), 9);
        assert_eq!(buffer_response(&[1]).len(), 9);
    }
}
