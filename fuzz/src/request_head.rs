//! Any head goes through routing and parsing to one operation or one error, the same every time,
//! and an operation names exactly what the URL names.

use crate::head;
use zaffre_base::Guid;
use zaffre_blob::operation::Kind;
use zaffre_blob::parse::{self, At};
use zaffre_blob::request::{Asked, Place};
use zaffre_blob::route::route;
use zaffre_http::{RequestHead, versions};

/// The target.
pub fn run(input: &[u8]) {
    let Some(head) = head::decode(input) else { return };
    let first = outcome(&head);
    assert_eq!(first, outcome(&head), "one request, two meanings");
}

fn outcome(head: &RequestHead) -> Result<String, &'static str> {
    let length = head.headers.get("content-length");
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    let place = Place::read(head, false).map_err(|error| error.code)?;
    let version = versions::effective(head).map_err(|error| error.code)?;
    let asked = Asked::read(head, length, place, version).map_err(|error| error.code)?;
    let kind = route(&asked.target, &asked.fields).map_err(|error| error.code)?;
    let at = At { account: &asked.account, target: &asked.target, fresh: &|| Ok(Guid(7)) };
    let operation = parse::operation(kind, at, &asked.fields).map_err(|error| error.code)?;
    let shown = format!("{operation:?}");
    if let Ok(at) = asked.target.blob(&asked.account)
        && kind.action(false).is_some()
        && kind != Kind::GetAccountInfo
    {
        // Which state of the blob is meant is in the query, not in the path.
        let named = format!("{at:?}");
        let named = named.split(", moment:").next().unwrap_or_default();
        assert!(shown.contains(named), "{shown} is not about {named}");
    }
    Ok(shown)
}
