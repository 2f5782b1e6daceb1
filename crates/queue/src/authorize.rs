//! The one place between parsing and dispatch: who asks, and whether they may.
//!
//! Must never let an operation reach core in any other way: only `permit` makes `Authorized`.

use crate::failure;
use crate::operation::Kind;
use crate::target::Target;
use zaffre_auth::{
    Accounts, Authorized, Claim, ContainerAccess, GetUserDelegationKey, Guarded, RequestFacts,
    Scope, Service, UserDelegationKey, authenticate, authorize, delegation, may,
};
use zaffre_base::Timestamp;
use zaffre_core::Core;
use zaffre_core::queue::queue_access;
use zaffre_http::{ApiError, Asked};

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
    /// Verifies the credential of a request, and reads the queue's ACL if it counts.
    pub(crate) async fn identify(
        asked: &'a Asked<'a>,
        target: &'a Target,
        headers: &'a [(&'a str, &'a str)],
        accounts: &'a Accounts,
        core: &Core,
    ) -> Result<Self, ApiError> {
        let scope = target.scope(&asked.to.account);
        let facts = asked.facts(Service::Queue, scope, headers);
        let clock = &core.store().clock;
        let now = clock.now();
        let claim = authenticate(&facts, accounts, now, clock.wall())?;
        let acl = match target.queue(&asked.to.account) {
            Ok(at) if claim.needs_container_access() => {
                queue_access(core, &at).await.map_err(|e| failure::api_error(&e))?
            }
            _ => None,
        };
        Ok(Self { claim, acl, facts, scope, accounts, now })
    }

    /// The kind of credential, for the log.
    pub(crate) fn scheme(&self) -> &'static str {
        self.claim.scheme()
    }

    /// Refuses what the caller may not do, before its syntax is looked at and its body read.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), ApiError> {
        let (claim, acl) = (&self.claim, self.acl.as_ref());
        Ok(may(claim, kind.action(), self.scope, acl, &self.facts, self.now)?)
    }

    /// The user delegation key that the caller asks for; there is one for bearers of tokens only,
    /// and the permission table lets nobody else in.
    pub(crate) fn issue(&self, op: GetUserDelegationKey) -> Result<UserDelegationKey, ApiError> {
        let op = self.permit(op)?;
        delegation::issue(op, &self.claim, self.accounts).ok_or_else(ApiError::internal_error)
    }

    /// Lets the operation through to core.
    pub(crate) fn permit<Op: Guarded>(&self, op: Op) -> Result<Authorized<Op>, ApiError> {
        Ok(authorize(&self.claim, op, self.acl.as_ref(), &self.facts, self.now)?.0)
    }
}
