//! Every limit of the SMB server, by name.
//!
//! Must never be exceeded silently: what is over a limit is refused or disconnected.

use std::time::Duration;

/// Connections at once.
pub const CONNECTIONS: usize = 512;
/// Sessions of one connection, those still setting up included.
pub const SESSIONS: usize = 256;
/// Sessions of a connection whose keys are kept after their end, to sign refusals with.
pub const ENDED_SESSIONS: usize = 16;
/// Connections that one session is on.
pub const CHANNELS: usize = 32;
/// Tree connects of one session.
pub const TREES: usize = 256;
/// Opens of one session.
pub const OPENS: usize = 16_384;
/// Opens of the server over SMB.
pub const ALL_OPENS: usize = 131_072;
/// Requests of a connection that wait for something: locks, breaks, changes.
pub const PENDING: usize = 512;
/// Elements in a chain.
pub const CHAIN_ELEMENTS: usize = 128;
/// Bytes of a read or a write.
pub const TRANSFER_BYTES: u32 = 1024 * 1024;
/// Bytes of a transaction that clients may ask for; no answer is larger than [`ANSWER_BYTES`].
pub const TRANSACTION_BYTES: u32 = 8 * 1024 * 1024;
/// Bytes of a transaction's answer: whoever has room for more asks again.
pub const ANSWER_BYTES: usize = 1024 * 1024;
/// The same for dialect 2.0.2, which has no large messages.
pub const SMALL_TRANSFER_BYTES: u32 = 64 * 1024;
/// Bytes of one message: a transfer or a transaction and its headers, or a chain of a few.
pub const MESSAGE_BYTES: usize = 9 * 1024 * 1024;
/// Bytes of one message before its sender is known.
pub const STRANGER_BYTES: usize = 128 * 1024;
/// Bytes of received and not yet answered messages over all connections.
pub const BUFFERED_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of answers to reads that have not left yet, over all connections.
pub const ANSWERED_BYTES: usize = 256 * 1024 * 1024;
/// Answers that wait for a slow client.
pub const ANSWERS: usize = 64;
/// Notices that wait for a slow client.
pub const NOTICES: usize = 16_384;
/// Credits a client may hold.
pub const CREDITS: u16 = 8192;
/// Bytes that one credit pays for.
pub const CREDIT_BYTES: usize = 64 * 1024;
/// Bytes of one token of a session setup.
pub const TOKEN_BYTES: usize = 16 * 1024;
/// Bytes that wait in a pipe in either direction.
pub const PIPE_BYTES: usize = 1024 * 1024;
/// How long a stranger may take to set up a session.
pub const SETUP_TIME: Duration = Duration::from_secs(45);
/// How long a message may take to arrive or leave once it has begun.
pub const TRANSFER_TIME: Duration = Duration::from_mins(1);
/// How long a connection may be idle. Clients send ECHO long before.
pub const IDLE_TIME: Duration = Duration::from_mins(15);
