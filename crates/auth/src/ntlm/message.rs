//! The three messages of NTLM.
//!
//! Must never index past a message: every field's length and offset is a stranger's word.

use super::acceptor::Refused;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
const MIC_AT: usize = 72;
/// Bytes of a challenge before its fields' values.
const HEAD: usize = 56;

pub(super) const UNICODE: u32 = 0x0000_0001;
const REQUEST_TARGET: u32 = 0x0000_0004;
const SIGN: u32 = 0x0000_0010;
const SEAL: u32 = 0x0000_0020;
const NTLM: u32 = 0x0000_0200;
const ALWAYS_SIGN: u32 = 0x0000_8000;
const TARGET_TYPE_SERVER: u32 = 0x0002_0000;
const EXTENDED_SECURITY: u32 = 0x0008_0000;
const TARGET_INFO: u32 = 0x0080_0000;
const VERSION: u32 = 0x0200_0000;
const BITS_128: u32 = 0x2000_0000;
pub(super) const KEY_EXCHANGE: u32 = 0x4000_0000;
const BITS_56: u32 = 0x8000_0000;

/// What the server always says of itself, and what it agrees to if asked.
const OURS: u32 = NTLM | EXTENDED_SECURITY | TARGET_INFO | TARGET_TYPE_SERVER | REQUEST_TARGET;
const IF_ASKED: u32 =
    UNICODE | SIGN | SEAL | ALWAYS_SIGN | KEY_EXCHANGE | BITS_128 | BITS_56 | VERSION;

fn take<const N: usize>(message: &[u8], at: usize) -> Option<[u8; N]> {
    message.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u32_at(message: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(take(message, at)?))
}

/// The bytes that a field of length, space and offset points to.
fn field(message: &[u8], at: usize) -> Option<&[u8]> {
    let length = usize::from(u16::from_le_bytes(take(message, at)?));
    if length == 0 {
        return Some(&[]);
    }
    let offset = usize::try_from(u32_at(message, at + 4)?).ok()?;
    message.get(offset..offset.checked_add(length)?)
}

fn is_kind(message: &[u8], kind: u32) -> Option<()> {
    (message.get(..8)? == SIGNATURE && u32_at(message, 8)? == kind).then_some(())
}

/// The first message: what the client is able to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negotiate {
    pub(super) flags: u32,
}

impl Negotiate {
    /// Reads one.
    pub fn parse(message: &[u8]) -> Option<Self> {
        is_kind(message, 1)?;
        Some(Self { flags: u32_at(message, 12)? })
    }
}

/// The second message: the server's challenge.
pub(super) fn challenge(asked: u32, name: &str, random: [u8; 8], filetime: u64) -> Vec<u8> {
    let flags = OURS | (asked & IF_ASKED) | UNICODE;
    let name = super::proof::utf16(name);
    let mut info = Vec::new();
    let mut pair = |id: u16, value: &[u8]| {
        info.extend(id.to_le_bytes());
        info.extend(u16::try_from(value.len()).unwrap_or(0).to_le_bytes());
        info.extend(value);
    };
    for id in [2, 1, 4, 3] {
        pair(id, &name);
    }
    pair(7, &filetime.to_le_bytes());
    pair(0, &[]);
    let mut message = SIGNATURE.to_vec();
    let field = |message: &mut Vec<u8>, length: usize, offset: usize| {
        let length = u16::try_from(length).unwrap_or(0).to_le_bytes();
        message.extend(length);
        message.extend(length);
        message.extend(u32::try_from(offset).unwrap_or(0).to_le_bytes());
    };
    message.extend(2_u32.to_le_bytes());
    field(&mut message, name.len(), HEAD);
    message.extend(flags.to_le_bytes());
    message.extend(random);
    message.extend([0; 8]);
    field(&mut message, info.len(), HEAD + name.len());
    // The version of the protocol's implementation; only its last byte means something.
    message.extend([10, 0, 0, 0, 0, 0, 0, 15]);
    message.extend(name);
    message.extend(info);
    message
}

/// The third message: who it is, and the proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Authenticate {
    pub(super) user: String,
    /// As it was sent: the proof covers these bytes.
    pub(super) domain: Vec<u8>,
    pub(super) proof: [u8; 16],
    /// What the proof covers besides the challenge.
    pub(super) blob: Vec<u8>,
    pub(super) key: Option<[u8; 16]>,
    pub(super) flags: u32,
    /// The code over all messages, when the blob says that there is one.
    pub(super) integrity: Option<[u8; 16]>,
}

impl Authenticate {
    /// Reads one; anything but NTLMv2 with a name is denied.
    pub fn parse(message: &[u8]) -> Result<Self, Refused> {
        Self::read(message).ok_or(Refused::Malformed)?.ok_or(Refused::Denied)
    }

    #[expect(clippy::option_option, reason = "not a message, and not one that is taken")]
    fn read(message: &[u8]) -> Option<Option<Self>> {
        is_kind(message, 3)?;
        let response = field(message, 20)?;
        let domain = field(message, 28)?.to_vec();
        let user = field(message, 36)?;
        let key = field(message, 52)?;
        let flags = u32_at(message, 60)?;
        // NTLMv1's response has 24 bytes; the shortest blob of NTLMv2 has 28 and an end.
        if response.len() < 16 + 28 || flags & UNICODE == 0 || user.is_empty() {
            return Some(None);
        }
        let (proof, blob) = response.split_at(16);
        if blob.first()? != &1 || blob.get(1)? != &1 {
            return Some(None);
        }
        let integrity =
            if announces_integrity(blob)? { Some(take(message, MIC_AT)?) } else { None };
        let units = user.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let user: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
        let key = if key.is_empty() { None } else { Some(key.try_into().ok()?) };
        let proof = proof.try_into().ok()?;
        let blob = blob.to_vec();
        Some(Some(Self { user, domain, proof, blob, key, flags, integrity }))
    }

    /// The message with its integrity code blanked: what the code covers.
    pub(super) fn without_integrity(message: &[u8]) -> Option<Vec<u8>> {
        let mut blank = message.to_vec();
        blank.get_mut(MIC_AT..MIC_AT + 16)?.fill(0);
        Some(blank)
    }
}

/// Whether the blob's flags say that the message carries a code; none if its list has no end.
fn announces_integrity(blob: &[u8]) -> Option<bool> {
    const FLAGS: u16 = 6;
    let mut at = 28;
    let mut announced = false;
    loop {
        let id = u16::from_le_bytes(take(blob, at)?);
        let length = usize::from(u16::from_le_bytes(take(blob, at + 2)?));
        if id == 0 {
            return Some(announced);
        }
        let value = blob.get(at + 4..at + 4 + length)?;
        if id == FLAGS {
            announced = u32_at(value, 0)? & 2 != 0;
        }
        at += 4 + length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_messages_are_none() {
        let whole = challenge(u32::MAX, "zaffre", [1; 8], 5);
        assert_eq!(u32_at(&whole, 8), Some(2));
        assert_eq!(field(&whole, 12), Some(&super::super::proof::utf16("zaffre")[..]));
        assert!(
            announces_integrity(&[&[0; 28][..], field(&whole, 40).expect("info")].concat())
                == Some(false)
        );
        for length in 0..88 {
            let mut message = SIGNATURE.to_vec();
            message.extend(3_u32.to_le_bytes());
            message.resize(length.max(12), 0xFF);
            assert_eq!(Authenticate::parse(&message), Err(Refused::Malformed));
        }
        assert_eq!(Negotiate::parse(b"NTLMSSP\0\x01\0\0\0"), None);
    }

    #[test]
    fn a_challenge_as_the_protocol_lays_it_out() {
        for (asked, flags) in [
            (0, 0x008A_0205_u32),
            (u32::MAX, 0xE28A_8235),
            (0x4000_0010, 0x408A_0215),
            (0x0000_0142, 0x008A_0205),
        ] {
            let made = challenge(asked, "ab", [1, 2, 3, 4, 5, 6, 7, 8], 0x0102_0304_0506_0708);
            let name: &[u8] = b"a\0b\0";
            let want = [
                b"NTLMSSP\0\x02\0\0\0" as &[u8],
                &[4, 0, 4, 0, 56, 0, 0, 0],
                &flags.to_le_bytes(),
                &[1, 2, 3, 4, 5, 6, 7, 8],
                &[0; 8],
                &[48, 0, 48, 0, 60, 0, 0, 0],
                &[10, 0, 0, 0, 0, 0, 0, 15],
                name,
                &[2, 0, 4, 0],
                name,
                &[1, 0, 4, 0],
                name,
                &[4, 0, 4, 0],
                name,
                &[3, 0, 4, 0],
                name,
                &[7, 0, 8, 0, 8, 7, 6, 5, 4, 3, 2, 1],
                &[0; 4],
            ];
            assert_eq!(made, want.concat(), "{asked:x}");
        }
    }

    #[test]
    fn the_list_says_whether_there_is_a_code() {
        const END: &[u8] = &[0; 4];
        const NAME: &[u8] = &[1, 0, 6, 0, b'a', 0, b'b', 0, b'c', 0];
        for (list, want) in [
            (&[END][..], Some(false)),
            (&[&[6, 0, 4, 0, 2, 0, 0, 0], END], Some(true)),
            (&[&[6, 0, 4, 0, 3, 0, 0, 0], END], Some(true)),
            (&[&[6, 0, 4, 0, 1, 0, 0, 0], END], Some(false)),
            (&[&[6, 0, 4, 0, 0, 2, 0, 0], END], Some(false)),
            (&[NAME, &[6, 0, 4, 0, 2, 0, 0, 0], END], Some(true)),
            (&[&[6, 0, 4, 0, 2, 0, 0, 0], NAME, NAME, END], Some(true)),
            (&[NAME, END, &[6, 0, 4, 0, 2, 0, 0, 0]], Some(false)),
            (&[&[6, 0, 3, 0, 2, 0, 0], END], None),
            (&[&[6, 0, 4, 0, 2, 0, 0, 0]], None),
            (&[NAME], None),
            (&[&[1, 0, 7, 0], &[9; 6]], None),
        ] {
            let blob = [&[0; 28], list.concat().as_slice()].concat();
            assert_eq!(announces_integrity(&blob), want, "{list:?}");
        }
    }

    /// A third message of these fields; `blob` comes behind the 16 bytes of the proof.
    fn third(blob: &[u8], user: &[u8], key: &[u8], flags: u32) -> Vec<u8> {
        let mut message = b"NTLMSSP\0\x03\0\0\0".to_vec();
        let mut tail: Vec<u8> = Vec::new();
        let response = [&[7; 16], blob].concat();
        for value in [&[][..], &response, b"D\0", user, b"", key] {
            let length = u16::try_from(value.len()).expect("short").to_le_bytes();
            message.extend([length, length].concat());
            message.extend(u32::try_from(88 + tail.len()).expect("short").to_le_bytes());
            tail.extend(value);
        }
        message.extend(flags.to_le_bytes());
        message.extend([0; 8]);
        message.extend([9; 16]);
        message.extend(tail);
        message
    }

    #[test]
    fn a_third_message_field_by_field() {
        let blob = |first: [u8; 2], list: &[u8]| [&first, &[0; 26][..], list].concat();
        let good = blob([1, 1], &[0; 4]);
        let with_code = blob([1, 1], &[6, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        let read = Authenticate::parse(&third(&with_code, b"u\0", &[3; 16], 0x4000_0001));
        let want = Authenticate {
            user: "u".to_owned(),
            domain: b"D\0".to_vec(),
            proof: [7; 16],
            blob: with_code,
            key: Some([3; 16]),
            flags: 0x4000_0001,
            integrity: Some([9; 16]),
        };
        assert_eq!(read, Ok(want.clone()));
        let plain =
            Authenticate { blob: good.clone(), key: None, integrity: None, flags: 1, ..want };
        assert_eq!(Authenticate::parse(&third(&good, b"u\0", b"", 1)), Ok(plain));
        let (denied, malformed) = (Refused::Denied, Refused::Malformed);
        for (blob, user, key, flags, want, why) in [
            (&good[..27], &b"u\0"[..], &[][..], 1, denied, "too short"),
            (&good[..28], b"u\0", &[], 1, malformed, "no end of its list"),
            (&good, b"u\0", &[], 2, denied, "not in Unicode"),
            (&good, b"", &[], 1, denied, "nobody"),
            (&blob([2, 1], &[0; 4]), b"u\0", &[], 1, denied, "another version"),
            (&blob([1, 2], &[0; 4]), b"u\0", &[], 1, denied, "another highest version"),
            (&good, b"\0\xD8", &[], 1, malformed, "half a character"),
            (&good, b"u\0", &[3; 15], 1, malformed, "a short key"),
        ] {
            let message = third(blob, user, key, flags);
            assert_eq!(Authenticate::parse(&message), Err(want), "{why}");
        }
        let blank = Authenticate::without_integrity(&third(&good, b"u\0", b"", 1));
        let blank = blank.expect("long enough");
        assert_eq!((&blank[64..72], &blank[72..88], blank[88]), (&[0; 8][..], &[0; 16][..], 7));
        assert_eq!(Authenticate::without_integrity(&[1; 87]), None);
        assert!(Authenticate::without_integrity(&[1; 88]).is_some());
    }
}
