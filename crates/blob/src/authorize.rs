//! The one place between parsing and dispatch: who asks, and whether they may.
//!
//! Must never let an operation reach core in any other way: only `permit` makes `Authorized`.

use crate::failure;
use crate::operation::Kind;
use crate::parse::{lease, moment};
use crate::request::Asked;
use zaffre_auth::{
    Account, Accounts, Action, Authorized, Claim, ContainerAccess, GetUserDelegationKey, Guarded,
    RequestFacts, ResponseOverrides, Scope, Service, UserDelegationKey, authenticate, authorize,
    delegation, may,
};
use zaffre_base::Timestamp;
use zaffre_core::Core;
use zaffre_core::blob::container_access;
use zaffre_domain::blob::PublicAccess;
use zaffre_http::ApiError;
pub(crate) use zaffre_http::signed_headers;

/// Headers as the signature rules want them.
pub(crate) type SignedHeaders<'a> = Vec<(&'a str, &'a str)>;

/// What no public container grants, for asking whether there is a credential at all.
const NEVER_PUBLIC: Action = Action::SetContainerMetadata;

/// Somebody whose credential was verified, with all that deciding about them needs.
pub(crate) struct Caller<'a> {
    accounts: Option<&'a Accounts>,
    claim: Claim,
    acl: Option<ContainerAccess>,
    facts: RequestFacts<'a>,
    now: Timestamp,
}

impl<'a> Caller<'a> {
    /// Verifies the credential of a request, and reads the container's ACL if it counts.
    pub(crate) async fn identify(
        asked: &'a Asked<'a>,
        headers: &'a SignedHeaders<'a>,
        accounts: &'a Accounts,
        core: &Core,
    ) -> Result<Self, ApiError> {
        let facts = facts(asked, headers);
        let clock = &core.store().clock;
        let now = clock.now();
        let claim = authenticate(&facts, accounts, now, clock.wall())?;
        let needed = claim.needs_container_access();
        let acl = match needed.then(|| asked.target.container(&asked.account)) {
            Some(Ok(at)) => {
                container_access(core, &at).await.map_err(|e| failure::api_error(&e))?
            }
            Some(Err(_)) | None => None,
        };
        Ok(Self { accounts: Some(accounts), claim, acl, facts, now })
    }

    /// Anybody who reads a page of an account's website, which is public whatever else is.
    pub(crate) fn reader_of_website(
        asked: &'a Asked<'a>,
        headers: &'a SignedHeaders<'a>,
        account: &Account,
        core: &Core,
    ) -> Self {
        let acl = ContainerAccess { access: PublicAccess::Blob, ..ContainerAccess::default() };
        let (facts, now) = (facts(asked, headers), core.store().clock.now());
        let claim = Claim::of_website(account);
        Self { accounts: None, claim, acl: Some(acl), facts, now }
    }

    /// The kind of credential, for the log.
    pub(crate) fn scheme(&self) -> &'static str {
        self.claim.scheme()
    }

    /// Whether the caller may do everything in the account.
    pub(crate) fn owns_account(&self) -> bool {
        self.claim.owns_account()
    }

    /// Refuses what the caller may not do, before its syntax is looked at and its body read.
    pub(crate) fn check(&self, kind: Kind, asked: &Asked<'_>) -> Result<(), ApiError> {
        let breaks = lease::breaks(&asked.fields);
        match kind.action(breaks) {
            Some(Action::DeleteBlob) if moment::is_permanent(&asked.fields) => {
                self.may(Action::PermanentlyDeleteBlob, asked.scope())
            }
            Some(action) => self.may(action, asked.scope()),
            None if self.claim.is_anonymous() => self.may(NEVER_PUBLIC, asked.scope()),
            None => Ok(()),
        }
    }

    /// Refuses who may not see blocks that are only staged: those are never public.
    pub(crate) fn check_staged_blocks(&self, asked: &Asked<'_>) -> Result<(), ApiError> {
        self.may(Action::GetUncommittedBlockList, asked.scope())
    }

    /// Lets the operation through to core.
    pub(crate) fn permit<Op: Guarded>(&self, op: Op) -> Result<Authorized<Op>, ApiError> {
        Ok(self.permit_read(op)?.0)
    }

    /// The same, with the headers that a SAS replaces in the answer.
    pub(crate) fn permit_read<Op: Guarded>(
        &self,
        op: Op,
    ) -> Result<(Authorized<Op>, ResponseOverrides), ApiError> {
        Ok(authorize(&self.claim, op, self.acl.as_ref(), &self.facts, self.now)?)
    }

    /// The user delegation key that the caller asks for; there is one for bearers of tokens only,
    /// and the permission table lets nobody else in.
    pub(crate) fn issue(&self, op: GetUserDelegationKey) -> Result<UserDelegationKey, ApiError> {
        let op = self.permit(op)?;
        let issue = |accounts| delegation::issue(op, &self.claim, accounts);
        self.accounts.and_then(issue).ok_or_else(ApiError::internal_error)
    }

    fn may(&self, action: Action, scope: Scope<'_>) -> Result<(), ApiError> {
        Ok(may(&self.claim, action, scope, self.acl.as_ref(), &self.facts, self.now)?)
    }
}

fn facts<'a>(asked: &'a Asked<'a>, headers: &'a SignedHeaders<'a>) -> RequestFacts<'a> {
    let head = asked.head;
    let scope = asked.target.scope(&asked.account);
    RequestFacts {
        service: Service::Blob,
        method: head.method.as_str(),
        raw_path: &head.raw_path,
        raw_query: &head.raw_query,
        query: &head.query,
        headers,
        account: &asked.account,
        container: scope.container,
        object: scope.object,
        path_style: asked.path_style,
        secondary: asked.secondary,
        peer: head.peer.ip(),
        secure: head.secure,
        version: asked.version,
    }
}
