//! Get Page Ranges: which pages are there, or which have changed since a snapshot.

use super::admit::{self, Presented};
use super::content::free::sparse_keys;
use super::history;
use super::keys::Keys;
use super::op::{BlobPath, GetPageRanges, Moment};
use super::records::Head;
use super::reply::{PageRangesReply, Written};
use super::site::{find, is_deleted};
use crate::sparse::{self, Comparison};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::limits::PAGE_RANGES;
use zaffre_base::{Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::range::clip;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::sparse::Ranges;
use zaffre_store::Snapshot;

/// Chunks looked at for one page, if the answer may end early: 64 GiB.
const CHUNKS: u32 = 65_536;

/// Lists the pages of a page blob, or what differs from an earlier snapshot.
pub async fn get_page_ranges(
    core: &Core,
    op: Authorized<GetPageRanges>,
) -> Result<PageRangesReply, Error> {
    let (op, _) = op.into_parts();
    let version = op.context.version;
    check_combination(&op.conditions, Access::Read { version })?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let site = found.site;
    let inside = core.store().meta.snapshot(&site.placement).await?;
    let now = core.now(&inside);
    let seen = history::peek(&inside, site.keys, &op.at, now)?;
    if seen.is_none() && is_deleted(&inside, site.keys)? {
        return Err(Refusal::ContainerNotFound.into());
    }
    admit::of_kind(seen.as_ref().map(|seen| &*seen.head), BlobKind::Page)?;
    let presented = Presented { lease: op.lease, conditions: op.conditions.clone() };
    let seen = admit::read(seen, &presented, version, now)?;
    seen.readable()?;
    let head = seen.head;
    let previous = previous(&op, &inside, site.keys, &head, now)?;
    let length = head.content.length;
    let mut window = match op.range {
        Some(asked) => clip(asked, length, version)?
            .map_or(0..length, |span| span.offset..span.offset + span.length),
        None => 0..length,
    };
    window.start = window.start.max(op.marker.unwrap_or(0));
    let what = Comparison { as_of: head.written, since: previous, grain: None };
    let written = Written::at(head.written);
    let (content, placement) = (head.content.id, site.placement.clone());
    // As readers before the pin is let go, so that what is looked at stays.
    let enter = |as_of| core.readers().enter(&placement, content, as_of);
    let _readers = (enter(what.as_of), previous.map(enter));
    let _pin = found.pin.narrow(&placement, content);
    let (most, chunks) = match op.max_results {
        Some(most) => (most.min(PAGE_RANGES), CHUNKS),
        None if op.may_page => (PAGE_RANGES, CHUNKS),
        None => (u32::MAX, u32::MAX),
    };
    let ranges = Ranges::new(window.clone(), usize::try_from(most).unwrap_or(usize::MAX));
    let keys = sparse_keys(&site, content);
    let scanned = sparse::scan(core, &placement, keys, what, window, ranges, chunks).await?;
    let (ranges, next) = scanned.0.finish();
    Ok(PageRangesReply { written, length, ranges, next: next.or(scanned.1) })
}

/// The commit that the snapshot to compare with shows.
fn previous(
    op: &GetPageRanges,
    inside: &Snapshot,
    keys: Keys,
    head: &Head,
    now: Timestamp,
) -> Result<Option<Stamp>, Error> {
    let Some(previous) = &op.previous else { return Ok(None) };
    if let Moment::Snapshot(id) | Moment::Version(id) = &op.at.moment
        && id.at < previous.at
    {
        return Err(Refusal::PreviousSnapshotCannotBeNewer.into());
    }
    let at = BlobPath { moment: Moment::Snapshot(previous.clone()), ..op.at.clone() };
    let seen = history::peek(inside, keys, &at, now)?.ok_or(Refusal::PreviousSnapshotNotFound)?;
    if seen.head.content.id != head.content.id {
        return Err(Refusal::BlobOverwritten.into());
    }
    Ok(Some(seen.head.written))
}
