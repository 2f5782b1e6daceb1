//! The one place between parsing and dispatch: who asks, and whether they may.
//!
//! Must never let an operation reach core in any other way: only `permit` makes `Authorized`.

use crate::failure;
use crate::operation::Kind;
use crate::target::Target;
use zaffre_auth::{
    Accounts, Action, Authorized, Claim, ContainerAccess, GetUserDelegationKey, Guarded,
    RequestFacts, ResponseOverrides, Scope, Service, UserDelegationKey, authenticate, authorize,
    delegation, may,
};
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_core::Core;
use zaffre_core::file::share::share_access;
use zaffre_http::{ApiError, Asked, codes};

/// What a bearer of a token must say it is there for.
const INTENT: &str = "x-ms-file-request-intent";
const BACKUP: &str = "backup";
/// From here on bearer tokens are taken.
const TOKENS_FROM: ApiVersion = ApiVersion::new(2022, 11, 2);

/// Somebody whose credential was verified, with all that deciding about them needs.
pub(crate) struct Caller<'a> {
    claim: Claim,
    acl: Option<ContainerAccess>,
    facts: RequestFacts<'a>,
    scope: Scope<'a>,
    accounts: &'a Accounts,
    now: Timestamp,
}

impl<'a> Caller<'a> {
    /// Verifies the credential of a request about `scope`, and reads the share's ACL if it counts.
    pub(crate) async fn identify(
        asked: &'a Asked<'a>,
        target: &'a Target,
        scope: Scope<'a>,
        headers: &'a [(&'a str, &'a str)],
        (accounts, core): (&'a Accounts, &Core),
    ) -> Result<Self, ApiError> {
        let facts = asked.facts(Service::File, scope, headers);
        let clock = &core.store().clock;
        let now = clock.now();
        let claim = authenticate(&facts, accounts, now, clock.wall())?;
        let acl = match target.share(&asked.to.account) {
            Ok(at) if claim.needs_container_access() => {
                share_access(core, &at).await.map_err(|e| failure::api_error(&e))?
            }
            _ => None,
        };
        Ok(Self { claim, acl, facts, scope, accounts, now })
    }

    /// The kind of credential, for the log.
    pub(crate) fn scheme(&self) -> &'static str {
        self.claim.scheme()
    }

    /// Refuses what the caller may not do, before its syntax is looked at and its body read. Only
    /// the key for others reaches no file, so that its bearer need not say what for.
    pub(crate) fn check(&self, kind: Kind, asked: &Asked<'_>) -> Result<(), ApiError> {
        if kind != Kind::GetUserDelegationKey {
            self.check_intent(asked)?;
        }
        let (claim, acl) = (&self.claim, self.acl.as_ref());
        Ok(may(claim, kind.action(), self.scope, acl, &self.facts, self.now)?)
    }

    /// A token reaches everything in the account, past all permissions of files; whoever uses one
    /// has to say that this is meant.
    pub(crate) fn check_intent(&self, asked: &Asked<'_>) -> Result<(), ApiError> {
        if self.claim.scheme() != "Bearer" {
            return Ok(());
        }
        if asked.version < TOKENS_FROM {
            return Err(codes::AUTHENTICATION_FAILED.into());
        }
        match asked.header(INTENT)? {
            None => Err(ApiError::missing_required_header(INTENT)),
            Some(text) if text.eq_ignore_ascii_case(BACKUP) => Ok(()),
            Some(text) => Err(ApiError::invalid_header_value(INTENT, text)),
        }
    }

    /// Whether the caller may do everything in the account.
    pub(crate) fn owns_account(&self) -> bool {
        self.claim.owns_account()
    }

    /// Refuses an action on something else than the URL names, such as a source.
    pub(crate) fn may(&self, action: Action, scope: Scope<'_>) -> Result<(), ApiError> {
        Ok(may(&self.claim, action, scope, self.acl.as_ref(), &self.facts, self.now)?)
    }

    /// The user delegation key that the caller asks for; there is one for bearers of tokens only,
    /// and the permission table lets nobody else in.
    pub(crate) fn issue(&self, op: GetUserDelegationKey) -> Result<UserDelegationKey, ApiError> {
        let op = self.permit(op)?;
        delegation::issue(op, &self.claim, self.accounts).ok_or_else(ApiError::internal_error)
    }

    /// Lets the operation through to core.
    pub(crate) fn permit<Op: Guarded>(&self, op: Op) -> Result<Authorized<Op>, ApiError> {
        Ok(self.permit_shown(op)?.0)
    }

    /// The same, with what the caller's SAS says the answer's headers must be.
    pub(crate) fn permit_shown<Op: Guarded>(
        &self,
        op: Op,
    ) -> Result<(Authorized<Op>, ResponseOverrides), ApiError> {
        Ok(authorize(&self.claim, op, self.acl.as_ref(), &self.facts, self.now)?)
    }
}
