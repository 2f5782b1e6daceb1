//! Bytes of the journal: a header per file, a frame per batch of commits.
//!
//! ```text
//! header, 512 bytes (one sector, so it is old or new, never half):
//!    0  8  "ZAFJRNL\x01"      8  8  generation     16  8  sequence of its first frame
//!   24 16  nonce             40  4  CRC32C of 0..40, then zeros
//! frame, at a multiple of 8:
//!    0  4  "ZFRM"             4  4  payload bytes   8  8  sequence
//!   16  1  kind               17  3  zeros         20  4  CRC32C of nonce, 0..20 and payload
//!   24     payload, padded with zeros to a multiple of 8
//! payload of a batch, per commit:
//!    8  stamp   4  number of rows, then per row:
//!    2  key bytes   4  value bytes, or FFFFFFFF for a deletion   key   value
//! ```
//!
//! The nonce is random for each generation of a file: what an older generation left behind, or a
//! user put into a value, never passes for a frame. A seal (kind 2, no payload) says that all before
//! it was synced; it tells a damaged last batch from one that was cut off by a crash.

use super::overlay::Overlay;
use crate::error::StoreError;
use bytes::Bytes;
use zaffre_base::Stamp;
use zaffre_base::checksum::crc32c_of;

pub(crate) const HEADER_BYTES: usize = 512;
pub(crate) const FRAME_HEADER: usize = 24;
const HEADER_MAGIC: &[u8; 8] = b"ZAFJRNL\x01";
const FRAME_MAGIC: &[u8; 4] = b"ZFRM";
const DELETION: u32 = u32::MAX;

/// Which life of a journal file this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) generation: u64,
    pub(crate) sequence: u64,
    pub(crate) nonce: [u8; 16],
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(HEADER_MAGIC);
        bytes[8..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.nonce);
        let crc = crc32c_of([&bytes[..40]]);
        bytes[40..44].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let crc = u32::from_le_bytes(*bytes[40..].first_chunk()?);
        let sound = bytes[..8] == *HEADER_MAGIC && crc == crc32c_of([&bytes[..40]]);
        let generation = u64::from_le_bytes(*bytes[8..].first_chunk()?);
        let sequence = u64::from_le_bytes(*bytes[16..].first_chunk()?);
        let nonce = *bytes[24..].first_chunk()?;
        // Bytes after the checksum have no meaning but must be as written, or damage goes unseen.
        let clean = bytes[44..].iter().all(|b| *b == 0);
        (sound && clean).then_some(Self { generation, sequence, nonce })
    }
}

/// What a frame is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Batch,
    Seal,
}

/// A frame found in a journal.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    pub(crate) payload: &'a [u8],
    /// Bytes up to where the next frame starts.
    pub(crate) bytes: usize,
}

fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(8)
}

/// Begins a frame in an empty buffer; the payload is appended by the caller.
pub(crate) fn begin(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.resize(FRAME_HEADER, 0);
}

/// Fills in the header of a frame whose payload is complete, and pads it.
pub(crate) fn finish(
    buffer: &mut Vec<u8>,
    kind: Kind,
    sequence: u64,
    header: &Header,
) -> Result<(), StoreError> {
    let too_big = |_| StoreError::Limit("a batch larger than 4 GiB");
    let payload = u32::try_from(buffer.len() - FRAME_HEADER).map_err(too_big)?;
    buffer[..4].copy_from_slice(FRAME_MAGIC);
    buffer[4..8].copy_from_slice(&payload.to_le_bytes());
    buffer[8..16].copy_from_slice(&sequence.to_le_bytes());
    buffer[16] = if kind == Kind::Batch { 1 } else { 2 };
    let crc = crc32c_of([&header.nonce[..], &buffer[..20], &buffer[FRAME_HEADER..]]);
    buffer[20..24].copy_from_slice(&crc.to_le_bytes());
    buffer.resize(padded(buffer.len()), 0);
    Ok(())
}

/// The sequence number a frame at the start of `bytes` claims, if it looks like one at all.
pub(crate) fn claimed_sequence(bytes: &[u8]) -> Option<u64> {
    if !bytes.starts_with(FRAME_MAGIC) {
        return None;
    }
    bytes.get(8..16)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

/// The sound frame with this sequence number at the start of `bytes`, if there is one.
pub(crate) fn decode<'a>(bytes: &'a [u8], sequence: u64, header: &Header) -> Option<Frame<'a>> {
    if claimed_sequence(bytes)? != sequence {
        return None;
    }
    let length = u32::from_le_bytes(*bytes.get(4..8)?.first_chunk()?);
    let end = FRAME_HEADER.checked_add(usize::try_from(length).ok()?)?;
    let payload = bytes.get(FRAME_HEADER..end)?;
    let padding = bytes.get(end..padded(end))?;
    let crc = u32::from_le_bytes(*bytes[20..].first_chunk()?);
    let kind = match bytes[16] {
        1 => Kind::Batch,
        2 => Kind::Seal,
        _ => return None,
    };
    let sound = crc == crc32c_of([&header.nonce[..], &bytes[..20], payload])
        && padding.iter().all(|b| *b == 0);
    sound.then_some(Frame { kind, payload, bytes: padded(end) })
}

/// Appends one commit to a batch's payload.
pub(crate) fn push_commit(
    buffer: &mut Vec<u8>,
    stamp: Stamp,
    writes: &Overlay,
) -> Result<(), StoreError> {
    let too_big = |_| StoreError::Limit("a commit too large for the journal");
    buffer.extend_from_slice(&stamp.0.to_le_bytes());
    buffer.extend_from_slice(&u32::try_from(writes.len()).map_err(too_big)?.to_le_bytes());
    for (key, value) in writes.iter() {
        buffer.extend_from_slice(&u16::try_from(key.len()).map_err(too_big)?.to_le_bytes());
        let length = match value {
            Some(value) => u32::try_from(value.len()).map_err(too_big)?,
            None => DELETION,
        };
        buffer.extend_from_slice(&length.to_le_bytes());
        buffer.extend_from_slice(key);
        buffer.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    Ok(())
}

/// Reads a batch's payload back; `None` if it does not have its form.
pub(crate) fn commits(mut payload: &[u8]) -> Option<Vec<(Stamp, Overlay)>> {
    let mut all = Vec::new();
    while !payload.is_empty() {
        let stamp = Stamp(u64::from_le_bytes(take(&mut payload)?));
        let count = u32::from_le_bytes(take(&mut payload)?);
        let mut writes = Overlay::new();
        for _ in 0..count {
            let key = u16::from_le_bytes(take(&mut payload)?);
            let value = u32::from_le_bytes(take(&mut payload)?);
            let key = split(&mut payload, usize::from(key))?;
            let value = match value {
                DELETION => None,
                length => Some(Bytes::from(split(&mut payload, usize::try_from(length).ok()?)?)),
            };
            writes.insert(key, value);
        }
        all.push((stamp, writes));
    }
    Some(all)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

fn split(bytes: &mut &[u8], length: usize) -> Option<Vec<u8>> {
    let (head, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(head.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { generation: 7, sequence: 9, nonce: [3; 16] };

    fn sample() -> (Vec<u8>, Overlay) {
        let writes = [(b"k1".to_vec(), Some(Bytes::from_static(b"value"))), (b"k2".to_vec(), None)];
        let writes = Overlay::from_iter(writes);
        let mut buffer = Vec::new();
        begin(&mut buffer);
        push_commit(&mut buffer, Stamp(5), &writes).expect("small");
        finish(&mut buffer, Kind::Batch, 9, &HEADER).expect("small");
        (buffer, writes)
    }

    #[test]
    fn a_frame_comes_back_as_it_went() {
        let (buffer, writes) = sample();
        let frame = decode(&buffer, 9, &HEADER).expect("sound");
        assert_eq!((frame.kind, frame.bytes), (Kind::Batch, buffer.len()));
        assert_eq!(commits(frame.payload), Some(vec![(Stamp(5), writes)]));
        assert!(decode(&buffer, 8, &HEADER).is_none(), "another sequence");
        let other = Header { nonce: [4; 16], ..HEADER };
        assert!(decode(&buffer, 9, &other).is_none(), "another generation's nonce");
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let (buffer, _) = sample();
        for bit in 0..buffer.len() * 8 {
            let mut bad = buffer.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bad, 9, &HEADER).is_none(), "bit {bit}");
        }
        let header = HEADER.encode();
        assert_eq!(Header::decode(&header), Some(HEADER));
        for bit in 0..HEADER_BYTES * 8 {
            let mut bad = header;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&bad), None, "header bit {bit}");
        }
    }
}
