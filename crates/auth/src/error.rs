//! Why a request was not let in: one variant per row of the service's own error table.
//!
//! Must never carry a key or a computed signature, nor know HTTP statuses: protocols map these.

use std::fmt;
use std::net::IpAddr;
use zaffre_base::Timestamp;

/// A refusal by authentication or authorization.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthError {
    /// 403 AuthenticationFailed, with AuthenticationErrorDetail.
    AuthenticationFailed {
        /// Which check failed; displays as Azure's detail text.
        detail: Failure,
    },
    /// 403 AuthorizationSourceIPMismatch, with SourceIP.
    AuthorizationSourceIpMismatch {
        /// Where the request came from.
        ip: IpAddr,
    },
    /// 403 AuthorizationProtocolMismatch: plain HTTP with a token for HTTPS only.
    AuthorizationProtocolMismatch,
    /// 403 AuthorizationServiceMismatch: the account SAS is for other services.
    AuthorizationServiceMismatch,
    /// 403 AuthorizationResourceTypeMismatch: the account SAS is for other resource types.
    AuthorizationResourceTypeMismatch,
    /// 403 AuthorizationPermissionMismatch: the token lacks the permission.
    AuthorizationPermissionMismatch,
    /// 403 AuthorizationFailure: no token of this kind can do that.
    AuthorizationFailure,
    /// 403 InsufficientAccountPermissions: a write to the read-only secondary endpoint.
    WriteOnSecondary,
    /// 403 KeyBasedAuthenticationNotPermitted: the account's keys are switched off.
    KeyBasedAuthenticationNotPermitted,
    /// 400 InvalidAuthenticationInfo: the Authorization header is malformed.
    InvalidAuthenticationInfo,
    /// 401 InvalidAuthenticationInfo with a challenge: the bearer token is not accepted.
    BearerRejected,
    /// 401 NoAuthenticationInformation with a challenge: no credential, and not public.
    NoAuthenticationInformation,
    /// 404 ResourceNotFound: refused without telling that anything is there.
    ResourceNotFound(Hidden),
    /// 409 PublicAccessNotPermitted: the account forbids anonymous access.
    PublicAccessNotPermitted,
    /// 400 InvalidHeaderValue, with HeaderName: a signed header was sent twice.
    DuplicateHeader {
        /// The header.
        name: String,
    },
}

/// What `ResourceNotFound` hides; for logs and tests, the client is not told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hidden {
    /// No such account.
    UnknownAccount,
    /// No credential, not public, and a version before 2019-12-12.
    Anonymous,
    /// The permission is missing in a token older than 2015-04-05.
    Permission,
    /// A bearer token, for what none reaches.
    Token,
    /// The entity lies outside the key range of a table SAS.
    OutsideRange,
}

/// A signature as a request carried it: shown to the sender, as Azure does, but never in logs,
/// because it may be good for another request.
#[derive(Clone, PartialEq, Eq)]
pub struct Presented(pub(crate) String);

impl fmt::Debug for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Presented(..)")
    }
}

impl fmt::Display for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which check of a credential failed. Displays as the AuthenticationErrorDetail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The Shared Key signature is not one of ours.
    MacMismatch {
        /// What the request carried.
        presented: Presented,
        /// What the server signed.
        string_to_sign: String,
    },
    /// The Authorization header names another account than the URL.
    AccountMismatch,
    /// There is no date header.
    DateMissing,
    /// The date header is no date, or lies in the future.
    DateIncorrect,
    /// The date header is more than 15 minutes old.
    DateTooOld {
        /// The header as sent.
        sent: String,
    },
    /// The query could be signed as another one: a colon in a name, or a newline.
    QueryAmbiguous,
    /// The SAS signature is not one of ours.
    SasMismatch {
        /// What the server signed.
        string_to_sign: String,
    },
    /// The token is not valid now.
    OutsideWindow {
        /// Valid from.
        start: Timestamp,
        /// Valid until.
        expiry: Timestamp,
        /// The service's time.
        now: Timestamp,
    },
    /// The token is never valid, or has no start and has expired.
    ExpiryBeforeStart {
        /// Valid until.
        expiry: Timestamp,
        /// Valid from; the service's time when the token names none.
        start: Timestamp,
    },
    /// `sr` does not fit what the URL names.
    ResourceLevel,
    /// A parameter the token cannot do without is absent or empty.
    FieldMissing {
        /// The parameter.
        name: &'static str,
    },
    /// A parameter cannot be understood, or is not written in lower case.
    FieldMalformed {
        /// The parameter.
        name: &'static str,
    },
    /// A parameter is there twice.
    FieldRepeated {
        /// The parameter.
        name: &'static str,
    },
    /// `si` names no policy of the container.
    PolicyUnknown,
    /// Start, expiry or permission are in the token and in its policy.
    PolicyOverlap,
    /// The user delegation key is not valid now.
    KeyOutsideWindow {
        /// Valid from.
        start: Timestamp,
        /// Valid until.
        expiry: Timestamp,
        /// The service's time.
        now: Timestamp,
    },
    /// `scid` is no GUID.
    CorrelationId,
    /// The token is for one user, and the request carries no bearer token of theirs.
    DelegatedUser,
    /// A bearer token that is not accepted, in a version that knows no challenge.
    BearerInvalid,
    /// No credential at all, in a version that knows no challenge.
    NoCredential,
    /// The operation takes a bearer token and nothing else.
    BearerOnly,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MacMismatch { presented, string_to_sign } => write!(
                f,
                "The MAC signature found in the HTTP request '{presented}' is not the same as any \
                 computed signature. Server used following string to sign: '{string_to_sign}'."
            ),
            Self::AccountMismatch => f.write_str(
                "The account in the Authorization header is not the account of the URL.",
            ),
            Self::DateMissing => f.write_str("Request date header not specified"),
            Self::DateIncorrect => f.write_str("The Date header in the request is incorrect."),
            Self::QueryAmbiguous => {
                f.write_str("A query parameter has a character that cannot be signed.")
            }
            Self::DateTooOld { sent } => write!(f, "Request date header too old: '{sent}'"),
            Self::SasMismatch { string_to_sign } => {
                write!(f, "Signature did not match. String to sign used was {string_to_sign}")
            }
            Self::OutsideWindow { start, expiry, now } => write!(
                f,
                "Signature not valid in the specified time frame: \
                 Start [{}] - Expiry [{}] - Current [{}]",
                start.rfc1123(),
                expiry.rfc1123(),
                now.rfc1123()
            ),
            Self::ExpiryBeforeStart { expiry, start } => write!(
                f,
                "Signed expiry time [{}] must be after signed start time [{}]",
                expiry.rfc1123(),
                start.rfc1123()
            ),
            Self::ResourceLevel => f.write_str(
                "The specified signed resource is not allowed for the this resource level",
            ),
            Self::FieldMissing { name } => write!(f, "{name} is mandatory. Cannot be empty"),
            Self::FieldMalformed { name } => {
                write!(f, "Signature fields not well formed. {name} is not valid.")
            }
            Self::FieldRepeated { name } => {
                write!(f, "Signature fields not well formed. {name} is given more than once.")
            }
            Self::PolicyUnknown => {
                f.write_str("SAS identifier cannot be found for specified signed identifier")
            }
            Self::PolicyOverlap => f.write_str(
                "Access policy fields can be associated with signature or SAS identifier but not \
                 both",
            ),
            Self::NoCredential => f.write_str("The request carries no credential."),
            Self::BearerOnly => f.write_str("Only authentication scheme Bearer is supported"),
            Self::KeyOutsideWindow { start, expiry, now } => write!(
                f,
                "Signed key not valid in the specified time frame: \
                 Start [{}] - Expiry [{}] - Current [{}]",
                start.rfc1123(),
                expiry.rfc1123(),
                now.rfc1123()
            ),
            Self::CorrelationId => f.write_str("Invalid correlation id format."),
            Self::DelegatedUser => f.write_str(
                "The request must carry a bearer token of the user in sduoid, of the tenant in \
                 skdutid.",
            ),
            Self::BearerInvalid => f.write_str("The access token is not valid."),
        }
    }
}

impl From<Failure> for AuthError {
    fn from(detail: Failure) -> Self {
        Self::AuthenticationFailed { detail }
    }
}

impl AuthError {
    /// The AuthenticationErrorDetail to show, where Azure shows one.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::AuthenticationFailed { detail } => Some(detail.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_read_as_azures() {
        let time = |text| Timestamp::parse_iso(text).expect("a time");
        let (start, expiry, now) = (time("2026-01-01"), time("2026-01-02"), time("2026-01-03"));
        for (failure, want) in [
            (
                Failure::MacMismatch {
                    presented: Presented("AAAA".to_owned()),
                    string_to_sign: "GET\n/a".to_owned(),
                },
                "The MAC signature found in the HTTP request 'AAAA' is not the same as any computed \
                 signature. Server used following string to sign: 'GET\n/a'.",
            ),
            (
                Failure::SasMismatch { string_to_sign: "r\n".to_owned() },
                "Signature did not match. String to sign used was r\n",
            ),
            (
                Failure::DateTooOld { sent: "Thu, 01 Jan 2026 00:00:00 GMT".to_owned() },
                "Request date header too old: 'Thu, 01 Jan 2026 00:00:00 GMT'",
            ),
            (
                Failure::OutsideWindow { start, expiry, now },
                "Signature not valid in the specified time frame: Start [Thu, 01 Jan 2026 00:00:00 \
                 GMT] - Expiry [Fri, 02 Jan 2026 00:00:00 GMT] - Current [Sat, 03 Jan 2026 \
                 00:00:00 GMT]",
            ),
            (
                Failure::ExpiryBeforeStart { expiry, start: now },
                "Signed expiry time [Fri, 02 Jan 2026 00:00:00 GMT] must be after signed start time \
                 [Sat, 03 Jan 2026 00:00:00 GMT]",
            ),
            (
                Failure::ResourceLevel,
                "The specified signed resource is not allowed for the this resource level",
            ),
            (Failure::FieldMissing { name: "se" }, "se is mandatory. Cannot be empty"),
        ] {
            assert_eq!(failure.to_string(), want);
            assert_eq!(AuthError::from(failure).detail().as_deref(), Some(want));
        }
        assert_eq!(AuthError::AuthorizationFailure.detail(), None);
    }

    #[test]
    fn signatures_are_shown_to_their_sender_only() {
        let presented = Presented("c2lnbmF0dXJl".to_owned());
        assert_eq!(presented.to_string(), "c2lnbmF0dXJl");
        assert_eq!(format!("{presented:?}"), "Presented(..)");
    }
}
