//! Reading from servers that the operator has allowed: one GET, its head, and its body in pieces.
//!
//! Must never follow a redirect, never connect to a host that is not on the list, and never to an
//! address that a name has no business to stand for: a name on the list stands for public addresses
//! only, and what a machine tells about itself (link-local addresses) is never read.

use crate::{BodyError, BodyStream};
use futures_util::stream;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How long a server may take to be reached and to begin its answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a server may stay silent in the middle of its answer.
const SILENCE: Duration = Duration::from_mins(1);

/// Headers of an answer.
const HEADERS: usize = 128;

/// Bytes of an answer's head.
const HEAD_BYTES: usize = 64 * 1024;

/// The hosts that may be read from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AllowedHosts(Vec<Allowed>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Allowed {
    /// A name, `*.name` for everything below it, or an address.
    host: String,
    /// Any, if not given.
    port: Option<u16>,
}

impl AllowedHosts {
    /// Adds `host[:port]`, `*.domain[:port]`, or an address, an IPv6 one in brackets; `false` if it
    /// is none of these.
    pub fn add(&mut self, text: &str) -> bool {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => return false,
            },
            None => match text.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = match port.map(str::parse::<u16>) {
            None => None,
            Some(Ok(port)) if port != 0 => Some(port),
            Some(_) => return false,
        };
        let host = host.to_ascii_lowercase();
        let name = host.strip_prefix("*.").unwrap_or(&host);
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
            && !name.starts_with('.');
        let fits = host.parse::<IpAddr>().is_ok() || is_name;
        if fits {
            self.0.push(Allowed { host, port });
        }
        fits
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a host, as written, may be read from.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        let host = host.to_ascii_lowercase();
        self.0.iter().any(|allowed| {
            let same = match allowed.host.strip_prefix("*.") {
                Some(domain) => host
                    .strip_suffix(domain)
                    .is_some_and(|front| front.len() > 1 && front.ends_with('.')),
                None => host == allowed.host,
            };
            same && allowed.port.is_none_or(|only| only == port)
        })
    }
}

/// Whether a connection for a host, as written in the URL, may go to this address. An address that
/// the operator wrote down is meant; a name is good for public addresses alone.
pub fn may_connect(host: &str, address: IpAddr) -> bool {
    if is_never_meant(address) {
        return false;
    }
    match host.parse::<IpAddr>() {
        Ok(written) => written == address,
        Err(_) => is_public(address),
    }
}

fn is_never_meant(address: IpAddr) -> bool {
    match unmapped(address) {
        IpAddr::V4(v4) => {
            v4.is_link_local() || v4.is_multicast() || v4.is_broadcast() || v4.octets()[0] == 0
        }
        IpAddr::V6(v6) => {
            v6.is_unicast_link_local()
                || v6.is_multicast()
                || v6.is_unspecified()
                // The address at which one provider's machines ask about themselves.
                || v6 == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
        }
    }
}

/// Whether anybody may use the address.
fn is_public(address: IpAddr) -> bool {
    match unmapped(address) {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => {
            let first = v6.segments()[0];
            // 2000::/3 without what carries IPv4 addresses inside, or is for documents.
            first & 0xe000 == 0x2000
                && first != 0x2002
                && !(first == 0x2001 && v6.segments()[1] < 0x0200)
                && !(first == 0x2001 && v6.segments()[1] == 0x0db8)
        }
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocol = a == 192 && b == 0 && c == 0;
    let relay = a == 192 && b == 88 && c == 99;
    let benchmark = a == 198 && (18..20).contains(&b);
    let reserved = a == 0 || a >= 224;
    !(v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_documentation()
        || shared
        || protocol
        || relay
        || benchmark
        || reserved)
}

fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Why nothing could be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutboundError {
    /// The operator has not allowed it, or the address is not one that may be meant.
    NotAllowed,
    /// The server cannot be reached, broke off, or does not speak HTTP.
    Unreachable,
}

/// What is asked of another server.
pub struct Asked<'a> {
    /// Over TLS.
    pub secure: bool,
    /// The host without its port or brackets.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// Host and port as the URL has them.
    pub authority: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Headers to send along.
    pub headers: HeaderMap,
}

/// The beginning of an answer.
pub struct Answer {
    /// Its status; a redirect is an answer like any other.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: BodyStream,
}

/// Sends one GET.
pub async fn get(
    asked: Asked<'_>,
    allowed: &AllowedHosts,
    tls: Option<Arc<ClientConfig>>,
) -> Result<Answer, OutboundError> {
    if !allowed.allows(asked.host, asked.port) {
        return Err(OutboundError::NotAllowed);
    }
    timeout(PATIENCE, begin(asked, tls)).await.unwrap_or(Err(OutboundError::Unreachable))
}

async fn begin(asked: Asked<'_>, tls: Option<Arc<ClientConfig>>) -> Result<Answer, OutboundError> {
    let stream = connect(asked.host, asked.port).await?;
    if !asked.secure {
        return exchange(asked, stream).await;
    }
    let tls = tls.ok_or(OutboundError::NotAllowed)?;
    let name = ServerName::try_from(asked.host.to_owned()).map_err(unreachable)?;
    let stream = TlsConnector::from(tls).connect(name, stream).await.map_err(unreachable)?;
    exchange(asked, stream).await
}

/// Connects to the first address that may be meant; resolved once, so that no second answer of a
/// name server counts.
async fn connect(host: &str, port: u16) -> Result<TcpStream, OutboundError> {
    let found = tokio::net::lookup_host((host, port)).await.map_err(unreachable)?;
    let addresses: Vec<SocketAddr> = found.collect();
    let mut outcome = OutboundError::NotAllowed;
    for address in addresses.into_iter().filter(|address| may_connect(host, address.ip())) {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(_) => outcome = OutboundError::Unreachable,
        }
    }
    Err(outcome)
}

async fn exchange<S>(asked: Asked<'_>, stream: S) -> Result<Answer, OutboundError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(unreachable)?;
    let driver = Driver(tokio::spawn(async move { drop(connection.await) }));
    let mut request = Request::get(asked.target).body(String::new()).map_err(unreachable)?;
    let headers = request.headers_mut();
    *headers = asked.headers;
    headers.insert(HOST, HeaderValue::from_str(asked.authority).map_err(unreachable)?);
    headers.insert(USER_AGENT, HeaderValue::from_static("zaffre"));
    let (parts, body) = sender.send_request(request).await.map_err(unreachable)?.into_parts();
    Ok(Answer { status: parts.status, headers: parts.headers, body: pieces(body, driver) })
}

/// The connection; it ends with whoever reads from it.
struct Driver(tokio::task::JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn pieces(body: Incoming, driver: Driver) -> BodyStream {
    let state = Some((body, driver));
    Box::pin(stream::unfold(state, |state| async move {
        let (mut body, driver) = state?;
        loop {
            let next = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            match timeout(SILENCE, next).await {
                Ok(None) => return None,
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Some((Ok(bytes), Some((body, driver))));
                    }
                }
                Ok(Some(Err(_))) | Err(_) => return Some((Err(BodyError::Broken), None)),
            }
        }
    }))
}

fn unreachable(_: impl std::fmt::Display) -> OutboundError {
    OutboundError::Unreachable
}

#[cfg(test)]
mod tests;
