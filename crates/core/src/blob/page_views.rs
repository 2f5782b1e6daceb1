//! As of which commits the content of a page blob can be looked at, apart from now.

use super::keys::Keys;
use super::records::{Head, Record};
use zaffre_base::{BlobName, ContentId, Stamp};
use zaffre_store::{Snapshot, StoreError};

/// Rows read at once.
const BATCH: usize = 256;

/// The snapshots and versions of a blob that show this content, each as of the commit it shows.
pub(crate) fn history_views(
    inside: &Snapshot,
    keys: Keys,
    name: &BlobName,
    content: ContentId,
) -> Result<Vec<Stamp>, StoreError> {
    let mut range = keys.past_of(name);
    let mut views = Vec::new();
    loop {
        let rows = inside.scan(&range.start, range.end.as_deref(), BATCH)?;
        for row in &rows {
            let head = Head::from_bytes(&row.value)?;
            if head.content.id == content {
                views.push(head.written);
            }
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => range.start = [&last.key[..], &[0]].concat(),
            _ => break,
        }
    }
    views.sort_unstable();
    views.dedup();
    Ok(views)
}
