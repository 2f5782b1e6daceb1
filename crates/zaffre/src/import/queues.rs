//! Queues with their messages, which keep their order, texts, lives and invisibility.
//!
//! Must never make a message visible before its time.

use super::loki::{Database, Extents, text};
use super::send::{Body, Call, Part};
use super::{Mover, policies};
use hyper::Method;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt;
use zaffre_auth::Service::Queue;
use zaffre_base::Timestamp;
use zaffre_base::limits::MIB;

/// Moves everything of the Queue service.
pub(super) async fn run(mover: &mut Mover, database: &Database, extents: &Extents) {
    for row in database.rows("$QUEUES_COLLECTION$") {
        let outcome = queue(mover, row).await;
        mover.done("queues", outcome);
    }
    for row in database.rows("$MESSAGES_COLLECTION$") {
        let outcome = message(mover, extents, row).await;
        mover.done("messages", outcome);
    }
}

/// How many rows [`run`] will report.
pub(super) fn count(database: &Database) -> u64 {
    let names = ["$QUEUES_COLLECTION$", "$MESSAGES_COLLECTION$"];
    names.iter().map(|name| u64::try_from(database.rows(name).len()).unwrap_or(u64::MAX)).sum()
}

async fn queue(mover: &Mover, row: &Value) -> Result<(), String> {
    let account = super::account(row, "accountName")?;
    let name = text(row, "name").ok_or("a queue has no name")?;
    let mut create = Call::new(Queue, Method::PUT, &account, name);
    for (name, value) in row.get("metadata").and_then(Value::as_object).into_iter().flatten() {
        create = create.header(&format!("x-ms-meta-{name}"), value.as_str().unwrap_or_default());
    }
    mover.send(create).await?;
    match policies(row.get("queueAcl")) {
        None => Ok(()),
        Some(document) => {
            let acl = Call::new(Queue, Method::PUT, &account, name).query("comp", "acl");
            mover.send(acl.body(Body::Text(document))).await
        }
    }
}

async fn message(mover: &Mover, extents: &Extents, row: &Value) -> Result<(), String> {
    let account = super::account(row, "accountName")?;
    let queue = text(row, "queueName").ok_or("a message has no queue")?;
    let now = mover.now();
    let visible = row.get("timeNextVisible").and_then(milliseconds);
    let expires = row.get("expirationTime").and_then(milliseconds);
    let left = |at: Option<u64>| at.map_or(0, |at| at.saturating_sub(now).div_ceil(1_000));
    // A message that never expires is one of the year 9999.
    let ttl = match expires {
        None => "-1".to_owned(),
        Some(at) if at > FAR => "-1".to_owned(),
        Some(at) if at <= now => return Ok(()),
        Some(_) => left(expires).to_string(),
    };
    let body = match extents.part(row)? {
        Some(part) => read(&part)?,
        None => String::new(),
    };
    let escaped = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><QueueMessage><MessageText>{escaped}\
         </MessageText></QueueMessage>"
    );
    let call = Call::new(Queue, Method::POST, &account, &format!("{queue}/messages"))
        .query("visibilitytimeout", &left(visible).to_string())
        .query("messagettl", &ttl);
    mover.send(call.body(Body::Text(document))).await
}

/// The beginning of the year 9000, in milliseconds since 1970.
const FAR: u64 = 221_845_392_000_000;

/// A time as a number of milliseconds or as text.
fn milliseconds(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => {
            let since = Timestamp::parse_iso(text)?.since(Timestamp::from_unix_seconds(0));
            u64::try_from(since.as_millis()).ok()
        }
        _ => None,
    }
}

fn read(part: &Part) -> Result<String, String> {
    let size = usize::try_from(part.count.min(MIB)).unwrap_or_default();
    let mut bytes = vec![0; size];
    let file = File::open(&part.file).map_err(|error| error.to_string())?;
    file.read_exact_at(&mut bytes, part.offset).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "the message is not text".to_owned())
}
