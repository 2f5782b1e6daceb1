//! OPLOCK_BREAK: the server's notices, the client's acknowledgements and their answers.
//!
//! Must never decide whether an acknowledgement is right: the open table does.

use super::FileId;
use super::cursor::{Malformed, Reader, Writer};
use super::header::{HEADER_BYTES, Header, RESPONSE, Target};

/// What a client acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledgement {
    /// Of a classic oplock: the level it keeps.
    Oplock {
        /// The level.
        level: u8,
        /// Which handle.
        file: FileId,
    },
    /// Of a lease: the state it keeps.
    Lease {
        /// The client's key.
        key: [u8; 16],
        /// Read 1, handle 2, write 4.
        state: u32,
    },
}

impl Acknowledgement {
    /// Reads either.
    pub fn parse(element: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::starting_at(element, HEADER_BYTES);
        match reader.u16()? {
            24 => {
                let level = reader.u8()?;
                reader.skip(5)?;
                Ok(Self::Oplock { level, file: FileId::read(&mut reader)? })
            }
            36 => {
                reader.skip(6)?;
                Ok(Self::Lease { key: reader.array()?, state: reader.u32()? })
            }
            _ => Err(Malformed),
        }
    }
}

/// The body that tells or confirms a level of a classic oplock.
pub fn oplock_body(level: u8, file: FileId) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(24).u8(level).u8(0).u32(0);
    file.write(&mut to);
    to.finish()
}

/// The body that confirms a lease's state.
pub fn lease_response(key: [u8; 16], state: u32) -> Vec<u8> {
    let mut to = Writer::new();
    to.u16(36).u16(0).u32(0).bytes(&key).u32(state).u64(0);
    to.finish()
}

/// The body of a lease's break.
pub fn lease_break(epoch: u16, acknowledge: bool, key: [u8; 16], from: u32, to: u32) -> Vec<u8> {
    let mut body = Writer::new();
    body.u16(44).u16(epoch).u32(u32::from(acknowledge)).bytes(&key).u32(from).u32(to);
    body.zeros(12);
    body.finish()
}

/// A whole notice: nobody asked for it, so it has no message, session or tree.
pub fn notice(body: &[u8]) -> Vec<u8> {
    const OPLOCK_BREAK: u16 = 0x12;
    let header = Header {
        credit_charge: 0,
        status: 0,
        command: OPLOCK_BREAK,
        credits: 0,
        flags: RESPONSE,
        next: 0,
        message_id: u64::MAX,
        target: Target::Tree { process: 0, tree: 0 },
        session_id: 0,
        signature: [0; 16],
    };
    let mut to = Writer::new();
    header.write(&mut to);
    to.bytes(body);
    to.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_shapes_by_size() {
        let element = |body: &[u8]| [&[0; HEADER_BYTES][..], body].concat();
        let file = FileId { persistent: 1, volatile: 2 };
        let oplock = Acknowledgement::parse(&element(&oplock_body(1, file)));
        assert_eq!(oplock, Ok(Acknowledgement::Oplock { level: 1, file }));
        let lease = Acknowledgement::parse(&element(&lease_response([3; 16], 5)));
        assert_eq!(lease, Ok(Acknowledgement::Lease { key: [3; 16], state: 5 }));
        assert_eq!(Acknowledgement::parse(&element(&[25, 0])), Err(Malformed));
        assert_eq!(lease_break(1, true, [0; 16], 7, 3).len(), 44);
    }
}
