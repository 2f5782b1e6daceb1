//! List Ranges: which bytes of a file are there, or which have changed since a snapshot.

use super::admit;
use super::entered::{enter, is_open};
use super::found::Reading;
use super::get_file::locked;
use super::keys::Keys;
use super::op::{ItemPath, Kind, ListRanges};
use super::records::Inode;
use super::reply::RangesReply;
use super::share;
use super::tree::Tree;
use crate::blob::content::free::sparse_keys;
use crate::sparse::{self, Comparison};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::limits::FILE_BLOCK_BYTES;
use zaffre_base::{ApiVersion, Stamp};
use zaffre_domain::blob::range::clip;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{FileId, FileRefusal};
use zaffre_domain::sparse::Ranges;
use zaffre_store::StoreError;

/// Chunks looked at for one page, if the answer may end early: 64 GiB.
const CHUNKS: u32 = 65_536;

/// Lists the ranges of a file, or what differs from an earlier snapshot.
pub async fn list_ranges(core: &Core, op: Authorized<ListRanges>) -> Result<RangesReply, Error> {
    let (op, _) = op.into_parts();
    let mut reading = Reading::open(core, &op.at).await?;
    let (mut id, mut inode) = reading.item(&op.at.path, Kind::File)?;
    let mut entered = None;
    if op.at.snapshot.is_none() {
        let how = RestOp::ListRanges(locked(op.range));
        let opened = is_open(core, &reading.place, id);
        entered = Some(enter(core, &reading.place, id, how, op.patience).await?);
        if opened {
            reading = Reading::open(core, &op.at).await?;
            (id, inode) = reading.item(&op.at.path, Kind::File)?;
        }
        admit::read(&inode, op.lease, reading.now)?;
    }
    let previous = match op.previous {
        Some(taken) => Some(previous(core, &op, &reading, id, &inode, taken).await?),
        None => None,
    };
    let content = inode.content().ok_or_else(|| StoreError::corrupt("a file without content"))?;
    let length = content.length;
    let mut window = match op.range {
        Some(asked) => clip(asked, length, ApiVersion::LATEST)?
            .map_or(0..length, |span| span.offset..span.offset + span.length),
        None => 0..length,
    };
    window.start = window.start.max(op.marker.unwrap_or(0));
    let (site, written) = (reading.site(), inode.written);
    let what = Comparison { as_of: inode.since, since: previous, grain: Some(FILE_BLOCK_BYTES) };
    // As readers before the pin is let go, so that what is looked at stays.
    let reader = |as_of| core.readers().enter(&site.placement, content.id, as_of);
    let _readers = (reader(what.as_of), previous.map(reader));
    let _pin = reading.pin.narrow(&site.placement, content.id);
    let (most, chunks) = match op.max_results {
        Some(most) => (usize::try_from(most).unwrap_or(usize::MAX), CHUNKS),
        None => (usize::MAX, u32::MAX),
    };
    let ranges = Ranges::new(window.clone(), most);
    let keys = sparse_keys(&site, content.id);
    let at = &site.placement;
    let (found, more) = sparse::scan(core, at, keys, what, window, ranges, chunks).await?;
    drop(entered);
    let (ranges, next) = found.finish();
    Ok(RangesReply { written, length, ranges, next: next.or(more) })
}

/// The commit that the snapshot to compare with shows of the same content.
async fn previous(
    core: &Core,
    op: &ListRanges,
    reading: &Reading,
    id: FileId,
    now: &Inode,
    taken: Stamp,
) -> Result<Stamp, Error> {
    let missing = |error| match error {
        Error::Refused(zaffre_domain::Refusal::File(FileRefusal::ShareSnapshotNotFound)) => {
            FileRefusal::PreviousSnapshotNotFound.into()
        }
        other => other,
    };
    share::find(core, &op.at.share, Some(taken)).await.map_err(missing)?;
    let mut rows = &reading.inside;
    let keys: Keys = reading.keys;
    let mut tree = Tree { rows: &mut rows, keys, at: Some(taken) };
    let then_id = if op.support_rename {
        id
    } else {
        let at = ItemPath { snapshot: Some(taken), ..op.at.clone() };
        let walk = tree.walk(&at.path)?.map_err(|_| FileRefusal::ResourceNotFound)?;
        super::found::expect(&walk, Kind::File)?
    };
    let then = tree.inode(then_id)?.ok_or(FileRefusal::ResourceNotFound)?;
    if then.content().map(|c| c.id) != now.content().map(|c| c.id) {
        return Err(FileRefusal::FileGenerationMismatch.into());
    }
    Ok(then.since)
}
