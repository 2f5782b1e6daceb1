//! How policies and holds are shown, by reads, in listings and by the operations that set them.

use super::since;
use hyper::StatusCode;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_domain::blob::immutability::{ImmutabilityPolicy, Protection};
use zaffre_http::xml::Writer;
use zaffre_http::{HeaderName, Reply};

const UNTIL: HeaderName = HeaderName::from_static("x-ms-immutability-policy-until-date");
const MODE: HeaderName = HeaderName::from_static("x-ms-immutability-policy-mode");
const HOLD: HeaderName = HeaderName::from_static("x-ms-legal-hold");

/// Set Blob Immutability Policy.
pub fn policy_set(policy: ImmutabilityPolicy, version: ApiVersion) -> Reply {
    policy_headers(Reply::new(StatusCode::OK, version), Some(policy))
}

/// Delete Blob Immutability Policy.
pub fn policy_deleted(version: ApiVersion) -> Reply {
    Reply::new(StatusCode::OK, version)
}

/// Set Blob Legal Hold.
pub fn hold_set(hold: bool, version: ApiVersion) -> Reply {
    Reply::new(StatusCode::OK, version).with(HOLD, hold)
}

/// On reads of a blob.
pub(super) fn headers(reply: Reply, protection: Protection, version: ApiVersion) -> Reply {
    if version < since::VERSIONED_IMMUTABILITY {
        return reply;
    }
    policy_headers(reply, protection.policy).with_some(HOLD, protection.legal_hold)
}

fn policy_headers(reply: Reply, policy: Option<ImmutabilityPolicy>) -> Reply {
    let until = policy.map(|policy| Timestamp::rfc1123(policy.until));
    reply.with_some(UNTIL, until).with_some(MODE, policy.map(|policy| policy.mode.text()))
}

/// What a listing was asked to show of this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// `include=immutabilitypolicy`
    pub policies: bool,
    /// `include=legalhold`
    pub holds: bool,
}

/// In a listing.
pub(super) fn elements(xml: &mut Writer, protection: Protection, asked: Asked) {
    if let Some(policy) = protection.policy.filter(|_| asked.policies) {
        xml.element("ImmutabilityPolicyUntilDate", policy.until.rfc1123())
            .element("ImmutabilityPolicyMode", policy.mode.text());
    }
    xml.optional("LegalHold", protection.legal_hold.filter(|_| asked.holds));
}
