//! Answers of operations on shares.

use super::{XML, lease, metadata, since, written};
use hyper::StatusCode;
use zaffre_base::{ApiVersion, Stamp};
use zaffre_core::file::share::reply::{ShareAcl, ShareLeased, ShareStats, ShareView};
use zaffre_domain::lease::LeaseCommand;
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, access_policies, header};

const GIB: u64 = 1024 * 1024 * 1024;

/// The protocol of every share.
pub(super) const PROTOCOL: &str = "SMB";

/// ETag and Last-Modified alone.
pub(crate) fn changed(status: StatusCode, at: Stamp, version: ApiVersion) -> Reply {
    written(Reply::new(status, version), at)
}

/// Get Share Properties.
pub(crate) fn properties(view: &ShareView, version: ApiVersion) -> Reply {
    let mut reply = only_metadata(view, version).with(header!("x-ms-share-quota"), view.quota_gib);
    if version >= since::TIERS {
        reply = reply
            .with_text(header!("x-ms-access-tier"), view.tier.text())
            .with(header!("x-ms-access-tier-change-time"), view.tier_changed.rfc1123());
    }
    if version >= since::SHARE_LEASES {
        reply = lease(reply, view.lease).with_text(header!("x-ms-enabled-protocols"), PROTOCOL);
    }
    reply
}

/// Get Share Metadata.
pub(crate) fn only_metadata(view: &ShareView, version: ApiVersion) -> Reply {
    metadata(changed(StatusCode::OK, view.written, version), &view.metadata)
}

/// Get Share ACL.
pub(crate) fn acl(acl: &ShareAcl, version: ApiVersion) -> Reply {
    changed(StatusCode::OK, acl.written, version)
        .with_body(XML, access_policies::document(&acl.policies))
}

/// Get Share Stats.
pub(crate) fn stats(stats: &ShareStats, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    xml.open("ShareStats");
    if version >= since::USAGE_IN_BYTES {
        xml.element("ShareUsageBytes", stats.usage);
    } else {
        xml.element("ShareUsage", stats.usage.div_ceil(GIB));
    }
    xml.close("ShareStats");
    changed(StatusCode::OK, stats.written, version).with_body(XML, xml.finish())
}

/// Lease Share; the status tells which action it was.
pub(crate) fn leased(command: LeaseCommand, leased: &ShareLeased, version: ApiVersion) -> Reply {
    changed(lease_status(command), leased.written, version)
        .with_some(header!("x-ms-lease-id"), leased.id)
        .with_some(header!("x-ms-lease-time"), leased.break_seconds)
}

/// The status of a lease action.
pub(crate) fn lease_status(command: LeaseCommand) -> StatusCode {
    match command {
        LeaseCommand::Acquire { .. } => StatusCode::CREATED,
        LeaseCommand::Renew { .. } | LeaseCommand::Change { .. } | LeaseCommand::Release { .. } => {
            StatusCode::OK
        }
        LeaseCommand::Break { .. } => StatusCode::ACCEPTED,
    }
}
