//! Files by both protocols: what REST asks, and a client's SMB connection and handles.
//!
//! Must never lose a handle while its client lives: a connection that ends gives back its locks.

use super::expect;
use crate::real::Lost;
use crate::real::http::{Http, Reply, Service};
use crate::real::smb::{FileId, Smb};
use std::collections::HashMap;

/// Bytes of a range.
pub(super) const RANGE: u64 = 512;
/// The file in every share.
pub(super) const FILE: &str = "f";

/// A client of SMB: a connection to each share and the file there, as long as the server lives.
#[derive(Debug, Default)]
pub(crate) struct SmbClient {
    shares: HashMap<String, (Smb, Option<FileId>)>,
}

impl SmbClient {
    /// The connection to a share of the server that is up, and the handle if there is one.
    pub(super) fn at(&mut self, http: &mut Http, share: &str) -> &mut (Smb, Option<FileId>) {
        let current = http.server();
        let known = self.shares.get(share).is_some_and(|(smb, _)| smb.generation == current);
        if !known {
            let smb = Smb::connect(http.world(), share);
            self.shares.insert(share.to_owned(), (smb, None));
        }
        let found = self.shares.get_mut(share).expect("put in above");
        // What is asked next goes to this server.
        http.generation = found.0.generation;
        found
    }
}

/// Makes a share with a file of zeros.
pub(super) fn prepare(http: &mut Http, key: &str, ranges: u64) -> Result<(), String> {
    let made = http.ask(Service::File, "PUT", &format!("/{key}?restype=share"), &[], &[]);
    expect(&made.map_err(|_| "no answer")?, 201)?;
    let length = (RANGE * ranges).to_string();
    let headers = [("x-ms-type", "file"), ("x-ms-content-length", length.as_str())];
    let made = http.ask(Service::File, "PUT", &format!("/{key}/{FILE}"), &headers, &[]);
    expect(&made.map_err(|_| "no answer")?, 201)?;
    for range in 0..ranges {
        let put = put(http, key, range, 0).map_err(|_| "no answer")?;
        expect(&put, 201)?;
    }
    Ok(())
}

/// A value as the bytes of a range.
pub(super) fn bytes(value: u64) -> Vec<u8> {
    let mut bytes = format!("{value:016}").into_bytes();
    bytes.resize(usize::try_from(RANGE).unwrap_or(0), b'.');
    bytes
}

/// Put Range.
pub(super) fn put(http: &mut Http, key: &str, range: u64, value: u64) -> Result<Reply, Lost> {
    let span = format!("bytes={}-{}", range * RANGE, (range + 1) * RANGE - 1);
    let headers = [("x-ms-write", "update"), ("x-ms-range", span.as_str())];
    let target = format!("/{key}/{FILE}?comp=range");
    http.ask(Service::File, "PUT", &target, &headers, &bytes(value))
}

/// Get File, of one range; its value if that is what is there.
pub(super) fn get(http: &mut Http, key: &str, range: u64) -> Result<(Reply, Option<u64>), Lost> {
    let span = format!("bytes={}-{}", range * RANGE, (range + 1) * RANGE - 1);
    let target = format!("/{key}/{FILE}");
    let reply = http.ask(Service::File, "GET", &target, &[("x-ms-range", span.as_str())], &[])?;
    let value = reply.text().get(..16).and_then(|text| text.parse().ok());
    let value = value.filter(|value| reply.body == bytes(*value));
    Ok((reply, value))
}
