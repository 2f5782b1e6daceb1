//! Create contexts: a chain of tagged blobs in CREATE and its answer.
//!
//! Must never fail because of a tag it does not know; a chain that breaks its own bounds does.

use super::cursor::{Malformed, Reader, Writer, index, length16, slice};

/// One context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// Its tag, four bytes for most.
    pub name: Vec<u8>,
    /// What it says.
    pub data: Vec<u8>,
}

impl Context {
    /// A context with one of the usual tags.
    pub fn new(name: [u8; 4], data: Vec<u8>) -> Self {
        Self { name: name.to_vec(), data }
    }
}

/// Most contexts in one chain.
const MOST: usize = 32;

/// Reads a chain.
pub fn parse_chain(mut bytes: &[u8]) -> Result<Vec<Context>, Malformed> {
    let mut found = Vec::new();
    if bytes.is_empty() {
        return Ok(found);
    }
    loop {
        if found.len() == MOST {
            return Err(Malformed);
        }
        let mut reader = Reader::new(bytes);
        let next = index(reader.u32()?);
        let name_at = usize::from(reader.u16()?);
        let name_length = usize::from(reader.u16()?);
        reader.skip(2)?;
        let data_at = usize::from(reader.u16()?);
        let data_length = index(reader.u32()?);
        let whole = if next == 0 { bytes } else { bytes.get(..next).ok_or(Malformed)? };
        if name_length == 0 || name_at < 16 || (data_length > 0 && data_at < name_at + name_length)
        {
            return Err(Malformed);
        }
        found.push(Context {
            name: slice(whole, name_at, name_length)?.to_vec(),
            data: slice(whole, data_at, data_length)?.to_vec(),
        });
        if next == 0 {
            return Ok(found);
        }
        if !next.is_multiple_of(8) || next < 16 {
            return Err(Malformed);
        }
        bytes = bytes.get(next..).ok_or(Malformed)?;
    }
}

/// Writes a chain.
pub fn write_chain(contexts: &[Context]) -> Vec<u8> {
    let mut to = Writer::new();
    for (at, context) in contexts.iter().enumerate() {
        let start = to.len();
        let data_at = (16 + context.name.len()).next_multiple_of(8);
        to.u32(0).u16(16).u16(length16(context.name.len())).u16(0);
        to.u16(if context.data.is_empty() { 0 } else { length16(data_at) });
        to.length(context.data.len()).bytes(&context.name);
        to.align(8).bytes(&context.data);
        if at + 1 < contexts.len() {
            to.align(8);
            let next = super::cursor::length32(to.len() - start);
            to.set_u32(start, next);
        }
    }
    to.finish()
}

/// `RqLs`: a lease is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeaseRequest {
    /// The client's key.
    pub key: [u8; 16],
    /// Read 1, handle 2, write 4.
    pub state: u32,
    /// Flags; 4: the parent key is set (version 2).
    pub flags: u32,
    /// The second version's parent key and epoch.
    pub v2: Option<([u8; 16], u16)>,
}

impl LeaseRequest {
    /// Reads either version.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(data);
        let key = reader.array()?;
        let state = reader.u32()?;
        let flags = reader.u32()?;
        reader.skip(8)?;
        let v2 = match data.len() {
            32 => None,
            52 => Some((reader.array()?, reader.u16()?)),
            _ => return Err(Malformed),
        };
        Ok(Self { key, state, flags, v2 })
    }

    /// The answer has the same layout.
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.bytes(&self.key).u32(self.state).u32(self.flags).u64(0);
        if let Some((parent, epoch)) = self.v2 {
            to.bytes(&parent).u16(epoch).u16(0);
        }
        to.finish()
    }
}

/// `DH2Q`: a durable handle, second version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DurableRequest {
    /// Milliseconds it should outlive its connection; 0: as the server likes.
    pub timeout: u32,
    /// 2: persistent.
    pub flags: u32,
    /// The client's id of this create.
    pub guid: [u8; 16],
}

impl DurableRequest {
    /// Reads one.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        if data.len() != 32 {
            return Err(Malformed);
        }
        let mut reader = Reader::new(data);
        let (timeout, flags) = (reader.u32()?, reader.u32()?);
        reader.skip(8)?;
        Ok(Self { timeout, flags, guid: reader.array()? })
    }

    /// The answer's data.
    pub fn response(timeout: u32, flags: u32) -> Vec<u8> {
        let mut to = Writer::new();
        to.u32(timeout).u32(flags);
        to.finish()
    }
}

/// `DH2C`: a durable handle is taken up again, second version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DurableReconnect {
    /// Persistent part of the FileId.
    pub persistent: u64,
    /// Volatile part, as it was.
    pub volatile: u64,
    /// The client's id of the create.
    pub guid: [u8; 16],
    /// 2: persistent.
    pub flags: u32,
}

impl DurableReconnect {
    /// Reads one.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        if data.len() != 36 {
            return Err(Malformed);
        }
        let mut reader = Reader::new(data);
        let (persistent, volatile) = (reader.u64()?, reader.u64()?);
        Ok(Self { persistent, volatile, guid: reader.array()?, flags: reader.u32()? })
    }

    /// The first version's data: the FileId alone.
    pub fn first_version(data: &[u8]) -> Result<(u64, u64), Malformed> {
        if data.len() != 16 {
            return Err(Malformed);
        }
        let mut reader = Reader::new(data);
        Ok((reader.u64()?, reader.u64()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let chain = vec![
            Context::new(*b"MxAc", vec![1, 2, 3]),
            Context::new(*b"QFid", Vec::new()),
            Context { name: vec![7; 16], data: vec![9; 40] },
        ];
        let bytes = write_chain(&chain);
        assert_eq!(parse_chain(&bytes), Ok(chain));
        for length in 1..bytes.len() {
            assert_eq!(parse_chain(&bytes[..length]), Err(Malformed), "{length}");
        }
        assert_eq!(parse_chain(&[]), Ok(Vec::new()));
    }

    #[test]
    fn leases_have_two_versions() {
        let first = LeaseRequest { key: [1; 16], state: 7, flags: 0, v2: None };
        let second = LeaseRequest { v2: Some(([2; 16], 3)), ..first };
        for lease in [first, second] {
            assert_eq!(LeaseRequest::parse(&lease.write()), Ok(lease));
        }
        assert_eq!(LeaseRequest::parse(&[0; 40]), Err(Malformed));
    }
}
