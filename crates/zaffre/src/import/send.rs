//! Requests to our own services, without a network: what is moved in takes the way that every
//! client's writes take, and is checked by the same rules.
//!
//! Must never go around the services.

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri, Version};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use zaffre_auth::{Account, Accounts, RequestFacts, Service as Kind, sign};
use zaffre_base::{AccountName, ApiVersion, Guid, Secret};
use zaffre_blob::{BlobOptions, BlobService};
use zaffre_core::Core;
use zaffre_http::{
    AccountsHandle, BodyError, BodyStream, Origin, Request, RequestHead, Service, signed_headers,
};
use zaffre_queue::{QueueOptions, QueueService};
use zaffre_table::{TableOptions, TableService};

/// The version that requests speak.
const VERSION: &str = "2024-11-04";
/// Bytes of a body that are read at once.
const PIECE: u64 = 1024 * 1024;
const HOST_NAME: &str = "127.0.0.1";
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What a request carries.
pub(super) enum Body {
    Text(String),
    /// Parts of files, one after the other.
    Files(Vec<Part>),
}

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) file: PathBuf,
    pub(super) offset: u64,
    pub(super) count: u64,
}

/// A request in the making.
pub(super) struct Call {
    service: Kind,
    method: Method,
    account: AccountName,
    path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Body,
}

impl Call {
    /// A request without body to `path`, which is not encoded, below `account`.
    pub(super) fn new(service: Kind, method: Method, account: &AccountName, path: &str) -> Self {
        let (query, headers) = (Vec::new(), Vec::new());
        let body = Body::Text(String::new());
        Self {
            service,
            method,
            account: account.clone(),
            path: path.to_owned(),
            query,
            headers,
            body,
        }
    }

    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn header_if(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    pub(super) fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }
}

/// The services of a store, and keys to them that exist only while it is being filled.
pub(super) struct Services {
    blob: BlobService,
    queue: QueueService,
    table: TableService,
    accounts: Accounts,
    core: Core,
}

impl Services {
    pub(super) fn new(core: Core, names: &BTreeSet<AccountName>) -> io::Result<Self> {
        let mut made = Vec::new();
        for name in names {
            let mut key = [0; 64];
            getrandom::fill(&mut key).map_err(io::Error::from)?;
            made.push(Account::new(name.clone(), Secret::new(key.to_vec())));
        }
        let accounts: Accounts = made.into_iter().collect();
        let handle = AccountsHandle::new(accounts.clone());
        let always_path_style = true;
        let options = BlobOptions { always_path_style, port: 0 };
        Ok(Self {
            blob: BlobService::new(core.clone(), handle.clone(), options),
            queue: QueueService::new(
                core.clone(),
                handle.clone(),
                QueueOptions { always_path_style },
            ),
            table: TableService::new(core.clone(), handle, TableOptions { always_path_style }),
            accounts,
            core,
        })
    }

    /// Performs a request; the error says what was refused and why.
    pub(super) async fn send(&self, call: Call) -> Result<(), String> {
        let said = format!("{} {}", call.method, call.path);
        let service = call.service;
        let (head, content_length, body) = self.signed(call).map_err(|e| format!("{said}: {e}"))?;
        let request = Request { head, content_length: Some(content_length), body };
        let answer = match service {
            Kind::Blob => self.blob.call(request).await,
            Kind::Queue => self.queue.call(request).await,
            Kind::Table => self.table.call(request).await,
            Kind::File => return Err(format!("{said}: files are not moved")),
        };
        match answer {
            Ok(reply) if reply.status.is_success() => Ok(()),
            Ok(reply) => {
                let code = reply.code.unwrap_or("no reason given");
                Err(format!("{said}: {} {code}", reply.status.as_u16()))
            }
            Err(error) => Err(format!("{said}: {} {}", error.status.as_u16(), error.code)),
        }
    }

    fn signed(&self, call: Call) -> Result<(RequestHead, u64, BodyStream), String> {
        let Call { service, method, account, path, query, headers, body } = call;
        let (length, body) = stream_of(body);
        let pairs: Vec<String> =
            query.iter().map(|(n, v)| format!("{}={}", encoded(n, ""), encoded(v, ""))).collect();
        let mark = if pairs.is_empty() { "" } else { "?" };
        let path = encoded(&path, "/()',=$");
        let target = format!("/{account}/{path}{mark}{}", pairs.join("&"));
        let uri: Uri = target.parse().map_err(|_| "its name cannot be in a URL")?;
        let date = self.core.store().clock.wall().rfc1123().to_string();
        let mut map = HeaderMap::new();
        let mut names = Vec::new();
        let own = [("x-ms-date", date.as_str()), ("x-ms-version", VERSION)];
        let given = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.into_iter().chain(given) {
            names.extend(name.strip_prefix("x-ms-meta-").map(str::to_owned));
            let name = HeaderName::from_bytes(name.as_bytes());
            let name = name.map_err(|_| "a name cannot be a header's")?;
            let value = HeaderValue::from_bytes(value.as_bytes());
            map.insert(name, value.map_err(|_| "a value cannot be a header's")?);
        }
        map.insert(HOST, HeaderValue::from_static(HOST_NAME));
        map.insert(CONTENT_LENGTH, HeaderValue::from(length));
        if service == Kind::Table {
            map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let origin = Origin { peer: SocketAddr::new(PEER, 0), secure: false, id: Guid(0) };
        let head = RequestHead::decode(method, &uri, Version::HTTP_11, map, names, &origin);
        let mut head = head.map_err(|error| error.code.to_owned())?;
        let credential = self.credential(&head, service, &account)?;
        let credential = HeaderValue::try_from(credential).map_err(|_| "it cannot be signed")?;
        head.headers.insert(hyper::header::AUTHORIZATION, credential);
        Ok((head, length, body))
    }

    fn credential(
        &self,
        head: &RequestHead,
        service: Kind,
        account: &AccountName,
    ) -> Result<String, String> {
        let key = self.accounts.get(account).and_then(sign::primary_key);
        let key = key.ok_or("its account is not known")?;
        let headers = signed_headers(head).map_err(|error| error.code.to_owned())?;
        let version = ApiVersion::parse(VERSION).ok_or("the version is not one")?;
        let facts = RequestFacts {
            service,
            method: head.method.as_str(),
            raw_path: &head.raw_path,
            raw_query: &head.raw_query,
            query: &head.query,
            headers: &headers,
            account,
            container: None,
            object: None,
            path_style: true,
            secondary: false,
            peer: PEER,
            secure: false,
            version,
        };
        sign::shared_key(&facts, key).map_err(|_| "it cannot be signed".to_owned())
    }
}

/// Percent-encodes all but letters, digits, `-._~` and what `kept` names.
pub(super) fn encoded(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain || kept.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |four: u8| char::from_digit(u32::from(four), 16).unwrap_or('0');
            let both = [digit(byte >> 4), digit(byte & 15)].map(|d| d.to_ascii_uppercase());
            out.extend(['%'].into_iter().chain(both));
        }
    }
    out
}

fn stream_of(body: Body) -> (u64, BodyStream) {
    let parts = match body {
        Body::Text(text) => {
            let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
            let piece = (length > 0).then(|| Ok(Bytes::from(text)));
            return (length, Box::pin(stream::iter(piece)));
        }
        Body::Files(parts) => parts,
    };
    let length = parts.iter().map(|part| part.count).sum();
    let pieces = parts.into_iter().flat_map(|part| {
        let file = File::open(&part.file).map(Arc::new).ok();
        (0..part.count.div_ceil(PIECE)).map(move |index| {
            let start = index * PIECE;
            let size = usize::try_from(PIECE.min(part.count - start)).unwrap_or_default();
            let mut bytes = vec![0; size];
            let file = file.as_ref().ok_or(BodyError::Broken)?;
            let read = file.read_exact_at(&mut bytes, part.offset + start);
            read.map_err(|_| BodyError::Broken)?;
            Ok(Bytes::from(bytes))
        })
    });
    (length, Box::pin(stream::iter(pieces)))
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn names_in_urls() {
        assert_eq!(encoded("a b/é%", "/"), "a%20b/%C3%A9%25");
        assert_eq!(encoded("a/b=", ""), "a%2Fb%3D");
    }
}
