//! User delegation keys: handed to somebody with a token, to sign SAS tokens with.
//!
//! A key is derived from the account's key and everything that is said about it, so nothing is
//! stored, and it ends when the account's key is replaced. Must never give out a key for somebody
//! else than who asks.

use crate::accounts::{Account, Accounts};
use crate::action::{Action, Guarded, Scope};
use crate::authorized::Authorized;
use crate::claim::{Claim, Kind};
use crate::mac;
use crate::service::Service;
use zaffre_base::{AccountName, ApiVersion, Secret, Timestamp, base64};

/// What the account's key signs to make the key that makes delegation keys. No string-to-sign has
/// such characters, so no signature is ever such a key.
const PURPOSE: &str = "\0user delegation\0";

/// Get User Delegation Key.
#[derive(Clone, Debug)]
pub struct GetUserDelegationKey {
    /// The account.
    pub account: AccountName,
    /// The service it is asked of; the key is good for no other.
    pub service: Service,
    /// Good from here.
    pub start: Timestamp,
    /// Good until here.
    pub expiry: Timestamp,
    /// The version of the request.
    pub version: ApiVersion,
    /// The tenant of the user that tokens signed with it will be limited to.
    pub delegated_tenant: Option<String>,
}

impl Guarded for GetUserDelegationKey {
    fn action(&self) -> Action {
        Action::GetUserDelegationKey
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}

/// A key and all that a token signed with it has to repeat.
#[derive(Clone, Debug)]
pub struct UserDelegationKey {
    /// `skoid`
    pub object: String,
    /// `sktid`
    pub tenant: String,
    /// `skt`
    pub start: String,
    /// `ske`
    pub expiry: String,
    /// `sks`
    pub service: char,
    /// `skv`
    pub version: String,
    /// `skdutid`
    pub delegated_tenant: Option<String>,
    /// The key itself, in Base64.
    pub value: Secret<String>,
}

/// Makes the key that was asked for by who `claim` says; `None` if that is no bearer of a token.
pub fn issue(
    op: Authorized<GetUserDelegationKey>,
    claim: &Claim,
    accounts: &Accounts,
) -> Option<UserDelegationKey> {
    let (op, _) = op.into_parts();
    let Kind::Bearer(identity) = &claim.kind else { return None };
    let account = accounts.get(&op.account)?;
    let named = Named {
        object: &identity.object,
        tenant: &identity.tenant,
        start: &seconds(op.start),
        expiry: &seconds(op.expiry),
        service: &op.service.letter().to_string(),
        version: &op.version.to_string(),
        delegated_tenant: op.delegated_tenant.as_deref().unwrap_or_default(),
    };
    let value = named.keys(account).next()?;
    Some(UserDelegationKey {
        object: named.object.to_owned(),
        tenant: named.tenant.to_owned(),
        start: named.start.to_owned(),
        expiry: named.expiry.to_owned(),
        service: op.service.letter(),
        version: named.version.to_owned(),
        delegated_tenant: op.delegated_tenant.clone(),
        value: Secret::new(base64::encode(value.expose())),
    })
}

/// A time as a token repeats it.
fn seconds(time: Timestamp) -> String {
    let text = time.iso7().to_string();
    let whole = text.split('.').next().unwrap_or_default();
    format!("{whole}Z")
}

/// Everything that is said about a key, as it is written in a token.
pub(crate) struct Named<'a> {
    pub(crate) object: &'a str,
    pub(crate) tenant: &'a str,
    pub(crate) start: &'a str,
    pub(crate) expiry: &'a str,
    pub(crate) service: &'a str,
    pub(crate) version: &'a str,
    pub(crate) delegated_tenant: &'a str,
}

impl Named<'_> {
    /// The key that each key of the account makes of it.
    pub(crate) fn keys(&self, account: &Account) -> impl Iterator<Item = Secret<Vec<u8>>> {
        let text = [
            account.name().as_str(),
            self.object,
            self.tenant,
            self.start,
            self.expiry,
            self.service,
            self.version,
            self.delegated_tenant,
        ]
        .join("\n");
        account.keys().map(move |key| mac::derive(&mac::derive(key, PURPOSE), &text))
    }
}
