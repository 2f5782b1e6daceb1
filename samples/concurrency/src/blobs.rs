//! Blobs with the official crate `azure_storage_blob`: ETags, and leases.

use crate::account::{Account, Failure};
use crate::refused;
use azure_core::http::{Etag, RequestContent};
use azure_storage_blob::models::{BlobClientAcquireLeaseResultHeaders, BlobClientUploadOptions};
use azure_storage_blob::{BlobClient, BlobContainerClient};
use bytes::Bytes;

/// The content and the ETag that belongs to it.
async fn read(blob: &BlobClient) -> Result<(String, Etag), Failure> {
    let answer = blob.download(None).await?;
    let etag = answer.properties.etag.clone().ok_or("a blob without an ETag")?;
    Ok((String::from_utf8(answer.body.collect().await?.to_vec())?, etag))
}

async fn write(
    blob: &BlobClient,
    text: &str,
    options: BlobClientUploadOptions<'_>,
) -> azure_core::Result<()> {
    let body: RequestContent<Bytes, _> = RequestContent::from(text.as_bytes().to_vec());
    blob.upload(body, Some(options)).await.map(|_| ())
}

fn anyhow_it_is() -> BlobClientUploadOptions<'static> {
    BlobClientUploadOptions::default()
}

fn if_still(etag: &Etag) -> BlobClientUploadOptions<'static> {
    BlobClientUploadOptions { if_match: Some(etag.clone()), ..Default::default() }
}

pub async fn optimistic(account: &Account, name: &str) -> Result<(), Failure> {
    println!(
        "\n== A blob, optimistically: whoever reads first and writes last must not win blindly"
    );
    let container = BlobContainerClient::new(account.url("Blob", name)?, None, None)?;
    container.create(None).await?;
    let blob = container.blob_client("balance.txt");
    write(&blob, "100", anyhow_it_is()).await?;
    let (balance, etag) = read(&blob).await?;
    println!("1. We read {balance} and remember its ETag {etag}.");
    write(&blob, "50", anyhow_it_is()).await?;
    println!("2. Somebody else writes 50. The blob has a new ETag now.");
    println!("3. We write what we computed from the old value, if the ETag is still ours:");
    refused(412, "ConditionNotMet", write(&blob, "110", if_still(&etag)).await)?;
    let (balance, etag) = read(&blob).await?;
    let balance = balance.parse::<i64>()? + 10;
    write(&blob, &balance.to_string(), if_still(&etag)).await?;
    println!("4. We read again, compute again, write {balance}: nothing is lost.");
    assert_eq!(read(&blob).await?.0, "60");
    container.delete(None).await?;
    Ok(())
}

pub async fn leased(account: &Account, name: &str) -> Result<(), Failure> {
    println!("\n== A blob, pessimistically: a lease keeps others from writing");
    let container = BlobContainerClient::new(account.url("Blob", name)?, None, None)?;
    container.create(None).await?;
    let blob = container.blob_client("report.txt");
    write(&blob, "draft", anyhow_it_is()).await?;
    let lease = blob.acquire_lease(15, None).await?.lease_id()?.ok_or("a lease without an id")?;
    println!("1. We take a lease for 15 seconds.");
    println!("2. A third party writes without it:");
    refused(412, "LeaseIdMissing", write(&blob, "theirs", anyhow_it_is()).await)?;
    println!("3. A third party wants a lease of its own:");
    refused(409, "LeaseAlreadyPresent", blob.acquire_lease(15, None).await)?;
    let ours = BlobClientUploadOptions { lease_id: Some(lease.clone()), ..Default::default() };
    write(&blob, "ours", ours).await?;
    println!("4. We write, naming our lease.");
    blob.release_lease(lease, None).await?;
    write(&blob, "theirs, now", anyhow_it_is()).await?;
    println!("5. We give it back; now everybody may write.");
    container.delete(None).await?;
    Ok(())
}
