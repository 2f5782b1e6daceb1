//! One record: the bytes around one extent's payload, and nothing but bytes (no I/O here).
//!
//! Must never hand out a field before its checksum was verified.

use super::{ExtentRef, MAX_EXTENT, Owner};
use crate::error::StoreError;
use crate::meta::Placement;
use bytes::Bytes;
use zaffre_base::checksum::{crc32c, crc32c_of};

/// Payload bytes under one checksum.
pub const BLOCK: u32 = 64 * 1024;
/// Bytes of the fixed part of a record's header.
pub(crate) const FIXED: usize = 56;
/// Records start at multiples of this.
pub(crate) const ALIGN: u64 = 8;
/// Longest owner: a length byte, a placement's name and a key.
pub(crate) const MAX_OWNER: usize = 1 + 255 + crate::meta::limits::KEY_BYTES;
/// Where in the fixed part the mark of a released record is.
pub(crate) const RELEASED_AT: u64 = 48;
/// What stands there once no row names the extent; zeros before.
pub(crate) const RELEASED: [u8; 8] = *b"RELEASED";

const MAGIC: [u8; 4] = *b"ZxRc";
const VERSION: u16 = 1;
/// What of the fixed part the checksum covers.
const COVERED: usize = 44;

/// The fixed part of a record's header.
///
/// A record starts at a multiple of 8. All integers are little-endian.
///
/// ```text
/// at  size  field
///  0    4   magic "ZxRc"
///  4    2   version of the record format, 1
///  6    2   length of the owner, o (2..=2816)
///  8    4   length of the payload, n (1..=4 MiB)
/// 12    4   number of the segment
/// 16    8   offset of the record in the segment's file
/// 24    8   sequence: unique and rising over the life of the store
/// 32    8   salt of the segment
/// 40    4   zeros
/// 44    4   CRC32C of bytes 0..44, the owner and the checksum table
/// 48    8   zeros, or "RELEASED" once no row names the extent
/// 56    o   owner: length of the placement's name (1 byte), that name, the row's key
///  .  4·b   checksum table: CRC32C of each 64 KiB of the payload, b = n / 65536 rounded up
///  .    n   payload
///  .  0–7   zeros up to the next multiple of 8
/// ```
///
/// Why so: segment and offset inside the record make a misplaced write visible. The salt is random
/// per segment and never leaves the server, so that no uploaded payload can look like a record to
/// a scan that searches for the next one behind a damaged stretch. Owner and table stand before
/// the payload under the header's checksum, so that a header is either wholly good or no record at
/// all, a scan reads headers only, and a small extent is read with one call. The mark of a
/// released record is the only thing ever changed in place: eight aligned bytes, which no disk
/// tears, outside the checksum, which therefore stays valid; the header stays readable when the
/// payload has been punched out, so scans can walk on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fixed {
    pub(crate) owner_length: usize,
    pub(crate) at: ExtentRef,
    pub(crate) sequence: u64,
    pub(crate) salt: u64,
    pub(crate) released: bool,
}

/// Why bytes are not the record they should be.
pub(crate) type Damage = &'static str;

impl Fixed {
    /// Reads the fixed part. Lengths are in range, but nothing is to be trusted before
    /// [`Fixed::verify`].
    pub(crate) fn parse(bytes: &[u8; FIXED]) -> Result<Self, Damage> {
        if field::<4>(bytes, 0) != MAGIC {
            return Err("there is no record");
        }
        if u16::from_le_bytes(field(bytes, 4)) != VERSION {
            return Err("the record's format is unknown");
        }
        let owner_length = usize::from(u16::from_le_bytes(field(bytes, 6)));
        let length = u32::from_le_bytes(field(bytes, 8));
        let sensible = (1..=MAX_OWNER).contains(&owner_length)
            && length >= 1
            && usize::try_from(length).is_ok_and(|length| length <= MAX_EXTENT);
        if !sensible {
            return Err("a length in the record's header is out of range");
        }
        let released = match field::<8>(bytes, 48) {
            RELEASED => true,
            mark if mark == [0; 8] => false,
            _ => return Err("the record's release mark is damaged"),
        };
        let at = ExtentRef {
            segment: u32::from_le_bytes(field(bytes, 12)),
            offset: u64::from_le_bytes(field(bytes, 16)),
            length,
        };
        let sequence = u64::from_le_bytes(field(bytes, 24));
        let salt = u64::from_le_bytes(field(bytes, 32));
        Ok(Self { owner_length, at, sequence, salt, released })
    }

    /// Whether a record may start with these bytes: the cheap first test of a search.
    pub(crate) fn may_start(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Bytes before the payload.
    pub(crate) fn front(&self) -> usize {
        FIXED + self.owner_length + table_length(self.at.length)
    }

    /// Bytes of the whole record.
    pub(crate) fn record(&self) -> u64 {
        record_length(self.front(), self.at.length)
    }

    /// Checks `front` (the fixed part, owner and table as read) against its checksum.
    pub(crate) fn verify(&self, front: &[u8]) -> Result<(), Damage> {
        let (Some(fixed), Some(rest)) = (front.get(..FIXED), front.get(FIXED..self.front())) else {
            return Err("the record's header is cut off");
        };
        let stored = u32::from_le_bytes(field(fixed, 44));
        if crc32c_of([&fixed[..COVERED], rest]) == stored {
            Ok(())
        } else {
            Err("the record's header fails its checksum")
        }
    }

    /// The owner in a verified `front`.
    pub(crate) fn owner(&self, front: &[u8]) -> Result<Owner, Damage> {
        let bytes = &front[FIXED..FIXED + self.owner_length];
        let (length, rest) = bytes.split_first().ok_or("the record has no owner")?;
        let (name, key) =
            rest.split_at_checked(usize::from(*length)).ok_or("the record's owner is cut off")?;
        Ok(Owner { placement: Placement::new(name), key: key.to_vec() })
    }

    /// The checksum of one block in a verified `front`.
    pub(crate) fn block_sum(&self, front: &[u8], block: u32) -> Option<u32> {
        let table = front.get(FIXED + self.owner_length..self.front())?;
        let at = usize::try_from(block).ok()? * 4;
        Some(u32::from_le_bytes(field(table.get(at..at + 4)?, 0)))
    }

    /// Checks whole blocks, of which the first has the number `first`.
    pub(crate) fn verify_blocks(&self, front: &[u8], first: u32, bytes: &[u8]) -> bool {
        let block_bytes = usize::try_from(BLOCK).unwrap_or(usize::MAX);
        (first..)
            .zip(bytes.chunks(block_bytes))
            .all(|(block, bytes)| self.block_sum(front, block) == Some(crc32c(bytes)))
    }
}

/// `N` bytes at a place that the caller knows to exist.
pub(crate) fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

/// Bytes of the checksum table for a payload.
pub(crate) fn table_length(payload: u32) -> usize {
    usize::try_from(payload.div_ceil(BLOCK)).unwrap_or(usize::MAX) * 4
}

fn record_length(front: usize, payload: u32) -> u64 {
    (front as u64 + u64::from(payload)).next_multiple_of(ALIGN)
}

/// An extent on its way to the disk: everything that does not depend on its place is computed
/// before it is queued, by the caller, so that the segment's one writer has little to do.
#[derive(Debug)]
pub(crate) struct Prepared {
    owner: Vec<u8>,
    table: Vec<u8>,
    payload: Bytes,
    length: u32,
}

impl Prepared {
    /// Checks the limits and computes the checksums.
    pub(crate) fn new(owner: &Owner, payload: Bytes) -> Result<Self, StoreError> {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        if payload.is_empty() || payload.len() > MAX_EXTENT {
            return Err(StoreError::Limit("an extent holds 1 byte to 4 MiB"));
        }
        if owner.key.len() > crate::meta::limits::KEY_BYTES {
            return Err(StoreError::Limit("key longer than 2,560 bytes"));
        }
        let name = owner.placement.name();
        let name_length = u8::try_from(name.len())
            .map_err(|_| StoreError::Limit("placement's name longer than 255 bytes"))?;
        let mut encoded = Vec::with_capacity(1 + name.len() + owner.key.len());
        encoded.push(name_length);
        encoded.extend_from_slice(name);
        encoded.extend_from_slice(&owner.key);
        let block_bytes = usize::try_from(BLOCK).unwrap_or(usize::MAX);
        let sums = payload.chunks(block_bytes).flat_map(|block| crc32c(block).to_le_bytes());
        let table = sums.collect();
        Ok(Self { owner: encoded, table, payload, length })
    }

    /// The bytes of the extent.
    pub(crate) fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Bytes of the whole record.
    pub(crate) fn record(&self) -> u64 {
        record_length(FIXED + self.owner.len() + self.table.len(), self.length)
    }

    /// Zeros after the payload.
    pub(crate) fn padding(&self) -> &'static [u8] {
        const ZEROS: [u8; 7] = [0; 7];
        let unpadded = FIXED + self.owner.len() + self.table.len() + self.payload.len();
        &ZEROS[..unpadded.next_multiple_of(8) - unpadded]
    }

    /// Where it will be.
    pub(crate) fn at(&self, segment: u32, offset: u64) -> ExtentRef {
        ExtentRef { segment, offset, length: self.length }
    }

    /// Appends everything before the payload to `out`.
    pub(crate) fn encode_front(&self, at: ExtentRef, sequence: u64, salt: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        let owner_length = u16::try_from(self.owner.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&owner_length.to_le_bytes());
        out.extend_from_slice(&at.length.to_le_bytes());
        out.extend_from_slice(&at.segment.to_le_bytes());
        out.extend_from_slice(&at.offset.to_le_bytes());
        out.extend_from_slice(&sequence.to_le_bytes());
        out.extend_from_slice(&salt.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        let crc = crc32c_of([&out[start..], &self.owner, &self.table]);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&self.owner);
        out.extend_from_slice(&self.table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(length: usize) -> (Prepared, Vec<u8>) {
        let owner = Owner { placement: Placement::new(&b"place"[..]), key: b"key".to_vec() };
        let payload: Vec<u8> = (0..length).map(|i| (i % 251).to_le_bytes()[0]).collect();
        let prepared = Prepared::new(&owner, payload.into()).expect("within the limits");
        let mut front = Vec::new();
        prepared.encode_front(prepared.at(7, 64), 9, 11, &mut front);
        (prepared, front)
    }

    #[test]
    fn headers_round_trip() {
        for length in [1, 7, 65_535, 65_536, 65_537, MAX_EXTENT] {
            let (prepared, front) = sample(length);
            let fixed = Fixed::parse(&field(&front, 0)).expect("a header");
            fixed.verify(&front).expect("its checksum");
            assert_eq!((fixed.sequence, fixed.salt, fixed.released), (9, 11, false));
            assert_eq!(fixed.at, prepared.at(7, 64));
            assert_eq!((fixed.front(), fixed.record()), (front.len(), prepared.record()));
            assert_eq!(fixed.owner(&front).expect("an owner").key, b"key");
            assert!(fixed.verify_blocks(&front, 0, prepared.payload()));
            let whole = front.len() + length + prepared.padding().len();
            assert_eq!(whole as u64, prepared.record());
        }
    }

    #[test]
    fn every_flipped_bit_of_a_header_is_seen() {
        let (_, front) = sample(70_000);
        for index in 0..front.len() {
            for bit in 0..8 {
                let mut bad = front.clone();
                bad[index] ^= 1 << bit;
                let seen = Fixed::parse(&field(&bad, 0)).and_then(|fixed| fixed.verify(&bad));
                assert!(seen.is_err(), "byte {index} bit {bit}");
            }
        }
    }

    #[test]
    fn garbage_is_refused_without_a_panic() {
        let (_, front) = sample(100);
        let mut state = 1_u64;
        for _ in 0..50_000 {
            let mut bad = front.clone();
            for _ in 0..4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let [at, _, _, byte, ..] = (state >> 24).to_le_bytes();
                // Beyond the magic, so that the lengths behind it are read too.
                let at = 4 + usize::from(at) % (bad.len() - 4);
                bad[at] = byte;
            }
            let read = Fixed::parse(&field(&bad, 0)).and_then(|fixed| fixed.verify(&bad));
            assert!(read.is_err() || bad == front);
        }
    }

    #[test]
    fn limits_are_refused() {
        let owner = |key: usize| Owner { placement: Placement::new(&b""[..]), key: vec![1; key] };
        for (key, length, fine) in [
            (0, 1, true),
            (2_560, MAX_EXTENT, true),
            (2_561, 1, false),
            (1, 0, false),
            (1, MAX_EXTENT + 1, false),
        ] {
            let made = Prepared::new(&owner(key), vec![0; length].into());
            assert_eq!(made.is_ok(), fine, "key {key}, payload {length}");
        }
    }
}
