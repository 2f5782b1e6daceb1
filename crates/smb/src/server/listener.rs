//! The socket: connections come in, messages go through, and all end in order.
//!
//! Must never keep a peer that is silent before it has logged in, or one that does not read.

use super::chain::{self, Hangup};
use super::connection::{Connection, Outlet};
use super::dispatch;
use super::state::{AccountsNow, Server};
use crate::limits;
use crate::options::Options;
use crate::wire::cursor::length32;
use bytes::Buf;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use zaffre_base::ShareName;
use zaffre_core::Core;
use zaffre_core::file::write_back;

/// Requests of one connection that run or wait.
const AT_WORK: usize = limits::PENDING + 32;
/// How long a failed accept is waited after: a lack of descriptors passes.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Bytes that are read at once; small messages come in one with others, large ones go around it.
const READ_AHEAD: usize = 16 * 1024;
/// How often handles without a connection are looked through.
const SWEEP: Duration = Duration::from_millis(500);

/// The end of a connection that is read from.
type Reading = BufReader<OwnedReadHalf>;

/// A socket, bound and not yet serving.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
    hiding: Vec<ShareName>,
}

impl Listener {
    /// Takes the address.
    pub async fn bind(host: &str, port: u16) -> io::Result<Self> {
        let tcp = TcpListener::bind((host, port)).await?;
        let address = tcp.local_addr()?;
        Ok(Self { tcp, address, hiding: Vec::new() })
    }

    /// Listings of these shares leave out what may not be read, where descriptors are enforced.
    #[must_use]
    pub fn hiding(self, shares: Vec<ShareName>) -> Self {
        Self { hiding: shares, ..self }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is ready.
    pub async fn serve(
        self,
        core: Core,
        accounts: AccountsNow,
        options: Options,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let server = Server::new(core, accounts, options, self.hiding);
        let server = Arc::new(server.map_err(io::Error::other)?);
        let slots = Arc::new(Semaphore::new(limits::CONNECTIONS));
        let mut connections = JoinSet::new();
        let mut sweep = tokio::time::interval(SWEEP);
        // Beside the rest: a slow disk must not keep anybody from connecting.
        let mut committing = tokio::spawn(async {});
        tokio::pin!(stop);
        loop {
            let accepted = async {
                let slot = slots.clone().acquire_owned().await;
                self.tcp.accept().await.map(|accepted| (slot, accepted))
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = connections.join_next() => {}
                _ = sweep.tick() => {
                    crate::files::sweep(&server).await;
                    if committing.is_finished() {
                        let core = server.core.clone();
                        committing = tokio::spawn(async move { write_back::sweep(&core).await });
                    }
                }
                accepted = accepted => match accepted {
                    Ok((slot, (tcp, peer))) => {
                        let work = serve_one(server.clone(), tcp, peer);
                        connections.spawn(async move {
                            work.await;
                            drop(slot);
                        });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        connections.shutdown().await;
        crate::files::close_everything(&server).await;
        write_back::commit_all(&server.core).await.map_err(io::Error::other)
    }
}

/// One connection, from its first byte to the end of its sessions.
async fn serve_one(server: Arc<Server>, tcp: TcpStream, peer: SocketAddr) {
    // Small messages follow each other closely; waiting to fill a packet would slow every one.
    let _ = tcp.set_nodelay(true);
    let Ok(local) = tcp.local_addr() else { return };
    let (connection, outlet) = Connection::new(peer, local);
    let (reading, writing) = tcp.into_split();
    let closing = outlet.closing.clone();
    let writer = tokio::spawn(write_all(writing, outlet));
    let mut work = JoinSet::new();
    let mut closed = closing;
    tokio::select! {
        _ = closed.wait_for(|closing| *closing) => {}
        () = read_all(&server, &connection, reading, &mut work) => {}
    }
    connection.close();
    let sessions: Vec<_> = connection.state().sessions.values().cloned().collect();
    let count = sessions.len();
    let ended: Vec<_> = sessions.into_iter().filter(|one| one.leave(&connection)).collect();
    if ended.len() == count {
        // What still runs is cancelled through its handle; what commits does so to its end.
        work.shutdown().await;
    } else {
        // All that waits was told; what goes on is what its client asks for on other connections.
        work.detach_all();
    }
    for session in ended {
        dispatch::end_session(&server, &session).await;
    }
    crate::files::disconnected(&server, &connection);
    writer.abort();
    let _ = writer.await;
}

async fn read_all(
    server: &Arc<Server>,
    connection: &Arc<Connection>,
    reading: OwnedReadHalf,
    work: &mut JoinSet<()>,
) {
    let at_work = Arc::new(Semaphore::new(AT_WORK));
    let mut reading = BufReader::with_capacity(READ_AHEAD, reading);
    loop {
        let Ok((message, room)) = read_one(server, connection, &mut reading).await else { return };
        let slot = at_work.clone().acquire_owned().await;
        let Ok(turn) = connection.turn.clone().acquire_owned().await else { return };
        if connection.is_closing() {
            return;
        }
        while work.try_join_next().is_some() {}
        let (server, connection) = (server.clone(), connection.clone());
        work.spawn(async move {
            let guard = CloseUnlessDone(Some(connection.clone()));
            let outcome = chain::run(server, connection.clone(), message, turn).await;
            if outcome == Err(Hangup) {
                tracing::debug!(peer = %connection.peer, "the connection is dropped");
                connection.close();
            }
            guard.done();
            drop((slot, room));
        });
    }
}

/// A request that panics ends its connection: what the client believes is unknown.
struct CloseUnlessDone(Option<Arc<Connection>>);

impl CloseUnlessDone {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseUnlessDone {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            connection.close();
        }
    }
}

/// One message and the room it takes, or the end.
async fn read_one(
    server: &Server,
    connection: &Connection,
    reading: &mut Reading,
) -> io::Result<(Vec<u8>, Option<OwnedSemaphorePermit>)> {
    let known = !connection.state().sessions.is_empty();
    let (patience, most) = if known {
        (limits::IDLE_TIME, limits::MESSAGE_BYTES)
    } else {
        (limits::SETUP_TIME, limits::STRANGER_BYTES)
    };
    let mut prefix = [0; 4];
    timeout(patience, reading.read_exact(&mut prefix)).await??;
    let length = usize::try_from(u32::from_be_bytes(prefix)).unwrap_or(usize::MAX);
    // The first byte of the prefix is a type, of which zero is the only one: with any other the
    // length is beyond every limit.
    if length > most || length == 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let permits = u32::try_from(length).unwrap_or(u32::MAX);
    let room = server.buffers.clone().acquire_many_owned(permits).await.ok();
    let message = timeout(limits::TRANSFER_TIME, read_whole(reading, length)).await??;
    Ok((message, room))
}

/// So many bytes, into memory that is written once.
async fn read_whole(reading: &mut Reading, length: usize) -> io::Result<Vec<u8>> {
    let mut message = Vec::with_capacity(length);
    let mut limited = reading.take(u64::try_from(length).unwrap_or(u64::MAX));
    while message.len() < length {
        if limited.read_buf(&mut message).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(message)
}

async fn write_all(mut writing: OwnedWriteHalf, mut outlet: Outlet) {
    while let Some((message, slot)) = outlet.messages.recv().await {
        let length = length32(message.head.len() + message.tail.len()).to_be_bytes();
        let head = Buf::chain(&length[..], &message.head[..]);
        let mut framed = Buf::chain(head, message.tail.clone());
        let sent = timeout(limits::TRANSFER_TIME, writing.write_all_buf(&mut framed)).await;
        drop((slot, message));
        if !matches!(sent, Ok(Ok(()))) {
            // Whoever sends next finds the way closed and ends the connection.
            return;
        }
    }
}
