//! Between the wire's body stream and core's: the same bytes, with the frames taken off.
//!
//! Must never let a framed body that is wrong look complete: its stream ends in an error.

use super::structured::{Decoder, Fault};
use crate::parse::put::Framing;
use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use zaffre_core::blob::{ByteStream, StreamError};
use zaffre_http::{BodyError, BodyStream};

/// What was wrong with the frames, for the answer; core only knows that the stream broke.
pub type FaultSlot = Arc<OnceLock<Fault>>;

/// The content of a request body.
pub fn content(body: BodyStream, framing: Framing) -> (ByteStream, FaultSlot) {
    let fault = FaultSlot::default();
    let stream: ByteStream = match framing {
        Framing::Plain => Box::pin(body.map(|piece| piece.map_err(|e| stream_error(&e)))),
        Framing::Structured { framed, content } => Box::pin(Unframed {
            body,
            decoder: Decoder::new(framed, content),
            ready: VecDeque::new(),
            ended: false,
            fault: Arc::clone(&fault),
        }),
    };
    (stream, fault)
}

/// Stored bytes on their way out. A failure aborts the connection, so that a short answer never
/// looks whole; core has logged the cause.
pub fn reply(bytes: ByteStream) -> BodyStream {
    Box::pin(bytes.map(|piece| piece.map_err(|_| BodyError::Broken)))
}

fn stream_error(error: &BodyError) -> StreamError {
    match error {
        BodyError::Broken => StreamError::Broken,
        BodyError::TooLarge { limit } => StreamError::TooLarge { limit: *limit },
    }
}

struct Unframed {
    body: BodyStream,
    decoder: Decoder,
    ready: VecDeque<Bytes>,
    ended: bool,
    fault: FaultSlot,
}

impl Unframed {
    fn fail(&mut self, fault: Fault) -> StreamError {
        self.ended = true;
        self.fault.get_or_init(|| fault);
        StreamError::Broken
    }
}

impl Stream for Unframed {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(piece)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            let step = match ready!(self.body.as_mut().poll_next(cx)) {
                Some(Ok(piece)) => {
                    let mut out = Vec::new();
                    let pushed = self.decoder.push(piece, &mut out);
                    self.ready.extend(out);
                    pushed
                }
                Some(Err(error)) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(stream_error(&error))));
                }
                None => {
                    self.ended = true;
                    self.decoder.finish()
                }
            };
            if let Err(fault) = step {
                self.ready.clear();
                return Poll::Ready(Some(Err(self.fail(fault))));
            }
        }
    }
}
