//! How a tier is shown: as headers, as elements of a listing, and by Set Blob Tier.

use super::since;
use hyper::StatusCode;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_core::blob::reply::{BlobView, OfKind};
use zaffre_domain::blob::tier::{AccessTier, Rehydration, TierSet};
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, header};

/// Set Blob Tier: 202 while the blob is on its way back from the archive.
pub fn set(set: TierSet, version: ApiVersion) -> Reply {
    let status = match set {
        TierSet::Done => StatusCode::OK,
        TierSet::Pending => StatusCode::ACCEPTED,
    };
    Reply::new(status, version)
}

/// What there is to show, in the order of a listing.
struct Shown {
    tier: &'static str,
    /// Nobody set it.
    inferred: bool,
    changed: Option<Timestamp>,
    archive_status: Option<&'static str>,
    priority: Option<&'static str>,
}

/// Only block blobs have a tier without being given one.
fn shown(view: &BlobView, version: ApiVersion) -> Option<Shown> {
    let way = view.tier.rehydration;
    let status = |way: Rehydration| match way.to {
        AccessTier::Cool => "rehydrate-pending-to-cool",
        AccessTier::Cold => "rehydrate-pending-to-cold",
        _ => "rehydrate-pending-to-hot",
    };
    let priority = way.filter(|_| version >= since::REHYDRATE_PRIORITY);
    let (tier, changed) = match view.tier.set {
        Some((tier, since)) => (tier.text(), Some(since)),
        None if view.of_kind == OfKind::Block => (AccessTier::Hot.text(), None),
        None => return None,
    };
    Some(Shown {
        tier,
        inferred: changed.is_none(),
        changed,
        archive_status: way.map(status),
        priority: priority.map(|way| way.priority.text()),
    })
}

/// On Get Blob Properties.
pub(super) fn headers(reply: Reply, view: &BlobView, version: ApiVersion) -> Reply {
    let Some(shown) = shown(view, version) else { return reply };
    reply
        .with_text(header!("x-ms-access-tier"), shown.tier)
        .with_some(header!("x-ms-access-tier-inferred"), shown.inferred.then_some("true"))
        .with_some(header!("x-ms-access-tier-change-time"), shown.changed.map(Timestamp::rfc1123))
        .with_some(header!("x-ms-archive-status"), shown.archive_status)
        .with_some(header!("x-ms-rehydrate-priority"), shown.priority)
}

/// In a listing.
pub(super) fn elements(xml: &mut Writer, view: &BlobView, version: ApiVersion) {
    let Some(shown) = shown(view, version) else { return };
    xml.element("AccessTier", shown.tier)
        .optional("AccessTierInferred", shown.inferred.then_some("true"))
        .optional("AccessTierChangeTime", shown.changed.map(Timestamp::rfc1123))
        .optional("ArchiveStatus", shown.archive_status)
        .optional("RehydratePriority", shown.priority);
}
