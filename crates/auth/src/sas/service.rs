//! Service SAS: a token for one container, directory, blob, queue, table or part of one.
//!
//! Must never let a token reach beyond the resource it was signed for; a policy it names is only
//! known later, so its time and permission are checked by `resolve`.

use super::delegated::{Delegation, Demands};
use super::field::{Field, Token, malformed};
use super::layout::Layout;
use super::limits::{Origin, Window, time};
use super::resource::SignedResource;
use super::{ResponseOverrides, V2015_04_05};
use crate::accounts::Account;
use crate::action::Scope;
use crate::bearer::Identity;
use crate::error::{AuthError, Failure};
use crate::key_range::KeyRange;
use crate::mac;
use crate::request::RequestFacts;
use crate::service::Service;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_domain::blob::AccessPolicy;

/// A token whose signature was verified.
#[derive(Clone, Debug)]
pub(crate) struct ServiceSas {
    resource: SignedResource,
    version: Option<ApiVersion>,
    start: Option<Timestamp>,
    expiry: Option<Timestamp>,
    permissions: Option<String>,
    pub(crate) policy: Option<String>,
    origin: Origin,
    pub(crate) overrides: ResponseOverrides,
    delegated: bool,
}

impl ServiceSas {
    /// Checks the token's signature and, unless a policy has a say in it, time, address, protocol.
    pub(crate) fn verify(
        token: &Token,
        facts: &RequestFacts<'_>,
        account: &Account,
        bearer: Option<&Identity>,
        now: Timestamp,
    ) -> Result<Self, AuthError> {
        let version = version(token, facts.service)?;
        let layout = layout(token, facts.service, version)?;
        let delegation = match token.get(Field::Skoid) {
            Some(_) => Some(Delegation::read(token, layout, facts)?),
            None => None,
        };
        let resource = SignedResource::read(token, facts, version)?;
        let sas = Self {
            version,
            start: time(token, Field::St)?,
            expiry: time(token, Field::Se)?,
            permissions: token.get(Field::Sp).map(str::to_owned),
            policy: token.get(Field::Si).map(str::to_owned),
            origin: Origin::read(token, layout)?,
            overrides: read_overrides(token, layout),
            resource,
            delegated: delegation.is_some(),
        };
        if sas.policy.is_none() {
            token.require(Field::Se)?;
            token.require(Field::Sp)?;
        }
        let presented = token.require(Field::Sig)?;
        let demands = Demands::read(token, layout, facts)?;
        let mut texts = sas.resource.strings_to_sign(token, facts, (version, layout), &demands);
        let good = match &delegation {
            Some(delegation) => mac::verify(delegation.keys(account).iter(), &texts, presented),
            None => mac::verify(account.keys(), &texts, presented),
        };
        if !good {
            return Err(Failure::SasMismatch { string_to_sign: texts.swap_remove(0) }.into());
        }
        if let Some(delegation) = delegation {
            delegation.check(bearer, now)?;
        }
        if sas.policy.is_none() {
            sas.resolve(None, facts, now)?;
        }
        Ok(sas)
    }

    /// Joins the token with the policy it names, checks time, address and protocol, and returns the
    /// permissions.
    pub(crate) fn resolve<'a>(
        &'a self,
        policies: Option<&'a [AccessPolicy]>,
        facts: &RequestFacts<'_>,
        now: Timestamp,
    ) -> Result<&'a str, AuthError> {
        let policy = match &self.policy {
            Some(id) => {
                let mut all = policies.unwrap_or_default().iter();
                Some(all.find(|p| p.id == *id).ok_or(Failure::PolicyUnknown)?)
            }
            None => None,
        };
        let start = exactly_once(self.start, policy.and_then(|p| p.start))?;
        let expiry = exactly_once(self.expiry, policy.and_then(|p| p.expiry))?
            .ok_or(Failure::FieldMissing { name: Field::Se.name() })?;
        let granted = policy.and_then(|p| p.permission.as_deref()).filter(|p| !p.is_empty());
        let permissions = exactly_once(self.permissions.as_deref(), granted)?
            .ok_or(Failure::FieldMissing { name: Field::Sp.name() })?;
        Window { start, expiry }.check(now)?;
        self.origin.check(facts)?;
        Ok(permissions)
    }

    /// Whether the signed resource contains what an operation touches.
    pub(crate) fn covers(&self, scope: &Scope<'_>) -> bool {
        self.resource.covers(scope)
    }

    /// The container, queue, table or share it is for.
    pub(crate) fn container(&self) -> &str {
        self.resource.container()
    }

    /// The entities it reaches, where not all of them.
    pub(crate) fn keys(&self) -> Option<&KeyRange> {
        self.resource.keys()
    }

    /// Whether a user delegation key signed it.
    pub(crate) fn is_delegated(&self) -> bool {
        self.delegated
    }

    /// Old tokens that lack a permission see nothing rather than a refusal.
    pub(crate) fn hides_refusals(&self) -> bool {
        self.version < Some(V2015_04_05)
    }
}

fn exactly_once<T>(token: Option<T>, policy: Option<T>) -> Result<Option<T>, AuthError> {
    match (token, policy) {
        (Some(_), Some(_)) => Err(Failure::PolicyOverlap.into()),
        (token, policy) => Ok(token.or(policy)),
    }
}

/// What a token of that version signs.
pub(crate) fn layout(
    token: &Token,
    service: Service,
    version: Option<ApiVersion>,
) -> Result<Layout, AuthError> {
    if token.get(Field::Skoid).is_none() {
        return Ok(Layout::service(service, version));
    }
    Layout::delegated(service, version).ok_or(malformed(Field::Skoid))
}

/// `sv`; absent in the oldest tokens of blobs.
pub(crate) fn version(token: &Token, service: Service) -> Result<Option<ApiVersion>, AuthError> {
    if service != Service::Blob {
        token.require(Field::Sv)?;
    }
    let parse = |text| ApiVersion::parse(text).ok_or(malformed(Field::Sv));
    token.get(Field::Sv).map(parse).transpose()
}

fn read_overrides(token: &Token, layout: Layout) -> ResponseOverrides {
    let signed = |field| layout.signed(token, field).map(str::to_owned);
    ResponseOverrides {
        cache_control: signed(Field::Rscc),
        content_disposition: signed(Field::Rscd),
        content_encoding: signed(Field::Rsce),
        content_language: signed(Field::Rscl),
        content_type: signed(Field::Rsct),
    }
}
