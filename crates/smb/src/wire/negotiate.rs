//! NEGOTIATE: dialects, capabilities and the contexts of 3.1.1; and the one SMB 1 request that is
//! understood, the one that asks for SMB 2.
//!
//! Must never fail because of a context it does not know.

use super::cursor::{Malformed, Reader, Writer, index, length16, slice};
use super::header::HEADER_BYTES;

/// Most dialects a request may list, most contexts it may carry.
const MOST: u16 = 64;

/// What a client offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Bit 1: signing enabled; bit 2: required.
    pub security_mode: u16,
    /// What the client is able to do.
    pub capabilities: u32,
    /// Which client.
    pub client_guid: [u8; 16],
    /// The dialects by number.
    pub dialects: Vec<u16>,
    /// Contexts by kind; only read when 3.1.1 is among the dialects.
    pub contexts: Vec<(u16, Vec<u8>)>,
}

impl Request {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::starting_at(element, HEADER_BYTES);
        if reader.u16()? != 36 {
            return Err(Malformed);
        }
        let count = reader.u16()?;
        let security_mode = reader.u16()?;
        reader.skip(2)?;
        let capabilities = reader.u32()?;
        let client_guid = reader.array()?;
        let context_offset = reader.u32()?;
        let context_count = reader.u16()?;
        reader.skip(2)?;
        if count > MOST {
            return Err(Malformed);
        }
        let dialects = (0..count).map(|_| reader.u16()).collect::<Result<Vec<_>, _>>()?;
        let contexts = if dialects.contains(&0x0311) {
            contexts(element, index(context_offset), context_count)?
        } else {
            Vec::new()
        };
        Ok(Self { security_mode, capabilities, client_guid, dialects, contexts })
    }
}

fn contexts(element: &[u8], from: usize, count: u16) -> Result<Vec<(u16, Vec<u8>)>, Malformed> {
    if count > MOST {
        return Err(Malformed);
    }
    let mut found = Vec::new();
    let mut at = from;
    for _ in 0..count {
        let mut reader = Reader::starting_at(element, at);
        let kind = reader.u16()?;
        let length = reader.u16()?;
        reader.skip(4)?;
        found.push((kind, reader.take(usize::from(length))?.to_vec()));
        at = reader.position().next_multiple_of(8);
    }
    Ok(found)
}

/// The list of numbers in a cipher or signing context.
pub fn numbers(context: &[u8]) -> Result<Vec<u16>, Malformed> {
    let mut reader = Reader::new(context);
    let count = reader.u16()?;
    (0..count).map(|_| reader.u16()).collect()
}

/// The hash algorithms of a preauth context; their salt only has to be there.
pub fn preauth_hashes(context: &[u8]) -> Result<Vec<u16>, Malformed> {
    let mut reader = Reader::new(context);
    let (count, salt) = (reader.u16()?, reader.u16()?);
    let hashes = (0..count).map(|_| reader.u16()).collect::<Result<_, _>>()?;
    reader.skip(usize::from(salt))?;
    Ok(hashes)
}

/// What the server answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// Bit 1: signing enabled; bit 2: required.
    pub security_mode: u16,
    /// The dialect chosen.
    pub dialect: u16,
    /// Which server.
    pub server_guid: [u8; 16],
    /// What the server is able to do on this connection.
    pub capabilities: u32,
    /// Most bytes of a read and of a write.
    pub largest: u32,
    /// Most bytes of a transaction.
    pub largest_transaction: u32,
    /// The time, in 100 ns since 1601.
    pub time: u64,
    /// The first token of SPNEGO.
    pub token: Vec<u8>,
    /// Contexts by kind.
    pub contexts: Vec<(u16, Vec<u8>)>,
}

impl Response {
    /// The body.
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer::new();
        let token_at = HEADER_BYTES + 64;
        let contexts_at = (token_at + self.token.len()).next_multiple_of(8);
        let count = length16(self.contexts.len());
        to.u16(65).u16(self.security_mode).u16(self.dialect).u16(count);
        to.bytes(&self.server_guid).u32(self.capabilities);
        to.u32(self.largest_transaction).u32(self.largest).u32(self.largest);
        to.u64(self.time).u64(0);
        to.u16(length16(token_at)).u16(length16(self.token.len()));
        if self.contexts.is_empty() {
            to.u32(0).bytes(&self.token);
        } else {
            to.length(contexts_at).bytes(&self.token);
            for (kind, data) in &self.contexts {
                to.align(8).u16(*kind).u16(length16(data.len())).u32(0).bytes(data);
            }
        }
        to.finish()
    }
}

/// Which SMB 2 dialects an SMB 1 NEGOTIATE asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Upgrade {
    /// `SMB 2.???`: another NEGOTIATE follows.
    Any,
    /// Only `SMB 2.002`.
    OnlyFirst,
    /// None: an SMB 1 client.
    None,
}

/// Reads an SMB 1 NEGOTIATE.
pub fn upgrade(message: &[u8]) -> Result<Upgrade, Malformed> {
    const NEGOTIATE: u8 = 0x72;
    let mut reader = Reader::starting_at(message, 4);
    if reader.u8()? != NEGOTIATE {
        return Err(Malformed);
    }
    let mut reader = Reader::starting_at(message, 32);
    let words = usize::from(reader.u8()?);
    reader.skip(words * 2)?;
    let length = usize::from(reader.u16()?);
    let dialects = slice(message, reader.position(), length)?;
    let has = |name: &[u8]| dialects.windows(name.len()).any(|window| window == name);
    Ok(if has(b"\x02SMB 2.???\0") {
        Upgrade::Any
    } else if has(b"\x02SMB 2.002\0") {
        Upgrade::OnlyFirst
    } else {
        Upgrade::None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(dialects: &[u16], contexts: &[u8], count: u16) -> Vec<u8> {
        let mut to = Writer::new();
        to.zeros(HEADER_BYTES).u16(36).u16(length16(dialects.len())).u16(1).u16(0).u32(0x7F);
        let at = (HEADER_BYTES + 36 + dialects.len() * 2).next_multiple_of(8);
        to.bytes(&[9; 16]).length(at).u16(count).u16(0);
        for dialect in dialects {
            to.u16(*dialect);
        }
        to.align(8).bytes(contexts);
        to.finish()
    }

    #[test]
    fn contexts_are_read_when_the_dialect_has_them() {
        let two = [1, 0, 2, 0, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 99, 0, 1, 0, 0, 0, 0, 0, 5];
        let read = Request::parse(&element(&[0x0210, 0x0311], &two, 2)).expect("whole");
        assert_eq!(read.contexts, [(1, vec![7, 8]), (99, vec![5])]);
        let read = Request::parse(&element(&[0x0210], &two, 2)).expect("whole");
        assert_eq!(read.contexts, []);
        assert_eq!(Request::parse(&element(&[0x0311], &two, 3)), Err(Malformed));
        assert_eq!(Request::parse(&element(&[0x0311; 65], &[], 0)), Err(Malformed));
    }

    #[test]
    fn upgrades() {
        let message = |dialects: &[u8]| {
            let mut to = Writer::new();
            to.bytes(b"\xFFSMB\x72").zeros(27).u8(0).u16(length16(dialects.len())).bytes(dialects);
            to.finish()
        };
        for (dialects, want) in [
            (&b"\x02NT LM 0.12\0\x02SMB 2.002\0\x02SMB 2.???\0"[..], Upgrade::Any),
            (b"\x02SMB 2.002\0", Upgrade::OnlyFirst),
            (b"\x02NT LM 0.12\0", Upgrade::None),
            (b"", Upgrade::None),
        ] {
            assert_eq!(upgrade(&message(dialects)), Ok(want));
        }
        assert_eq!(upgrade(b"\xFFSMB\x73"), Err(Malformed));
    }
}
