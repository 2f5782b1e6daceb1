//! The `XSM/1.0` framing of downloads; `decoder` has the layout and takes it off again.
//!
//! Must never hold content: frames are put between pieces as they pass.

use super::decoder::{CRC, FLAG_CRC64, HEADER, SEGMENT_HEADER, VERSION};
use crate::message::{BodyError, BodyStream};
use bytes::{BufMut, Bytes, BytesMut};
use futures_core::Stream;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use zaffre_base::checksum::Crc64;
use zaffre_base::limits::MIB;

/// Content of one segment, as the service and the SDKs have it.
const SEGMENT: u64 = 4 * MIB;
/// Segments are counted in sixteen bits; larger content has larger segments.
const SEGMENTS: u64 = 65_535;

/// Puts frames around content of a known length.
struct Encoder {
    segment_size: u64,
    /// Content that has not come yet.
    left: u64,
    /// Of that, what belongs to the open segment.
    left_in_segment: u64,
    number: u16,
    segment_crc: Crc64,
    whole_crc: Crc64,
}

/// The framed length of `content` bytes.
pub fn length(content: u64) -> u64 {
    let frames = segments(content) * bytes(SEGMENT_HEADER + CRC);
    content.saturating_add(bytes(HEADER + CRC)).saturating_add(frames)
}

/// Frames around `content` bytes of `body`.
pub fn stream(body: BodyStream, content: u64) -> BodyStream {
    let mut ready = VecDeque::new();
    let encoder = Encoder::start(content, &mut ready);
    Box::pin(Framed { body, encoder, ready, failed: false })
}

fn segment_size(content: u64) -> u64 {
    SEGMENT.max(content.div_ceil(SEGMENTS))
}

/// At least one: content of no bytes is one empty segment.
fn segments(content: u64) -> u64 {
    content.div_ceil(segment_size(content)).max(1)
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Encoder {
    fn start(content: u64, out: &mut VecDeque<Bytes>) -> Self {
        let mut header = BytesMut::with_capacity(HEADER);
        header.put_u8(VERSION);
        header.put_u64_le(length(content));
        header.put_u16_le(FLAG_CRC64);
        header.put_u16_le(u16::try_from(segments(content)).unwrap_or(u16::MAX));
        out.push_back(header.freeze());
        let mut encoder = Self {
            segment_size: segment_size(content),
            left: content,
            left_in_segment: 0,
            number: 0,
            segment_crc: Crc64::default(),
            whole_crc: Crc64::default(),
        };
        encoder.open_segment(out);
        if content == 0 {
            encoder.close_segment(out);
        }
        encoder
    }

    /// Takes a piece of content; one that is more than was announced is refused.
    fn push(&mut self, mut piece: Bytes, out: &mut VecDeque<Bytes>) -> Result<(), BodyError> {
        while !piece.is_empty() {
            if self.left == 0 {
                return Err(BodyError::Broken);
            }
            let room = usize::try_from(self.left_in_segment).unwrap_or(usize::MAX);
            let content = piece.split_to(room.min(piece.len()));
            self.segment_crc.update(&content);
            self.whole_crc.update(&content);
            self.left -= bytes(content.len());
            self.left_in_segment -= bytes(content.len());
            out.push_back(content);
            if self.left_in_segment == 0 {
                self.close_segment(out);
            }
        }
        Ok(())
    }

    fn open_segment(&mut self, out: &mut VecDeque<Bytes>) {
        self.number = self.number.saturating_add(1);
        self.left_in_segment = self.segment_size.min(self.left);
        self.segment_crc = Crc64::default();
        let mut header = BytesMut::with_capacity(SEGMENT_HEADER);
        header.put_u16_le(self.number);
        header.put_u64_le(self.left_in_segment);
        out.push_back(header.freeze());
    }

    fn close_segment(&mut self, out: &mut VecDeque<Bytes>) {
        out.push_back(Bytes::copy_from_slice(&self.segment_crc.finish()));
        if self.left > 0 {
            self.open_segment(out);
        } else {
            out.push_back(Bytes::copy_from_slice(&self.whole_crc.finish()));
        }
    }
}

struct Framed {
    body: BodyStream,
    encoder: Encoder,
    ready: VecDeque<Bytes>,
    failed: bool,
}

impl Stream for Framed {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(piece) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(piece)));
            }
            if this.failed || this.encoder.left == 0 {
                return Poll::Ready(None);
            }
            let step = match ready!(this.body.as_mut().poll_next(cx)) {
                Some(Ok(piece)) => this.encoder.push(piece, &mut this.ready),
                Some(Err(error)) => Err(error),
                None => Err(BodyError::Broken),
            };
            if let Err(error) = step {
                this.failed = true;
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::Decoder;
    use super::*;

    #[test]
    fn what_is_framed_can_be_unframed() {
        for size in [0, 1, 5, SEGMENT - 1, SEGMENT, SEGMENT + 1, 3 * SEGMENT] {
            let content = vec![7; usize::try_from(size).expect("small")];
            let mut message = VecDeque::new();
            let mut encoder = Encoder::start(size, &mut message);
            for piece in content.chunks(1_000_003) {
                let pushed = encoder.push(Bytes::copy_from_slice(piece), &mut message);
                assert_eq!(pushed, Ok(()));
            }
            assert_eq!(encoder.left, 0);
            let framed: u64 = message.iter().map(|piece| bytes(piece.len())).sum();
            assert_eq!(framed, length(size), "{size}");
            let (mut decoder, mut out) = (Decoder::new(framed, size), Vec::new());
            for piece in message {
                assert_eq!(decoder.push(piece, &mut out), Ok(()), "{size}");
            }
            assert_eq!(decoder.finish(), Ok(()));
            assert!(out.concat() == content, "{size}");
            assert_eq!(
                encoder.push(Bytes::from_static(b"x"), &mut VecDeque::new()),
                Err(BodyError::Broken)
            );
        }
    }

    #[test]
    fn segments_never_outnumber_their_counter() {
        for content in [0, SEGMENT * SEGMENTS, SEGMENT * SEGMENTS + 1, 200 << 40] {
            assert!((1..=SEGMENTS).contains(&segments(content)), "{content}");
        }
    }
}
