//! A server on a real socket with a store in memory, and a client that signs like an SDK.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use zaffre_auth::accounts::DEVELOPMENT_KEY;
use zaffre_auth::{Accounts, RequestFacts, Service, sign};
use zaffre_base::{AccountName, ApiVersion, Secret, Timestamp};
use zaffre_blob::{BlobOptions, BlobService};
use zaffre_core::{Core, CoreOptions};
use zaffre_http::{AccountsHandle, Alarms, Listener, ServerOptions};
use zaffre_store::Store;

pub(crate) const ACCOUNT: &str = "devstoreaccount1";
const VERSION: &str = "2024-08-04";

/// A running server; dropping it stops it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) core: Core,
    pub(crate) accounts: AccountsHandle,
    _stop: oneshot::Sender<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let store = Store::in_memory().expect("a store in memory");
        let core = Core::new(store, CoreOptions::default());
        let accounts = AccountsHandle::new(Accounts::development());
        let service = BlobService::new(core.clone(), accounts.clone(), BlobOptions::default());
        let listener = Listener::bind("127.0.0.1", 0, None).await.expect("a free port");
        let address = listener.address();
        let clock = core.store().clock.clone();
        let options = ServerOptions::new(Arc::new(move || clock.wall()));
        let (stop, stopped) = oneshot::channel();
        let serving = listener.serve(Arc::new(service), options, Alarms::default(), async {
            let _ = stopped.await;
        });
        tokio::spawn(serving);
        Self { address, core, accounts, _stop: stop }
    }

    /// A request of the development account, signed with its key when sent.
    pub(crate) fn ask(&self, line: &str) -> Ask<'_> {
        let (method, target) = line.split_once(' ').expect("a method and a target");
        let target = format!("/{ACCOUNT}{target}");
        Ask {
            server: self,
            method: method.to_owned(),
            target,
            headers: vec![("x-ms-version".to_owned(), VERSION.to_owned())],
            body: Vec::new(),
            signed: true,
            key: key(DEVELOPMENT_KEY),
            date: self.wall(),
        }
    }

    pub(crate) fn wall(&self) -> Timestamp {
        self.core.store().clock.wall()
    }
}

/// One request.
pub(crate) struct Ask<'a> {
    server: &'a Server,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    signed: bool,
    key: Secret<Vec<u8>>,
    date: Timestamp,
}

impl Ask<'_> {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(sent, _)| !sent.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(sent, _)| !sent.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self
    }

    /// Without a credential.
    pub(crate) fn unsigned(mut self) -> Self {
        self.signed = false;
        self
    }

    /// Signed with another key.
    pub(crate) fn with_key(mut self, text: &str) -> Self {
        self.key = key(text);
        self
    }

    /// Signed at another time.
    pub(crate) fn dated(mut self, date: Timestamp) -> Self {
        self.date = date;
        self
    }

    /// With an account segment other than the development account's.
    pub(crate) fn of_account(mut self, segment: &str) -> Self {
        self.target = self.target.replacen(ACCOUNT, segment, 1);
        self
    }

    /// With a service SAS for `resource` (`c` or `b`) in the query.
    pub(crate) fn by_sas(self, resource: &str, permissions: &str, more: &[(&str, &str)]) -> Self {
        let parameters = self.token(&[("sr", resource), ("sp", permissions)], more);
        let parameters: Vec<(&str, &str)> =
            parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let signed = self.facts(|facts| {
            sign::service_sas(facts, &self.key, &parameters).expect("a token that can be signed")
        });
        self.carrying(&signed)
    }

    /// With an account SAS in the query.
    pub(crate) fn by_account_sas(self, levels: &str, permissions: &str, service: &str) -> Self {
        let own = [("ss", service), ("srt", levels), ("sp", permissions)];
        let parameters = self.token(&own, &[]);
        let parameters: Vec<(&str, &str)> =
            parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let account = AccountName::parse(ACCOUNT).expect("a name");
        let signed = sign::account_sas(&account, &self.key, &parameters);
        self.carrying(&signed.expect("a token that can be signed"))
    }

    /// Version and expiry (in an hour) with the rest; a later value replaces an earlier one.
    fn token<'t>(
        &self,
        own: &[(&'t str, &str)],
        more: &[(&'t str, &str)],
    ) -> Vec<(&'t str, String)> {
        let expiry = self.server.wall().plus(Duration::from_hours(1)).iso7().to_string();
        let mut parameters = vec![("sv", VERSION.to_owned()), ("se", expiry)];
        for (name, value) in own.iter().chain(more) {
            parameters.retain(|(known, _)| known != name);
            parameters.push((name, (*value).to_owned()));
        }
        parameters
    }

    fn carrying(self, token: &[(String, String)]) -> Self {
        let token = token.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
        self.and_query(&token.collect::<Vec<_>>().join("&")).unsigned()
    }

    /// With more in the query.
    pub(crate) fn and_query(mut self, query: &str) -> Self {
        self.target.push(if self.target.contains('?') { '&' } else { '?' });
        self.target.push_str(query);
        self
    }

    /// As it would be sent, for tests that change it on the way.
    pub(crate) fn tampered(mut self, change: impl FnOnce(&mut String)) -> Self {
        self.sign();
        change(&mut self.target);
        self.unsigned()
    }

    fn sign(&mut self) {
        if !self.signed {
            return;
        }
        self.headers.push(("x-ms-date".to_owned(), self.date.rfc1123().to_string()));
        self.headers.push(("Content-Length".to_owned(), self.body.len().to_string()));
        let signed = self.facts(|facts| sign::shared_key(facts, &self.key));
        let authorization = signed.expect("a request that can be signed");
        self.headers.push(("Authorization".to_owned(), authorization));
    }

    pub(crate) async fn send(mut self) -> Answer {
        self.sign();
        if !self.headers.iter().any(|(name, _)| name == "Content-Length") {
            self.headers.push(("Content-Length".to_owned(), self.body.len().to_string()));
        }
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        self.headers.push(("Host".to_owned(), self.server.address.to_string()));
        self.headers.push(("Connection".to_owned(), "close".to_owned()));
        for (name, value) in &self.headers {
            text += &[name, ": ", value, "\r\n"].concat();
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        exchange(self.server.address, &bytes).await
    }

    fn facts<T>(&self, with: impl FnOnce(&RequestFacts<'_>) -> T) -> T {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs: Vec<(String, String)> = pairs
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect();
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let mut segments = path.trim_start_matches('/').splitn(3, '/').skip(1);
        let (container, object) = (segments.next(), segments.next());
        with(&RequestFacts {
            service: Service::Blob,
            method: &self.method,
            raw_path: path,
            raw_query: query,
            query: &pairs,
            headers: &headers,
            account: &AccountName::parse(ACCOUNT).expect("a name"),
            container,
            object,
            path_style: true,
            secondary: path.contains("-secondary"),
            peer: [127, 0, 0, 1].into(),
            secure: false,
            version: ApiVersion::parse(VERSION).expect("a version"),
        })
    }
}

fn key(text: &str) -> Secret<Vec<u8>> {
    zaffre_auth::accounts::parse_key(text).expect("a key")
}

/// Sends raw bytes and reads until the server closes.
pub(crate) async fn exchange(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    stream.write_all(bytes).await.expect("the server reads");
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).await.expect("the server answers");
    Answer::parse(&raw)
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn parse(raw: &[u8]) -> Self {
        let end = raw.windows(4).position(|w| w == b"\r\n\r\n").expect("a complete head");
        let head = String::from_utf8_lossy(&raw[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines
            .map(|line| line.split_once(": ").unwrap_or((line, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Self { status: status.expect("a status"), headers, body: raw[end + 4..].to_vec() }
    }

    /// A header's value, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(sent, _)| sent.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    /// `status code`, or the status alone when it went well.
    pub(crate) fn outcome(&self) -> String {
        format!("{} {}", self.status, self.header("x-ms-error-code")).trim().to_owned()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a string takes everything");
        }
        out
    })
}

fn decoded(text: &str) -> String {
    zaffre_http::percent::decode_query(text).expect("a test's own escapes")
}
