//! Containers and blobs: properties, metadata, tags, blocks, pages, snapshots, leases.
//!
//! Must never give up half a blob: what cannot be moved is told with its name.

use super::loki::{Database, Extents, bytes, flag, text};
use super::send::{Body, Call, encoded};
use super::{Mover, policies};
use hyper::Method;
use serde_json::Value;
use std::collections::BTreeMap;
use zaffre_auth::Service::Blob;
use zaffre_base::AccountName;
use zaffre_base::limits::MIB;

/// The largest write of pages.
const PAGES: u64 = 4 * MIB;

/// The rows of one blob: its past states, then itself, and what is staged.
#[derive(Default)]
struct Rows<'a> {
    states: Vec<&'a Value>,
    staged: Vec<&'a Value>,
}

/// A blob's account, container and name.
type At<'a> = (&'a str, &'a str, &'a str);

/// Moves everything of the Blob service.
pub(super) async fn run(mover: &mut Mover, database: &Database, extents: &Extents) {
    for row in database.rows("$CONTAINERS_COLLECTION$") {
        let outcome = container(mover, row).await;
        mover.done("containers", outcome);
    }
    let mut blobs: BTreeMap<At<'_>, Rows<'_>> = BTreeMap::new();
    for row in database.rows("$BLOBS_COLLECTION$") {
        if let Some(at) = place(row, "name").filter(|_| !flag(row, "deleted")) {
            blobs.entry(at).or_default().states.push(row);
        }
    }
    for row in database.rows("$BLOCKS_COLLECTION$") {
        if let Some(at) = place(row, "blobName").filter(|_| !flag(row, "isCommitted")) {
            blobs.entry(at).or_default().staged.push(row);
        }
    }
    for (at, mut rows) in blobs {
        // Snapshots in the order they were taken; the blob itself has no such time, and comes last.
        rows.states.sort_by_key(|row| (text(row, "snapshot").is_none(), text(row, "snapshot")));
        let outcome = blob(mover, extents, at, &rows).await;
        mover.done("blobs", outcome.map_err(|said| format!("{}/{}: {said}", at.1, at.2)));
    }
}

/// How many rows [`run`] will report.
pub(super) fn count(database: &Database) -> u64 {
    let blobs = database.rows("$BLOBS_COLLECTION$").into_iter();
    let states = blobs.filter(|row| text(row, "snapshot").is_none() && !flag(row, "deleted"));
    let all = database.rows("$CONTAINERS_COLLECTION$").len() + states.count();
    u64::try_from(all).unwrap_or(u64::MAX)
}

fn place<'a>(row: &'a Value, name: &str) -> Option<At<'a>> {
    Some((text(row, "accountName")?, text(row, "containerName")?, text(row, name)?))
}

async fn container(mover: &Mover, row: &Value) -> Result<(), String> {
    let account = super::account(row, "accountName")?;
    let name = text(row, "name").ok_or("a container has no name")?;
    let properties = row.get("properties").unwrap_or(&Value::Null);
    let access = text(properties, "publicAccess");
    let make = || Call::new(Blob, Method::PUT, &account, name).query("restype", "container");
    let create = make().header_if("x-ms-blob-public-access", access);
    mover.send(metadata(create, row)).await?;
    if let Some(document) = policies(row.get("containerAcl")) {
        let acl = make().query("comp", "acl").header_if("x-ms-blob-public-access", access);
        mover.send(acl.body(Body::Text(document))).await?;
    }
    match lease(make().query("comp", "lease"), row) {
        Some(call) => mover.send(call).await,
        None => Ok(()),
    }
}

async fn blob(mover: &Mover, extents: &Extents, at: At<'_>, rows: &Rows<'_>) -> Result<(), String> {
    let account = AccountName::parse(at.0).map_err(|_| "its account's name is not legal")?;
    let path = format!("{}/{}", at.1, at.2);
    let target = Target { mover, extents, account, path };
    for row in &rows.states {
        if !flag(row, "isCommitted") {
            continue;
        }
        let properties = row.get("properties").unwrap_or(&Value::Null);
        match text(properties, "blobType") {
            Some("PageBlob") => target.pages(row, properties).await?,
            Some("AppendBlob") => target.appended(row, properties).await?,
            _ => target.blocks(row, properties).await?,
        }
        if text(row, "snapshot").is_some() {
            mover.send(metadata(target.call().query("comp", "snapshot"), row)).await?;
        } else {
            target.last(properties).await?;
        }
    }
    for row in &rows.staged {
        target.stage(row).await?;
    }
    // Last: a leased blob would refuse the rest.
    let current = rows.states.iter().find(|row| text(row, "snapshot").is_none());
    match current.and_then(|row| lease(target.call().query("comp", "lease"), row)) {
        Some(call) => mover.send(call).await,
        None => Ok(()),
    }
}

/// Where a blob goes.
struct Target<'a> {
    mover: &'a Mover,
    extents: &'a Extents,
    account: AccountName,
    path: String,
}

impl Target<'_> {
    fn call(&self) -> Call {
        Call::new(Blob, Method::PUT, &self.account, &self.path)
    }

    async fn blocks(&self, row: &Value, properties: &Value) -> Result<(), String> {
        let Some(list) = row.get("committedBlocksInOrder").and_then(Value::as_array) else {
            let part = self.extents.part(row)?;
            let call = self.call().header("x-ms-blob-type", "BlockBlob");
            let call = described(call, row, properties);
            return self.mover.send(call.body(Body::Files(part.into_iter().collect()))).await;
        };
        let mut document = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
        let mut sent = Vec::new();
        for block in list {
            let id = text(block, "name").ok_or("one of its blocks has no id")?;
            if !sent.contains(&id) {
                self.stage(block).await?;
                sent.push(id);
            }
            document.extend(["<Latest>", id, "</Latest>"]);
        }
        document.push_str("</BlockList>");
        let call = described(self.call().query("comp", "blocklist"), row, properties);
        self.mover.send(call.body(Body::Text(document))).await
    }

    async fn stage(&self, row: &Value) -> Result<(), String> {
        let body = Body::Files(self.extents.part(row)?.into_iter().collect());
        let id = text(row, "name").ok_or("one of its blocks has no id")?;
        let call = self.call().query("comp", "block").query("blockid", id);
        self.mover.send(call.body(body)).await
    }

    async fn appended(&self, row: &Value, properties: &Value) -> Result<(), String> {
        let create = self.call().header("x-ms-blob-type", "AppendBlob");
        self.mover.send(described(create, row, properties)).await?;
        let blocks = row.get("committedBlocksInOrder").and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            let body = Body::Files(self.extents.part(block)?.into_iter().collect());
            let call = self.call().query("comp", "appendblock");
            self.mover.send(call.body(body)).await?;
        }
        if flag(properties, "isSealed") {
            return self.mover.send(self.call().query("comp", "seal")).await;
        }
        Ok(())
    }

    async fn pages(&self, row: &Value, properties: &Value) -> Result<(), String> {
        let number = |name: &str| properties.get(name).and_then(Value::as_u64).unwrap_or_default();
        let create = self
            .call()
            .header("x-ms-blob-type", "PageBlob")
            .header("x-ms-blob-content-length", &number("contentLength").to_string())
            .header("x-ms-blob-sequence-number", &number("blobSequenceNumber").to_string());
        self.mover.send(described(create, row, properties)).await?;
        let ranges = row.get("pageRangesInOrder").and_then(Value::as_array);
        for range in ranges.into_iter().flatten() {
            let start = range.get("start").and_then(Value::as_u64).ok_or("a range has no start")?;
            let Some(whole) = self.extents.part(range)? else { continue };
            let mut done = 0;
            while done < whole.count {
                let mut part = whole.clone();
                part.offset += done;
                part.count = (whole.count - done).min(PAGES);
                let (first, last) = (start + done, start + done + part.count - 1);
                done += part.count;
                let call = self.call().query("comp", "page").header("x-ms-page-write", "update");
                let call = call.header("x-ms-range", &format!("bytes={first}-{last}"));
                self.mover.send(call.body(Body::Files(vec![part]))).await?;
            }
        }
        Ok(())
    }

    /// What is set once the blob is there: a tier that was chosen.
    async fn last(&self, properties: &Value) -> Result<(), String> {
        let chosen = !flag(properties, "accessTierInferred");
        let block = text(properties, "blobType") == Some("BlockBlob");
        match text(properties, "accessTier").filter(|_| chosen && block) {
            Some(tier) => {
                let call = self.call().query("comp", "tier").header("x-ms-access-tier", tier);
                self.mover.send(call).await
            }
            None => Ok(()),
        }
    }
}

/// Adds metadata, tags and content properties.
fn described(call: Call, row: &Value, properties: &Value) -> Call {
    let md5 = bytes(properties, "contentMD5");
    let mut call = metadata(call, row)
        .header_if("x-ms-blob-content-type", text(properties, "contentType"))
        .header_if("x-ms-blob-content-encoding", text(properties, "contentEncoding"))
        .header_if("x-ms-blob-content-language", text(properties, "contentLanguage"))
        .header_if("x-ms-blob-content-disposition", text(properties, "contentDisposition"))
        .header_if("x-ms-blob-cache-control", text(properties, "cacheControl"))
        .header_if("x-ms-blob-content-md5", md5.as_deref());
    let tags = row.pointer("/blobTags/blobTagSet").and_then(Value::as_array);
    let pair = |tag: &Value| {
        Some(format!(
            "{}={}",
            encoded(text(tag, "key")?, ""),
            encoded(tag.get("value")?.as_str()?, "")
        ))
    };
    let tags: Vec<String> = tags.into_iter().flatten().filter_map(pair).collect();
    if !tags.is_empty() {
        call = call.header("x-ms-tags", &tags.join("&"));
    }
    call
}

fn metadata(mut call: Call, row: &Value) -> Call {
    for (name, value) in row.get("metadata").and_then(Value::as_object).into_iter().flatten() {
        call = call.header(&format!("x-ms-meta-{name}"), value.as_str().unwrap_or_default());
    }
    call
}

/// A lease that holds, taken again under its own id.
fn lease(call: Call, row: &Value) -> Option<Call> {
    let properties = row.get("properties")?;
    let id = text(row, "leaseId").filter(|_| text(properties, "leaseState") == Some("leased"))?;
    let seconds = match text(properties, "leaseDuration")? {
        "infinite" => "-1".to_owned(),
        _ => row.get("leaseDurationSeconds")?.as_u64()?.to_string(),
    };
    let call = call.header("x-ms-lease-action", "acquire").header("x-ms-proposed-lease-id", id);
    Some(call.header("x-ms-lease-duration", &seconds))
}
