//! The one place between parsing and dispatch: who asks, and whether they may.
//!
//! Must never let an operation reach core in any other way: only `permit` makes `Authorized`.

use crate::failure;
use crate::operation::Kind;
use crate::target::Target;
use zaffre_auth::{
    Accounts, Authorized, Claim, ContainerAccess, Guarded, RequestFacts, Service, authenticate,
    authorize, may,
};
use zaffre_base::Timestamp;
use zaffre_core::Core;
use zaffre_core::table::op::TablePath;
use zaffre_core::table::table_access;
use zaffre_http::{ApiError, Asked};

/// Somebody whose credential was verified, with all that deciding about them needs.
pub(crate) struct Caller<'a> {
    claim: Claim,
    acl: Option<ContainerAccess>,
    facts: RequestFacts<'a>,
    now: Timestamp,
}

impl<'a> Caller<'a> {
    /// Verifies the credential of a request, and reads the table's ACL if it counts.
    pub(crate) async fn identify(
        asked: &'a Asked<'a>,
        target: &'a Target,
        headers: &'a [(&'a str, &'a str)],
        accounts: &Accounts,
        core: &Core,
    ) -> Result<Self, ApiError> {
        let facts = asked.facts(Service::Table, target.scope(&asked.to.account), headers);
        let clock = &core.store().clock;
        let now = clock.now();
        let claim = authenticate(&facts, accounts, now, clock.wall())?;
        let mut caller = Self { claim, acl: None, facts, now };
        if let Some(at) = target.table() {
            caller.look_up(at, core).await?;
        }
        Ok(caller)
    }

    /// Reads the ACL of a table, if the credential depends on one.
    pub(crate) async fn look_up(&mut self, at: &TablePath, core: &Core) -> Result<(), ApiError> {
        if self.claim.needs_container_access() {
            let found = table_access(core, at).await;
            self.acl = found.map_err(|error| failure::api_error(&error))?;
        }
        Ok(())
    }

    /// The kind of credential, for the log.
    pub(crate) fn scheme(&self) -> &'static str {
        self.claim.scheme()
    }

    /// Refuses what the caller may not do, before its syntax is looked at and its body read.
    pub(crate) fn check(
        &self,
        kind: Kind,
        asked: &Asked<'_>,
        target: &Target,
    ) -> Result<(), ApiError> {
        let Some(action) = kind.action() else { return Ok(()) };
        let scope = target.scope(&asked.to.account);
        Ok(may(&self.claim, action, scope, self.acl.as_ref(), &self.facts, self.now)?)
    }

    /// Lets the operation through to core.
    pub(crate) fn permit<Op: Guarded>(&self, op: Op) -> Result<Authorized<Op>, ApiError> {
        Ok(authorize(&self.claim, op, self.acl.as_ref(), &self.facts, self.now)?.0)
    }
}
