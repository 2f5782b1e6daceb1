//! A client of the REST services: one connection to each, kept; requests as bytes.
//!
//! Must never send anything twice: an operation that was tried again could happen twice.

use super::Lost;
use super::server::Ports;
use super::world::World;
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// An account SAS of the published development account: all services, all that they do, till 2099.
/// Made by `account_sas` of tests/harness/signing.py, so that no client has to sign.
const SAS: &str = "sv=2022-11-02&ss=bqtf&srt=sco&sp=rwdlacup&se=2099-01-01T00%3A00%3A00Z&\
                   sig=gasGA0NE9uZxJ%2FaaQk06gG8xTUjiQmqool330n%2BdIxM%3D";
/// The account's part of every path.
const ACCOUNT: &str = "/devstoreaccount1";
/// The longest that an answer may take; a paused server is quiet for much less.
const PATIENCE: Duration = Duration::from_secs(30);
/// What is read at once.
const PIECE: usize = 16 * 1024;

/// A service.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Service {
    Blob,
    Queue,
    Table,
    File,
    Console,
}

impl Service {
    fn port(self, ports: Ports) -> u16 {
        match self {
            Self::Blob => ports.blob,
            Self::Queue => ports.queue,
            Self::Table => ports.table,
            Self::File => ports.file,
            Self::Console => ports.console,
        }
    }
}

/// An answer.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u64,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// A header's value, or nothing.
    pub(crate) fn header(&self, name: &str) -> String {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> String {
        let header = self.header("x-ms-error-code");
        if header.is_empty() { between(&self.text(), "\"code\":\"", "\"") } else { header }
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// What stands in the body's first element of this name.
    pub(crate) fn element(&self, name: &str) -> String {
        between(&self.text(), &format!("<{name}>"), &format!("</{name}>"))
    }
}

/// What stands between two texts, or nothing.
pub(crate) fn between(text: &str, before: &str, after: &str) -> String {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or("", |(found, _)| found).to_owned()
}

/// A client.
#[derive(Debug)]
pub(crate) struct Http {
    world: Arc<World>,
    streams: HashMap<Service, (u64, TcpStream)>,
    /// The server that the last request went to.
    pub(crate) generation: u64,
}

impl Http {
    pub(crate) fn new(world: &Arc<World>) -> Self {
        Self { world: Arc::clone(world), streams: HashMap::new(), generation: 0 }
    }

    /// The server that is up, as its number; waits for one.
    pub(crate) fn server(&self) -> u64 {
        self.world.server().0
    }

    /// What all clients know.
    pub(crate) fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Asks a service; `target` is what follows the account.
    pub(crate) fn ask(
        &mut self,
        service: Service,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Reply, Lost> {
        let mark = if target.contains('?') { '&' } else { '?' };
        let target = match service {
            Service::Console => target.to_owned(),
            _ => format!("{ACCOUNT}{target}{mark}{SAS}"),
        };
        let mut request = format!(
            "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n",
            body.len()
        );
        if service != Service::Console {
            request += "x-ms-version: 2022-11-02\r\n";
        }
        for (name, value) in headers {
            request += &[name, ": ", value, "\r\n"].concat();
        }
        request += "\r\n";
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        let mut stream = self.connection(service);
        let answered = stream.write_all(&bytes).and_then(|()| reply(&mut stream, method == "HEAD"));
        match answered {
            Ok((reply, is_kept)) => {
                if is_kept {
                    self.streams.insert(service, (self.generation, stream));
                }
                Ok(reply)
            }
            Err(_) => Err(Lost),
        }
    }

    /// A connection to the server that is up; nothing has been sent on it that is not answered.
    fn connection(&mut self, service: Service) -> TcpStream {
        loop {
            let (generation, ports) = self.world.server();
            self.generation = generation;
            match self.streams.remove(&service) {
                Some((of, stream)) if of == generation => return stream,
                _ => {}
            }
            let connected = TcpStream::connect((Ipv4Addr::LOCALHOST, service.port(ports)));
            if let Ok(stream) = connected {
                stream.set_nodelay(true).expect("a socket");
                stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
                return stream;
            }
            // It is being killed; soon the world knows.
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Reads an answer, and whether the connection can be used again.
fn reply(stream: &mut TcpStream, is_head: bool) -> std::io::Result<(Reply, bool)> {
    let broken = || std::io::Error::from(ErrorKind::UnexpectedEof);
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, &mut bytes)?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    let mut reply = Reply { status: status.ok_or_else(broken)?, headers, body: Vec::new() };
    let is_kept = !reply.header("connection").eq_ignore_ascii_case("close");
    let mut rest = bytes.split_off(end);
    if is_head || matches!(reply.status, 204 | 304) {
        return Ok((reply, is_kept));
    }
    if reply.header("transfer-encoding").eq_ignore_ascii_case("chunked") {
        reply.body = chunks(stream, rest)?;
        return Ok((reply, is_kept));
    }
    let length: usize = reply.header("content-length").parse().unwrap_or(0);
    while rest.len() < length {
        more(stream, &mut rest)?;
    }
    reply.body = rest;
    Ok((reply, is_kept))
}

fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let mut piece = [0; PIECE];
    match stream.read(&mut piece)? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        read => {
            bytes.extend_from_slice(&piece[..read]);
            Ok(())
        }
    }
}

fn chunks(stream: &mut TcpStream, mut rest: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let Some(line) = rest.windows(2).position(|window| window == b"\r\n") else {
            more(stream, &mut rest)?;
            continue;
        };
        let text = String::from_utf8_lossy(&rest[..line]).into_owned();
        let size = usize::from_str_radix(text.trim(), 16)
            .map_err(|_| std::io::Error::from(ErrorKind::InvalidData))?;
        while rest.len() < line + 2 + size + 2 {
            more(stream, &mut rest)?;
        }
        body.extend_from_slice(&rest[line + 2..line + 2 + size]);
        rest.drain(..line + 2 + size + 2);
        if size == 0 {
            return Ok(body);
        }
    }
}
