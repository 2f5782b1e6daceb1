//! DCE/RPC over a pipe: bind, request, response, fault; version 5, little-endian, NDR.
//!
//! Must never assemble more than a pipe may hold.

use crate::wire::cursor::{Malformed, Reader, Writer, length16, length32};

const REQUEST: u8 = 0;
const RESPONSE: u8 = 2;
const FAULT: u8 = 3;
const BIND: u8 = 11;
const BIND_ACK: u8 = 12;
const BIND_NAK: u8 = 13;
const ALTER: u8 = 14;
const ALTER_ACK: u8 = 15;

const FIRST: u8 = 1;
const LAST: u8 = 2;

const HEAD: usize = 16;
/// Most bytes of a fragment in either direction.
const FRAGMENT: usize = 4280;
/// Most contexts that a bind may offer.
const MOST_CONTEXTS: u8 = 32;

/// NDR, 32 bits, version 2.
const NDR: [u8; 16] = [
    0x04, 0x5D, 0x88, 0x8A, 0xEB, 0x1C, 0xC9, 0x11, 0x9F, 0xE8, 0x08, 0x00, 0x2B, 0x10, 0x48, 0x60,
];
/// `srvsvc`, version 3.0.
const SRVSVC: [u8; 16] = [
    0xC8, 0x4F, 0x32, 0x4B, 0x70, 0x16, 0xD3, 0x01, 0x12, 0x78, 0x5A, 0x47, 0xBF, 0x6E, 0xE1, 0x88,
];

/// The fault of an operation that does not exist.
pub const NO_SUCH_OPERATION: u32 = 0x1C01_0002;
/// The fault of arguments that cannot be read.
pub const BAD_STUB: u32 = 0x0000_06F7;
const UNKNOWN_CONTEXT: u32 = 0x1C01_0003;

/// A call, whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Which operation.
    pub operation: u16,
    /// Its arguments in NDR.
    pub stub: Vec<u8>,
    id: u32,
    context: u16,
}

/// What a message asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An answer that needs nobody else.
    Answer(Vec<u8>),
    /// A call to run.
    Call(Call),
    /// More fragments have to come.
    More,
}

/// One end of a pipe.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// The context that was accepted for `srvsvc`.
    context: Option<u16>,
    /// Fragments of a call so far.
    partial: Option<Call>,
}

/// The length of the first message in `bytes`; none if its head has not come yet.
pub fn message_length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    if bytes.len() < HEAD {
        return Ok(None);
    }
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    if bytes[0] != 5 || length < HEAD { Err(Malformed) } else { Ok(Some(length)) }
}

impl Endpoint {
    /// Takes one whole message.
    pub fn take(&mut self, message: &[u8]) -> Result<Event, Malformed> {
        let mut reader = Reader::new(message);
        let (major, _minor) = (reader.u8()?, reader.u8()?);
        let (kind, flags) = (reader.u8()?, reader.u8()?);
        let format = reader.u8()?;
        reader.skip(3)?;
        let (_length, auth) = (reader.u16()?, reader.u16()?);
        let id = reader.u32()?;
        // Little-endian integers and ASCII are all that is spoken; and nobody signs twice.
        if major != 5 || format != 0x10 || auth != 0 {
            return Err(Malformed);
        }
        match kind {
            BIND => self.bind(reader, id, BIND_ACK).map(Event::Answer),
            ALTER => self.bind(reader, id, ALTER_ACK).map(Event::Answer),
            REQUEST => self.request(reader, flags, id),
            _ => Err(Malformed),
        }
    }

    fn bind(&mut self, mut reader: Reader<'_>, id: u32, answer: u8) -> Result<Vec<u8>, Malformed> {
        reader.skip(8)?;
        let count = reader.u8()?;
        reader.skip(3)?;
        if count == 0 || count > MOST_CONTEXTS {
            return Ok(packet(BIND_NAK, FIRST | LAST, id, &[0, 0, 1, 5, 0]));
        }
        let mut results = Vec::new();
        for _ in 0..count {
            let context = reader.u16()?;
            let transfers = reader.u8()?;
            reader.skip(1)?;
            let interface: [u8; 16] = reader.array()?;
            let version = reader.u32()?;
            let mut has_ndr = false;
            for _ in 0..transfers {
                let transfer: [u8; 16] = reader.array()?;
                has_ndr |= transfer == NDR && reader.u32()? == 2;
                if transfer != NDR {
                    reader.skip(4)?;
                }
            }
            let ours = interface == SRVSVC && version == 3;
            if ours && has_ndr {
                self.context = Some(context);
            }
            results.push(match (ours, has_ndr) {
                (true, true) => (0, 0, NDR, 2),
                // Rejected by the provider: not our interface, or not our syntax.
                (false, _) => (2, 1, [0; 16], 0),
                (true, false) => (2, 2, [0; 16], 0),
            });
        }
        let mut to = Writer::new();
        to.u16(length16(FRAGMENT)).u16(length16(FRAGMENT)).u32(0x53F0);
        to.u16(13).bytes(b"\\PIPE\\srvsvc\0").align(4);
        to.u8(count).zeros(3);
        for (result, reason, syntax, version) in results {
            to.u16(result).u16(reason).bytes(&syntax).u32(version);
        }
        Ok(packet(answer, FIRST | LAST, id, &to.finish()))
    }

    fn request(&mut self, mut reader: Reader<'_>, flags: u8, id: u32) -> Result<Event, Malformed> {
        reader.skip(4)?;
        let context = reader.u16()?;
        let operation = reader.u16()?;
        let stub = reader.rest();
        let mut call = if flags & FIRST != 0 {
            Call { operation, stub: Vec::new(), id, context }
        } else {
            self.partial.take().filter(|call| call.id == id).ok_or(Malformed)?
        };
        if call.stub.len() + stub.len() > crate::limits::PIPE_BYTES {
            return Err(Malformed);
        }
        call.stub.extend_from_slice(stub);
        if flags & LAST == 0 {
            self.partial = Some(call);
            return Ok(Event::More);
        }
        if self.context != Some(call.context) {
            return Ok(Event::Answer(fault(&call, UNKNOWN_CONTEXT)));
        }
        Ok(Event::Call(call))
    }
}

fn packet(kind: u8, flags: u8, id: u32, body: &[u8]) -> Vec<u8> {
    let mut to = Writer::new();
    to.u8(5).u8(0).u8(kind).u8(flags).u32(0x10).u16(length16(HEAD + body.len())).u16(0).u32(id);
    to.bytes(body);
    to.finish()
}

/// The answer to a call, in as many fragments as it takes.
pub fn response(call: &Call, stub: &[u8]) -> Vec<u8> {
    let pieces: Vec<&[u8]> = if stub.is_empty() {
        vec![&[]]
    } else {
        stub.chunks((FRAGMENT - HEAD - 8) / 8 * 8).collect()
    };
    let count = pieces.len();
    let mut made = Vec::new();
    for (at, piece) in pieces.into_iter().enumerate() {
        let flags = if at == 0 { FIRST } else { 0 } | if at + 1 == count { LAST } else { 0 };
        let mut to = Writer::new();
        to.u32(length32(piece.len())).u16(call.context).u16(0).bytes(piece);
        made.extend(packet(RESPONSE, flags, call.id, &to.finish()));
    }
    made
}

/// The answer to a call that fails.
pub fn fault(call: &Call, code: u32) -> Vec<u8> {
    let mut to = Writer::new();
    to.u32(0).u16(call.context).u16(0).u32(code).u32(0);
    packet(FAULT, FIRST | LAST, call.id, &to.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(interface: [u8; 16]) -> Vec<u8> {
        let mut to = Writer::new();
        to.u16(4280).u16(4280).u32(0).u8(1).zeros(3).u16(7).u8(1).u8(0);
        to.bytes(&interface).u32(3).bytes(&NDR).u32(2);
        packet(BIND, 3, 1, &to.finish())
    }

    fn call(flags: u8, stub: &[u8]) -> Vec<u8> {
        let mut to = Writer::new();
        to.u32(0).u16(7).u16(15).bytes(stub);
        packet(REQUEST, flags, 2, &to.finish())
    }

    #[test]
    fn bound_then_called_in_fragments() {
        let mut endpoint = Endpoint::default();
        assert!(matches!(endpoint.take(&call(3, &[])), Ok(Event::Answer(a)) if a[2] == FAULT));
        assert!(matches!(endpoint.take(&bind([0; 16])), Ok(Event::Answer(a)) if a[2] == BIND_ACK));
        assert!(matches!(endpoint.take(&call(3, &[])), Ok(Event::Answer(a)) if a[2] == FAULT));
        assert!(matches!(endpoint.take(&bind(SRVSVC)), Ok(Event::Answer(a)) if a[2] == BIND_ACK));
        assert_eq!(endpoint.take(&call(1, &[1, 2])), Ok(Event::More));
        let Ok(Event::Call(whole)) = endpoint.take(&call(2, &[3])) else { panic!("a call") };
        assert_eq!((whole.operation, whole.stub.as_slice()), (15, &[1, 2, 3][..]));
        assert_eq!(endpoint.take(&call(2, &[3])), Err(Malformed));
        let long = response(&whole, &[0; 10_000]);
        let first = message_length(&long).expect("a head").expect("whole");
        assert!(first <= FRAGMENT && long[3] == FIRST);
    }

    #[test]
    fn every_truncation_is_malformed_or_less() {
        let whole = bind(SRVSVC);
        for length in 0..whole.len() {
            assert_eq!(Endpoint::default().take(&whole[..length]), Err(Malformed), "{length}");
        }
    }
}
