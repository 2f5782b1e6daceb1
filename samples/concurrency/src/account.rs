//! The account of a connection string, and URLs that carry an account SAS made with its key.
//!
//! The official Rust crates take bearer tokens (over TLS) or URLs with a SAS; for a server on this machine
//! the SAS is the way. Must never print the key.

use azure_core::http::Url;
use azure_core::time::{Duration, OffsetDateTime, to_rfc3339};
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::HashMap;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

const DEVELOPMENT: &str = "AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OU\
    zFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;\
    BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;\
    QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;\
    TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;\
    FileEndpoint=http://127.0.0.1:10003/devstoreaccount1;";

/// A storage account: its name, its key, where its services are.
pub struct Account {
    pub name: String,
    pub key: String,
    parts: HashMap<String, String>,
    sas: String,
}

impl Account {
    /// From the first argument, or AZURE_STORAGE_CONNECTION_STRING, or the development account.
    pub fn given() -> Result<Self, Failure> {
        // Once for the process; somebody who chose before us is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let text = std::env::args()
            .nth(1)
            .or_else(|| std::env::var("AZURE_STORAGE_CONNECTION_STRING").ok())
            .unwrap_or_else(|| DEVELOPMENT.to_owned());
        let parts: HashMap<String, String> = text
            .split(';')
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let part = |name: &str| {
            parts.get(name).cloned().ok_or_else(|| format!("the connection string has no {name}"))
        };
        let (name, key) = (part("AccountName")?, part("AccountKey")?);
        let sas = account_sas(&name, &key)?;
        Ok(Self { name, key, parts, sas })
    }

    /// The address of a service: `Blob`, `Queue`, `Table` or `File`.
    pub fn endpoint(&self, service: &str) -> Result<&str, Failure> {
        let name = format!("{service}Endpoint");
        let found = self.parts.get(&name).ok_or(format!("the connection string has no {name}"))?;
        Ok(found.trim_end_matches('/'))
    }

    /// The URL of something of a service, with the SAS.
    pub fn url(&self, service: &str, path: &str) -> Result<Url, Failure> {
        Ok(Url::parse(&format!("{}/{path}?{}", self.endpoint(service)?, self.sas))?)
    }
}

/// A SAS for everything in the account, good for an hour.
fn account_sas(name: &str, key: &str) -> Result<String, Failure> {
    let until = (OffsetDateTime::now_utc() + Duration::hours(1)).replace_nanosecond(0)?;
    let until = to_rfc3339(&until);
    let fields = [name, "rwdlacup", "bqtf", "sco", "", &until, "", "https,http", "2019-02-02"];
    let signed = fields.map(|field| format!("{field}\n")).concat();
    let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(key)?)?;
    mac.update(signed.as_bytes());
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    let mut url = Url::parse("http://sas/")?;
    url.query_pairs_mut()
        .extend_pairs([("sv", "2019-02-02"), ("ss", "bqtf"), ("srt", "sco"), ("sp", "rwdlacup")])
        .extend_pairs([("se", until.as_str()), ("spr", "https,http"), ("sig", &signature)]);
    Ok(url.query().unwrap_or_default().to_owned())
}
