//! Documents of listings.
//!
//! Must never leave out or reorder an element: clients read by position, too.

use super::share::PROTOCOL;
use super::{XML, lease_duration, lease_state, lease_status, next_marker, since};
use crate::parse::listing::{Repeated, SharesListing};
use hyper::StatusCode;
use zaffre_base::{ApiVersion, ETag};
use zaffre_core::file::share::reply::{SharePage, ShareView};
use zaffre_domain::blob::Metadata;
use zaffre_http::Reply;
use zaffre_http::xml::Writer;

/// List Shares.
pub(crate) fn shares(
    page: &SharePage,
    asked: &SharesListing,
    endpoint: &str,
    version: ApiVersion,
) -> Reply {
    let mut xml = Writer::default();
    xml.open_with("EnumerationResults", &[("ServiceEndpoint", endpoint)]);
    let Repeated { prefix, marker, max_results } = &asked.repeated;
    xml.optional("Prefix", prefix.as_ref())
        .optional("Marker", marker.as_ref())
        .optional("MaxResults", max_results.as_ref());
    if page.shares.is_empty() {
        xml.empty("Shares");
    } else {
        xml.open("Shares");
        for view in &page.shares {
            share(&mut xml, view, asked.op.include_metadata, version);
        }
        xml.close("Shares");
    }
    next_marker(&mut xml, page.next.as_ref());
    xml.close("EnumerationResults");
    Reply::new(StatusCode::OK, version).with_body(XML, xml.finish())
}

fn share(xml: &mut Writer, view: &ShareView, shows_metadata: bool, version: ApiVersion) {
    xml.open("Share").element("Name", &view.name);
    xml.optional("Snapshot", view.snapshot.map(|taken| taken.time().iso7()));
    if let Some(deleted) = view.deleted {
        xml.element("Version", format_args!("{:016X}", deleted.version.0)).element("Deleted", true);
    }
    xml.open("Properties")
        .element("Last-Modified", view.written.time().rfc1123())
        .element("Etag", ETag(view.written))
        .element("Quota", view.quota_gib);
    if let Some(deleted) = view.deleted {
        xml.element("DeletedTime", deleted.version.time().rfc1123())
            .element("RemainingRetentionDays", deleted.remaining_days);
    }
    if version >= since::TIERS {
        xml.element("AccessTier", view.tier.text())
            .element("AccessTierChangeTime", view.tier_changed.rfc1123());
    }
    if version >= since::SHARE_LEASES {
        xml.element("LeaseStatus", lease_status(view.lease))
            .element("LeaseState", lease_state(view.lease))
            .optional("LeaseDuration", lease_duration(view.lease))
            .element("EnabledProtocols", PROTOCOL);
    }
    xml.close("Properties");
    if shows_metadata {
        metadata(xml, &view.metadata);
    }
    xml.close("Share");
}

/// Names are identifiers, so that each can be an element of its own.
fn metadata(xml: &mut Writer, metadata: &Metadata) {
    if metadata.is_empty() {
        xml.empty("Metadata");
        return;
    }
    xml.open("Metadata");
    for (name, value) in metadata {
        xml.element(name, value);
    }
    xml.close("Metadata");
}
