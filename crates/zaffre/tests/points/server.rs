//! The four services in this process, on a disk of the test's choice, and a client that signs.
//!
//! Must never go around a service: what is asked goes through route, check, parse and dispatch.

use futures_util::{StreamExt, stream};
use hyper::header::{HeaderName, HeaderValue};
use std::sync::Arc;
use zaffre_auth::{Accounts, RequestFacts, Service as Named, sign};
use zaffre_base::{AccountName, ApiVersion, Timestamp};
use zaffre_blob::{BlobOptions, BlobService};
use zaffre_core::settings::AccountSettings;
use zaffre_core::{CopyOptions, Core, CoreOptions, Layout};
use zaffre_file::{FileOptions, FileService, Ports};
use zaffre_http::{AccountsHandle, Reply, ReplyBody, Request, RequestHead, Service};
use zaffre_queue::{QueueOptions, QueueService};
use zaffre_store::disk::Disk;
use zaffre_store::extents::ExtentOptions;
use zaffre_store::{OpenError, Store, StoreOptions};
use zaffre_table::{TableOptions, TableService};

pub(crate) const ACCOUNT: &str = "devstoreaccount1";
const VERSION: &str = "2024-08-04";
/// Copies of more than so many bytes wait for the background.
const AT_ONCE: u64 = 45_000;

/// One request, without its credential.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) service: &'static str,
    pub(crate) method: String,
    /// Path after the account, and query.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What came back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(sent, _)| sent == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All of it as text, to be compared with another.
    pub(crate) fn line(&self) -> String {
        if !self.is_good() {
            // Its text has the time in it.
            return format!(
                "{} {}",
                self.status,
                self.header("x-ms-error-code").unwrap_or_default()
            );
        }
        let headers = self.headers.iter().map(|(name, value)| format!("{name}={value} "));
        let body = String::from_utf8_lossy(&self.body);
        format!("{} {}{body}", self.status, headers.collect::<String>())
    }
}

/// The services on one store.
pub(crate) struct Server {
    pub(crate) core: Core,
    accounts: Accounts,
    name: AccountName,
    blob: BlobService,
    queue: QueueService,
    table: TableService,
    file: FileService,
    date: Timestamp,
}

impl Server {
    pub(crate) fn open(disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        let extents = ExtentOptions { segment_bytes: 256 * 1024, writers: 1, open_files: 8 };
        // So little that the tree follows the journal again and again.
        let options = StoreOptions { extents, memory_bytes: 48 * 1024, ..StoreOptions::default() };
        let store = Store::open(disk, &options)?;
        let copies = CopyOptions { at_once_bytes: AT_ONCE, ..CopyOptions::default() };
        let layout = Layout { inline_bytes: 64, piece_bytes: 16 * 1024, pieces_per_commit: 2 };
        let core = Core::new(
            store,
            CoreOptions {
                container_delete_delay: std::time::Duration::ZERO,
                copies,
                layout,
                ..CoreOptions::default()
            },
        );
        let accounts = Accounts::development();
        let handle = AccountsHandle::new(Accounts::development());
        let ports = Ports { file: 10_003, blob: 10_000 };
        let (always_path_style, port) = (true, ports.blob);
        let blob =
            BlobService::new(core.clone(), handle.clone(), BlobOptions { always_path_style, port });
        let queue =
            QueueService::new(core.clone(), handle.clone(), QueueOptions { always_path_style });
        let table =
            TableService::new(core.clone(), handle.clone(), TableOptions { always_path_style });
        let options = FileOptions { always_path_style, ports };
        let file = FileService::new(core.clone(), handle, options, Arc::new(blob.clone()));
        let name = AccountName::parse(ACCOUNT).expect("a name");
        let date = core.store().clock.wall();
        let server = Self { core, accounts, name, blob, queue, table, file, date };
        server.keep_versions(true);
        Ok(server)
    }

    /// Which choices of the account hold for the next operation.
    pub(crate) fn keep_versions(&self, versions: bool) {
        let settings = AccountSettings {
            blob_retention_days: Some(7),
            container_retention_days: Some(7),
            version_immutability: versions,
            versioning: versions,
            ..self.core.settings(&self.name)
        };
        self.core.set_settings(&self.name, settings);
    }

    pub(crate) async fn send(&self, ask: &Ask) -> Answer {
        let request = self.request(ask);
        let result = match ask.service {
            "blob" => self.blob.call(request).await,
            "queue" => self.queue.call(request).await,
            "table" => self.table.call(request).await,
            "file" => self.file.call(request).await,
            other => panic!("no service {other}"),
        };
        match result {
            Ok(reply) => received(reply).await,
            Err(error) => {
                let headers = vec![("x-ms-error-code".to_owned(), error.code.to_owned())];
                Answer { status: error.status.as_u16(), headers, body: Vec::new() }
            }
        }
    }

    fn request(&self, ask: &Ask) -> Request {
        let target = format!("/{ACCOUNT}{}", ask.target);
        let mut headers = ask.headers.clone();
        headers.push(("x-ms-version".to_owned(), VERSION.to_owned()));
        headers.push(("x-ms-date".to_owned(), self.date.rfc1123().to_string()));
        headers.push(("content-length".to_owned(), ask.body.len().to_string()));
        let signature = self.signature(ask, &target, &headers);
        headers.push(("authorization".to_owned(), signature));
        let mut head = RequestHead::sample(&ask.method, &target);
        for (name, value) in &headers {
            let spelled = name.strip_prefix("x-ms-meta-").map(str::to_owned);
            head.metadata_names.extend(spelled);
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
            head.headers.append(name, HeaderValue::from_str(value).expect("a header's value"));
        }
        let content_length = u64::try_from(ask.body.len()).ok();
        let bytes = bytes::Bytes::from(ask.body.clone());
        let body = Box::pin(stream::iter([Ok(bytes)]));
        Request { head, content_length, body }
    }

    fn signature(&self, ask: &Ask, target: &str, headers: &[(String, String)]) -> String {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let service = match ask.service {
            "blob" => Named::Blob,
            "queue" => Named::Queue,
            "table" => Named::Table,
            _ => Named::File,
        };
        let sample = RequestHead::sample(&ask.method, target);
        let facts = RequestFacts {
            service,
            method: &ask.method,
            raw_path: &sample.raw_path,
            raw_query: &sample.raw_query,
            query: &sample.query,
            headers: &headers,
            account: &self.name,
            container: None,
            object: None,
            path_style: true,
            secondary: false,
            peer: [127, 0, 0, 1].into(),
            secure: false,
            version: ApiVersion::parse(VERSION).expect("a version"),
        };
        let key = self.accounts.get(&self.name).and_then(sign::primary_key).expect("a key");
        sign::shared_key(&facts, key).expect("a request that can be signed")
    }

    /// An account token, for the sources of copies and the parts of batches.
    pub(crate) fn token(&self) -> String {
        let key = self.accounts.get(&self.name).and_then(sign::primary_key).expect("a key");
        let own =
            [("sv", "2024-08-04"), ("ss", "bf"), ("srt", "o"), ("sp", "rd"), ("se", "2100-01-01")];
        let signed = sign::account_sas(&self.name, key, &own).expect("a token");
        let pairs = signed.iter().map(|(name, value)| format!("{name}={}", escaped(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

async fn received(reply: Reply) -> Answer {
    let mut headers: Vec<(String, String)> = reply
        .headers
        .iter()
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    headers.sort();
    let mut status = reply.status.as_u16();
    let mut body = Vec::new();
    match reply.into_parts().body {
        ReplyBody::Empty => {}
        ReplyBody::Full(bytes) => body.extend_from_slice(&bytes),
        ReplyBody::Stream { bytes: mut pieces, .. } | ReplyBody::Open { bytes: mut pieces } => {
            while let Some(piece) = pieces.next().await {
                match piece {
                    Ok(piece) => body.extend_from_slice(&piece),
                    // A real client's connection would break here.
                    Err(_) => status = 0,
                }
            }
        }
    }
    Answer { status, headers, body }
}
