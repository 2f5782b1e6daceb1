//! What a service SAS was signed for, and whether that contains what an operation touches.
//!
//! Must never take a name from the URL without signing it: the signature is what binds the two.

use super::delegated::Demands;
use super::field::{Field, Token, malformed};
use super::layout::{self, Layout};
use crate::action::Scope;
use crate::error::{AuthError, Failure};
use crate::key_range::{KeyBound, KeyRange};
use crate::request::RequestFacts;
use crate::service::Service;
use zaffre_base::{ApiVersion, limits};

const SNAPSHOTS_FROM: ApiVersion = ApiVersion::new(2018, 11, 9);
const DIRECTORIES_FROM: ApiVersion = ApiVersion::new(2020, 2, 10);

/// What a token was signed for.
#[derive(Clone, Debug)]
pub(crate) struct SignedResource {
    /// The container, queue, table or share; a table's in lower case, which is how it is signed.
    container: String,
    within: Within,
}

#[derive(Clone, Debug)]
enum Within {
    /// Everything in the container, queue or share.
    Container,
    /// Every blob whose name starts with these path segments.
    Directory(String),
    /// One blob with its snapshots and versions, or one file.
    Object(String),
    /// One snapshot.
    Snapshot(String, String),
    /// One version.
    Version(String, String),
    /// Some entities of the table.
    Entities(KeyRange),
}

impl SignedResource {
    /// Reads what the token is for against what the URL names: a token for a blob needs a blob in
    /// the URL, and so on. A table is named by the token itself.
    pub(crate) fn read(
        token: &Token,
        facts: &RequestFacts<'_>,
        version: Option<ApiVersion>,
    ) -> Result<Self, AuthError> {
        if facts.service == Service::Table {
            let container = token.require(Field::Tn)?.to_ascii_lowercase();
            return Ok(Self { container, within: Within::Entities(key_range(token)?) });
        }
        let container = facts.container.ok_or(Failure::ResourceLevel)?.to_owned();
        let within = match facts.service {
            Service::Blob => Within::in_container(token, facts, version)?,
            Service::File => Within::in_share(token, facts)?,
            Service::Queue | Service::Table => Within::Container,
        };
        Ok(Self { container, within })
    }

    /// What may have been signed; SDKs end the root directory's name with `/` or not.
    pub(crate) fn strings_to_sign(
        &self,
        token: &Token,
        facts: &RequestFacts<'_>,
        (version, layout): (Option<ApiVersion>, Layout),
        demands: &Demands,
    ) -> Vec<String> {
        let (service, account) = (facts.service, facts.account);
        let text = |path: Option<&str>, moment: &str| {
            let resource = layout::resource(service, version, account, &self.container, path);
            layout.service_string(token, &resource, moment, demands)
        };
        match &self.within {
            Within::Container | Within::Entities(_) => vec![text(None, "")],
            Within::Directory(path) if path.is_empty() => {
                vec![text(None, ""), text(Some(""), "")]
            }
            Within::Directory(path) => vec![text(Some(path), "")],
            Within::Object(name) => vec![text(Some(name), "")],
            Within::Snapshot(name, moment) | Within::Version(name, moment) => {
                vec![text(Some(name), moment)]
            }
        }
    }

    /// Whether it contains what an operation touches; entities are looked at by their own rule.
    pub(crate) fn covers(&self, scope: &Scope<'_>) -> bool {
        let Some(container) = scope.container else { return false };
        if matches!(self.within, Within::Entities(_)) {
            return container.eq_ignore_ascii_case(&self.container);
        }
        let is = |name: &String| scope.object == Some(name.as_str());
        container == self.container
            && match &self.within {
                Within::Container | Within::Entities(_) => true,
                Within::Directory(path) => scope.object.is_some_and(|name| lies_in(name, path)),
                Within::Object(name) => is(name),
                Within::Snapshot(name, moment) => {
                    is(name) && scope.snapshot == Some(moment.as_str())
                }
                Within::Version(name, moment) => is(name) && scope.version == Some(moment.as_str()),
            }
    }

    /// The container, queue, table or share it is for or lies in.
    pub(crate) fn container(&self) -> &str {
        &self.container
    }

    /// The entities it reaches, where not all of them.
    pub(crate) fn keys(&self) -> Option<&KeyRange> {
        match &self.within {
            Within::Entities(keys) if !keys.is_all() => Some(keys),
            _ => None,
        }
    }
}

impl Within {
    fn in_container(
        token: &Token,
        facts: &RequestFacts<'_>,
        version: Option<ApiVersion>,
    ) -> Result<Self, AuthError> {
        let blob = || facts.object.map(str::to_owned).ok_or(Failure::ResourceLevel);
        let moment = |field| token.get(field).map(str::to_owned).ok_or(Failure::ResourceLevel);
        Ok(match token.require(Field::Sr)? {
            "c" => Self::Container,
            "b" => Self::Object(blob()?),
            "bs" if version >= Some(SNAPSHOTS_FROM) => {
                Self::Snapshot(blob()?, moment(Field::Snapshot)?)
            }
            "bv" if version >= Some(SNAPSHOTS_FROM) => {
                Self::Version(blob()?, moment(Field::VersionId)?)
            }
            "d" if version >= Some(DIRECTORIES_FROM) => {
                Self::Directory(directory(&blob()?, depth(token)?)?)
            }
            _ => return Err(malformed(Field::Sr)),
        })
    }

    fn in_share(token: &Token, facts: &RequestFacts<'_>) -> Result<Self, AuthError> {
        match token.require(Field::Sr)? {
            "s" => Ok(Self::Container),
            "f" => Ok(Self::Object(facts.object.ok_or(Failure::ResourceLevel)?.to_owned())),
            _ => Err(malformed(Field::Sr)),
        }
    }
}

/// `spk`, `srk`, `epk`, `erk`: a row key means nothing without its partition key.
fn key_range(token: &Token) -> Result<KeyRange, AuthError> {
    let bound = |partition, row| match (token.get(partition), token.get(row)) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(malformed(row)),
        (Some(partition), row) => {
            Ok(Some(KeyBound { partition: partition.to_owned(), row: row.map(str::to_owned) }))
        }
    };
    Ok(KeyRange { start: bound(Field::Spk, Field::Srk)?, end: bound(Field::Epk, Field::Erk)? })
}

/// `sdd`: how many path segments the directory has.
fn depth(token: &Token) -> Result<usize, AuthError> {
    let text = token.require(Field::Sdd)?;
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    let depth = text.parse().ok().filter(|d| plain && *d <= limits::BLOB_NAME_SEGMENTS);
    depth.ok_or(malformed(Field::Sdd))
}

/// The first `depth` segments of a blob's name.
fn directory(blob: &str, depth: usize) -> Result<String, AuthError> {
    let segments: Vec<&str> = blob.split('/').take(depth).collect();
    if segments.len() < depth {
        return Err(Failure::ResourceLevel.into());
    }
    Ok(segments.join("/"))
}

fn lies_in(blob: &str, directory: &str) -> bool {
    let rest = blob.strip_prefix(directory);
    directory.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
