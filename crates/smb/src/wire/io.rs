//! READ, WRITE, FLUSH, LOCK and IOCTL.
//!
//! Must never copy a payload more than once.

use super::FileId;
use super::cursor::{Malformed, Reader, Writer, index, length16, slice};
use super::header::HEADER_BYTES;
use bytes::Bytes;

fn body(element: &[u8], size: u16) -> Result<Reader<'_>, Malformed> {
    let mut reader = Reader::starting_at(element, HEADER_BYTES);
    if reader.u16()? == size { Ok(reader) } else { Err(Malformed) }
}

/// READ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadRequest {
    /// How much.
    pub length: u32,
    /// From where.
    pub offset: u64,
    /// Which handle.
    pub file: FileId,
    /// Fewer bytes than this are none.
    pub minimum: u32,
}

impl ReadRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = body(element, 49)?;
        reader.skip(2)?;
        let length = reader.u32()?;
        let offset = reader.u64()?;
        let file = FileId::read(&mut reader)?;
        let minimum = reader.u32()?;
        Ok(Self { length, offset, file, minimum })
    }
}

/// The body of READ's answer, made around the bytes.
pub fn read_response(data: &[u8]) -> Vec<u8> {
    let mut body = read_head(data.len());
    body.extend_from_slice(data);
    body
}

/// The same without the bytes, which come behind it.
pub fn read_head(length: usize) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(17).u8(80).u8(0).length(length).u32(0).u32(0);
    if length == 0 {
        to.u8(0);
    }
    to.finish()
}

/// WRITE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteRequest {
    /// To where.
    pub offset: u64,
    /// Which handle.
    pub file: FileId,
    /// 1: not acknowledged before it is durable.
    pub flags: u32,
    /// The bytes.
    pub data: Bytes,
}

impl WriteRequest {
    /// Reads one; its bytes are copied.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        Self::parse_shared(&Bytes::copy_from_slice(element))
    }

    /// Reads one; its bytes stay where they are.
    pub fn parse_shared(element: &Bytes) -> Result<Self, Malformed> {
        let mut reader = body(element, 49)?;
        let data_at = reader.u16()?;
        let length = reader.u32()?;
        let offset = reader.u64()?;
        let file = FileId::read(&mut reader)?;
        reader.skip(12)?;
        let flags = reader.u32()?;
        let data = slice(element, usize::from(data_at), index(length))?;
        Ok(Self { offset, file, flags, data: element.slice_ref(data) })
    }
}

/// The body of WRITE's answer.
pub fn write_response(written: usize) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(17).u16(0).length(written).u32(0).u32(0);
    to.finish()
}

/// The handle of FLUSH.
pub fn flush(element: &[u8]) -> Result<FileId, Malformed> {
    let mut reader = body(element, 24)?;
    reader.skip(6)?;
    FileId::read(&mut reader)
}

/// One range of LOCK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockElement {
    /// From where.
    pub offset: u64,
    /// How long.
    pub length: u64,
    /// Shared 1, exclusive 2, unlock 4, fail immediately 16.
    pub flags: u32,
}

/// LOCK.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockRequest {
    /// Number in the low four bits, index above them.
    pub sequence: u32,
    /// Which handle.
    pub file: FileId,
    /// The ranges, at least one.
    pub elements: Vec<LockElement>,
}

/// Most ranges in one LOCK.
const MOST_LOCKS: u16 = 4096;

impl LockRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = body(element, 48)?;
        let count = reader.u16()?;
        let sequence = reader.u32()?;
        let file = FileId::read(&mut reader)?;
        if count == 0 || count > MOST_LOCKS {
            return Err(Malformed);
        }
        let mut elements = Vec::new();
        for _ in 0..count {
            let (offset, length, flags) = (reader.u64()?, reader.u64()?, reader.u32()?);
            reader.skip(4)?;
            elements.push(LockElement { offset, length, flags });
        }
        Ok(Self { sequence, file, elements })
    }
}

/// IOCTL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IoctlRequest {
    /// Which control.
    pub code: u32,
    /// Which handle; FFFF… where none is needed.
    pub file: FileId,
    /// What it is given.
    pub input: Vec<u8>,
    /// Most bytes of input in the answer.
    pub max_input: u32,
    /// Most bytes of output in the answer.
    pub max_output: u32,
    /// 1: an FSCTL.
    pub flags: u32,
}

impl IoctlRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = body(element, 57)?;
        reader.skip(2)?;
        let code = reader.u32()?;
        let file = FileId::read(&mut reader)?;
        let (input_at, input_length) = (reader.u32()?, reader.u32()?);
        let max_input = reader.u32()?;
        reader.skip(8)?;
        let max_output = reader.u32()?;
        let flags = reader.u32()?;
        let input = slice(element, index(input_at), index(input_length))?.to_vec();
        Ok(Self { code, file, input, max_input, max_output, flags })
    }
}

/// The body of IOCTL's answer.
pub fn ioctl_response(code: u32, file: FileId, output: &[u8]) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(49).u16(0).u32(code);
    file.write(&mut to);
    let at = u32::from(length16(HEADER_BYTES + 48));
    to.u32(at).u32(0).u32(at).length(output.len()).u32(0).u32(0).bytes(output);
    to.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_carry_what_lies_within() {
        let element = |at: u16, length: u32| {
            let mut to = Writer::new();
            to.zeros(HEADER_BYTES).u16(49).u16(at).u32(length).u64(5).u64(1).u64(2);
            to.zeros(12).u32(1).bytes(b"data");
            to.finish()
        };
        let read = WriteRequest::parse(&element(112, 4)).expect("whole");
        assert_eq!((read.offset, &read.data[..]), (5, &b"data"[..]));
        assert_eq!(WriteRequest::parse(&element(112, 5)), Err(Malformed));
        assert_eq!(WriteRequest::parse(&element(112, u32::MAX)), Err(Malformed));
    }

    #[test]
    fn locks_name_at_least_one_range() {
        let element = |count: u16, ranges: usize| {
            let mut to = Writer::new();
            to.zeros(HEADER_BYTES).u16(48).u16(count).u32(0).u64(1).u64(2).zeros(24 * ranges);
            to.finish()
        };
        assert_eq!(LockRequest::parse(&element(2, 2)).expect("whole").elements.len(), 2);
        assert_eq!(LockRequest::parse(&element(0, 1)), Err(Malformed));
        assert_eq!(LockRequest::parse(&element(2, 1)), Err(Malformed));
    }

    #[test]
    fn answers_have_their_sizes() {
        assert_eq!(read_response(&[1, 2]).len(), 18);
        assert_eq!(write_response(1).len(), 16);
        let file = FileId::RELATED;
        assert_eq!(ioctl_response(1, file, &[]).len(), 48);
    }
}
