//! What the operator or a test may choose about a server.

use super::access::AccessLog;
use super::admission::Admission;
use super::lanes::Lanes;
use crate::faults::Faults;
use crate::limits;
use crate::traffic::Traffic;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use zaffre_base::Timestamp;

/// Tells the time of day; shown in error bodies and nowhere else.
pub type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Choices for one listener.
#[derive(Clone)]
pub struct ServerOptions {
    /// Room for connections; listeners may share it.
    pub connections: Arc<Semaphore>,
    /// Room for requests; listeners may share it.
    pub admission: Arc<Admission>,
    /// Where connections run; listeners may share them.
    pub lanes: Arc<Lanes>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// The time of day.
    pub clock: WallClock,
    /// Where answers are counted; listeners may share it.
    pub traffic: Arc<Traffic>,
    /// Faults that requests may meet: for tests alone.
    pub faults: Option<Faults>,
    /// Takes a line about each request.
    pub access: Option<AccessLog>,
}

impl ServerOptions {
    /// The named limits and this clock.
    pub fn new(clock: WallClock) -> Self {
        Self {
            connections: Arc::new(Semaphore::new(limits::CONNECTIONS)),
            admission: Arc::default(),
            lanes: Arc::default(),
            timeouts: Timeouts::default(),
            clock,
            traffic: Arc::default(),
            faults: None,
            access: None,
        }
    }
}

/// Time limits of a connection; the defaults are the named limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// A request's head.
    pub head: Duration,
    /// Between requests; told to clients in `Keep-Alive`.
    pub idle: Duration,
    /// A body that stops coming.
    pub body_stall: Duration,
    /// A client that stops reading.
    pub write_stall: Duration,
    /// Closing on a client that still sends.
    pub linger: Duration,
    /// A TLS handshake.
    pub handshake: Duration,
    /// Requests in flight when the server stops.
    pub grace: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: limits::HEAD_TIME,
            idle: limits::KEEP_ALIVE,
            body_stall: limits::BODY_STALL,
            write_stall: limits::WRITE_STALL,
            linger: limits::LINGER_TIME,
            handshake: limits::TLS_HANDSHAKE_TIME,
            grace: limits::SHUTDOWN_GRACE,
        }
    }
}
