//! The listener of one service: accept, limit, encrypt, speak HTTP/1.1, stop gracefully.
//!
//! Must never end because of anything a client does.

mod access;
mod admission;
mod body;
mod exchange;
mod framing;
mod lanes;
mod options;
mod render;
mod spelling;
mod wire;

pub use access::{Access, AccessLog};
pub use admission::Admission;
pub use lanes::Lanes;
pub use options::{ServerOptions, Timeouts, WallClock};
pub(crate) use render::{CLIENT_REQUEST_ID, document as error_document};

use crate::limits::{ACCEPT_PAUSE, CONNECTION_BUFFER};
use crate::message::Service;
use exchange::{Caller, Door, RequestIds};
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use lanes::Seat;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use wire::{Exchanges, NoTimer, Transport, Wire};
use zaffre_base::limits::{REQUEST_HEAD_BYTES, REQUEST_HEADERS};

/// A bound socket, not yet accepting.
pub struct Listener {
    tcp: TcpListener,
    tls: Option<TlsAcceptor>,
    address: SocketAddr,
}

/// What a server counted since it began.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    /// Handlers that panicked: bugs.
    pub panics: Arc<AtomicU64>,
}

impl Listener {
    /// Binds `host:port`; port 0 lets the system choose.
    pub async fn bind(
        host: &str,
        port: u16,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> io::Result<Self> {
        let tcp = TcpListener::bind((host, port)).await?;
        let address = tcp.local_addr()?;
        Ok(Self { tcp, tls: tls.map(TlsAcceptor::from), address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is ready, then lets requests in flight finish within the grace time.
    pub async fn serve<S: Service>(
        self,
        service: Arc<S>,
        options: ServerOptions,
        alarms: Alarms,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::from)?;
        let server = service.server();
        let keep_alive = format!("timeout={}", options.timeouts.idle.as_secs());
        let slots = options.connections.clone();
        let grace = options.timeouts.grace;
        let door = Arc::new(Door {
            service,
            options,
            server_header: HeaderValue::try_from(server).map_err(io::Error::other)?,
            keep_alive: HeaderValue::try_from(keep_alive).map_err(io::Error::other)?,
            ids: RequestIds::new(random),
            panics: alarms.panics,
            stopping: AtomicBool::new(false),
        });
        let (stopping, stopped) = watch::channel(());
        let mut connections = JoinSet::new();
        tokio::pin!(stop);
        loop {
            let free = slots.clone().acquire_owned();
            let accepted = async {
                let slot = free.await;
                self.tcp.accept().await.map(|accepted| (slot, accepted))
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = connections.join_next() => {}
                accepted = accepted => match accepted {
                    Ok((slot, (tcp, peer))) => {
                        let seat = door.options.lanes.enter();
                        let lane = seat.as_ref().map_or_else(Handle::current, Seat::runtime);
                        let (door, tls, stopped) = (door.clone(), self.tls.clone(), stopped.clone());
                        // The lane's own runtime is to wait for the socket, not this one.
                        let tcp = tcp.into_std();
                        let work = async move {
                            match tcp.and_then(TcpStream::from_std) {
                                Ok(tcp) => connection(door, tls, tcp, peer, stopped).await,
                                Err(error) => tracing::warn!(%error, "a connection is lost"),
                            }
                            drop((slot, seat));
                        };
                        connections.spawn_on(work, &lane);
                    }
                    Err(error) => after_failed_accept(&error).await,
                },
            }
        }
        drop(self.tcp);
        door.stopping.store(true, Ordering::Relaxed);
        drop(stopping);
        let finishing = async { while connections.join_next().await.is_some() {} };
        if timeout(grace, finishing).await.is_err() {
            tracing::warn!(left = connections.len(), "requests still running are cut off");
        }
        Ok(())
    }
}

/// A client that vanished is its own affair; a lack of descriptors or memory passes.
async fn after_failed_accept(error: &io::Error) {
    let clients_own = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    );
    if !clients_own {
        tracing::warn!(%error, "cannot accept connections just now; trying again");
        sleep(ACCEPT_PAUSE).await;
    }
}

async fn connection<S: Service>(
    door: Arc<Door<S>>,
    tls: Option<TlsAcceptor>,
    tcp: TcpStream,
    peer: SocketAddr,
    mut stopped: watch::Receiver<()>,
) {
    let timeouts = door.options.timeouts;
    let traffic = door.options.traffic.clone();
    let _counted = traffic.connected();
    let _ = tcp.set_nodelay(true);
    let secure = tls.is_some();
    let transport = match tls {
        None => Transport::Plain(tcp),
        Some(acceptor) => {
            let handshake = timeout(timeouts.handshake, acceptor.accept(tcp));
            let done = tokio::select! {
                done = handshake => done,
                _ = stopped.changed() => return,
            };
            match done {
                Ok(Ok(stream)) => Transport::Tls(Box::new(stream)),
                Ok(Err(error)) => return tracing::debug!(%peer, %error, "TLS handshake failed"),
                Err(_) => return tracing::debug!(%peer, "TLS handshake took too long"),
            }
        }
    };
    let exchanges = Arc::new(Exchanges::default());
    let wire = Wire::new(transport, exchanges.clone(), timeouts);
    let caller = Caller { peer, secure, exchanges };
    // The future itself, not one around it: that would move all of it, ten kilobytes, once more.
    let service =
        service_fn(move |request| exchange::answer(door.clone(), caller.clone(), request));
    let serving = http1::Builder::new()
        // The wire keeps this time. hyper must have a limit all the same: without one it does not
        // look at the wire again after an answer, and nobody would notice an idle connection.
        .timer(NoTimer { always: Instant::now().into_std() })
        .header_read_timeout(timeouts.idle + timeouts.head)
        .max_headers(REQUEST_HEADERS)
        .max_header_size(REQUEST_HEAD_BYTES)
        .max_buf_size(CONNECTION_BUFFER)
        .serve_connection(TokioIo::new(wire), service);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        _ = stopped.changed() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "connection ended early");
    }
}
