//! Customer-provided keys and encryption scopes: the headers that name them.
//!
//! Must never take a key over a connection that others can read, and never repeat one in an error.

use crate::fields::Fields;
use zaffre_base::base64;
use zaffre_core::blob::op::{CustomerKey, Encryption};
use zaffre_core::settings::is_encryption_scope;
use zaffre_domain::blob::encryption::{ACCOUNT_SCOPE, ScopePolicy};
use zaffre_http::ApiError;

const KEY: &str = "x-ms-encryption-key";
const DIGEST: &str = "x-ms-encryption-key-sha256";
const ALGORITHM: &str = "x-ms-encryption-algorithm";
const SCOPE: &str = "x-ms-encryption-scope";
const DEFAULT_SCOPE: &str = "x-ms-default-encryption-scope";
const DENY_OVERRIDE: &str = "x-ms-deny-encryption-scope-override";

/// What a write asks its content to be encrypted with.
pub(super) fn of_write(fields: &Fields<'_>) -> Result<Encryption, ApiError> {
    let key = key(fields)?;
    match (scope(fields, SCOPE)?, key) {
        (None, None) => Ok(Encryption::Account),
        (None, Some(key)) => Ok(Encryption::Customer(key)),
        (Some(scope), None) => Ok(Encryption::Scope(scope.to_owned())),
        (Some(scope), Some(_)) => Err(ApiError::invalid_header_value(SCOPE, scope)),
    }
}

/// The scope of a copy, which takes no customer's key.
pub(super) fn of_copy(fields: &Fields<'_>) -> Result<Encryption, ApiError> {
    match of_write(fields)? {
        Encryption::Customer(_) => Err(ApiError::invalid_header_value(KEY, "")),
        other => Ok(other),
    }
}

/// What a read says that the content is encrypted with; scopes need not be known to be read.
pub(super) fn of_read(fields: &Fields<'_>) -> Result<Encryption, ApiError> {
    Ok(key(fields)?.map_or(Encryption::Account, Encryption::Customer))
}

fn key(fields: &Fields<'_>) -> Result<Option<CustomerKey>, ApiError> {
    let sent = [fields.header(KEY)?, fields.header(DIGEST)?, fields.header(ALGORITHM)?];
    if sent.iter().all(Option::is_none) {
        return Ok(None);
    }
    let (text, digest, algorithm) =
        (fields.required(KEY)?, fields.required(DIGEST)?, fields.required(ALGORITHM)?);
    let malformed = || ApiError::invalid_header_value(KEY, "");
    if !fields.is_confidential() {
        return Err(malformed()
            .saying("Customer-provided encryption keys are taken over HTTPS only.".to_owned()));
    }
    if !algorithm.eq_ignore_ascii_case("AES256") {
        return Err(ApiError::invalid_header_value(ALGORITHM, algorithm));
    }
    let bytes = base64::decode(text).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let key = CustomerKey::new(bytes.ok_or_else(malformed)?);
    if base64::decode(digest).as_deref() != Some(key.digest().as_slice()) {
        return Err(ApiError::invalid_header_value(DIGEST, digest));
    }
    Ok(Some(key))
}

fn scope<'a>(fields: &Fields<'a>, name: &str) -> Result<Option<&'a str>, ApiError> {
    match fields.header(name)? {
        Some(text) if text != ACCOUNT_SCOPE && !is_encryption_scope(text) => {
            Err(ApiError::invalid_header_value(name, text))
        }
        scope => Ok(scope),
    }
}

/// What a new container says about the scopes of its blobs.
pub(super) fn of_container(fields: &Fields<'_>) -> Result<ScopePolicy, ApiError> {
    let default = scope(fields, DEFAULT_SCOPE)?;
    let deny_override = fields.flag(DENY_OVERRIDE)?;
    if deny_override && default.is_none() {
        return Err(ApiError::missing_required_header(DEFAULT_SCOPE));
    }
    let default = default.filter(|scope| *scope != ACCOUNT_SCOPE).map(str::to_owned);
    Ok(ScopePolicy { default, deny_override })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::{Ask, Headers};
    use zaffre_domain::blob::encryption::Encrypted;

    const TEXT: &str = "MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=";
    const SHA: &str = "3QFFFpRA5+XANHqwwbT4yXDmrT/2JaLt/FKHjzhOdoE=";

    fn written(headers: Headers<'_>) -> Result<Encrypted, &'static str> {
        let ask = Ask::put("/c/b").with(headers);
        of_write(&ask.fields()).map(|found| found.shown()).map_err(|error| error.code)
    }

    #[test]
    fn headers_of_writes() {
        let digest = CustomerKey::new(*b"01234567012345670123456701234567").digest();
        assert_eq!(base64::encode(&digest), SHA);
        let (invalid, missing) = (Err("InvalidHeaderValue"), Err("MissingRequiredHeader"));
        let rows: [(Headers<'_>, _); 10] = [
            (&[], Ok(Encrypted::ByAccount)),
            (
                &[(KEY, TEXT), (DIGEST, SHA), (ALGORITHM, "AES256")],
                Ok(Encrypted::ByCustomer(digest)),
            ),
            (&[(KEY, TEXT), (DIGEST, SHA)], missing.clone()),
            (&[(DIGEST, SHA), (ALGORITHM, "AES256")], missing),
            (&[(KEY, TEXT), (DIGEST, SHA), (ALGORITHM, "ROT13")], invalid.clone()),
            (&[(KEY, "c2hvcnQ="), (DIGEST, SHA), (ALGORITHM, "AES256")], invalid.clone()),
            (&[(KEY, TEXT), (DIGEST, TEXT), (ALGORITHM, "AES256")], invalid.clone()),
            (&[(SCOPE, "red")], Ok(Encrypted::ByScope("red".to_owned()))),
            (&[(SCOPE, "r!")], invalid.clone()),
            (&[(SCOPE, "red"), (KEY, TEXT), (DIGEST, SHA), (ALGORITHM, "AES256")], invalid),
        ];
        for (headers, want) in rows {
            assert_eq!(written(headers), want, "{headers:?}");
        }
    }

    #[test]
    fn headers_of_containers() {
        let policy = |default: Option<&str>, deny_override| {
            Ok(ScopePolicy { default: default.map(str::to_owned), deny_override })
        };
        let rows: [(Headers<'_>, _); 5] = [
            (&[], policy(None, false)),
            (&[(DEFAULT_SCOPE, "red")], policy(Some("red"), false)),
            (&[(DEFAULT_SCOPE, "red"), (DENY_OVERRIDE, "true")], policy(Some("red"), true)),
            (&[(DEFAULT_SCOPE, ACCOUNT_SCOPE), (DENY_OVERRIDE, "true")], policy(None, true)),
            (&[(DENY_OVERRIDE, "true")], Err("MissingRequiredHeader")),
        ];
        for (headers, want) in rows {
            let ask = Ask::put("/c").with(headers);
            assert_eq!(of_container(&ask.fields()).map_err(|e| e.code), want, "{headers:?}");
        }
    }
}
