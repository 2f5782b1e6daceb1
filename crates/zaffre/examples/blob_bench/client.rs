//! One connection: writes a request, reads the answer, keeps nothing of the body.
//!
//! Must never do more work per request than it must: it shares the machine with the server.

use crate::report::Result;
use crate::request::Request;
use memchr::{memchr_iter, memmem};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What is read at once.
const BUFFER: usize = 256 * 1024;
/// Bodies up to this size go out in one call with their head.
const ONE_CALL: usize = 64 * 1024;

/// A connection that is kept.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    out: Vec<u8>,
}

/// How an answer's body ends.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Framing {
    Sized(usize),
    Chunked,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER], out: Vec::new() })
    }

    /// Sends a request and gives the length of the answer's body; an error if it is not the answer
    /// that the request expects.
    pub(crate) async fn ask(&mut self, request: &Request) -> Result<usize> {
        if request.body.len() <= ONE_CALL {
            self.out.clear();
            self.out.extend_from_slice(&request.head);
            self.out.extend_from_slice(&request.body);
            self.stream.write_all(&self.out).await?;
        } else {
            self.send(&request.head).await?;
            self.send(&request.body).await?;
        }
        self.answer(request).await
    }

    /// Sends bytes of a request that is too large to be one.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Reads the answer to what was sent.
    pub(crate) async fn answer(&mut self, request: &Request) -> Result<usize> {
        let mut filled = 0;
        let end = loop {
            filled += self.read_at(filled).await?;
            if let Some(at) = find(&self.buffer[..filled], b"\r\n\r\n") {
                break at + 4;
            }
        };
        let (status, framing) = parse(&self.buffer[..end]).ok_or("an answer that is no HTTP")?;
        let length = match framing {
            Framing::Sized(length) => {
                self.skip(length.saturating_sub(filled - end)).await?;
                length
            }
            Framing::Chunked => self.skip_chunks(end, filled).await?,
        };
        let right = status == request.status && request.length.is_none_or(|l| l == length);
        if right { Ok(length) } else { Err(self.complaint(request, filled)) }
    }

    /// Sends a request and gives the answer's body, which must be small.
    pub(crate) async fn ask_whole(&mut self, request: &Request) -> Result<Vec<u8>> {
        self.out.clear();
        self.out.extend_from_slice(&request.head);
        self.out.extend_from_slice(&request.body);
        self.stream.write_all(&self.out).await?;
        let mut filled = 0;
        loop {
            filled += self.read_at(filled).await?;
            let Some(at) = find(&self.buffer[..filled], b"\r\n\r\n") else { continue };
            let end = at + 4;
            let (status, framing) =
                parse(&self.buffer[..end]).ok_or("an answer that is no HTTP")?;
            if status != request.status {
                return Err(self.complaint(request, filled));
            }
            let body = &self.buffer[end..filled];
            match framing {
                Framing::Sized(length) if body.len() >= length => return Ok(body.to_vec()),
                // The chunks' own lines do no harm to who looks for elements.
                Framing::Chunked if body.ends_with(b"0\r\n\r\n") => return Ok(body.to_vec()),
                Framing::Sized(_) | Framing::Chunked => {}
            }
        }
    }

    fn complaint(
        &self,
        request: &Request,
        filled: usize,
    ) -> Box<dyn std::error::Error + Send + Sync> {
        let asked = String::from_utf8_lossy(&request.head);
        let asked = asked.lines().next().unwrap_or_default();
        let got = String::from_utf8_lossy(&self.buffer[..filled.min(2_000)]);
        format!("`{asked}` was answered with\n{got}").into()
    }

    async fn read_at(&mut self, at: usize) -> Result<usize> {
        match self.stream.read(&mut self.buffer[at..]).await? {
            0 => Err("the server closed the connection, or its head is too long".into()),
            read => Ok(read),
        }
    }

    /// Reads so many bytes and forgets them; the head stays in the buffer for complaints if it was
    /// all there is.
    async fn skip(&mut self, mut left: usize) -> Result<()> {
        while left > 0 {
            let size = left.min(BUFFER);
            let read = self.stream.read(&mut self.buffer[..size]).await?;
            if read == 0 {
                return Err("the server closed the connection in a body".into());
            }
            left -= read;
        }
        Ok(())
    }

    /// Reads a chunked body of which `filled - at` bytes are there, and gives its length.
    async fn skip_chunks(&mut self, mut at: usize, mut filled: usize) -> Result<usize> {
        let mut length = 0;
        loop {
            let Some(line) = find(&self.buffer[at..filled], b"\r\n") else {
                self.buffer.copy_within(at..filled, 0);
                (filled, at) = (filled - at, 0);
                filled += self.read_at(filled).await?;
                continue;
            };
            let text = std::str::from_utf8(&self.buffer[at..at + line])?;
            let size = usize::from_str_radix(text.split(';').next().unwrap_or_default(), 16)?;
            length += size;
            at += line + 2;
            // The chunk and the line break behind it.
            let here = (filled - at).min(size + 2);
            at += here;
            self.skip_keeping(size + 2 - here, &mut at, &mut filled).await?;
            if size == 0 {
                return Ok(length);
            }
        }
    }

    async fn skip_keeping(
        &mut self,
        left: usize,
        at: &mut usize,
        filled: &mut usize,
    ) -> Result<()> {
        if left > 0 {
            self.skip(left).await?;
            (*at, *filled) = (0, 0);
        }
        Ok(())
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memmem::find(bytes, wanted)
}

/// Status and framing of a head. Looks at a line only if its first letter may be the right one: the
/// heads of some servers are ten times as long as those of others.
fn parse(head: &[u8]) -> Option<(u16, Framing)> {
    let status = std::str::from_utf8(head.get(9..12)?).ok()?.parse().ok()?;
    let mut framing = Framing::Sized(0);
    let mut begin = 0;
    for end in memchr_iter(b'\n', head) {
        let line = &head[begin..end];
        begin = end + 1;
        match line.first() {
            Some(b'c' | b'C') => {
                if let Some(length) = value(line, b"content-length:") {
                    framing = Framing::Sized(std::str::from_utf8(length).ok()?.parse().ok()?);
                }
            }
            Some(b't' | b'T') if value(line, b"transfer-encoding:").is_some() => {
                framing = Framing::Chunked;
            }
            _ => {}
        }
    }
    Some((status, framing))
}

/// What a line says of `name`, if it is about that.
fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (begin, rest) = line.split_at_checked(name.len())?;
    begin.eq_ignore_ascii_case(name).then(|| rest.trim_ascii())
}
