//! A token's signature holds for exactly the fields it was made over: what was signed here is never
//! refused for its signature, and what was not signed here never counts as a credential.

use zaffre_auth::{Accounts, AuthError, Claim, Failure, RequestFacts, Service, authenticate, sign};
use zaffre_base::{AccountName, ApiVersion, BlobName, ContainerName, Timestamp};
use zaffre_http::percent;

type Query = Vec<(String, String)>;

/// The target: a line with `container/blob`, and a line with a query.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (path, query) = text.split_once('\n').unwrap_or((text, ""));
    let (container, blob) = path.split_once('/').unwrap_or((path, ""));
    let container = ContainerName::parse(container).ok();
    let blob = BlobName::parse(blob).ok().filter(|_| container.is_some());
    let Some(query) = decoded(query) else { return };
    let accounts = Accounts::development();
    let Some(account) = accounts.iter().next() else { return };
    let Some(key) = sign::primary_key(account) else { return };
    let asked = Asked { accounts: &accounts, account: account.name(), container, blob };

    if let Ok(claim) = asked.authenticate(&query) {
        assert!(claim.is_anonymous(), "a token that nobody signed was accepted");
    }
    let unsigned: Vec<(&str, &str)> = query
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| !name.eq_ignore_ascii_case("sig"))
        .collect();
    let has = |name: &str| unsigned.iter().any(|(sent, _)| *sent == name);
    let for_account = has("ss") || has("srt");
    // Such a token is signed with a key derived from the account's, not with the account's own.
    let delegated = has("skoid");
    let empty = Query::new();
    if !for_account
        && !delegated
        && let Ok(token) = sign::service_sas(&asked.facts(&empty), key, &unsigned)
    {
        asked.expect_signature(&token);
    }
    if for_account
        && !has("sr")
        && let Ok(token) = sign::account_sas(account.name(), key, &unsigned)
    {
        asked.expect_signature(&token);
    }
}

fn decoded(query: &str) -> Option<Query> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).take(40);
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| Some((percent::decode_query(name)?, percent::decode_query(value)?)))
        .collect()
}

struct Asked<'a> {
    accounts: &'a Accounts,
    account: &'a AccountName,
    container: Option<ContainerName>,
    blob: Option<BlobName>,
}

impl Asked<'_> {
    fn authenticate(&self, query: &Query) -> Result<Claim, AuthError> {
        let now = Timestamp::from_unix_seconds(1_794_717_736);
        authenticate(&self.facts(query), self.accounts, now, now)
    }

    fn expect_signature(&self, token: &Query) {
        let mismatch = matches!(
            self.authenticate(token),
            Err(AuthError::AuthenticationFailed { detail: Failure::SasMismatch { .. } })
        );
        assert!(!mismatch, "signed and refused: {token:?}");
    }

    fn facts<'a>(&'a self, query: &'a Query) -> RequestFacts<'a> {
        RequestFacts {
            service: Service::Blob,
            method: "GET",
            raw_path: "/devstoreaccount1/c/b",
            raw_query: "",
            query,
            headers: &[],
            account: self.account,
            container: self.container.as_ref().map(ContainerName::as_str),
            object: self.blob.as_ref().map(BlobName::as_str),
            path_style: true,
            secondary: false,
            peer: [127, 0, 0, 1].into(),
            secure: true,
            version: ApiVersion::new(2024, 8, 4),
        }
    }
}
