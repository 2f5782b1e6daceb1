//! The `XSM/1.0` framing of uploads: content in numbered segments, each with its CRC64.
//!
//! ```text
//! header   u8 version = 1 · u64 length of the message · u16 flags (1 = CRC64) · u16 segments
//! segment  u16 number from 1 · u64 length · content · u64 CRC64 of it, if flagged
//! trailer  u64 CRC64 of all content, if flagged          (all little-endian)
//! ```
//!
//! Must never hold content: pieces pass through as they come. Must never end well unless every
//! length and checksum was right.

use crate::error::ApiError;
use bytes::{Buf, Bytes};
use zaffre_base::checksum::Crc64;
use zaffre_domain::Refusal;

pub(super) const VERSION: u8 = 1;
pub(super) const FLAG_CRC64: u16 = 1;
pub(super) const HEADER: usize = 13;
pub(super) const SEGMENT_HEADER: usize = 10;
pub(super) const CRC: usize = 8;

/// What is wrong with a framed body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is not in this form, or contradicts itself.
    Malformed(&'static str),
    /// Content does not have the checksum that follows it.
    Checksum {
        /// What the frame said.
        announced: [u8; 8],
        /// What arrived.
        computed: [u8; 8],
    },
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed(why) => Self::invalid_input().saying(why),
            Fault::Checksum { announced, computed } => {
                Refusal::Crc64Mismatch { announced, computed }.into()
            }
        }
    }
}

/// Where in the message the next byte belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Header,
    SegmentHeader,
    Content { left: u64 },
    SegmentCrc,
    Trailer,
    Done,
}

/// Takes the frames off, piece by piece.
pub struct Decoder {
    stage: Stage,
    /// Bytes of a fixed-size part that has not arrived whole.
    partial: Vec<u8>,
    framed: u64,
    content: u64,
    crc64: bool,
    segments: u16,
    segment: u16,
    segment_crc: Crc64,
    whole_crc: Crc64,
}

impl Decoder {
    /// A decoder for a message of `framed` bytes around `content` bytes.
    pub fn new(framed: u64, content: u64) -> Self {
        Self {
            stage: Stage::Header,
            partial: Vec::with_capacity(HEADER),
            framed,
            content,
            crc64: false,
            segments: 0,
            segment: 0,
            segment_crc: Crc64::default(),
            whole_crc: Crc64::default(),
        }
    }

    /// Takes a piece of the message; what is content in it goes to `out`.
    pub fn push(&mut self, mut piece: Bytes, out: &mut Vec<Bytes>) -> Result<(), Fault> {
        while !piece.is_empty() {
            match self.stage {
                Stage::Content { left } => self.content(left, &mut piece, out),
                Stage::Header => {
                    if let Some(header) = self.fixed::<HEADER>(&mut piece) {
                        self.header(header)?;
                    }
                }
                Stage::SegmentHeader => {
                    if let Some(header) = self.fixed::<SEGMENT_HEADER>(&mut piece) {
                        self.segment_header(header)?;
                    }
                }
                Stage::SegmentCrc => {
                    if let Some(announced) = self.fixed::<CRC>(&mut piece) {
                        check(announced, &self.segment_crc)?;
                        self.stage = self.after_segment();
                    }
                }
                Stage::Trailer => {
                    if let Some(announced) = self.fixed::<CRC>(&mut piece) {
                        check(announced, &self.whole_crc)?;
                        self.stage = Stage::Done;
                    }
                }
                Stage::Done => return Err(Fault::Malformed("Bytes follow the last segment.")),
            }
        }
        Ok(())
    }

    /// Says whether the message was complete.
    pub fn finish(&self) -> Result<(), Fault> {
        if self.stage != Stage::Done {
            return Err(Fault::Malformed("The message ends before its last segment."));
        }
        if self.content > 0 {
            return Err(Fault::Malformed("The segments hold less than was announced."));
        }
        Ok(())
    }

    /// The next `N` bytes once they are all there.
    fn fixed<const N: usize>(&mut self, piece: &mut Bytes) -> Option<[u8; N]> {
        let take = (N - self.partial.len()).min(piece.len());
        self.partial.extend_from_slice(&piece.split_to(take));
        let whole = <[u8; N]>::try_from(self.partial.as_slice()).ok()?;
        self.partial.clear();
        Some(whole)
    }

    fn header(&mut self, header: [u8; HEADER]) -> Result<(), Fault> {
        let mut header = header.as_slice();
        if header.get_u8() != VERSION {
            return Err(Fault::Malformed("The structured message has an unknown version."));
        }
        if header.get_u64_le() != self.framed {
            return Err(Fault::Malformed("The message's length is not that of the body."));
        }
        let flags = header.get_u16_le();
        if flags & !FLAG_CRC64 != 0 {
            return Err(Fault::Malformed("The structured message has unknown flags."));
        }
        self.crc64 = flags & FLAG_CRC64 != 0;
        self.segments = header.get_u16_le();
        self.stage = self.after_segment();
        Ok(())
    }

    fn segment_header(&mut self, header: [u8; SEGMENT_HEADER]) -> Result<(), Fault> {
        let mut header = header.as_slice();
        self.segment += 1;
        if header.get_u16_le() != self.segment {
            return Err(Fault::Malformed("The segments are not numbered one after the other."));
        }
        let left = header.get_u64_le();
        let rest = self.content.checked_sub(left);
        self.content =
            rest.ok_or(Fault::Malformed("The segments hold more than was announced."))?;
        self.segment_crc = Crc64::default();
        self.stage = if left > 0 { Stage::Content { left } } else { self.after_content() };
        Ok(())
    }

    fn content(&mut self, left: u64, piece: &mut Bytes, out: &mut Vec<Bytes>) {
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        let content = piece.split_to(take);
        if self.crc64 {
            self.segment_crc.update(&content);
            self.whole_crc.update(&content);
        }
        let left = left.saturating_sub(u64::try_from(take).unwrap_or(u64::MAX));
        out.push(content);
        self.stage = if left > 0 { Stage::Content { left } } else { self.after_content() };
    }

    fn after_content(&self) -> Stage {
        if self.crc64 { Stage::SegmentCrc } else { self.after_segment() }
    }

    fn after_segment(&self) -> Stage {
        match (self.segment < self.segments, self.crc64) {
            (true, _) => Stage::SegmentHeader,
            (false, true) => Stage::Trailer,
            (false, false) => Stage::Done,
        }
    }
}

fn check(announced: [u8; 8], crc: &Crc64) -> Result<(), Fault> {
    let computed = crc.finish();
    if announced == computed { Ok(()) } else { Err(Fault::Checksum { announced, computed }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crc(bytes: &[u8]) -> [u8; 8] {
        let mut crc = Crc64::default();
        crc.update(bytes);
        crc.finish()
    }

    fn encode(segments: &[&[u8]], flags: u16) -> Vec<u8> {
        let content: Vec<u8> = segments.concat();
        let frame = if flags == 1 { 18 } else { 10 };
        let trailer = if flags == 1 { 8 } else { 0 };
        let length = 13 + segments.len() * frame + content.len() + trailer;
        let mut out = vec![1];
        out.extend_from_slice(&u64::try_from(length).expect("small").to_le_bytes());
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&u16::try_from(segments.len()).expect("small").to_le_bytes());
        for (number, segment) in (1_u16..).zip(segments) {
            out.extend_from_slice(&number.to_le_bytes());
            out.extend_from_slice(&u64::try_from(segment.len()).expect("small").to_le_bytes());
            out.extend_from_slice(segment);
            if flags == 1 {
                out.extend_from_slice(&crc(segment));
            }
        }
        if flags == 1 {
            out.extend_from_slice(&crc(&content));
        }
        out
    }

    /// Decodes in pieces of `step` bytes.
    fn decode(message: &[u8], content: u64, step: usize) -> Result<Vec<u8>, Fault> {
        let mut decoder = Decoder::new(u64::try_from(message.len()).expect("small"), content);
        let mut out = Vec::new();
        for piece in message.chunks(step) {
            decoder.push(Bytes::copy_from_slice(piece), &mut out)?;
        }
        decoder.finish()?;
        Ok(out.concat())
    }

    #[test]
    fn content_comes_out_whatever_the_pieces() {
        for flags in [0, 1] {
            for segments in
                [&[][..], &[&b""[..]], &[&b"hello"[..]], &[&b"hello "[..], b"", b"world"]]
            {
                let message = encode(segments, flags);
                let content = segments.concat();
                for step in 1..=message.len() {
                    let length = u64::try_from(content.len()).expect("small");
                    assert_eq!(decode(&message, length, step), Ok(content.clone()));
                }
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let message = encode(&[b"hello ", b"world"], 1);
        for byte in 0..message.len() {
            for bit in 0..8 {
                let mut broken = message.clone();
                broken[byte] ^= 1 << bit;
                assert!(decode(&broken, 11, 7).is_err(), "byte {byte} bit {bit}");
            }
        }
    }

    #[test]
    fn lengths_must_agree() {
        let message = encode(&[b"hello"], 1);
        let short = &message[..message.len() - 1];
        assert!(matches!(decode(short, 5, 99), Err(Fault::Malformed(_))));
        for announced in [4, 6] {
            assert!(matches!(decode(&message, announced, 99), Err(Fault::Malformed(_))));
        }
        let mut long = message.clone();
        long.push(0);
        assert!(matches!(decode(&long, 5, 99), Err(Fault::Malformed(_))));
    }
}
