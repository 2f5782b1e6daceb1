//! Answers of container operations, of Get Account Information, and of both lease operations.

use super::{XML, lease, metadata, since, written};
use hyper::StatusCode;
use zaffre_base::ApiVersion;
use zaffre_core::blob::reply::{ContainerView, LeaseOutcome, Written};
use zaffre_core::settings::AccountSettings;
use zaffre_domain::blob::PublicAccess;
use zaffre_domain::blob::encryption::ACCOUNT_SCOPE;
use zaffre_domain::lease::LeaseCommand;
use zaffre_http::{Reply, access_policies, header};

/// 200 or 201 with ETag and Last-Modified alone: Create, Set Metadata, Set ACL.
pub fn changed(status: StatusCode, commit: Written, version: ApiVersion) -> Reply {
    written(Reply::new(status, version), commit, version)
}

/// Delete Container.
pub fn deleted(version: ApiVersion) -> Reply {
    Reply::new(StatusCode::ACCEPTED, version)
}

/// Get Container Properties.
pub fn properties(view: &ContainerView, version: ApiVersion) -> Reply {
    let mut reply = lease(self::view(view, version), view.lease, version);
    if version >= since::PUBLIC_ACCESS {
        reply = reply.with_some(header!("x-ms-blob-public-access"), access(view.access));
    }
    if version >= since::IMMUTABILITY {
        reply = reply
            .with(header!("x-ms-has-immutability-policy"), "false")
            .with(header!("x-ms-has-legal-hold"), "false");
    }
    if version >= since::ENCRYPTION_SCOPES {
        let default = view.scopes.default.as_deref().unwrap_or(ACCOUNT_SCOPE);
        reply = reply
            .with(header!("x-ms-default-encryption-scope"), default)
            .with(header!("x-ms-deny-encryption-scope-override"), view.scopes.deny_override);
    }
    if version >= since::VERSIONED_IMMUTABILITY {
        reply = reply.with(
            header!("x-ms-immutable-storage-with-versioning-enabled"),
            view.version_immutability,
        );
    }
    reply
}

/// Get Container Metadata.
pub fn view(view: &ContainerView, version: ApiVersion) -> Reply {
    metadata(changed(StatusCode::OK, view.written, version), &view.metadata)
}

/// Get Container ACL.
pub fn acl(view: &ContainerView, version: ApiVersion) -> Reply {
    changed(StatusCode::OK, view.written, version)
        .with_some(header!("x-ms-blob-public-access"), access(view.access))
        .with_body(XML, access_policies::document(&view.policies))
}

/// `x-ms-blob-public-access`; a private container shows none.
pub(super) fn access(access: PublicAccess) -> Option<&'static str> {
    match access {
        PublicAccess::Private => None,
        PublicAccess::Blob => Some("blob"),
        PublicAccess::Container => Some("container"),
    }
}

/// Lease Container and Lease Blob; the status tells which action it was.
pub fn leased(command: LeaseCommand, outcome: &LeaseOutcome, version: ApiVersion) -> Reply {
    let status = match command {
        LeaseCommand::Acquire { .. } => StatusCode::CREATED,
        LeaseCommand::Renew { .. } | LeaseCommand::Change { .. } | LeaseCommand::Release { .. } => {
            StatusCode::OK
        }
        LeaseCommand::Break { .. } => StatusCode::ACCEPTED,
    };
    let mut reply = Reply::new(status, version);
    if version >= since::LEASE_VALIDATORS {
        reply = written(reply, outcome.written, version);
    }
    reply
        .with_some(header!("x-ms-lease-id"), outcome.id)
        .with_some(header!("x-ms-lease-time"), outcome.break_seconds)
}

/// Get Account Information.
pub fn account(settings: &AccountSettings, version: ApiVersion) -> Reply {
    let reply = Reply::new(StatusCode::OK, version)
        .with(header!("x-ms-sku-name"), settings.sku.text())
        .with(header!("x-ms-account-kind"), settings.kind.text());
    if version >= since::HIERARCHY_FLAG {
        reply.with(header!("x-ms-is-hns-enabled"), "false")
    } else {
        reply
    }
}
