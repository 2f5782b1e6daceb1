//! One small document from somewhere else: a GET over HTTP or HTTPS, bounded in size and time.
//!
//! Must never follow a redirect, nor send plain HTTP to another machine.

use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::fmt;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long a whole exchange may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a document is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Url {
    secure: bool,
    host: String,
    port: u16,
    path: String,
}

impl Url {
    /// Reads `https://host[:port][/path]`, or the same with `http` for this machine alone.
    pub fn parse(text: &str) -> Option<Self> {
        let (secure, rest) = match text.split_once("://")? {
            ("https", rest) => (true, rest),
            ("http", rest) => (false, rest),
            _ => return None,
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let plain =
            |part: &str| part.bytes().all(|b| b.is_ascii_graphic() && !b"@?#\"\\".contains(&b));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (authority, if secure { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let fits = !host.is_empty() && plain(authority) && plain(path);
        (fits && (secure || is_here(host))).then(|| Self {
            secure,
            host: host.to_ascii_lowercase(),
            port,
            path: path.trim_end_matches('/').to_owned(),
        })
    }

    /// Whether it is reached over HTTPS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// The same place with `path` added.
    #[must_use]
    pub fn join(&self, path: &str) -> Self {
        Self { path: format!("{}{path}", self.path), ..self.clone() }
    }

    /// Whether the same server has both.
    pub fn is_beside(&self, other: &Self) -> bool {
        (self.secure, &self.host, self.port) == (other.secure, &other.host, other.port)
    }
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Why there is no document.
#[derive(Debug)]
pub enum FetchError {
    /// The server cannot be reached, or broke off.
    Connection(String),
    /// It answered, but not with 200.
    Status(StatusCode),
    /// The document is longer than the limit.
    TooLarge,
    /// It took too long.
    Late,
    /// Its certificate cannot be checked.
    Untrusted,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => write!(f, "the server cannot be reached: {error}"),
            Self::Status(status) => write!(f, "the server answered {status}"),
            Self::TooLarge => f.write_str("the document is too large"),
            Self::Untrusted => f.write_str("nobody is trusted to vouch for the server"),
            Self::Late => f.write_str("the server took too long"),
        }
    }
}

impl std::error::Error for FetchError {}

/// The document at `url`, of at most `limit` bytes. `tls` says whom to trust, for HTTPS.
pub async fn get(
    url: &Url,
    tls: Option<Arc<ClientConfig>>,
    limit: usize,
) -> Result<Vec<u8>, FetchError> {
    let fetched = tokio::time::timeout(PATIENCE, fetch(url, tls, limit)).await;
    fetched.unwrap_or(Err(FetchError::Late))
}

async fn fetch(
    url: &Url,
    tls: Option<Arc<ClientConfig>>,
    limit: usize,
) -> Result<Vec<u8>, FetchError> {
    let stream = TcpStream::connect((url.host.as_str(), url.port)).await.map_err(broken)?;
    let Some(tls) = tls.filter(|_| url.secure) else {
        return if url.secure {
            Err(FetchError::Untrusted)
        } else {
            exchange(url, stream, limit).await
        };
    };
    let name = ServerName::try_from(url.host.clone()).map_err(broken)?;
    let stream = TlsConnector::from(tls).connect(name, stream).await.map_err(broken)?;
    exchange(url, stream, limit).await
}

async fn exchange<S>(url: &Url, stream: S, limit: usize) -> Result<Vec<u8>, FetchError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    let driver = tokio::spawn(connection);
    let path = if url.path.is_empty() { "/" } else { &url.path };
    let request = Request::get(path)
        .header(HOST, format!("{}:{}", url.host, url.port))
        .body(String::new())
        .map_err(broken)?;
    let answer = sender.send_request(request).await.map_err(broken)?;
    let document = match answer.status() {
        StatusCode::OK => collect(answer.into_body(), limit).await,
        other => Err(FetchError::Status(other)),
    };
    driver.abort();
    document
}

async fn collect(mut body: Incoming, limit: usize) -> Result<Vec<u8>, FetchError> {
    let mut document = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.map_err(broken)?.into_data() {
            if document.len() + data.len() > limit {
                return Err(FetchError::TooLarge);
            }
            document.extend_from_slice(&data);
        }
    }
    Ok(document)
}

fn broken(error: impl fmt::Display) -> FetchError {
    FetchError::Connection(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for (text, want) in [
            ("https://login.example/t/v2.0/", Some((true, "login.example", 443, "/t/v2.0"))),
            ("https://Login.Example:8443", Some((true, "login.example", 8443, ""))),
            ("http://127.0.0.1:99/a", Some((false, "127.0.0.1", 99, "/a"))),
            ("http://[::1]:99/a", Some((false, "::1", 99, "/a"))),
            ("http://[::1]/a", Some((false, "::1", 80, "/a"))),
            ("http://localhost", Some((false, "localhost", 80, ""))),
            ("http://login.example", None),
            ("http://127.0.0.1.example", None),
            ("https://user@login.example", None),
            ("https://login.example/?a=b", None),
            ("https://login.example:x", None),
            ("https://", None),
            ("ftp://login.example", None),
            ("login.example", None),
        ] {
            let url = Url::parse(text);
            let got = url.as_ref().map(|u| (u.secure, u.host.as_str(), u.port, u.path.as_str()));
            assert_eq!(got, want, "{text}");
        }
        let url = |text| Url::parse(text).expect("a URL");
        let issuer = url("https://login.example/t");
        assert!(issuer.is_beside(&url("https://login.example:443/keys")));
        assert!(!issuer.is_beside(&url("https://keys.example/t")));
        assert_eq!(issuer.join("/x"), url("https://login.example/t/x"));
    }
}
