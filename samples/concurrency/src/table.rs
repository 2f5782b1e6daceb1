//! An entity of a table: an ETag that must match, or a write that wins anyhow.

use crate::account::{Account, Failure};
use crate::rest::{good, refused, send};
use reqwest::{Method, Response};
use serde_json::{Value, json};

const JSON: [(&str, &str); 2] =
    [("Accept", "application/json;odata=nometadata"), ("Content-Type", "application/json")];

async fn replace(
    account: &Account,
    path: &str,
    count: i32,
    etag: &str,
) -> Result<Response, Failure> {
    let body = json!({"PartitionKey": "stock", "RowKey": "apples", "Count": count});
    let headers = [JSON[0], JSON[1], ("If-Match", etag)];
    send(account, ("Table", Method::PUT, path, ""), &headers, serde_json::to_vec(&body)?).await
}

pub async fn entity(account: &Account, name: &str) -> Result<(), Failure> {
    println!(
        "\n== An entity of a table: an ETag that must match, or `*` for a write that must win"
    );
    let table = serde_json::to_vec(&json!({ "TableName": name }))?;
    good(send(account, ("Table", Method::POST, "Tables", ""), &JSON, table).await?).await?;
    let first = json!({"PartitionKey": "stock", "RowKey": "apples", "Count": 10});
    let first = serde_json::to_vec(&first)?;
    let made = good(send(account, ("Table", Method::POST, name, ""), &JSON, first).await?).await?;
    let etag = made.headers().get("etag").ok_or("an entity without an ETag")?.to_str()?.to_owned();
    println!("1. We insert 10 apples; the ETag is {etag}.");
    let path = format!("{name}(PartitionKey='stock',RowKey='apples')");
    good(replace(account, &path, 7, "*").await?).await?;
    println!("2. Somebody else sells 3: the ETag changes.");
    println!("3. We replace the entity, if it is as we know it:");
    refused(412, "UpdateConditionNotSatisfied", replace(account, &path, 12, &etag).await?).await?;
    good(replace(account, &path, 12, "*").await?).await?;
    println!("4. With If-Match: * the last writer wins: 12 apples.");
    let read = send(account, ("Table", Method::GET, &path, ""), &JSON, Vec::new()).await?;
    let read: Value = good(read).await?.json().await?;
    assert_eq!(read["Count"], 12);
    let gone = format!("Tables('{name}')");
    good(send(account, ("Table", Method::DELETE, &gone, ""), &JSON, Vec::new()).await?).await?;
    Ok(())
}
