//! As of which commits a file's content is seen: as it is, and by snapshots of the share.

use super::keys::Keys;
use super::records::Inode;
use super::tree::Rows;
use crate::directory::KeyRange;
use crate::records::Record;
use zaffre_base::{ContentId, Incarnation, Stamp};
use zaffre_domain::fs::FileId;

/// Past states looked at together. A file has one for each snapshot at most, and a few that are
/// about to go.
const BATCH: usize = 256;

/// As of which commits a content is seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Views {
    /// By whoever looks at the file as it is.
    pub(crate) current: Option<Stamp>,
    /// By snapshots, in order.
    pub(crate) past: Vec<Stamp>,
}

impl Views {
    /// The newest of them; `None` = nobody sees the content.
    pub(crate) fn newest(&self) -> Option<Stamp> {
        self.current.or(self.past.last().copied())
    }
}

/// Who sees a content of a file.
pub(crate) fn content_views<R: Rows>(
    rows: &mut R,
    share: Incarnation,
    id: FileId,
    content: ContentId,
) -> Result<Views, R::Error> {
    let keys = Keys(share);
    let mut views = Views::default();
    let has = |inode: &Inode| inode.content().is_some_and(|c| c.id == content);
    if let Some(row) = rows.row(&keys.inode(id))? {
        let inode = Inode::from_bytes(&row)?;
        views.current = has(&inode).then_some(inode.since);
    }
    let mut range: KeyRange = keys.past_inodes(id).all();
    loop {
        let found = rows.rows(&range, BATCH)?;
        for row in &found {
            let inode = Inode::from_bytes(&row.value)?;
            if has(&inode) {
                views.past.push(inode.since);
            }
        }
        match found.last() {
            Some(last) if found.len() == BATCH => range.start = [&last.key[..], &[0]].concat(),
            _ => break,
        }
    }
    views.past.sort_unstable();
    views.past.dedup();
    Ok(views)
}

/// Whether anybody sees a content of a file. What is current is looked at first, so that a file of
/// many snapshots costs no more.
pub(crate) fn has_content<R: Rows>(
    rows: &mut R,
    share: Incarnation,
    id: FileId,
    content: ContentId,
) -> Result<bool, R::Error> {
    if let Some(row) = rows.row(&Keys(share).inode(id))?
        && Inode::from_bytes(&row)?.content().is_some_and(|current| current.id == content)
    {
        return Ok(true);
    }
    Ok(content_views(rows, share, id, content)?.newest().is_some())
}
