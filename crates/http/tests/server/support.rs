//! A toy service behind a real listener, and a client that sends raw bytes.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hyper::StatusCode;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_http::{
    Alarms, ApiError, BodyError, Listener, Reply, ReplyBody, Request, ServerOptions, Service,
    Timeouts, headers,
};

/// Nothing in these tests takes longer, so waiting longer means failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Answers by path.
pub(crate) struct Toy;

impl Service for Toy {
    fn name(&self) -> &'static str {
        "Toy"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let ok = Reply::new(StatusCode::OK, ApiVersion::LATEST);
        let path = request.head.raw_path.clone();
        match path.as_str() {
            "/empty" => Ok(Reply::new(StatusCode::CREATED, ApiVersion::LATEST)),
            "/echo" => {
                let body = read(request).await?;
                Ok(ok.with_body("text/plain", body))
            }
            "/metadata" => {
                let pairs = headers::metadata(&request.head)?;
                Ok(pairs.iter().fold(ok, |reply, (name, value)| reply.with_metadata(name, value)))
            }
            "/panic" => panic!("as asked"),
            "/slow" => {
                sleep(Duration::from_millis(300)).await;
                Ok(ok.with_body("text/plain", "slow"))
            }
            "/never" => pending().await,
            "/broken" => Ok(stream_of(10, vec![Ok("12345"), Err(BodyError::Broken)])),
            "/short" => Ok(stream_of(10, vec![Ok("12345")])),
            "/stream" => Ok(stream_of(10, vec![Ok("12345"), Ok("67890")])),
            _ => Err(ApiError::invalid_uri()),
        }
    }
}

async fn read(mut request: Request) -> Result<Vec<u8>, ApiError> {
    let mut whole = Vec::new();
    while let Some(piece) = request.body.next().await {
        whole.extend_from_slice(&piece?);
    }
    Ok(whole)
}

fn stream_of(length: u64, pieces: Vec<Result<&'static str, BodyError>>) -> Reply {
    let pieces =
        pieces.into_iter().map(|piece| piece.map(|text| Bytes::from_static(text.as_bytes())));
    let bytes = Box::pin(stream::iter(pieces));
    let mut reply = Reply::new(StatusCode::OK, ApiVersion::LATEST);
    reply.body = ReplyBody::Stream { length, bytes };
    reply
}

/// A running server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) alarms: Alarms,
    stop: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

/// Short limits, so that tests of them are quick.
pub(crate) fn short() -> Timeouts {
    Timeouts {
        head: Duration::from_millis(300),
        idle: Duration::from_secs(1),
        body_stall: Duration::from_millis(300),
        write_stall: Duration::from_millis(500),
        linger: Duration::from_millis(500),
        handshake: Duration::from_millis(500),
        grace: Duration::from_secs(1),
    }
}

pub(crate) async fn start() -> Running {
    start_with(None, 64).await
}

pub(crate) async fn start_with(
    tls: Option<Arc<rustls::ServerConfig>>,
    connections: usize,
) -> Running {
    let listener = Listener::bind("127.0.0.1", 0, tls).await.expect("a free port");
    let address = listener.address();
    let clock = Arc::new(|| Timestamp::from_unix_seconds(0));
    let connections = Arc::new(tokio::sync::Semaphore::new(connections));
    let options = ServerOptions { connections, timeouts: short(), ..ServerOptions::new(clock) };
    let alarms = Alarms::default();
    let (stop, stopped) = oneshot::channel();
    let serving = listener.serve(Arc::new(Toy), options, alarms.clone(), async {
        let _ = stopped.await;
    });
    Running { address, alarms, stop, served: tokio::spawn(serving) }
}

impl Running {
    pub(crate) async fn connect(&self) -> Client {
        Client { tcp: TcpStream::connect(self.address).await.expect("a connection"), rest: vec![] }
    }

    /// Asks the server to stop; the handle ends when it has.
    pub(crate) fn stop(self) -> JoinHandle<std::io::Result<()>> {
        let _ = self.stop.send(());
        self.served
    }

    pub(crate) fn panics(&self) -> u64 {
        self.alarms.panics.load(Ordering::Relaxed)
    }
}

/// One connection.
pub(crate) struct Client {
    tcp: TcpStream,
    rest: Vec<u8>,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn status(&self) -> &str {
        self.head.get(9..12).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.filter(|(sent, _)| sent.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl Client {
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.tcp.write_all(bytes.as_ref()).await.expect("the server takes bytes");
    }

    /// Sends what it can; the server may close first.
    pub(crate) async fn try_send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.tcp.write_all(bytes.as_ref()).await;
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        self.answer().await
    }

    /// The next answer with a Content-Length, 0 if it has none.
    pub(crate) async fn answer(&mut self) -> Answer {
        let head = loop {
            if let Some(end) = self.rest.windows(4).position(|w| w == b"\r\n\r\n") {
                let after = self.rest.split_off(end + 4);
                let head = std::mem::replace(&mut self.rest, after);
                break String::from_utf8(head).expect("a head in ASCII");
            }
            assert!(
                self.more().await > 0,
                "closed early: {:?}",
                String::from_utf8_lossy(&self.rest)
            );
        };
        let mut answer = Answer { head, body: String::new() };
        let length = answer.header("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
        while self.rest.len() < length {
            assert!(self.more().await > 0, "closed in a body");
        }
        let after = self.rest.split_off(length);
        let body = std::mem::replace(&mut self.rest, after);
        answer.body = String::from_utf8(body).expect("a body in UTF-8");
        answer
    }

    /// Everything until the server closes.
    pub(crate) async fn until_end(&mut self) -> String {
        while self.more().await > 0 {}
        String::from_utf8_lossy(&self.rest).into_owned()
    }

    async fn more(&mut self) -> usize {
        let mut space = [0; 4096];
        let read = timeout(PATIENCE, self.tcp.read(&mut space)).await.expect("bytes or an end");
        let read = read.unwrap_or(0);
        self.rest.extend_from_slice(&space[..read]);
        read
    }
}
