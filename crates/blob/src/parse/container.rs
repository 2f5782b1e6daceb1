//! The heads of container operations.

use super::conditions::conditions;
use super::{encryption, lease};
use crate::fields::Fields;
use zaffre_base::{Guid, Stamp};
use zaffre_core::blob::op::{self, ContainerPath};
use zaffre_domain::blob::PublicAccess;
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::ApiError;

const ACCESS: &str = "x-ms-blob-public-access";

pub(super) fn create(
    fields: &Fields<'_>,
    at: ContainerPath,
) -> Result<op::CreateContainer, ApiError> {
    Ok(op::CreateContainer {
        at,
        metadata: fields.metadata()?,
        access: access(fields)?,
        scopes: encryption::of_container(fields)?,
    })
}

pub(super) fn delete(
    fields: &Fields<'_>,
    at: ContainerPath,
) -> Result<op::DeleteContainer, ApiError> {
    Ok(op::DeleteContainer {
        at,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::DeleteContainer)?,
    })
}

/// The name in the header must be the one in the URL.
pub(super) fn restore(
    fields: &Fields<'_>,
    at: ContainerPath,
) -> Result<op::RestoreContainer, ApiError> {
    const NAME: &str = "x-ms-deleted-container-name";
    const VERSION: &str = "x-ms-deleted-container-version";
    let (name, version) = (fields.required(NAME)?, fields.required(VERSION)?);
    if name != at.container.as_str() {
        return Err(ApiError::invalid_header_value(NAME, name));
    }
    // Ids are ours: one of another form belongs to no container.
    let is_id = version.len() == 16 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = is_id.then(|| u64::from_str_radix(version, 16).ok()).flatten();
    Ok(op::RestoreContainer { at, version: version.map(Stamp) })
}

pub(super) fn get(fields: &Fields<'_>, at: ContainerPath) -> Result<op::GetContainer, ApiError> {
    Ok(op::GetContainer { at, lease: fields.lease_id()? })
}

pub(super) fn set_metadata(
    fields: &Fields<'_>,
    at: ContainerPath,
) -> Result<op::SetContainerMetadata, ApiError> {
    Ok(op::SetContainerMetadata {
        at,
        metadata: fields.metadata()?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SetContainerMetadata)?,
    })
}

pub(super) fn get_acl(
    fields: &Fields<'_>,
    at: ContainerPath,
) -> Result<op::GetContainerAcl, ApiError> {
    Ok(op::GetContainerAcl { at, lease: fields.lease_id()? })
}

/// The policies come with the body.
pub(super) fn set_acl(
    fields: &Fields<'_>,
    at: ContainerPath,
) -> Result<op::SetContainerAcl, ApiError> {
    Ok(op::SetContainerAcl {
        at,
        access: access(fields)?,
        policies: Vec::new(),
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SetContainerAcl)?,
    })
}

pub(super) fn lease(
    fields: &Fields<'_>,
    at: ContainerPath,
    fallback: Guid,
) -> Result<op::LeaseContainer, ApiError> {
    Ok(op::LeaseContainer {
        at,
        command: lease::command(fields, fallback)?,
        conditions: conditions(fields, Op::LeaseContainer)?,
        context: fields.context(),
    })
}

fn access(fields: &Fields<'_>) -> Result<PublicAccess, ApiError> {
    match fields.header(ACCESS)? {
        None => Ok(PublicAccess::Private),
        Some(text) if text.eq_ignore_ascii_case("container") => Ok(PublicAccess::Container),
        Some(text) if text.eq_ignore_ascii_case("blob") => Ok(PublicAccess::Blob),
        // What versions before 2009-09-19 sent for `container`.
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(PublicAccess::Container),
        Some(text) => Err(ApiError::invalid_header_value(ACCESS, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::{Ask, Headers};
    use zaffre_base::{AccountName, ContainerName};

    fn create_with(headers: &[(&str, &str)]) -> Result<PublicAccess, &'static str> {
        let at = ContainerPath {
            account: AccountName::parse("devstoreaccount1").expect("a name"),
            container: ContainerName::parse("abc").expect("a name"),
        };
        let ask = Ask::put("/abc?restype=container").with(headers);
        create(&ask.fields(), at).map(|op| op.access).map_err(|e| e.code)
    }

    #[test]
    fn creation() {
        let rows: [(Headers<'_>, Result<PublicAccess, &str>); 8] = [
            (&[], Ok(PublicAccess::Private)),
            (&[(ACCESS, "blob")], Ok(PublicAccess::Blob)),
            (&[(ACCESS, "Container")], Ok(PublicAccess::Container)),
            (&[(ACCESS, "everyone")], Err("InvalidHeaderValue")),
            (&[("x-ms-meta-1", "x")], Err("InvalidMetadata")),
            (&[("x-ms-default-encryption-scope", "mine")], Ok(PublicAccess::Private)),
            (&[("x-ms-deny-encryption-scope-override", "true")], Err("MissingRequiredHeader")),
            (&[("x-ms-default-encryption-scope", "$account-encryption-key")], {
                Ok(PublicAccess::Private)
            }),
        ];
        for (headers, want) in rows {
            assert_eq!(create_with(headers), want, "{headers:?}");
        }
    }
}
