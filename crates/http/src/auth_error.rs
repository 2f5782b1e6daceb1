//! The one table from what authentication and authorization refuse to what the client is told.
//!
//! Must never say more than Azure does: what `ResourceNotFound` hides stays hidden.

use crate::codes;
use crate::error::ApiError;
use zaffre_auth::AuthError;

/// Where Azure's 401 sends clients for a token; no tenant is known here, so the common one.
const CHALLENGE: &str = "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/\
                         authorize resource_id=https://storage.azure.com";
/// What a 401 says whatever its code.
const SEE_CHALLENGE: &str = codes::NO_AUTHENTICATION_INFORMATION.message;

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::AuthenticationFailed { detail } => {
                front(codes::AUTHENTICATION_FAILED.into())
                    .detail("AuthenticationErrorDetail", detail.to_string())
            }
            AuthError::AuthorizationSourceIpMismatch { ip } => {
                let message = codes::AUTHORIZATION_SOURCE_IP_MISMATCH.message;
                Self::from(codes::AUTHORIZATION_SOURCE_IP_MISMATCH)
                    .saying(message.replace("{SourceIP}", &ip.to_string()))
                    .detail("SourceIP", ip.to_string())
            }
            AuthError::AuthorizationProtocolMismatch => {
                codes::AUTHORIZATION_PROTOCOL_MISMATCH.into()
            }
            AuthError::AuthorizationServiceMismatch => codes::AUTHORIZATION_SERVICE_MISMATCH.into(),
            AuthError::AuthorizationResourceTypeMismatch => {
                codes::AUTHORIZATION_RESOURCE_TYPE_MISMATCH.into()
            }
            AuthError::AuthorizationPermissionMismatch => {
                codes::AUTHORIZATION_PERMISSION_MISMATCH.into()
            }
            AuthError::AuthorizationFailure => codes::AUTHORIZATION_FAILURE.into(),
            AuthError::WriteOnSecondary => Self::from(codes::INSUFFICIENT_ACCOUNT_PERMISSIONS)
                .saying("Write operations are not allowed."),
            AuthError::KeyBasedAuthenticationNotPermitted => {
                front(codes::KEY_BASED_AUTHENTICATION_NOT_PERMITTED.into())
            }
            AuthError::InvalidAuthenticationInfo => {
                front(codes::INVALID_AUTHENTICATION_INFO.into())
            }
            AuthError::BearerRejected => challenge(ApiError {
                status: hyper::StatusCode::UNAUTHORIZED,
                ..Self::from(codes::INVALID_AUTHENTICATION_INFO).saying(SEE_CHALLENGE)
            }),
            AuthError::NoAuthenticationInformation => {
                challenge(codes::NO_AUTHENTICATION_INFORMATION.into())
            }
            AuthError::ResourceNotFound(_) => codes::RESOURCE_NOT_FOUND.into(),
            AuthError::PublicAccessNotPermitted => codes::PUBLIC_ACCESS_NOT_PERMITTED.into(),
            AuthError::DuplicateHeader { name } => Self::invalid_header_value(&name, ""),
        }
    }
}

/// Refused before the service was reached.
fn front(error: ApiError) -> ApiError {
    ApiError { authentication: true, ..error }
}

fn challenge(error: ApiError) -> ApiError {
    front(error).header("www-authenticate", CHALLENGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_auth::{Failure, Hidden};

    #[test]
    fn rows() {
        let ip = [10, 0, 0, 1].into();
        for (error, status, code, details) in [
            (Failure::AccountMismatch.into(), 403, "AuthenticationFailed", 1),
            (
                AuthError::AuthorizationSourceIpMismatch { ip },
                403,
                "AuthorizationSourceIPMismatch",
                1,
            ),
            (AuthError::AuthorizationPermissionMismatch, 403, "AuthorizationPermissionMismatch", 0),
            (AuthError::InvalidAuthenticationInfo, 400, "InvalidAuthenticationInfo", 0),
            (AuthError::BearerRejected, 401, "InvalidAuthenticationInfo", 0),
            (AuthError::NoAuthenticationInformation, 401, "NoAuthenticationInformation", 0),
            (AuthError::ResourceNotFound(Hidden::Anonymous), 404, "ResourceNotFound", 0),
            (AuthError::PublicAccessNotPermitted, 409, "PublicAccessNotPermitted", 0),
        ] {
            let shown = ApiError::from(error);
            assert_eq!((shown.status.as_u16(), shown.code), (status, code));
            assert_eq!(shown.details.len(), details, "{code}");
            assert_eq!(shown.status.as_u16() == 401, !shown.headers.is_empty(), "{code}");
        }
    }
}
