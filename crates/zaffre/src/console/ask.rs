//! One small request to a console.
//!
//! Must never wait for ever, nor read more than a console would say.

use crate::failure::Failure;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long anything may take. Turning the clock answers when what became due is done.
const PATIENCE: Duration = Duration::from_mins(1);
/// The longest answer.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Sends a request and gives the body of its answer, which must be a good one.
pub(super) fn ask(console: &str, method: &str, path: &str, body: &str) -> Result<String, Failure> {
    let failed = |reason: String| Failure::Console { url: console.to_owned(), reason };
    let authority = console.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let authority = authority.ok_or_else(|| failed("its URL begins with http://".to_owned()))?;
    let answer = exchange(authority, method, path, body).map_err(|e| failed(e.to_string()))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status == "200" {
        return Ok(body.trim_end().to_owned());
    }
    let said: Option<String> = serde_json::from_str(body)
        .ok()
        .and_then(|value: serde_json::Value| Some(value.get("error")?.as_str()?.to_owned()));
    Err(failed(said.unwrap_or_else(|| body.trim_end().trim_end_matches('.').to_owned())))
}

fn exchange(authority: &str, method: &str, path: &str, body: &str) -> std::io::Result<String> {
    let mut tcp = TcpStream::connect(authority)?;
    tcp.set_read_timeout(Some(PATIENCE))?;
    tcp.set_write_timeout(Some(PATIENCE))?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    tcp.write_all(request.as_bytes())?;
    let mut answer = String::new();
    tcp.take(LONGEST).read_to_string(&mut answer)?;
    Ok(answer)
}
