//! CREATE and CLOSE.
//!
//! Must never judge what is asked: a value that means nothing is the handler's to refuse.

use super::FileId;
use super::context::{Context, parse_chain, write_chain};
use super::cursor::{Malformed, Reader, Writer, index, slice, utf16};
use super::header::HEADER_BYTES;
use zaffre_base::limits::FILE_ALLOCATION_BYTES;

/// CREATE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// None 0, II 1, exclusive 8, batch 9, lease 0xFF.
    pub oplock: u8,
    /// Anonymous 0 to delegate 3.
    pub impersonation: u32,
    /// What the client wants to do.
    pub access: u32,
    /// Attributes of what may be made.
    pub attributes: u32,
    /// Read 1, write 2, delete 4.
    pub share_access: u32,
    /// Supersede 0 to overwrite-if 5.
    pub disposition: u32,
    /// The options' bits.
    pub options: u32,
    /// The path from the share's root, in UTF-16 units.
    pub name: Vec<u16>,
    /// What else is asked.
    pub contexts: Vec<Context>,
}

impl Request {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::starting_at(element, HEADER_BYTES);
        if reader.u16()? != 57 {
            return Err(Malformed);
        }
        reader.skip(1)?;
        let oplock = reader.u8()?;
        let impersonation = reader.u32()?;
        reader.skip(16)?;
        let access = reader.u32()?;
        let attributes = reader.u32()?;
        let share_access = reader.u32()?;
        let disposition = reader.u32()?;
        let options = reader.u32()?;
        let (name_at, name_length) = (reader.u16()?, reader.u16()?);
        let (contexts_at, contexts_length) = (reader.u32()?, reader.u32()?);
        let name = utf16(slice(element, usize::from(name_at), usize::from(name_length))?)?;
        let contexts = parse_chain(slice(element, index(contexts_at), index(contexts_length))?)?;
        Ok(Self {
            oplock,
            impersonation,
            access,
            attributes,
            share_access,
            disposition,
            options,
            name,
            contexts,
        })
    }

    /// The data of the context of that tag.
    pub fn context(&self, name: [u8; 4]) -> Option<&[u8]> {
        self.contexts.iter().find(|c| c.name == name).map(|c| c.data.as_slice())
    }
}

/// The four times, sizes and attributes that several answers carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// 100 ns since 1601.
    pub created: u64,
    /// 100 ns since 1601.
    pub accessed: u64,
    /// 100 ns since 1601.
    pub written: u64,
    /// 100 ns since 1601.
    pub changed: u64,
    /// Space it takes.
    pub allocation: u64,
    /// Its length.
    pub end_of_file: u64,
    /// Attribute bits.
    pub attributes: u32,
}

impl Facts {
    /// The same with room for so many bytes at least, in whole units.
    #[must_use]
    pub fn with_reserved(mut self, bytes: u64) -> Self {
        self.allocation = self.allocation.max(bytes.next_multiple_of(FILE_ALLOCATION_BYTES));
        self
    }

    /// The 52 bytes in which times, sizes and attributes follow each other.
    pub fn write(&self, to: &mut Writer) {
        to.u64(self.created).u64(self.accessed).u64(self.written).u64(self.changed);
        to.u64(self.allocation).u64(self.end_of_file).u32(self.attributes);
    }
}

/// The answer to CREATE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// The oplock granted.
    pub oplock: u8,
    /// Superseded 0, opened 1, created 2, overwritten 3.
    pub action: u32,
    /// What was opened.
    pub facts: Facts,
    /// Its handle.
    pub file: FileId,
    /// Answers to contexts.
    pub contexts: Vec<Context>,
}

impl Response {
    /// The body.
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.u16(89).u8(self.oplock).u8(0).u32(self.action);
        self.facts.write(&mut to);
        to.u32(0);
        self.file.write(&mut to);
        if self.contexts.is_empty() {
            to.u32(0).u32(0);
        } else {
            let chain = write_chain(&self.contexts);
            to.length(HEADER_BYTES + 88).length(chain.len()).bytes(&chain);
        }
        to.finish()
    }
}

/// CLOSE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CloseRequest {
    /// Whether the answer tells what the file is like.
    pub with_facts: bool,
    /// Which handle.
    pub file: FileId,
}

impl CloseRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::starting_at(element, HEADER_BYTES);
        if reader.u16()? != 24 {
            return Err(Malformed);
        }
        let flags = reader.u16()?;
        reader.skip(4)?;
        Ok(Self { with_facts: flags & 1 != 0, file: FileId::read(&mut reader)? })
    }
}

/// The body of CLOSE's answer.
pub fn close_response(facts: Option<&Facts>) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(60).u16(u16::from(facts.is_some())).u32(0);
    facts.copied().unwrap_or_default().write(&mut to);
    to.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_keep_their_bounds() {
        let element = |name_length: u16, contexts_at: u32| {
            let mut to = Writer::new();
            to.zeros(HEADER_BYTES).u16(57).u8(0).u8(9).u32(2).zeros(16);
            to.u32(1).u32(2).u32(3).u32(4).u32(5).u16(120).u16(name_length);
            to.u32(contexts_at).u32(24).bytes(b"a\0b\0").align(8);
            to.bytes(&write_chain(&[Context::new(*b"QFid", Vec::new())]));
            to.finish()
        };
        let read = Request::parse(&element(4, 128)).expect("whole");
        assert_eq!((read.oplock, read.access, read.options), (9, 1, 5));
        assert_eq!(read.name, [97, 98]);
        assert_eq!(read.context(*b"QFid"), Some(&[][..]));
        assert_eq!(read.context(*b"MxAc"), None);
        assert_eq!(Request::parse(&element(3, 128)), Err(Malformed));
        assert_eq!(Request::parse(&element(400, 128)), Err(Malformed));
        assert_eq!(Request::parse(&element(4, 136)), Err(Malformed));
    }

    #[test]
    fn sizes_are_what_the_first_field_says() {
        let file = FileId { persistent: 1, volatile: 2 };
        let response =
            Response { oplock: 0, action: 1, facts: Facts::default(), file, contexts: Vec::new() };
        assert_eq!(response.write().len(), 88);
        assert_eq!(close_response(None).len(), 60);
    }
}
