//! SESSION_SETUP, TREE_CONNECT and the commands whose body says nothing.
//!
//! Must never look into a token or a path: their owners do.

use super::cursor::{Malformed, Reader, Writer, length16, slice, utf16};
use super::header::HEADER_BYTES;

/// SESSION_SETUP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetupRequest {
    /// Whether it binds a session of another connection.
    pub binding: bool,
    /// Bit 1: signing enabled; bit 2: required.
    pub security_mode: u8,
    /// A session of this client that has been lost.
    pub previous: u64,
    /// What SPNEGO or NTLM says.
    pub token: Vec<u8>,
}

impl SetupRequest {
    /// Reads one.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::starting_at(element, HEADER_BYTES);
        if reader.u16()? != 25 {
            return Err(Malformed);
        }
        let flags = reader.u8()?;
        let security_mode = reader.u8()?;
        reader.skip(8)?;
        let (offset, length) = (reader.u16()?, reader.u16()?);
        let previous = reader.u64()?;
        let token = slice(element, usize::from(offset), usize::from(length))?.to_vec();
        Ok(Self { binding: flags & 1 != 0, security_mode, previous, token })
    }
}

/// Session flag: everything has to be encrypted.
pub const ENCRYPT_DATA: u16 = 4;

/// The body of SESSION_SETUP's answer.
pub fn setup_response(flags: u16, token: &[u8]) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(9).u16(flags).u16(length16(HEADER_BYTES + 8)).u16(length16(token.len())).bytes(token);
    to.finish()
}

/// The path of TREE_CONNECT, in UTF-16 units.
pub fn tree_connect(element: &[u8]) -> Result<Vec<u16>, Malformed> {
    let mut reader = Reader::starting_at(element, HEADER_BYTES);
    if reader.u16()? != 9 {
        return Err(Malformed);
    }
    let flags = reader.u16()?;
    let (mut offset, length) = (usize::from(reader.u16()?), usize::from(reader.u16()?));
    if flags & 4 != 0 {
        // With the extension, the offset counts from the extension's own start.
        offset = offset.checked_add(reader.position()).ok_or(Malformed)?;
    }
    utf16(slice(element, offset, length)?)
}

/// What a tree is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShareType {
    /// Files.
    Disk,
    /// Named pipes.
    Pipe,
}

/// The body of TREE_CONNECT's answer.
pub fn tree_response(share: ShareType, flags: u32, maximal_access: u32) -> Vec<u8> {
    let kind = match share {
        ShareType::Disk => 1,
        ShareType::Pipe => 2,
    };
    let mut to = Writer::new();
    to.u16(16).u8(kind).u8(0).u32(flags).u32(0).u32(maximal_access);
    to.finish()
}

/// Whether the body is the four bytes of LOGOFF, TREE_DISCONNECT, CANCEL and ECHO.
pub fn empty(element: &[u8]) -> Result<(), Malformed> {
    match Reader::starting_at(element, HEADER_BYTES).u16()? {
        4 => Ok(()),
        _ => Err(Malformed),
    }
}

/// The body of an answer that says nothing.
pub fn empty_response() -> Vec<u8> {
    vec![4, 0, 0, 0]
}

/// The body of a refusal; `data` says more for a few of them.
pub fn error_response(data: &[u8]) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(9).u16(0).length(data.len());
    if data.is_empty() {
        to.u8(0);
    } else {
        to.bytes(data);
    }
    to.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_lie_within_the_element() {
        let element = |offset: u16, length: u16| {
            let mut to = Writer::new();
            to.zeros(HEADER_BYTES).u16(25).u8(1).u8(2).u32(0).u32(0).u16(offset).u16(length);
            to.u64(7).bytes(b"token");
            to.finish()
        };
        let read = SetupRequest::parse(&element(88, 5)).expect("whole");
        let want =
            SetupRequest { binding: true, security_mode: 2, previous: 7, token: b"token".to_vec() };
        assert_eq!(read, want);
        assert_eq!(SetupRequest::parse(&element(89, 5)), Err(Malformed));
        assert_eq!(SetupRequest::parse(&element(u16::MAX, u16::MAX)), Err(Malformed));
    }

    #[test]
    fn paths_are_whole_units() {
        let element = |length: u16| {
            let mut to = Writer::new();
            to.zeros(HEADER_BYTES).u16(9).u16(0).u16(72).u16(length).bytes(b"a\0b\0");
            to.finish()
        };
        assert_eq!(tree_connect(&element(4)), Ok(vec![97, 98]));
        assert_eq!(tree_connect(&element(3)), Err(Malformed));
        assert_eq!(tree_connect(&element(6)), Err(Malformed));
    }
}
