//! A framed body as it comes, without its frames.
//!
//! Must never let a framed body that is wrong look complete: its stream ends in an error.

use super::decoder::{Decoder, Fault};
use crate::message::{BodyError, BodyStream};
use bytes::Bytes;
use futures_core::Stream;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

/// What was wrong with the frames, for the answer; whoever reads only knows that the stream broke.
pub type FaultSlot = Arc<OnceLock<Fault>>;

/// The content of a body of `framed` bytes, of which `length` are content.
pub fn content(body: BodyStream, framed: u64, length: u64) -> (BodyStream, FaultSlot) {
    let fault = FaultSlot::default();
    let stream = Unframed {
        body,
        decoder: Decoder::new(framed, length),
        ready: VecDeque::new(),
        ended: false,
        fault: Arc::clone(&fault),
    };
    (Box::pin(stream), fault)
}

struct Unframed {
    body: BodyStream,
    decoder: Decoder,
    ready: VecDeque<Bytes>,
    ended: bool,
    fault: FaultSlot,
}

impl Unframed {
    fn fail(&mut self, fault: Fault) -> BodyError {
        self.ended = true;
        self.fault.get_or_init(|| fault);
        BodyError::Broken
    }
}

impl Stream for Unframed {
    type Item = Result<Bytes, BodyError>;

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
                    return Poll::Ready(Some(Err(error)));
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
