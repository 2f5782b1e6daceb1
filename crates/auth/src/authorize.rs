//! Authorization: whether a verified claim allows one operation on what it names.
//!
//! Must never look at names other than the operation's own: those are what storage will use.

use crate::action::{Action, Guarded, Scope};
use crate::authorized::{Authorized, Extras, Grants};
use crate::claim::{Claim, Kind};
use crate::error::{AuthError, Failure, Hidden};
use crate::key_range::KeyRange;
use crate::permissions::{Needs, Rule, Tokens, is_public_enough, rule};
use crate::request::RequestFacts;
use crate::sas::ResponseOverrides;
use crate::sas::account::AccountSas;
use crate::sas::service::ServiceSas;
use crate::service::Service;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_domain::blob::{AccessPolicy, PublicAccess};

/// What the ACL of a container, queue, table or share says; `None` where it is asked for means
/// that there is no such thing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ContainerAccess {
    /// Who may read without a credential; only containers can be public.
    pub access: PublicAccess,
    /// The stored access policies.
    pub policies: Vec<AccessPolicy>,
}

impl ContainerAccess {
    /// The ACL of a queue, table or share: its policies.
    pub fn of_policies(policies: Vec<AccessPolicy>) -> Self {
        Self { access: PublicAccess::Private, policies }
    }
}

/// From this version on, a request without a credential is told so instead of "not found".
const CHALLENGES_FROM: ApiVersion = ApiVersion::new(2019, 12, 12);
/// The same for tables, which refused it outright before.
const TABLE_CHALLENGES_FROM: ApiVersion = ApiVersion::new(2020, 12, 6);

/// Lets the operation through, or says why not. `acl` is needed when
/// [`Claim::needs_container_access`] says so.
pub fn authorize<Op: Guarded>(
    claim: &Claim,
    op: Op,
    acl: Option<&ContainerAccess>,
    facts: &RequestFacts<'_>,
    now: Timestamp,
) -> Result<(Authorized<Op>, ResponseOverrides), AuthError> {
    let (action, scope, extras) = (op.action(), op.scope(), op.extras());
    let asked = Asked { action, scope, extras, acl, facts, now };
    let grants = asked.decide(claim)?;
    let mut overrides = ResponseOverrides::default();
    let mut keys = None;
    if let Kind::ServiceSas(sas) = &claim.kind {
        overrides.clone_from(&sas.overrides);
        keys = sas.keys().cloned().map(Box::new);
        check_key(sas.keys(), &asked)?;
    }
    Ok((Authorized::new(op, grants, keys), overrides))
}

/// Whether [`authorize`] could let the action through, before all of the operation is known: the
/// key of its entity, and what it does besides, may be in a body that is not read yet.
pub fn may(
    claim: &Claim,
    action: Action,
    scope: Scope<'_>,
    acl: Option<&ContainerAccess>,
    facts: &RequestFacts<'_>,
    now: Timestamp,
) -> Result<(), AuthError> {
    let asked = Asked { action, scope, extras: Extras::default(), acl, facts, now };
    asked.decide(claim).map(|_| ())
}

/// One question: may this be done there, now, by such a request?
struct Asked<'a> {
    action: Action,
    scope: Scope<'a>,
    extras: Extras,
    acl: Option<&'a ContainerAccess>,
    facts: &'a RequestFacts<'a>,
    now: Timestamp,
}

impl Asked<'_> {
    fn rule(&self) -> Rule {
        rule(self.action, self.facts.version, self.scope.version.is_some())
    }

    fn decide(&self, claim: &Claim) -> Result<Grants, AuthError> {
        if *self.scope.account != claim.account {
            return Err(AuthError::AuthorizationFailure);
        }
        let rule = self.rule();
        let grants = match &claim.kind {
            Kind::Anonymous { allowed } => return self.by_public_access(*allowed, &rule),
            Kind::Bearer(_) => self.by_role(&rule)?,
            _ if !rule.key => return Err(Failure::BearerOnly.into()),
            Kind::SharedKey => Grants::ALL,
            Kind::AccountSas(sas) => by_account_sas(sas, self.facts.service, &rule)?,
            Kind::ServiceSas(sas) => self.by_service_sas(sas, &rule)?,
        };
        if !grants.include(self.extras) {
            return Err(AuthError::AuthorizationPermissionMismatch);
        }
        self.check_endpoint(&rule)?;
        Ok(grants)
    }

    /// There is one role, the owner of all data; some operations are closed to tokens for all.
    fn by_role(&self, rule: &Rule) -> Result<Grants, AuthError> {
        match rule.tokens {
            Tokens::Taken => Ok(Grants::ALL),
            Tokens::TakenFrom(version) if self.facts.version >= version => Ok(Grants::ALL),
            Tokens::TakenFrom(_) | Tokens::Refused => Err(AuthError::AuthorizationFailure),
            Tokens::Hidden => Err(AuthError::ResourceNotFound(Hidden::Token)),
        }
    }

    fn by_service_sas(&self, sas: &ServiceSas, rule: &Rule) -> Result<Grants, AuthError> {
        let policies = self.acl.map(|acl| acl.policies.as_slice());
        let permissions = sas.resolve(policies, self.facts, self.now)?;
        let needs = rule.service.ok_or(AuthError::AuthorizationFailure)?;
        // What needs no particular permission tells nothing about the resource it names.
        if needs != Needs::Anything && !sas.covers(&self.scope) {
            return Err(Failure::ResourceLevel.into());
        }
        if needs.are_in(permissions) {
            return Ok(Grants::of(permissions));
        }
        Err(if sas.hides_refusals() {
            AuthError::ResourceNotFound(Hidden::Permission)
        } else {
            AuthError::AuthorizationPermissionMismatch
        })
    }

    fn by_public_access(&self, allowed: bool, rule: &Rule) -> Result<Grants, AuthError> {
        let version = self.facts.version;
        match self.facts.service {
            Service::Blob if !allowed => return Err(AuthError::PublicAccessNotPermitted),
            Service::Blob => {}
            Service::Table if version < TABLE_CHALLENGES_FROM => {
                return Err(Failure::NoCredential.into());
            }
            Service::Queue | Service::File if version < CHALLENGES_FROM => {
                return Err(Failure::NoCredential.into());
            }
            Service::Queue | Service::Table | Service::File => {
                return Err(AuthError::NoAuthenticationInformation);
            }
        }
        match (rule.anonymous, self.acl) {
            (Some(needed), Some(acl))
                if is_public_enough(acl.access, needed) && Grants::NONE.include(self.extras) =>
            {
                self.check_endpoint(rule)?;
                Ok(Grants::NONE)
            }
            _ if version >= CHALLENGES_FROM => Err(AuthError::NoAuthenticationInformation),
            _ => Err(AuthError::ResourceNotFound(Hidden::Anonymous)),
        }
    }

    fn check_endpoint(&self, rule: &Rule) -> Result<(), AuthError> {
        if self.facts.secondary && rule.writes {
            return Err(AuthError::WriteOnSecondary);
        }
        Ok(())
    }
}

fn by_account_sas(sas: &AccountSas, service: Service, rule: &Rule) -> Result<Grants, AuthError> {
    if !sas.covers(service) {
        return Err(AuthError::AuthorizationServiceMismatch);
    }
    let (levels, needs) = rule.account.ok_or(AuthError::AuthorizationFailure)?;
    if !levels.are_in(&sas.resource_types) {
        return Err(AuthError::AuthorizationResourceTypeMismatch);
    }
    if !needs.are_in(&sas.permissions) {
        return Err(AuthError::AuthorizationPermissionMismatch);
    }
    Ok(Grants::of(&sas.permissions))
}

/// Holds the entity of an operation against the range of its token: outside, there is nothing to
/// read and nothing may be written. An entity that is not known counts as outside.
fn check_key(keys: Option<&KeyRange>, asked: &Asked<'_>) -> Result<(), AuthError> {
    let Some(keys) = keys else { return Ok(()) };
    let rule = asked.rule();
    let inside = asked.scope.entity.is_some_and(|(partition, row)| keys.admits(partition, row));
    match (rule.keyed, inside, rule.writes) {
        (false, _, _) | (true, true, _) => Ok(()),
        (true, false, true) => Err(AuthError::AuthorizationFailure),
        (true, false, false) => Err(AuthError::ResourceNotFound(Hidden::OutsideRange)),
    }
}
