//! Replies of core into headers and XML, exactly as the service sends them.
//!
//! Must never decide anything but what the requested version shows.

pub(crate) mod entries;
pub(crate) mod file;
pub(crate) mod item;
pub(crate) mod listing;
pub(crate) mod share;
mod since;

use zaffre_base::{ETag, Stamp};
use zaffre_domain::blob::Metadata;
use zaffre_domain::lease::LeaseView;
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, header};

const XML: &str = "application/xml";

/// ETag and Last-Modified.
fn written(reply: Reply, at: Stamp) -> Reply {
    reply.with(header!("last-modified"), at.time().rfc1123()).with(header!("etag"), ETag(at))
}

fn metadata(reply: Reply, metadata: &Metadata) -> Reply {
    metadata.iter().fold(reply, |reply, (name, value)| reply.with_metadata(name, value))
}

/// `x-ms-lease-status`, `-state` and `-duration`.
fn lease(reply: Reply, lease: LeaseView) -> Reply {
    reply
        .with_text(header!("x-ms-lease-status"), lease_status(lease))
        .with_text(header!("x-ms-lease-state"), lease_state(lease))
        .with_some(header!("x-ms-lease-duration"), lease_duration(lease))
}

fn lease_status(lease: LeaseView) -> &'static str {
    if lease.is_locked() { "locked" } else { "unlocked" }
}

fn lease_state(lease: LeaseView) -> &'static str {
    match lease {
        LeaseView::Available => "available",
        LeaseView::Leased { .. } => "leased",
        LeaseView::Breaking => "breaking",
        LeaseView::Broken => "broken",
        LeaseView::Expired => "expired",
    }
}

fn lease_duration(lease: LeaseView) -> Option<&'static str> {
    match lease {
        LeaseView::Leased { infinite: true } => Some("infinite"),
        LeaseView::Leased { infinite: false } => Some("fixed"),
        LeaseView::Available | LeaseView::Breaking | LeaseView::Broken | LeaseView::Expired => None,
    }
}

fn next_marker(xml: &mut Writer, next: Option<&String>) {
    match next {
        Some(next) => xml.element("NextMarker", next),
        None => xml.empty("NextMarker"),
    };
}
