//! The part of a decoded path after the account: the service, a container or a blob.
//!
//! Must never decode anything: it gets text that was decoded once and makes typed names of it.

use zaffre_auth::action::Scope;
use zaffre_base::{AccountName, BlobName, ContainerName};
use zaffre_core::blob::op::{BlobPath, ContainerPath, Moment};
use zaffre_http::ApiError;

/// What a path names inside an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The account's Blob service.
    Service,
    /// A container.
    Container(ContainerName),
    /// A blob.
    Blob(ContainerName, BlobName),
}

/// The container of blobs that are addressed without one.
const ROOT: &str = "$root";

impl Target {
    /// Reads the decoded path after the account, without its leading slash. A single segment is a
    /// container when `restype` says so and a blob of the root container otherwise.
    pub fn parse(path: &str, restype: Option<&str>) -> Result<Self, ApiError> {
        let named = restype.is_some_and(|r| !r.is_empty());
        match path.split_once('/') {
            None if path.is_empty() => Ok(Self::Service),
            None if named || path == ROOT => container(path).map(Self::Container),
            None => Ok(Self::Blob(container(ROOT)?, blob(path)?)),
            Some((name, "")) if named => container(name).map(Self::Container),
            Some((_, "")) => Err(ApiError::invalid_uri()),
            Some((ROOT, rest)) if rest.contains('/') => Err(ApiError::invalid_resource_name()),
            Some((name, rest)) => Ok(Self::Blob(container(name)?, blob(rest)?)),
        }
    }

    /// The container's name alone; nothing for the service.
    pub fn container_name(&self) -> &str {
        match self {
            Self::Service => "",
            Self::Container(container) | Self::Blob(container, _) => container.as_str(),
        }
    }

    /// The container's full name.
    pub fn container(&self, account: &AccountName) -> Result<ContainerPath, ApiError> {
        match self {
            Self::Service => Err(ApiError::invalid_uri()),
            Self::Container(container) | Self::Blob(container, _) => {
                Ok(ContainerPath { account: account.clone(), container: container.clone() })
            }
        }
    }

    /// The blob's full name.
    pub fn blob(&self, account: &AccountName) -> Result<BlobPath, ApiError> {
        match self {
            Self::Service | Self::Container(_) => Err(ApiError::invalid_uri()),
            Self::Blob(container, blob) => Ok(BlobPath {
                account: account.clone(),
                container: container.clone(),
                blob: blob.clone(),
                moment: Moment::Current,
            }),
        }
    }

    /// The same as the permission rules see it.
    pub fn scope<'a>(&'a self, account: &'a AccountName) -> Scope<'a> {
        match self {
            Self::Service => Scope::account(account),
            Self::Container(container) => Scope::container(account, container.as_str()),
            Self::Blob(container, blob) => {
                Scope::object(account, container.as_str(), blob.as_str())
            }
        }
    }
}

fn container(name: &str) -> Result<ContainerName, ApiError> {
    Ok(ContainerName::parse(name)?)
}

fn blob(name: &str) -> Result<BlobName, ApiError> {
    Ok(BlobName::parse(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(path: &str, restype: Option<&str>) -> String {
        match Target::parse(path, restype) {
            Ok(Target::Service) => "service".to_owned(),
            Ok(Target::Container(c)) => format!("container {c}"),
            Ok(Target::Blob(c, b)) => format!("blob {c} {b}"),
            Err(error) => error.code.to_owned(),
        }
    }

    #[test]
    fn paths() {
        let container = Some("container");
        for (path, restype, want) in [
            ("", None, "service"),
            ("", Some("service"), "service"),
            ("abc", container, "container abc"),
            ("abc/", container, "container abc"),
            ("abc", None, "blob $root abc"),
            ("Some Name", None, "blob $root Some Name"),
            ("abc/", None, "InvalidUri"),
            ("abc/b", None, "blob abc b"),
            ("abc/b/c//d/", None, "blob abc b/c//d/"),
            ("abc//b", None, "blob abc /b"),
            ("$root/b", None, "blob $root b"),
            ("$root/b/c", None, "InvalidResourceName"),
            ("$root", None, "container $root"),
            ("$web/index.html", None, "blob $web index.html"),
            ("ABC/b", None, "InvalidResourceName"),
            ("ab", container, "OutOfRangeInput"),
            ("abc/b\u{7}", None, "InvalidResourceName"),
        ] {
            assert_eq!(show(path, restype), want, "{path} {restype:?}");
        }
        assert_eq!(show(&format!("abc/{}", "n".repeat(1025)), None), "OutOfRangeInput");
    }
}
