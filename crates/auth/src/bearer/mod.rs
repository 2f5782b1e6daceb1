//! Bearer tokens: whose are taken, and who a token says is asking.
//!
//! Must never take a token that was issued by or for somebody else, nor one whose time is over.
//! Whether its signature counts is the operator's choice, made at the start.

mod jwt;
pub(crate) mod keys;

use crate::error::{AuthError, Failure};
use crate::request::RequestFacts;
use crate::service::Service;
use jwt::Jwt;
pub use keys::{KeySet, KeySetError};
use serde_json::Value;
use std::time::Duration;
use zaffre_base::{ApiVersion, Timestamp, limits};

/// Issuers whose tokens are taken when signatures do not count, by how their names start.
const KNOWN_ISSUERS: [&str; 4] = [
    "https://sts.windows.net/",
    "https://sts.microsoftonline.de/",
    "https://sts.chinacloudapi.cn/",
    "https://sts.windows-ppe.net/",
];
/// What every storage service goes by, whatever its account.
const COMMON_AUDIENCES: [&str; 2] =
    ["https://storage.azure.com", "e406a681-f3d4-42a8-90b6-c2b029497af1"];
/// Where accounts have their host names.
const CLOUDS: [&str; 4] =
    ["core.windows.net", "core.chinacloudapi.cn", "core.usgovcloudapi.net", "core.cloudapi.de"];
/// The tenant of a token that names none.
const NO_TENANT: &str = "00000000-0000-0000-0000-000000000000";
/// From these versions on, a bad token is answered with a challenge rather than a refusal.
const TABLE_CHALLENGES_FROM: ApiVersion = ApiVersion::new(2020, 12, 6);
const QUEUE_CHALLENGES_FROM: ApiVersion = ApiVersion::new(2019, 12, 12);

/// Whose tokens a server takes.
#[derive(Clone, Debug)]
pub struct TokenTrust {
    issuers: Issuers,
    /// Taken besides the usual ones.
    audience: Option<String>,
}

#[derive(Clone, Debug)]
enum Issuers {
    /// Any that claims to be a known one; signatures do not count.
    Claimed,
    /// One, by its signature.
    Proven { issuer: String, keys: KeySet },
}

/// Who a token was issued to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The user or application.
    pub object: String,
    /// The directory it is in.
    pub tenant: String,
}

impl TokenTrust {
    /// Takes tokens that claim to come from a known issuer. Anybody can make one.
    pub fn claimed() -> Self {
        Self { issuers: Issuers::Claimed, audience: None }
    }

    /// Takes tokens that `issuer` signed with one of `keys`.
    pub fn proven(issuer: String, keys: KeySet) -> Self {
        Self { issuers: Issuers::Proven { issuer, keys }, audience: None }
    }

    /// Also takes tokens made for this audience.
    #[must_use]
    pub fn for_audience(mut self, audience: Option<String>) -> Self {
        self.audience = audience;
        self
    }

    /// Who presents `token` now, by real time; `None` if it is not good for this request.
    fn identify(&self, token: &str, facts: &RequestFacts<'_>, wall: Timestamp) -> Option<Identity> {
        let jwt = Jwt::read(token)?;
        let issued = jwt.text("iss")?;
        match &self.issuers {
            Issuers::Claimed => {
                KNOWN_ISSUERS.iter().find(|known| issued.starts_with(**known))?;
            }
            Issuers::Proven { issuer, keys } => {
                let same = issued.trim_end_matches('/') == issuer.trim_end_matches('/');
                (same && keys.verify(&jwt)).then_some(())?;
            }
        }
        let skew = Duration::from_secs(limits::TOKEN_SKEW_SECONDS);
        let (from, until) = (jwt.time("nbf")?, jwt.time("exp")??);
        let begun = from.is_none_or(|from| from <= wall.plus(skew));
        let audience = jwt.audiences().any(|audience| self.is_ours(audience, facts));
        (begun && wall < until.plus(skew) && audience).then_some(())?;
        let object = jwt.name("oid").or_else(|| jwt.name("sub"))?.to_owned();
        let tenant = jwt.name("tid").unwrap_or(NO_TENANT).to_owned();
        Some(Identity { object, tenant })
    }

    fn is_ours(&self, audience: &str, facts: &RequestFacts<'_>) -> bool {
        let plain = audience.strip_suffix('/').unwrap_or(audience);
        let (account, service) = (facts.account, facts.service.name());
        COMMON_AUDIENCES.contains(&plain)
            || self.audience.as_deref() == Some(audience)
            || CLOUDS.iter().any(|cloud| plain == format!("https://{account}.{service}.{cloud}"))
    }
}

/// Where an issuer's own description (an OpenID configuration) says that its keys are.
pub fn jwks_uri(description: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(description).ok()?;
    value.get("jwks_uri")?.as_str().map(str::to_owned)
}

/// The token of an Authorization header of that scheme.
pub(crate) fn presented(authorization: &str) -> Option<&str> {
    authorization.trim().strip_prefix("Bearer ").map(str::trim)
}

/// Checks `token`. Over plain HTTP it is refused unseen: whoever listens could use it too.
pub(crate) fn verify(
    token: &str,
    facts: &RequestFacts<'_>,
    trust: Option<&TokenTrust>,
    wall: Timestamp,
) -> Result<Identity, AuthError> {
    if !facts.secure {
        return Err(AuthError::InvalidAuthenticationInfo);
    }
    let identity = trust.and_then(|trust| trust.identify(token, facts, wall));
    identity.ok_or_else(|| rejected(facts))
}

fn rejected(facts: &RequestFacts<'_>) -> AuthError {
    let challenges = match facts.service {
        Service::Blob | Service::File => true,
        Service::Queue => facts.version >= QUEUE_CHALLENGES_FROM,
        Service::Table => facts.version >= TABLE_CHALLENGES_FROM,
    };
    if challenges { AuthError::BearerRejected } else { Failure::BearerInvalid.into() }
}
