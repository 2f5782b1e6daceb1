//! The crates `object_store` and `opendal` on our blobs: files written, read, listed, copied and removed, and
//! concurrent writers that lose nothing.
//!
//!     cargo run --manifest-path samples/concurrency/Cargo.toml --bin stores -- [connection string]

#[path = "../account.rs"]
mod account;

use account::{Account, Failure};
use azure_storage_blob::BlobContainerClient;
use futures::TryStreamExt;
use object_store::azure::{MicrosoftAzure, MicrosoftAzureBuilder};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};
use opendal::{ErrorKind, HttpTransporter, OperationContext, Operator, services::Azblob};
use opendal_http_transport_reqwest::ReqwestTransport;
use std::sync::Arc;

/// Writers of one counter, and how often each raises it.
const WRITERS: u64 = 4;
const TURNS: u64 = 10;
/// More than one request can carry.
const LARGE: usize = 12 * 1024 * 1024;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let account = Account::given()?;
    let name = format!("stores{}", azure_core::Uuid::new_v4().simple());
    let container = BlobContainerClient::new(account.url("Blob", &name)?, None, None)?;
    container.create(None).await?;
    let store: Arc<MicrosoftAzure> = Arc::new(
        MicrosoftAzureBuilder::new()
            .with_account(&account.name)
            .with_access_key(&account.key)
            .with_endpoint(account.endpoint("Blob")?.to_owned())
            .with_container_name(&name)
            .with_allow_http(true)
            .build()?,
    );
    by_object_store(&store).await?;
    let builder = Azblob::default()
        .endpoint(account.endpoint("Blob")?)
        .account_name(&account.name)
        .account_key(&account.key)
        .container(&name)
        .root("/dal");
    let transport = HttpTransporter::new(ReqwestTransport::default());
    let operator = Operator::new(builder)?
        .with_context(OperationContext::new().with_http_transport(transport));
    by_opendal(&operator).await?;
    container.delete(None).await?;
    println!("Both went as they should.");
    Ok(())
}

async fn by_object_store(store: &Arc<MicrosoftAzure>) -> Result<(), Failure> {
    let data: Vec<u8> = (0..LARGE).map(|n| u8::try_from(n % 251).unwrap_or(0)).collect();
    let large = Path::from("folder/large é.bin");
    let mut upload = store.put_multipart(&large).await?;
    for part in data.chunks(5 * 1024 * 1024) {
        upload.put_part(part.to_vec().into()).await?;
    }
    upload.complete().await?;
    assert_eq!(store.head(&large).await?.size, u64::try_from(LARGE)?);
    assert_eq!(store.get_range(&large, 1_000..2_000).await?, data[1_000..2_000]);
    assert_eq!(store.get(&large).await?.bytes().await?, data);
    let copy = Path::from("copy.bin");
    let small = Path::from("folder/small.txt");
    store.put(&small, "small".into()).await?;
    store.copy_if_not_exists(&small, &copy).await?;
    let again = store.copy_if_not_exists(&small, &copy).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    let listed: Vec<_> = store.list(None).map_ok(|found| found.location).try_collect().await?;
    assert_eq!(listed, [copy.clone(), large.clone(), small]);
    store.delete(&copy).await?;
    let gone = store.head(&copy).await;
    assert!(matches!(gone, Err(Error::NotFound { .. })), "{gone:?}");

    let counter = Path::from("counter");
    let new = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    store.put_opts(&counter, "0".into(), new.clone()).await?;
    let again = store.put_opts(&counter, "0".into(), new).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..WRITERS {
        writers.spawn(raise_by_object_store(store.clone(), counter.clone()));
    }
    let mut again = 0;
    while let Some(done) = writers.join_next().await {
        again += done??;
    }
    let total = store.get(&counter).await?.bytes().await?;
    assert_eq!(total, (WRITERS * TURNS).to_string());
    println!(
        "object_store: {} concurrent updates, {again} tried again, none lost.",
        WRITERS * TURNS
    );
    Ok(())
}

/// Reads, adds one, writes if nobody else did in between; says how often somebody did.
async fn raise_by_object_store(store: Arc<MicrosoftAzure>, at: Path) -> Result<u64, Failure> {
    let mut again = 0;
    for _ in 0..TURNS {
        loop {
            let read = store.get(&at).await?;
            let version = UpdateVersion {
                e_tag: read.meta.e_tag.clone(),
                version: read.meta.version.clone(),
            };
            let value: u64 = std::str::from_utf8(&read.bytes().await?)?.parse()?;
            let mode = PutMode::Update(version);
            let options = PutOptions { mode, ..PutOptions::default() };
            match store.put_opts(&at, (value + 1).to_string().into(), options).await {
                Ok(_) => break,
                Err(Error::Precondition { .. }) => again += 1,
                Err(other) => return Err(other.into()),
            }
        }
    }
    Ok(again)
}

async fn by_opendal(operator: &Operator) -> Result<(), Failure> {
    let data: Vec<u8> = (0..LARGE).map(|n| u8::try_from(n % 241).unwrap_or(0)).collect();
    let large = "folder/large é.bin";
    let mut writer = operator.writer_with(large).chunk(4 * 1024 * 1024).await?;
    writer.write(data.clone()).await?;
    writer.close().await?;
    assert_eq!(operator.stat(large).await?.content_length(), u64::try_from(LARGE)?);
    assert_eq!(operator.read_with(large).range(1_000..2_000).await?.to_vec(), data[1_000..2_000]);
    assert_eq!(operator.read(large).await?.to_vec(), data);
    operator.write("small.txt", "small").await?;
    operator.copy("small.txt", "copy.bin").await?;
    let mut listed: Vec<_> = operator.list_with("/").recursive(true).await?;
    listed.retain(|entry| entry.metadata().is_file());
    let listed: Vec<_> = listed.iter().map(|entry| entry.path().to_owned()).collect();
    assert_eq!(listed, ["copy.bin", large, "small.txt"]);
    operator.delete("copy.bin").await?;
    assert!(!operator.exists("copy.bin").await?);

    operator.write_with("counter", "0").if_not_exists(true).await?;
    let again = operator.write_with("counter", "0").if_not_exists(true).await;
    assert!(again.is_err_and(|error| error.kind() == ErrorKind::ConditionNotMatch));
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..WRITERS {
        writers.spawn(raise_by_opendal(operator.clone()));
    }
    let mut again = 0;
    while let Some(done) = writers.join_next().await {
        again += done??;
    }
    assert_eq!(operator.read("counter").await?.to_vec(), (WRITERS * TURNS).to_string().as_bytes());
    println!("opendal: {} concurrent updates, {again} tried again, none lost.", WRITERS * TURNS);
    Ok(())
}

async fn raise_by_opendal(operator: Operator) -> Result<u64, Failure> {
    let mut again = 0;
    for _ in 0..TURNS {
        loop {
            let known = operator.stat("counter").await?;
            let etag = known.etag().ok_or("a blob without an ETag")?;
            let read = match operator.read_with("counter").if_match(etag).await {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::ConditionNotMatch => continue,
                Err(other) => return Err(other.into()),
            };
            let value: u64 = std::str::from_utf8(&read.to_vec())?.parse()?;
            match operator.write_with("counter", (value + 1).to_string()).if_match(etag).await {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::ConditionNotMatch => again += 1,
                Err(other) => return Err(other.into()),
            }
        }
    }
    Ok(again)
}
