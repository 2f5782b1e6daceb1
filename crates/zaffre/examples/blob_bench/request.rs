//! Requests as bytes, signed with the development account's key.
//!
//! Must never depend on the target: every server gets the same bytes.

use crate::report::Result;
use bytes::Bytes;
use std::time::{SystemTime, UNIX_EPOCH};
use zaffre_auth::accounts::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, parse_key};
use zaffre_auth::{
    Accounts, Authorized, Claim, Guarded, RequestFacts, Service, authenticate, authorize, sign,
};
use zaffre_base::{AccountName, ApiVersion, Secret, Timestamp};

const VERSION: &str = "2024-08-04";

/// A request and what its answer must be.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: Bytes,
    pub(crate) body: Bytes,
    pub(crate) status: u16,
    /// Bytes of the answer's body, where they are known.
    pub(crate) length: Option<usize>,
}

/// Makes requests. Its date is that of its making; servers take it for a quarter of an hour.
pub(crate) struct Signer {
    account: AccountName,
    key: Secret<Vec<u8>>,
    version: ApiVersion,
    date: String,
}

impl Signer {
    pub(crate) fn new() -> Result<Self> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
        Ok(Self {
            account: AccountName::parse(DEVELOPMENT_ACCOUNT).map_err(|e| format!("{e:?}"))?,
            key: parse_key(DEVELOPMENT_KEY).ok_or("the development key is Base64")?,
            version: ApiVersion::parse(VERSION).ok_or("a version")?,
            date: Timestamp::from_unix(since).rfc1123().to_string(),
        })
    }

    /// The head of a request; `target` starts behind the account.
    pub(crate) fn head(
        &self,
        method: &str,
        target: &str,
        length: u64,
        more: &[(&str, &str)],
    ) -> Result<Bytes> {
        self.head_for(Service::Blob, method, target, length, more)
    }

    fn head_for(
        &self,
        service: Service,
        method: &str,
        target: &str,
        length: u64,
        more: &[(&str, &str)],
    ) -> Result<Bytes> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = format!("/{}{path}", self.account);
        let length = length.to_string();
        let mut headers = vec![("x-ms-version", VERSION), ("x-ms-date", self.date.as_str())];
        if matches!(method, "PUT" | "POST") {
            headers.push(("Content-Length", &length));
        }
        headers.extend_from_slice(more);
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect();
        let authorization = sign::shared_key(
            &RequestFacts {
                service,
                method,
                raw_path: &path,
                raw_query: query,
                query: &pairs,
                headers: &headers,
                account: &self.account,
                container: None,
                object: None,
                path_style: true,
                secondary: false,
                peer: [127, 0, 0, 1].into(),
                secure: false,
                version: self.version,
            },
            &self.key,
        )
        .map_err(|error| format!("cannot sign: {error:?}"))?;
        headers.extend([("Authorization", authorization.as_str()), ("Host", "127.0.0.1")]);
        let mark = if query.is_empty() { "" } else { "?" };
        let mut text = format!("{method} {path}{mark}{query} HTTP/1.1\r\n");
        for (name, value) in headers {
            text += &[name, ": ", value, "\r\n"].concat();
        }
        text.push_str("\r\n");
        Ok(Bytes::from(text))
    }

    /// Proves to be the owner at `now`. What it needs of the request stays for ever: one is made.
    pub(crate) fn owner(self, now: Timestamp) -> Result<Owner> {
        let signer: &'static Self = Box::leak(Box::new(self));
        let headers: &'static mut Vec<(&str, &str)> = Box::leak(Box::new(vec![
            ("x-ms-version", VERSION),
            ("x-ms-date", signer.date.as_str()),
        ]));
        let facts = |headers| RequestFacts {
            service: Service::Queue,
            method: "GET",
            raw_path: "/devstoreaccount1/",
            raw_query: "",
            query: &[],
            headers,
            account: &signer.account,
            container: None,
            object: None,
            path_style: true,
            secondary: false,
            peer: [127, 0, 0, 1].into(),
            secure: false,
            version: signer.version,
        };
        let header = sign::shared_key(&facts(headers), &signer.key);
        let header = header.map_err(|error| format!("cannot sign: {error:?}"))?;
        let mut all = headers.clone();
        all.push(("authorization", Box::leak(header.into_boxed_str())));
        let facts = facts(Box::leak(all.into_boxed_slice()));
        let claim = authenticate(&facts, &Accounts::development(), now, now)
            .map_err(|error| format!("not the owner: {error:?}"))?;
        Ok(Owner { claim, facts, now })
    }

    pub(crate) fn create_container(&self, name: &str) -> Result<Request> {
        let head = self.head("PUT", &format!("/{name}?restype=container"), 0, &[])?;
        Ok(Request { head, body: Bytes::new(), status: 201, length: None })
    }

    /// A request of the Queue service, whose signature has the same form.
    pub(crate) fn queue(
        &self,
        method: &str,
        target: &str,
        body: Bytes,
        status: u16,
    ) -> Result<Request> {
        let head = self.head(method, target, u64::try_from(body.len())?, &[])?;
        Ok(Request { head, body, status, length: None })
    }

    /// A request of the Table service, with answers as short as they can be.
    pub(crate) fn table(
        &self,
        method: &str,
        target: &str,
        body: Bytes,
        content_type: &str,
        status: u16,
    ) -> Result<Request> {
        let more = [
            ("Accept", "application/json;odata=nometadata"),
            ("Prefer", "return-no-content"),
            ("DataServiceVersion", "3.0"),
            ("Content-Type", content_type),
        ];
        let length = u64::try_from(body.len())?;
        let head = self.head_for(Service::Table, method, target, length, &more)?;
        Ok(Request { head, body, status, length: None })
    }

    /// `name` is container and blob.
    pub(crate) fn put_blob(&self, name: &str, body: Bytes) -> Result<Request> {
        let more = [("x-ms-blob-type", "BlockBlob")];
        let head = self.head("PUT", &format!("/{name}"), u64::try_from(body.len())?, &more)?;
        Ok(Request { head, body, status: 201, length: None })
    }

    /// A blob that [`Signer::find`] finds.
    pub(crate) fn put_tagged(&self, name: &str) -> Result<Request> {
        let more = [("x-ms-blob-type", "BlockBlob"), ("x-ms-tags", "kind=wanted")];
        let head = self.head("PUT", &format!("/{name}"), 0, &more)?;
        Ok(Request { head, body: Bytes::new(), status: 201, length: None })
    }

    pub(crate) fn find(&self, container: &str) -> Result<Request> {
        let target = format!("/{container}?restype=container&comp=blobs&where=kind='wanted'");
        let head = self.head("GET", &target, 0, &[])?;
        Ok(Request { head, body: Bytes::new(), status: 200, length: None })
    }

    pub(crate) fn create_append_blob(&self, name: &str) -> Result<Request> {
        self.put(&format!("/{name}"), Bytes::new(), &[("x-ms-blob-type", "AppendBlob")])
    }

    pub(crate) fn create_page_blob(&self, name: &str, length: u64) -> Result<Request> {
        let length = length.to_string();
        let more = [("x-ms-blob-type", "PageBlob"), ("x-ms-blob-content-length", length.as_str())];
        self.put(&format!("/{name}"), Bytes::new(), &more)
    }

    pub(crate) fn append(&self, name: &str, body: Bytes) -> Result<Request> {
        self.put(&format!("/{name}?comp=appendblock"), body, &[])
    }

    pub(crate) fn put_page(&self, name: &str, at: u64, body: Bytes) -> Result<Request> {
        let last = at + u64::try_from(body.len())? - 1;
        let range = format!("bytes={at}-{last}");
        let more = [("x-ms-page-write", "update"), ("x-ms-range", range.as_str())];
        self.put(&format!("/{name}?comp=page"), body, &more)
    }

    pub(crate) fn put_block(
        &self,
        name: &str,
        number: u32,
        body: Bytes,
        more: &[(&str, &str)],
    ) -> Result<Request> {
        self.put(&format!("/{name}?comp=block&blockid={}", block_id(number)), body, more)
    }

    /// Commits the first `blocks` blocks.
    pub(crate) fn put_block_list(&self, name: &str, blocks: u32) -> Result<Request> {
        let latest = |n| format!("<Latest>{}</Latest>", block_id(n));
        let rows: String = (0..blocks).map(latest).collect();
        let body = Bytes::from(format!("<BlockList>{rows}</BlockList>"));
        self.put(&format!("/{name}?comp=blocklist"), body, &[])
    }

    pub(crate) fn create_share(&self, name: &str) -> Result<Request> {
        self.put(&format!("/{name}?restype=share"), Bytes::new(), &[])
    }

    /// `name` is share and file.
    pub(crate) fn create_file(&self, name: &str, length: u64) -> Result<Request> {
        let length = length.to_string();
        let more = [("x-ms-type", "file"), ("x-ms-content-length", length.as_str())];
        self.put(&format!("/{name}"), Bytes::new(), &more)
    }

    pub(crate) fn put_range(&self, name: &str, at: u64, body: Bytes) -> Result<Request> {
        self.put_range_with(name, at, body, &[])
    }

    pub(crate) fn put_range_with(
        &self,
        name: &str,
        at: u64,
        body: Bytes,
        more: &[(&str, &str)],
    ) -> Result<Request> {
        let last = at + u64::try_from(body.len())? - 1;
        let range = format!("bytes={at}-{last}");
        let mut headers = vec![("x-ms-write", "update"), ("x-ms-range", range.as_str())];
        headers.extend_from_slice(more);
        self.put(&format!("/{name}?comp=range"), body, &headers)
    }

    /// A page of a share's root; `more` are parameters beside its size.
    pub(crate) fn list_files(&self, share: &str, more: &str, page: u32) -> Result<Request> {
        let target = format!("/{share}?restype=directory&comp=list&maxresults={page}&{more}");
        let head = self.head("GET", &target, 0, &[])?;
        Ok(Request { head, body: Bytes::new(), status: 200, length: None })
    }

    pub(crate) fn snapshot(&self, name: &str) -> Result<Request> {
        self.put(&format!("/{name}?comp=snapshot"), Bytes::new(), &[])
    }

    fn put(&self, target: &str, body: Bytes, more: &[(&str, &str)]) -> Result<Request> {
        let head = self.head("PUT", target, u64::try_from(body.len())?, more)?;
        Ok(Request { head, body, status: 201, length: None })
    }

    pub(crate) fn get_blob(&self, name: &str, length: usize) -> Result<Request> {
        let head = self.head("GET", &format!("/{name}"), 0, &[])?;
        Ok(Request { head, body: Bytes::new(), status: 200, length: Some(length) })
    }

    pub(crate) fn list(&self, container: &str, page: u32) -> Result<Request> {
        let target = format!("/{container}?restype=container&comp=list&maxresults={page}");
        let head = self.head("GET", &target, 0, &[])?;
        Ok(Request { head, body: Bytes::new(), status: 200, length: None })
    }
}

/// All of one length; Base64 without characters that a URL would escape.
fn block_id(number: u32) -> String {
    format!("{number:04}")
}

/// Signatures are made over decoded values; ours have no escapes but these.
fn decoded(value: &str) -> String {
    value.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=")
}

/// The account's owner, for operations inside this process.
pub(crate) struct Owner {
    claim: Claim,
    facts: RequestFacts<'static>,
    now: Timestamp,
}

impl Owner {
    pub(crate) fn permit<Op: Guarded>(&self, op: Op) -> Result<Authorized<Op>> {
        let permitted = authorize(&self.claim, op, None, &self.facts, self.now);
        Ok(permitted.map_err(|error| format!("not permitted: {error:?}"))?.0)
    }
}

/// A request of no particular service, for servers of files.
pub(crate) fn plain_get(path: &str, length: usize) -> Request {
    let head = Bytes::from(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
    Request { head, body: Bytes::new(), status: 200, length: Some(length) }
}
