//! Service SAS: a token for one container, directory, blob, snapshot or version.
//!
//! Must never let a token reach beyond the resource it was signed for; a policy it names is only
//! known later, so its time and permission are checked by `resolve`.

use super::field::{Field, Token, malformed};
use super::layout::{self, Layout};
use super::limits::{Origin, Window, time};
use super::{ResponseOverrides, V2015_04_05};
use crate::accounts::Account;
use crate::action::Scope;
use crate::error::{AuthError, Failure};
use crate::mac;
use crate::request::RequestFacts;
use zaffre_base::{ApiVersion, BlobName, ContainerName, Timestamp, limits};
use zaffre_domain::blob::AccessPolicy;

const SNAPSHOTS_FROM: ApiVersion = ApiVersion::new(2018, 11, 9);
const DIRECTORIES_FROM: ApiVersion = ApiVersion::new(2020, 2, 10);

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
}

/// What a token was signed for.
#[derive(Clone, Debug)]
pub(crate) struct SignedResource {
    container: ContainerName,
    within: Within,
}

#[derive(Clone, Debug)]
enum Within {
    /// Everything in the container.
    Container,
    /// Every blob whose name starts with these path segments.
    Directory(String),
    /// One blob with its snapshots and versions.
    Blob(BlobName),
    /// One snapshot.
    Snapshot(BlobName, String),
    /// One version.
    Version(BlobName, String),
}

impl ServiceSas {
    /// Checks the token's signature and, unless a policy has a say in it, time, address, protocol.
    pub(crate) fn verify(
        token: &Token,
        facts: &RequestFacts<'_>,
        account: &Account,
        now: Timestamp,
    ) -> Result<Self, AuthError> {
        let version = version(token)?;
        let layout = Layout::service(version);
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
        };
        if sas.policy.is_none() {
            token.require(Field::Se)?;
            token.require(Field::Sp)?;
        }
        let presented = token.require(Field::Sig)?;
        let mut texts = sas.resource.strings_to_sign(token, facts, version);
        if !mac::verify(account, &texts, presented) {
            return Err(Failure::SasMismatch { string_to_sign: texts.swap_remove(0) }.into());
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

/// `sv`; absent in the oldest tokens.
pub(crate) fn version(token: &Token) -> Result<Option<ApiVersion>, AuthError> {
    let parse = |text| ApiVersion::parse(text).ok_or(malformed(Field::Sv));
    token.get(Field::Sv).map(parse).transpose()
}

impl SignedResource {
    /// Reads `sr` against what the URL names: a token for a blob needs a blob in the URL, and so on.
    pub(crate) fn read(
        token: &Token,
        facts: &RequestFacts<'_>,
        version: Option<ApiVersion>,
    ) -> Result<Self, AuthError> {
        let container = facts.container.ok_or(Failure::ResourceLevel)?.clone();
        let blob = || facts.blob.cloned().ok_or(Failure::ResourceLevel);
        let moment = |field| token.get(field).map(str::to_owned).ok_or(Failure::ResourceLevel);
        let within = match token.require(Field::Sr)? {
            "c" => Within::Container,
            "b" => Within::Blob(blob()?),
            "bs" if version >= Some(SNAPSHOTS_FROM) => {
                Within::Snapshot(blob()?, moment(Field::Snapshot)?)
            }
            "bv" if version >= Some(SNAPSHOTS_FROM) => {
                Within::Version(blob()?, moment(Field::VersionId)?)
            }
            "d" if version >= Some(DIRECTORIES_FROM) => {
                Within::Directory(directory(&blob()?, depth(token)?)?)
            }
            _ => return Err(malformed(Field::Sr)),
        };
        Ok(Self { container, within })
    }

    /// What may have been signed; SDKs end the root directory's name with `/` or not.
    pub(crate) fn strings_to_sign(
        &self,
        token: &Token,
        facts: &RequestFacts<'_>,
        version: Option<ApiVersion>,
    ) -> Vec<String> {
        let text = |path: Option<&str>, moment: &str| {
            let resource = layout::resource(version, facts.account, self.container.as_str(), path);
            Layout::service(version).service_string(token, &resource, moment)
        };
        match &self.within {
            Within::Container => vec![text(None, "")],
            Within::Directory(path) if path.is_empty() => {
                vec![text(None, ""), text(Some(""), "")]
            }
            Within::Directory(path) => vec![text(Some(path), "")],
            Within::Blob(blob) => vec![text(Some(blob.as_str()), "")],
            Within::Snapshot(blob, moment) | Within::Version(blob, moment) => {
                vec![text(Some(blob.as_str()), moment)]
            }
        }
    }

    fn covers(&self, scope: &Scope<'_>) -> bool {
        if scope.container != Some(&self.container) {
            return false;
        }
        match &self.within {
            Within::Container => true,
            Within::Directory(path) => scope.blob.is_some_and(|blob| lies_in(blob, path)),
            Within::Blob(blob) => scope.blob == Some(blob),
            Within::Snapshot(blob, moment) => {
                scope.blob == Some(blob) && scope.snapshot == Some(moment)
            }
            Within::Version(blob, moment) => {
                scope.blob == Some(blob) && scope.version == Some(moment)
            }
        }
    }
}

/// `sdd`: how many path segments the directory has.
fn depth(token: &Token) -> Result<usize, AuthError> {
    let text = token.require(Field::Sdd)?;
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    let depth = text.parse().ok().filter(|d| plain && *d <= limits::BLOB_NAME_SEGMENTS);
    depth.ok_or(malformed(Field::Sdd))
}

/// The first `depth` segments of a blob's name.
fn directory(blob: &BlobName, depth: usize) -> Result<String, AuthError> {
    let segments: Vec<&str> = blob.as_str().split('/').take(depth).collect();
    if segments.len() < depth {
        return Err(Failure::ResourceLevel.into());
    }
    Ok(segments.join("/"))
}

fn lies_in(blob: &BlobName, directory: &str) -> bool {
    let rest = blob.as_str().strip_prefix(directory);
    directory.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
