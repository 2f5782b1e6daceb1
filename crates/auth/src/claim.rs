//! Authentication: who asks, proven by signature, or nobody in particular.
//!
//! Must never fall back: a request with a bad credential is refused, not treated as anonymous.

use crate::accounts::{Account, Accounts};
use crate::bearer::{self, Identity};
use crate::error::{AuthError, Hidden};
use crate::request::RequestFacts;
use crate::sas::account::AccountSas;
use crate::sas::field::{Field, Token, malformed};
use crate::sas::service::ServiceSas;
use crate::service::Service;
use crate::shared_key;
use std::sync::Arc;
use zaffre_base::{AccountName, Timestamp};

/// A verified credential, or its absence. Only [`authenticate`] makes one.
#[derive(Clone, Debug)]
pub struct Claim {
    pub(crate) account: AccountName,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Signed with the account's key: may do everything.
    SharedKey,
    /// Who a bearer token names.
    Bearer(Identity),
    AccountSas(AccountSas),
    ServiceSas(Box<ServiceSas>),
    Anonymous {
        /// The service has public containers and the account lets them be so.
        allowed: bool,
    },
}

impl Claim {
    /// Whoever reads the account's static website: nobody in particular, and welcome even where
    /// containers may not be public.
    pub fn of_website(account: &Account) -> Self {
        Self { account: account.name().clone(), kind: Kind::Anonymous { allowed: true } }
    }

    /// Whether `authorize` needs the ACL of the container, queue or table: for a stored policy, or for public access.
    pub fn needs_container_access(&self) -> bool {
        match &self.kind {
            Kind::SharedKey | Kind::Bearer(_) | Kind::AccountSas(_) => false,
            Kind::ServiceSas(sas) => sas.policy.is_some(),
            Kind::Anonymous { allowed } => *allowed,
        }
    }

    /// The container, queue, table (in lower case) or share that a service SAS is for, whose ACL
    /// has its policy; the URL of a batch does not name it.
    pub fn signed_container(&self) -> Option<&str> {
        match &self.kind {
            Kind::ServiceSas(sas) => Some(sas.container()),
            Kind::SharedKey | Kind::Bearer(_) | Kind::AccountSas(_) | Kind::Anonymous { .. } => {
                None
            }
        }
    }

    /// Whether it lets its holder do everything in the account.
    pub fn owns_account(&self) -> bool {
        match self.kind {
            Kind::SharedKey | Kind::Bearer(_) => true,
            Kind::AccountSas(_) | Kind::ServiceSas(_) | Kind::Anonymous { .. } => false,
        }
    }

    /// Whether the request carried no credential.
    pub fn is_anonymous(&self) -> bool {
        matches!(self.kind, Kind::Anonymous { .. })
    }

    /// The kind of credential, for logs.
    pub fn scheme(&self) -> &'static str {
        match &self.kind {
            Kind::SharedKey => "SharedKey",
            Kind::Bearer(_) => "Bearer",
            Kind::AccountSas(_) => "AccountSAS",
            Kind::ServiceSas(sas) if sas.is_delegated() => "UserDelegationSAS",
            Kind::ServiceSas(_) => "ServiceSAS",
            Kind::Anonymous { .. } => "Anonymous",
        }
    }
}

/// Verifies the request's credential. `now` is the service's clock, for the time frame of a SAS;
/// `wall` is real time, for the date of a Shared Key request.
///
/// An Authorization header is the credential whatever the query holds, but for a SAS that is good
/// only together with somebody's bearer token; without the header, any trace of a SAS is.
pub fn authenticate(
    facts: &RequestFacts<'_>,
    accounts: &Accounts,
    now: Timestamp,
    wall: Timestamp,
) -> Result<Claim, AuthError> {
    let unknown = AuthError::ResourceNotFound(Hidden::UnknownAccount);
    let account = accounts.get(facts.account).ok_or(unknown)?;
    let kind = if let Some(authorization) = facts.header("authorization")? {
        if let Some(text) = bearer::presented(authorization) {
            let trust = accounts.trust().map(Arc::as_ref);
            let bearer = bearer::verify(text, facts, trust, wall)?;
            verify_bearer(bearer, facts, account, now)?
        } else {
            shared_key::verify(authorization, facts, account, wall)?;
            Kind::SharedKey
        }
    } else if let Some(token) = Token::find(facts.query)? {
        verify_token(&token, facts, account, None, now)?
    } else {
        let allowed = facts.service == Service::Blob && account.allows_public_access();
        Kind::Anonymous { allowed }
    };
    Ok(Claim { account: account.name().clone(), kind })
}

/// A SAS for one user narrows what their token lets them do.
fn verify_bearer(
    bearer: Identity,
    facts: &RequestFacts<'_>,
    account: &Account,
    now: Timestamp,
) -> Result<Kind, AuthError> {
    match Token::find(facts.query)? {
        Some(token) if token.get(Field::Sduoid).is_some() => {
            verify_token(&token, facts, account, Some(&bearer), now)
        }
        _ => Ok(Kind::Bearer(bearer)),
    }
}

fn verify_token(
    token: &Token,
    facts: &RequestFacts<'_>,
    account: &Account,
    bearer: Option<&Identity>,
    now: Timestamp,
) -> Result<Kind, AuthError> {
    let delegated = token.get(Field::Skoid).is_some();
    if !delegated && !account.allows_key_access() {
        return Err(AuthError::KeyBasedAuthenticationNotPermitted);
    }
    let for_account = token.get(Field::Ss).is_some() || token.get(Field::Srt).is_some();
    match (for_account, token.get(Field::Sr).is_some()) {
        (true, true) => Err(malformed(Field::Sr)),
        (true, false) if delegated => Err(malformed(Field::Skoid)),
        (true, false) => AccountSas::verify(token, facts, account, now).map(Kind::AccountSas),
        (false, _) => ServiceSas::verify(token, facts, account, bearer, now)
            .map(|sas| Kind::ServiceSas(Box::new(sas))),
    }
}
