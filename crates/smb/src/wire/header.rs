//! The 64-byte header of every message, and the header of encrypted ones.
//!
//! Must never interpret what a command carries.

use super::cursor::{Malformed, Reader, Writer, index};

/// Bytes of a header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of the header of an encrypted message.
pub const TRANSFORM_BYTES: usize = 52;
/// Where the signature is.
pub const SIGNATURE: std::ops::Range<usize> = 48..64;

const PROTOCOL: [u8; 4] = [0xFE, b'S', b'M', b'B'];
const TRANSFORM: [u8; 4] = [0xFD, b'S', b'M', b'B'];
const SMB1: [u8; 4] = [0xFF, b'S', b'M', b'B'];

/// What the first bytes of a message say it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// SMB 2 or 3.
    Plain,
    /// SMB 3, encrypted.
    Encrypted,
    /// SMB 1: only a NEGOTIATE that asks for more is understood.
    Smb1,
}

/// What kind of message this is.
pub fn kind(message: &[u8]) -> Result<Kind, Malformed> {
    match Reader::new(message).array::<4>()? {
        PROTOCOL => Ok(Kind::Plain),
        TRANSFORM => Ok(Kind::Encrypted),
        SMB1 => Ok(Kind::Smb1),
        _ => Err(Malformed),
    }
}

/// Flag: this is a response.
pub const RESPONSE: u32 = 0x1;
/// Flag: the header holds an AsyncId.
pub const ASYNC: u32 = 0x2;
/// Flag: uses the session, tree and file of the request before.
pub const RELATED: u32 = 0x4;
/// Flag: signed.
pub const SIGNED: u32 = 0x8;
/// Flag: sent before, the answer got lost.
pub const REPLAY: u32 = 0x2000_0000;

/// The commands, closed: a number that is not here has no handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub enum Command {
    Negotiate,
    SessionSetup,
    Logoff,
    TreeConnect,
    TreeDisconnect,
    Create,
    Close,
    Flush,
    Read,
    Write,
    Lock,
    Ioctl,
    Cancel,
    Echo,
    QueryDirectory,
    ChangeNotify,
    QueryInfo,
    SetInfo,
    OplockBreak,
}

impl Command {
    const ALL: [Self; 19] = [
        Self::Negotiate,
        Self::SessionSetup,
        Self::Logoff,
        Self::TreeConnect,
        Self::TreeDisconnect,
        Self::Create,
        Self::Close,
        Self::Flush,
        Self::Read,
        Self::Write,
        Self::Lock,
        Self::Ioctl,
        Self::Cancel,
        Self::Echo,
        Self::QueryDirectory,
        Self::ChangeNotify,
        Self::QueryInfo,
        Self::SetInfo,
        Self::OplockBreak,
    ];

    /// The command of that number.
    pub fn of(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// A header as it was read, or as it will be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// How many credits the request costs.
    pub credit_charge: u16,
    /// Status of a response; channel sequence of a request.
    pub status: u32,
    /// The number of the command.
    pub command: u16,
    /// Credits asked for, or granted.
    pub credits: u16,
    /// See the constants.
    pub flags: u32,
    /// Where the next element of a chain begins; 0 in the last.
    pub next: u32,
    /// Which request this is, or answers.
    pub message_id: u64,
    /// ProcessId and TreeId, or the AsyncId.
    pub target: Target,
    /// The session.
    pub session_id: u64,
    /// The signature; zeros if not signed.
    pub signature: [u8; 16],
}

/// The eight bytes with two meanings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A plain request or response.
    Tree {
        /// Opaque to us; comes back as it was.
        process: u32,
        /// The tree connect.
        tree: u32,
    },
    /// A response that comes later, and what cancels it.
    Async(u64),
}

impl Header {
    /// Reads one from the start of an element.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(element);
        if reader.array::<4>()? != PROTOCOL || reader.u16()? != 64 {
            return Err(Malformed);
        }
        let credit_charge = reader.u16()?;
        let status = reader.u32()?;
        let command = reader.u16()?;
        let credits = reader.u16()?;
        let flags = reader.u32()?;
        let next = reader.u32()?;
        let message_id = reader.u64()?;
        let target = if flags & ASYNC == 0 {
            Target::Tree { process: reader.u32()?, tree: reader.u32()? }
        } else {
            Target::Async(reader.u64()?)
        };
        let session_id = reader.u64()?;
        let signature = reader.array()?;
        Ok(Self {
            credit_charge,
            status,
            command,
            credits,
            flags,
            next,
            message_id,
            target,
            session_id,
            signature,
        })
    }

    /// Appends the 64 bytes; the signature is left to whoever signs.
    pub fn write(&self, to: &mut Writer) {
        to.bytes(&PROTOCOL).u16(64).u16(self.credit_charge).u32(self.status).u16(self.command);
        to.u16(self.credits).u32(self.flags).u32(self.next).u64(self.message_id);
        match self.target {
            Target::Tree { process, tree } => to.u32(process).u32(tree),
            Target::Async(id) => to.u64(id),
        };
        to.u64(self.session_id).bytes(&self.signature);
    }

    /// The TreeId; none in asynchronous headers.
    pub fn tree(&self) -> u32 {
        match self.target {
            Target::Tree { tree, .. } => tree,
            Target::Async(_) => 0,
        }
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Cuts a chain into its elements. Every element is at least a header, and all but the first begin
/// at a multiple of 8.
pub fn elements(message: &[u8]) -> Result<Vec<&[u8]>, Malformed> {
    let mut found = Vec::new();
    let mut rest = message;
    loop {
        if found.len() == crate::limits::CHAIN_ELEMENTS {
            return Err(Malformed);
        }
        let next = index(Header::parse(rest)?.next);
        if next == 0 {
            found.push(rest);
            return Ok(found);
        }
        if next < HEADER_BYTES || !next.is_multiple_of(8) || next >= rest.len() {
            return Err(Malformed);
        }
        let (element, after) = rest.split_at(next);
        found.push(element);
        rest = after;
    }
}

/// The header of an encrypted message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransformHeader {
    /// The authentication tag.
    pub tag: [u8; 16],
    /// The nonce; its tail is unused.
    pub nonce: [u8; 16],
    /// Length of the message within.
    pub size: u32,
    /// Whose keys.
    pub session_id: u64,
}

impl TransformHeader {
    /// Reads one; what follows has to be exactly the message.
    pub fn parse(message: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(message);
        if reader.array::<4>()? != TRANSFORM {
            return Err(Malformed);
        }
        let tag = reader.array()?;
        let nonce = reader.array()?;
        let size = reader.u32()?;
        reader.skip(2)?;
        let encrypted = reader.u16()?;
        let session_id = reader.u64()?;
        if encrypted != 1 || index(size) != reader.rest().len() || index(size) < HEADER_BYTES {
            return Err(Malformed);
        }
        Ok(Self { tag, nonce, size, session_id })
    }

    /// The 52 bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.bytes(&TRANSFORM).bytes(&self.tag).bytes(&self.nonce).u32(self.size);
        to.u16(0).u16(1).u64(self.session_id);
        to.finish()
    }

    /// Where the bytes that are authenticated but not encrypted begin; they end with the header.
    pub const AAD_FROM: usize = 20;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(next: u32) -> Vec<u8> {
        let header = Header {
            credit_charge: 1,
            status: 2,
            command: 3,
            credits: 4,
            flags: 5,
            next,
            message_id: 6,
            target: Target::Tree { process: 7, tree: 8 },
            session_id: 9,
            signature: [10; 16],
        };
        let mut to = Writer::new();
        header.write(&mut to);
        to.finish()
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = header(0);
        let mut to = Writer::new();
        Header::parse(&bytes).expect("whole").write(&mut to);
        assert_eq!(to.finish(), bytes);
        for length in 0..HEADER_BYTES {
            assert_eq!(Header::parse(&bytes[..length]), Err(Malformed));
        }
    }

    #[test]
    fn chains() {
        let with = |first: u32, length: usize| {
            let mut chain = header(first);
            chain.resize(length, 0);
            chain.extend(header(0));
            chain
        };
        let shapes: Vec<_> =
            elements(&with(72, 72)).expect("a chain").iter().map(|e| e.len()).collect();
        assert_eq!(shapes, [72, 64]);
        for (next, length) in [(71, 71), (56, 64), (64, 72), (200, 72), (u32::MAX, 72)] {
            assert_eq!(elements(&with(next, length)), Err(Malformed), "{next}");
        }
        let endless: Vec<u8> = (0..200).flat_map(|_| header(64)).chain(header(0)).collect();
        assert_eq!(elements(&endless), Err(Malformed));
    }

    #[test]
    fn transform_headers_tell_the_exact_length() {
        let header = TransformHeader { tag: [1; 16], nonce: [2; 16], size: 64, session_id: 3 };
        let mut message = header.write();
        assert_eq!(message.len(), TRANSFORM_BYTES);
        message.resize(TRANSFORM_BYTES + 64, 0);
        assert_eq!(TransformHeader::parse(&message), Ok(header));
        assert_eq!(TransformHeader::parse(&message[..message.len() - 1]), Err(Malformed));
        message.push(0);
        assert_eq!(TransformHeader::parse(&message), Err(Malformed));
    }
}
