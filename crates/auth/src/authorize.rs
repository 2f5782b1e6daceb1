//! Authorization: whether a verified claim allows one operation on what it names.
//!
//! Must never look at names other than the operation's own: those are what storage will use.

use crate::action::{Guarded, Scope};
use crate::authorized::{Authorized, Grants};
use crate::claim::{Claim, Kind};
use crate::error::{AuthError, Failure, Hidden};
use crate::permissions::{Level, Needs, Rule, is_public_enough, rule};
use crate::request::RequestFacts;
use crate::sas::ResponseOverrides;
use crate::sas::account::AccountSas;
use crate::sas::service::ServiceSas;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_domain::blob::{AccessPolicy, PublicAccess};

/// What a container's ACL says; `None` where it is asked for means that there is no such container.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ContainerAccess {
    /// Who may read without a credential.
    pub access: PublicAccess,
    /// The stored access policies.
    pub policies: Vec<AccessPolicy>,
}

/// From this version on, a request without a credential is told so instead of "not found".
const CHALLENGES_FROM: ApiVersion = ApiVersion::new(2019, 12, 12);

/// Lets the operation through, or says why not. `acl` is needed when
/// [`Claim::needs_container_access`] says so.
pub fn authorize<Op: Guarded>(
    claim: &Claim,
    op: Op,
    acl: Option<&ContainerAccess>,
    facts: &RequestFacts<'_>,
    now: Timestamp,
) -> Result<(Authorized<Op>, ResponseOverrides), AuthError> {
    let scope = op.scope();
    if *scope.account != claim.account {
        return Err(AuthError::AuthorizationFailure);
    }
    let rule = rule(op.action(), facts.version, scope.version.is_some());
    let mut overrides = ResponseOverrides::default();
    let grants = match &claim.kind {
        Kind::SharedKey => Grants { overwrite: true },
        Kind::AccountSas(sas) => by_account_sas(sas, &rule)?,
        Kind::ServiceSas(sas) => {
            let policies = acl.map(|acl| acl.policies.as_slice());
            let permissions = sas.resolve(policies, facts, now)?;
            overrides.clone_from(&sas.overrides);
            by_service_sas(sas, permissions, &rule, &scope)?
        }
        Kind::Anonymous { allowed } => by_public_access(*allowed, acl, &rule, facts.version)?,
    };
    if facts.secondary && rule.writes {
        return Err(AuthError::WriteOnSecondary);
    }
    Ok((Authorized::new(op, grants), overrides))
}

fn by_account_sas(sas: &AccountSas, rule: &Rule) -> Result<Grants, AuthError> {
    if !sas.covers_blob_service() {
        return Err(AuthError::AuthorizationServiceMismatch);
    }
    let (level, needs): (Level, Needs) = rule.account.ok_or(AuthError::AuthorizationFailure)?;
    if !level.is_in(&sas.resource_types) {
        return Err(AuthError::AuthorizationResourceTypeMismatch);
    }
    if !needs.are_in(&sas.permissions) {
        return Err(AuthError::AuthorizationPermissionMismatch);
    }
    Ok(grants(&sas.permissions))
}

fn by_service_sas(
    sas: &ServiceSas,
    permissions: &str,
    rule: &Rule,
    scope: &Scope<'_>,
) -> Result<Grants, AuthError> {
    let needs = rule.service.ok_or(AuthError::AuthorizationFailure)?;
    // Get Account Information is asked of any URL and tells nothing about the resource it names.
    if needs != Needs::Anything && !sas.covers(scope) {
        return Err(Failure::ResourceLevel.into());
    }
    if needs.are_in(permissions) {
        return Ok(grants(permissions));
    }
    Err(if sas.hides_refusals() {
        AuthError::ResourceNotFound(Hidden::Permission)
    } else {
        AuthError::AuthorizationPermissionMismatch
    })
}

fn by_public_access(
    allowed: bool,
    acl: Option<&ContainerAccess>,
    rule: &Rule,
    version: ApiVersion,
) -> Result<Grants, AuthError> {
    if !allowed {
        return Err(AuthError::PublicAccessNotPermitted);
    }
    match (rule.anonymous, acl) {
        (Some(needed), Some(acl)) if is_public_enough(acl.access, needed) => {
            Ok(Grants { overwrite: false })
        }
        _ if version >= CHALLENGES_FROM => Err(AuthError::NoAuthenticationInformation),
        _ => Err(AuthError::ResourceNotFound(Hidden::Anonymous)),
    }
}

fn grants(permissions: &str) -> Grants {
    Grants { overwrite: permissions.contains('w') }
}
