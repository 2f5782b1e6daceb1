//! The socket under one connection: plain or TLS, with the time limits hyper does not have.
//!
//! Idle connections end quietly, clients that take no byte of their reply are cut, and a client
//! that still sends when we close gets to read what we said first.

use super::framing::{Framing, HeadNotes};
use super::options::Timeouts;
use crate::limits::LINGER_BYTES;
use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_rustls::server::TlsStream;

/// What a connection's socket and its requests tell each other.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    /// Every request was answered and no byte has come since. Not so before the first one: the
    /// head's time limit is long enough for a client that connects ahead of its needs.
    idle: AtomicBool,
    /// A request is being answered.
    busy: AtomicBool,
    /// The client is still sending what we no longer read.
    unread: AtomicBool,
    /// The connection ends with a reset.
    reset: AtomicBool,
    notes: Mutex<VecDeque<HeadNotes>>,
}

impl Exchanges {
    /// A request begins; what its head was seen to hold. `None` when our reading of the bytes and
    /// hyper's no longer agree.
    pub(crate) fn begin(&self) -> Option<HeadNotes> {
        self.idle.store(false, Ordering::Relaxed);
        self.busy.store(true, Ordering::Relaxed);
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// The reply was handed over whole, or given up.
    pub(crate) fn end(&self) {
        self.busy.store(false, Ordering::Relaxed);
        self.idle.store(true, Ordering::Relaxed);
    }

    /// The rest of a body will not be read: the close must linger.
    pub(crate) fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    /// The connection shall end with a reset.
    pub(crate) fn reset(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }

    fn all_read(&self) -> bool {
        self.idle.load(Ordering::Relaxed) && !self.unread.load(Ordering::Relaxed)
    }

    fn note(&self, notes: HeadNotes) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push_back(notes);
    }
}

/// A socket, encrypted or not.
pub(crate) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A socket with time limits.
pub(crate) struct Wire {
    transport: Transport,
    exchanges: Arc<Exchanges>,
    framing: Framing,
    timeouts: Timeouts,
    idle: Timer,
    head: Timer,
    stalled: Timer,
    lingering: Timer,
    lingered: u64,
}

impl Wire {
    pub(crate) fn new(transport: Transport, exchanges: Arc<Exchanges>, timeouts: Timeouts) -> Self {
        Self {
            transport,
            exchanges,
            framing: Framing::default(),
            timeouts,
            idle: Timer::default(),
            head: Timer::default(),
            stalled: Timer::default(),
            lingering: Timer::default(),
            lingered: 0,
        }
    }

    fn socket<T>(&mut self, with: impl FnOnce(Pin<&mut dyn Socket>) -> T) -> T {
        match &mut self.transport {
            Transport::Plain(tcp) => with(Pin::new(tcp)),
            Transport::Tls(tls) => with(Pin::new(tls.as_mut())),
        }
    }

    fn limit_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled.stop();
        } else if self.stalled.expired(self.timeouts.write_stall, cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }

    /// Reads and forgets until the client stops, so that the kernel has no reason to reset the
    /// connection and throw away a reply that is still on its way.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut space = [0; 16 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut space);
            match self.socket(|socket| socket.poll_read(cx, &mut buffer)) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.lingered += u64::try_from(buffer.filled().len()).unwrap_or(u64::MAX);
                    if self.lingered > LINGER_BYTES {
                        return Poll::Ready(());
                    }
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending if self.lingering.expired(self.timeouts.linger, cx) => {
                    return Poll::Ready(());
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.exchanges.reset.load(Ordering::Relaxed) {
            let tcp = match &self.transport {
                Transport::Plain(tcp) => tcp,
                Transport::Tls(tls) => tls.get_ref().0,
            };
            // Without it the client sees an orderly end, which is what a fault should not be.
            let _ = tcp.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = this.socket(|socket| socket.poll_read(cx, buffer));
        if polled.is_ready() {
            this.idle.stop();
            if buffer.filled().len() == before {
                return polled;
            }
            this.exchanges.idle.store(false, Ordering::Relaxed);
            let (exchanges, head) = (&this.exchanges, &mut this.head);
            this.framing.feed(&buffer.filled()[before..], |notes| {
                head.stop();
                exchanges.note(notes);
            });
            return polled;
        }
        let Timeouts { idle, head, .. } = this.timeouts;
        if this.exchanges.idle.load(Ordering::Relaxed) {
            if this.idle.expired(idle, cx) {
                return Poll::Ready(Ok(()));
            }
        } else if !this.exchanges.busy.load(Ordering::Relaxed) && this.framing.awaits_head() {
            // Before the first byte it may be a client that connects ahead of its needs.
            if this.head.expired(idle + head, cx) {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        Poll::Pending
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.socket(|socket| socket.poll_write(cx, bytes));
        this.limit_write(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // One piece alone is sent by a simpler call of the system.
        let written = this.socket(|socket| match pieces {
            [only] => socket.poll_write(cx, only),
            _ => socket.poll_write_vectored(cx, pieces),
        });
        this.limit_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(tcp) => tcp.is_write_vectored(),
            Transport::Tls(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = this.socket(|socket| socket.poll_flush(cx));
        this.limit_write(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.exchanges.reset.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        if this.lingered == 0 && !this.lingering.running() {
            let shut = this.socket(|socket| socket.poll_shutdown(cx));
            ready!(this.limit_write(cx, shut))?;
            if this.exchanges.all_read() {
                return Poll::Ready(Ok(()));
            }
        }
        this.poll_linger(cx).map(Ok)
    }
}

/// What hyper gets for a timer: its sleeps never end, and cost nothing. The wire's own do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoTimer {
    /// The time it always shows: nobody looks at the ends of its sleeps.
    pub(crate) always: std::time::Instant,
}

struct NoEnd;

impl Future for NoEnd {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl hyper::rt::Sleep for NoEnd {}

impl hyper::rt::Timer for NoTimer {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(NoEnd)
    }

    fn sleep_until(&self, _: std::time::Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(NoEnd)
    }

    fn now(&self) -> std::time::Instant {
        self.always
    }
}

/// Both directions of a socket.
trait Socket: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Socket for S {}

/// A time limit that starts when first asked about.
///
/// What it sleeps on is kept and seldom moved: a busy connection starts and stops it with every
/// request, and each of them would have to move it in the runtime's list of timers.
#[derive(Default)]
struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    since: Option<Instant>,
}

impl Timer {
    /// Whether `limit` has passed since the first call after a stop; wakes the task when it has.
    fn expired(&mut self, limit: Duration, cx: &mut Context<'_>) -> bool {
        let deadline = *self.since.get_or_insert_with(Instant::now) + limit;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if sleep.deadline() == deadline {
                return true;
            }
            // It woke us for an earlier start.
            sleep.as_mut().reset(deadline);
        }
        false
    }

    fn running(&self) -> bool {
        self.since.is_some()
    }

    fn stop(&mut self) {
        self.since = None;
    }
}
