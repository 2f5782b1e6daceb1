//! Limits of connections: how many, how long, how much. Those of requests are in `zaffre_base`.

use std::time::Duration;

/// Connections open at once, of all services together; more wait in the kernel's queue.
pub const CONNECTIONS: usize = 16 * 1024;
/// Requests worked on at once, of all services together, unless the operator says otherwise.
pub const REQUESTS_IN_FLIGHT: usize = 2048;
/// How long a request waits for its turn before it is told to come again.
pub const ADMISSION_WAIT: Duration = Duration::from_secs(1);
/// How long a request's head may take to arrive, from its first awaited byte.
pub const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long a kept connection may stay idle unless the operator says otherwise.
pub const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long a body may keep us waiting for each `BODY_PROGRESS_BYTES`.
pub const BODY_STALL: Duration = Duration::from_secs(30);
/// What must arrive within `BODY_STALL` of waiting: about 550 bytes a second at least.
pub const BODY_PROGRESS_BYTES: u64 = 16 * 1024;
/// How long a client may refuse to take any byte of its reply.
pub const WRITE_STALL: Duration = Duration::from_mins(1);
/// How much of an unwanted body is read so that the connection can be kept.
pub const DRAIN_BYTES: u64 = 256 * 1024;
/// How long that may take.
pub const DRAIN_TIME: Duration = Duration::from_secs(5);
/// How much more is read before closing, so that a client still sending gets to see the reply.
pub const LINGER_BYTES: u64 = 16 * 1024 * 1024;
/// How long that may take.
pub const LINGER_TIME: Duration = Duration::from_secs(2);
/// How long a TLS handshake may take.
pub const TLS_HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long requests in flight get to finish when the server stops.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);
/// How long accepting pauses when the system has no more descriptors or memory.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Bytes read ahead of a handler, and written ahead of a client, per connection.
pub const CONNECTION_BUFFER: usize = 256 * 1024;
/// Attributes on one XML element.
pub const XML_ATTRIBUTES: usize = 16;
/// Bytes of text in one XML element.
pub const XML_TEXT_BYTES: usize = 1024 * 1024;
/// Query parameters in one URL.
pub const QUERY_PARAMETERS: usize = 128;
/// Parts in one batch of the Blob service.
pub const BATCH_PARTS: usize = 256;
/// Bytes in the body of a batch.
pub const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes in the boundary between the parts of a batch, as RFC 2046 has it.
pub const BOUNDARY_BYTES: usize = 70;
