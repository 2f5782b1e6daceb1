//! What a blob is encrypted with, and which requests may touch it.
//!
//! Must never see a key: only its digest is compared, and only its digest is stored.

use super::KeptRefusal;
use crate::Refusal;
use alloc::string::String;

/// SHA-256 of a customer's key.
pub type KeyDigest = [u8; 32];

/// What content is encrypted with, beside what the server does for all of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Encrypted {
    /// Nothing else.
    #[default]
    ByAccount,
    /// A key that the customer brings along every time.
    ByCustomer(KeyDigest),
    /// A named scope.
    ByScope(String),
}

impl Encrypted {
    /// Whether a request that presents `presented` may read or change a blob that is encrypted so.
    /// A scope needs not be named, but must not be another one.
    pub fn admits(&self, presented: &Self) -> Result<(), Refusal> {
        match (self, presented) {
            (Self::ByCustomer(kept), Self::ByCustomer(shown)) if kept == shown => Ok(()),
            (Self::ByScope(kept), Self::ByScope(shown)) if kept == shown => Ok(()),
            (Self::ByCustomer(_), Self::ByCustomer(_)) | (_, Self::ByScope(_)) => {
                Err(KeptRefusal::BlobCustomerSpecifiedEncryptionMismatch.into())
            }
            (Self::ByCustomer(_), Self::ByAccount) => {
                Err(KeptRefusal::BlobUsesCustomerSpecifiedEncryption.into())
            }
            (_, Self::ByCustomer(_)) => {
                Err(KeptRefusal::BlobDoesNotUseCustomerSpecifiedEncryption.into())
            }
            (_, Self::ByAccount) => Ok(()),
        }
    }

    /// Whether blocks that are encrypted so may become a part of a blob that will be encrypted with
    /// `blob`: all of it is, or none.
    pub fn joins(&self, blob: &Self) -> Result<(), Refusal> {
        self.admits(blob)?;
        if self == blob {
            Ok(())
        } else {
            Err(KeptRefusal::BlobCustomerSpecifiedEncryptionMismatch.into())
        }
    }
}

/// What a container has to say about the scopes of its blobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScopePolicy {
    /// The scope of blobs that name none; `None` = the account's own encryption.
    pub default: Option<String>,
    /// No blob may name another.
    pub deny_override: bool,
}

/// How a request names the account's own encryption where a scope is expected.
pub const ACCOUNT_SCOPE: &str = "$account-encryption-key";

impl ScopePolicy {
    /// What a new blob is encrypted with, of the scopes that the account has.
    pub fn choose(&self, asked: &Encrypted, known: &[String]) -> Result<Encrypted, Refusal> {
        let usual = match &self.default {
            Some(scope) => Encrypted::ByScope(scope.clone()),
            None => Encrypted::ByAccount,
        };
        let chosen = match asked {
            Encrypted::ByAccount => usual.clone(),
            Encrypted::ByScope(name) if name == ACCOUNT_SCOPE => Encrypted::ByAccount,
            other => other.clone(),
        };
        if self.deny_override && chosen != usual {
            return Err(KeptRefusal::RequestForbiddenByContainerEncryptionPolicy.into());
        }
        check_scope(&chosen, known)?;
        Ok(chosen)
    }
}

/// Refuses a scope that the account does not have.
pub fn check_scope(chosen: &Encrypted, known: &[String]) -> Result<(), Refusal> {
    match chosen {
        Encrypted::ByScope(name) if !known.contains(name) => {
            Err(KeptRefusal::EncryptionScopeNotAvailable.into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;
    use alloc::vec;

    fn key(n: u8) -> Encrypted {
        Encrypted::ByCustomer([n; 32])
    }

    fn scope(name: &str) -> Encrypted {
        Encrypted::ByScope(name.to_owned())
    }

    #[test]
    fn what_a_request_must_present() {
        let account = Encrypted::ByAccount;
        let uses = Err(KeptRefusal::BlobUsesCustomerSpecifiedEncryption.into());
        let mismatch: Result<(), Refusal> =
            Err(KeptRefusal::BlobCustomerSpecifiedEncryptionMismatch.into());
        let plain: Result<(), Refusal> =
            Err(KeptRefusal::BlobDoesNotUseCustomerSpecifiedEncryption.into());
        for (kept, shown, admitted, joined) in [
            (account.clone(), account.clone(), Ok(()), Ok(())),
            (account.clone(), key(1), plain.clone(), plain.clone()),
            (account.clone(), scope("red"), mismatch.clone(), mismatch.clone()),
            (key(1), key(1), Ok(()), Ok(())),
            (key(1), key(2), mismatch.clone(), mismatch.clone()),
            (key(1), account.clone(), uses.clone(), uses),
            (key(1), scope("red"), mismatch.clone(), mismatch.clone()),
            (scope("red"), scope("red"), Ok(()), Ok(())),
            (scope("red"), scope("blue"), mismatch.clone(), mismatch.clone()),
            (scope("red"), account, Ok(()), mismatch),
            (scope("red"), key(1), plain.clone(), plain),
        ] {
            assert_eq!(kept.admits(&shown), admitted, "{kept:?} {shown:?}");
            assert_eq!(kept.joins(&shown), joined, "{kept:?} {shown:?}");
        }
    }

    #[test]
    fn what_a_container_allows() {
        let known = vec!["red".to_owned(), "blue".to_owned()];
        let policy = |default: Option<&str>, deny_override| ScopePolicy {
            default: default.map(str::to_owned),
            deny_override,
        };
        let forbidden: Result<Encrypted, Refusal> =
            Err(KeptRefusal::RequestForbiddenByContainerEncryptionPolicy.into());
        let unknown = Err(KeptRefusal::EncryptionScopeNotAvailable.into());
        let account = Encrypted::ByAccount;
        for (policy, asked, want) in [
            (policy(None, false), account.clone(), Ok(account.clone())),
            (policy(None, false), scope("red"), Ok(scope("red"))),
            (policy(None, false), scope("green"), unknown),
            (policy(None, false), key(1), Ok(key(1))),
            (policy(Some("red"), false), account.clone(), Ok(scope("red"))),
            (policy(Some("red"), false), scope("blue"), Ok(scope("blue"))),
            (policy(Some("red"), false), scope(ACCOUNT_SCOPE), Ok(account.clone())),
            (policy(Some("red"), true), account, Ok(scope("red"))),
            (policy(Some("red"), true), scope("red"), Ok(scope("red"))),
            (policy(Some("red"), true), scope("blue"), forbidden.clone()),
            (policy(Some("red"), true), key(1), forbidden.clone()),
            (policy(Some("red"), true), scope(ACCOUNT_SCOPE), forbidden),
        ] {
            assert_eq!(policy.choose(&asked, &known), want, "{policy:?} {asked:?}");
        }
    }
}
