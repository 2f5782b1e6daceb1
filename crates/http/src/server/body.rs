//! Bodies as streams: the client's, with a limit on how slowly it may come, and ours.
//!
//! Must never collect a body, and never let a reply that broke off look whole.

use super::wire::Exchanges;
use crate::limits::{BODY_PROGRESS_BYTES, DRAIN_BYTES, DRAIN_TIME};
use crate::message::{BodyError, BodyStream, ReplyBody};
use bytes::Bytes;
use futures_core::Stream;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// Where a body that was not read to its end leaves word of it.
#[derive(Clone, Default)]
pub(super) struct Leftover(Arc<Mutex<Left>>);

/// What is left of a body when its handler is done.
#[derive(Default)]
pub(super) enum Left {
    /// Nothing: it was read to its end, or somebody still holds it.
    #[default]
    Nothing,
    /// The handler did not want the rest.
    Rest(Rest),
    /// It broke off or stalled.
    Broken,
}

/// The unread part of a body.
pub(super) struct Rest {
    incoming: Incoming,
    /// Whether anything was asked for: until then a client that sent `Expect` waits.
    pub(super) asked: bool,
    /// How much came so far.
    pub(super) read: u64,
}

impl Leftover {
    pub(super) fn take(&self) -> Left {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, left: Left) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = left;
    }
}

impl Rest {
    /// Reads a little more and forgets it, so that the connection can be used again. Dropping
    /// what is then still unread makes hyper close the connection.
    pub(super) async fn drain(self, exchanges: Arc<Exchanges>) {
        let mut incoming = self.incoming;
        let mut drained = 0;
        let reading = async {
            while let Some(Ok(frame)) = next_frame(&mut incoming).await {
                drained += frame.data_ref().map_or(0, length_of);
                if drained > DRAIN_BYTES {
                    return false;
                }
            }
            incoming.is_end_stream()
        };
        if !matches!(timeout(DRAIN_TIME, reading).await, Ok(true)) {
            exchanges.leave_unread();
        }
    }
}

async fn next_frame(incoming: &mut Incoming) -> Option<Result<Frame<Bytes>, hyper::Error>> {
    std::future::poll_fn(|cx| Pin::new(&mut *incoming).poll_frame(cx)).await
}

fn length_of(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// A request's body on its way in.
pub(super) struct RequestBody {
    incoming: Option<Incoming>,
    leftover: Leftover,
    stall: Duration,
    asked: bool,
    read: u64,
    /// Bytes since the waiting time was last set back.
    progress: u64,
    waited: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, leftover: Leftover, stall: Duration) -> Self {
        Self {
            incoming: Some(incoming),
            leftover,
            stall,
            asked: false,
            read: 0,
            progress: 0,
            waited: Duration::ZERO,
            waiting: None,
        }
    }

    fn came(&mut self, bytes: u64) {
        self.read += bytes;
        self.progress += bytes;
        if let Some((since, _)) = self.waiting.take() {
            self.waited += since.elapsed();
        }
        if self.progress >= BODY_PROGRESS_BYTES {
            (self.progress, self.waited) = (0, Duration::ZERO);
        }
    }

    /// Only time spent waiting counts: a handler may take its own time between pieces.
    fn stalled(&mut self, cx: &mut Context<'_>) -> bool {
        let left = self.stall.saturating_sub(self.waited);
        let (_, timer) =
            self.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(left))));
        timer.as_mut().poll(cx).is_ready()
    }
}

impl Stream for RequestBody {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.asked = true;
        loop {
            let Some(incoming) = &mut self.incoming else { return Poll::Ready(None) };
            match Pin::new(incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing to us.
                    let Ok(data) = frame.into_data() else { continue };
                    self.came(length_of(&data));
                    return Poll::Ready(Some(Ok(data)));
                }
                Poll::Ready(None) => {
                    self.incoming = None;
                    return Poll::Ready(None);
                }
                Poll::Pending if !self.stalled(cx) => return Poll::Pending,
                // Broken off or stalled: dropping the rest closes the connection.
                Poll::Ready(Some(Err(_))) | Poll::Pending => {
                    self.incoming = None;
                    self.leftover.put(Left::Broken);
                    return Poll::Ready(Some(Err(BodyError::Broken)));
                }
            }
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let Some(incoming) = self.incoming.take().filter(|body| !body.is_end_stream()) {
            let rest = Rest { incoming, asked: self.asked, read: self.read };
            self.leftover.put(Left::Rest(rest));
        }
    }
}

/// A reply's body on its way out.
pub(super) struct OutBody {
    content: Content,
    exchanges: Arc<Exchanges>,
    panics: Arc<AtomicU64>,
}

enum Content {
    Whole(Option<Bytes>),
    Pieces {
        left: u64,
        bytes: BodyStream,
    },
    /// Of unknown length.
    Open {
        bytes: BodyStream,
    },
}

/// Why a reply was broken off; closes the connection and is seen by nobody.
#[derive(Debug)]
pub(super) struct Aborted;

impl std::fmt::Display for Aborted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the reply's body ended early")
    }
}

impl std::error::Error for Aborted {}

impl OutBody {
    pub(super) fn new(body: ReplyBody, exchanges: Arc<Exchanges>, panics: Arc<AtomicU64>) -> Self {
        let content = match body {
            ReplyBody::Full(bytes) => Content::Whole(Some(bytes).filter(|b| !b.is_empty())),
            ReplyBody::Empty | ReplyBody::Stream { length: 0, .. } => Content::Whole(None),
            ReplyBody::Stream { length, bytes } => Content::Pieces { left: length, bytes },
            ReplyBody::Open { bytes } => Content::Open { bytes },
        };
        Self { content, exchanges, panics }
    }

    /// How many bytes are left, if that is known.
    fn left(&self) -> Option<u64> {
        match &self.content {
            Content::Whole(bytes) => Some(bytes.as_ref().map_or(0, length_of)),
            Content::Pieces { left, .. } => Some(*left),
            Content::Open { .. } => None,
        }
    }
}

impl Body for OutBody {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        let this = &mut *self;
        let mut unbounded = u64::MAX;
        let is_open = matches!(this.content, Content::Open { .. });
        let (left, bytes) = match &mut this.content {
            Content::Whole(bytes) => {
                return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))));
            }
            Content::Pieces { left: 0, .. } => return Poll::Ready(None),
            Content::Pieces { left, bytes } => (left, bytes),
            Content::Open { bytes } => (&mut unbounded, bytes),
        };
        let polled = catch_unwind(AssertUnwindSafe(|| bytes.as_mut().poll_next(cx)));
        let piece = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(piece)) => piece,
            Err(_) => {
                this.panics.fetch_add(1, Ordering::Relaxed);
                tracing::error!(alarm = "panic", "a reply's body panicked; connection aborted");
                Some(Err(BodyError::Broken))
            }
        };
        match piece {
            Some(Ok(piece)) if length_of(&piece) <= *left => {
                *left -= length_of(&piece);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            None if is_open => {
                this.content = Content::Whole(None);
                Poll::Ready(None)
            }
            _ => {
                this.content = Content::Whole(None);
                Poll::Ready(Some(Err(Aborted)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for OutBody {
    fn drop(&mut self) {
        self.exchanges.end();
    }
}
