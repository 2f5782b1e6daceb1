//! A request signed with the account's key is never refused for its signature, whatever its path,
//! query and headers are; the same signature on another path or verb is never let in.

use crate::head;
use zaffre_auth::{Accounts, AuthError, Failure, RequestFacts, Service, authenticate, sign};
use zaffre_base::{AccountName, ApiVersion, Timestamp};
use zaffre_http::RequestHead;

const DATE: &str = "Sun, 15 Nov 2026 04:42:16 GMT";

/// The target.
pub fn run(input: &[u8]) {
    let Some(head) = head::decode(input) else { return };
    let accounts = Accounts::development();
    let Some(account) = accounts.iter().next() else { return };
    let Some(key) = sign::primary_key(account) else { return };
    let unsigned: Vec<(&str, &str)> = head
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .filter(|(name, _)| !matches!(*name, "authorization" | "x-ms-date" | "date"))
        .chain([("x-ms-date", DATE)])
        .collect();
    for lite in [false, true] {
        let signing = facts(&head, account.name(), &unsigned);
        let signed = if lite {
            sign::shared_key_lite(&signing, key)
        } else {
            sign::shared_key(&signing, key)
        };
        let Ok(authorization) = signed else { continue };
        let mut headers = unsigned.clone();
        headers.push(("authorization", authorization.as_str()));
        let sent = facts(&head, account.name(), &headers);
        assert!(!is_mismatch(&sent, &accounts), "signed and refused for its signature");
        let path = format!("{}x", head.raw_path);
        assert!(!is_let_in(&RequestFacts { raw_path: &path, ..sent }, &accounts), "another path");
        let method = if sent.method == "GET" { "PUT" } else { "GET" };
        assert!(!is_let_in(&RequestFacts { method, ..sent }, &accounts), "another verb");
    }
}

fn is_mismatch(facts: &RequestFacts<'_>, accounts: &Accounts) -> bool {
    let now = Timestamp::parse_http(DATE).unwrap_or_default();
    let refused = authenticate(facts, accounts, now, now).err();
    matches!(refused, Some(AuthError::AuthenticationFailed { detail: Failure::MacMismatch { .. } }))
}

fn is_let_in(facts: &RequestFacts<'_>, accounts: &Accounts) -> bool {
    let now = Timestamp::parse_http(DATE).unwrap_or_default();
    authenticate(facts, accounts, now, now).is_ok_and(|claim| !claim.is_anonymous())
}

fn facts<'a>(
    head: &'a RequestHead,
    account: &'a AccountName,
    headers: &'a [(&'a str, &'a str)],
) -> RequestFacts<'a> {
    RequestFacts {
        service: Service::Blob,
        method: head.method.as_str(),
        raw_path: &head.raw_path,
        raw_query: &head.raw_query,
        query: &head.query,
        headers,
        account,
        container: None,
        object: None,
        path_style: true,
        secondary: false,
        peer: head.peer.ip(),
        secure: head.secure,
        version: ApiVersion::new(2024, 8, 4),
    }
}
