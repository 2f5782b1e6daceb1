//! A segment file's frame: its header, its footer and its name. Bytes only, no I/O.
//!
//! Must never accept a footer that does not end its file: that is what tells a sealed segment.

use super::record::{ALIGN, Damage, field};
use std::ops::Range;
use zaffre_base::checksum::crc32c;

/// The folder of the segments.
pub(crate) const FOLDER: &str = "segments";
/// Bytes before the first record.
pub(crate) const HEADER: usize = 64;
/// Bytes of a footer without stretches.
pub(crate) const FOOTER: usize = 48;
/// Stretches a footer may list; a crash leaves one or two.
const MAX_TORN: usize = 4_096;

const HEADER_MAGIC: [u8; 8] = *b"ZAFFRSEG";
const FOOTER_MAGIC: [u8; 8] = *b"ZAFFREND";
const VERSION: u32 = 1;

/// The file's name on the disk: ten digits, so that names sort as numbers do.
pub(crate) fn name(number: u32) -> String {
    format!("{FOLDER}/{number:010}.seg")
}

/// The number in a name inside the folder.
pub(crate) fn parse_name(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".seg")?;
    let shaped = digits.len() == 10 && digits.bytes().all(|b| b.is_ascii_digit());
    if shaped { digits.parse().ok() } else { None }
}

/// How a segment's file starts.
///
/// ```text
/// at  size  field (integers little-endian)
///  0    8   magic "ZAFFRSEG"
///  8    4   version of the segment format, 1
/// 12    4   number of the segment
/// 16    8   salt: random, repeated in every record and the footer
/// 24   36   zeros
/// 60    4   CRC32C of bytes 0..60
/// 64        the first record
/// ```
///
/// Records follow one another without gaps. Until it is sealed the file is longer than its records
/// (its space is reserved ahead, because appending into reserved space syncs three times as fast).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) number: u32,
    pub(crate) salt: u64,
}

impl Header {
    pub(crate) fn encode(self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        out[..8].copy_from_slice(&HEADER_MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&self.number.to_le_bytes());
        out[16..24].copy_from_slice(&self.salt.to_le_bytes());
        let crc = crc32c(&out[..60]);
        out[60..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; HEADER], number: u32) -> Result<Self, Damage> {
        if field::<8>(bytes, 0) != HEADER_MAGIC {
            return Err("the file is no segment");
        }
        if u32::from_le_bytes(field(bytes, 60)) != crc32c(&bytes[..60]) {
            return Err("the segment's header fails its checksum");
        }
        if u32::from_le_bytes(field(bytes, 8)) != VERSION {
            return Err("the segment's format is unknown");
        }
        if u32::from_le_bytes(field(bytes, 12)) != number {
            return Err("the segment's number is not its name's");
        }
        Ok(Self { number, salt: u64::from_le_bytes(field(bytes, 16)) })
    }
}

/// How a sealed segment's file ends: the stretches, then the fixed part, then the end of the file.
///
/// ```text
/// at    size  field (integers little-endian)
/// 0     16·t  torn stretches: from (8), to (8); no record starts inside one
/// 16·t     8  magic "ZAFFREND"
/// +8       4  version of the segment format, 1
/// +12      4  number of the segment
/// +16      8  salt of the segment
/// +24      8  records in the segment
/// +32      8  end: offset behind the last record, where the stretches start
/// +40      4  t, the number of torn stretches
/// +44      4  CRC32C of everything before, stretches included
/// ```
///
/// A segment is sealed if and only if its file ends with a valid footer whose `end` fits the
/// file's length. Torn stretches are what recovery found unreadable between good records: bytes
/// that were never acknowledged. Listing them, instead of overwriting them, keeps recovery from
/// changing any record and lets a later scan tell a crash's remains from later damage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Footer {
    pub(crate) number: u32,
    pub(crate) salt: u64,
    pub(crate) records: u64,
    pub(crate) end: u64,
    pub(crate) torn: Vec<Range<u64>>,
}

impl Footer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FOOTER + 16 * self.torn.len());
        for stretch in &self.torn {
            out.extend_from_slice(&stretch.start.to_le_bytes());
            out.extend_from_slice(&stretch.end.to_le_bytes());
        }
        out.extend_from_slice(&FOOTER_MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.salt.to_le_bytes());
        out.extend_from_slice(&self.records.to_le_bytes());
        out.extend_from_slice(&self.end.to_le_bytes());
        out.extend_from_slice(&u32::try_from(self.torn.len()).unwrap_or(u32::MAX).to_le_bytes());
        let crc = crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// How long the whole footer is whose last [`FOOTER`] bytes these are; `None` if they are none.
    pub(crate) fn length(last: &[u8; FOOTER]) -> Option<usize> {
        let torn = usize::try_from(u32::from_le_bytes(field(last, 40))).ok()?;
        let is_footer = field::<8>(last, 0) == FOOTER_MAGIC && torn <= MAX_TORN;
        is_footer.then_some(FOOTER + 16 * torn)
    }

    /// Decodes a whole footer that ends a file of `file_length` bytes.
    pub(crate) fn decode(bytes: &[u8], number: u32, file_length: u64) -> Option<Self> {
        let stretches = bytes.len().checked_sub(FOOTER)?;
        let fixed: &[u8; FOOTER] = bytes.last_chunk()?;
        let body = &bytes[..bytes.len() - 4];
        let end = u64::from_le_bytes(field(fixed, 32));
        let valid = Self::length(fixed) == Some(bytes.len())
            && u32::from_le_bytes(field(fixed, 44)) == crc32c(body)
            && u32::from_le_bytes(field(fixed, 8)) == VERSION
            && u32::from_le_bytes(field(fixed, 12)) == number
            && end.checked_add(bytes.len() as u64) == Some(file_length)
            && end.is_multiple_of(ALIGN);
        if !valid {
            return None;
        }
        let place = |at: usize| u64::from_le_bytes(field(bytes, at));
        let torn = (0..stretches).step_by(16).map(|at| place(at)..place(at + 8)).collect();
        let salt = u64::from_le_bytes(field(fixed, 16));
        let records = u64::from_le_bytes(field(fixed, 24));
        Some(Self { number, salt, records, end, torn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(name(42), "segments/0000000042.seg");
        for (text, number) in [
            ("0000000042.seg", Some(42)),
            ("4294967295.seg", Some(u32::MAX)),
            ("4294967296.seg", None),
            ("42.seg", None),
            ("0000000042.tmp", None),
            ("+000000042.seg", None),
        ] {
            assert_eq!(parse_name(text), number, "{text}");
        }
    }

    #[test]
    fn frames_round_trip_and_every_flipped_bit_is_seen() {
        let header = Header { number: 3, salt: 77 };
        assert_eq!(Header::decode(&header.encode(), 3), Ok(header));
        assert!(Header::decode(&header.encode(), 4).is_err());
        for (index, bit) in (0..HEADER).flat_map(|i| (0..8).map(move |b| (i, b))) {
            let mut bytes = header.encode();
            bytes[index] ^= 1 << bit;
            assert!(Header::decode(&bytes, 3).is_err(), "header byte {index}");
        }
        let torn = vec![80..160, 200..400];
        let footer = Footer { number: 3, salt: 77, records: 5, end: 4096, torn };
        let bytes = footer.encode();
        let file_length = 4096 + bytes.len() as u64;
        assert_eq!(Footer::decode(&bytes, 3, file_length), Some(footer));
        assert_eq!(Footer::decode(&bytes, 3, file_length + 8), None);
        for (index, bit) in (0..bytes.len()).flat_map(|i| (0..8).map(move |b| (i, b))) {
            let mut bad = bytes.clone();
            bad[index] ^= 1 << bit;
            assert_eq!(Footer::decode(&bad, 3, file_length), None, "footer byte {index}");
        }
    }
}
