//! Freeing a sparse content that nothing names any more.

use super::keys::{SparseKeys, tags};
use crate::blob::content::free::{range, single};
use crate::blob::site::Site;
use crate::{Core, Error};
use zaffre_store::Row;

/// The rows without those of a chunk that may go on behind them. Layers share extents, so that a
/// chunk's go together: none is released while a row names it.
pub(crate) fn whole_chunks(rows: &[Row], limit: usize) -> &[Row] {
    let Some(last) = rows.last().filter(|row| rows.len() == limit && is_layer(&row.key)) else {
        return rows;
    };
    let chunk = last.key.get(..CHUNK_PREFIX).unwrap_or_default();
    let end = rows.partition_point(|row| row.key.as_slice() < chunk);
    // One chunk with more layers than that goes in steps.
    if end == 0 { rows } else { &rows[..end] }
}

/// Incarnation, tag, content and chunk.
const CHUNK_PREFIX: usize = 8 + 1 + 16 + 4;

fn is_layer(key: &[u8]) -> bool {
    key.get(8) == Some(&tags::LAYER)
}

/// Deletes all rows of a content and releases the extents they name.
pub(crate) async fn free(core: &Core, site: &Site, keys: SparseKeys) -> Result<(), Error> {
    for tag in [tags::SMALL, tags::CLEAR, tags::LAYER] {
        range(core, site, keys.all(tag)).await?;
    }
    single(core, site, vec![keys.label()]).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::keys::Kept;
    use zaffre_base::{ContentId, Incarnation, Stamp};

    #[test]
    fn a_chunk_is_not_cut() {
        let keys = SparseKeys { incarnation: Incarnation(7), content: ContentId(9) };
        let row = |key| Row { key, value: Vec::new() };
        let layer = |chunk, at| row(keys.layer(chunk, Stamp(at), Kept::Over));
        let rows = [layer(1, 9), layer(1, 8), layer(2, 9), layer(2, 8)];
        assert_eq!(whole_chunks(&rows, 5).len(), 4, "there is nothing behind");
        assert_eq!(whole_chunks(&rows, 4).len(), 2);
        assert_eq!(whole_chunks(&rows[2..], 2).len(), 2, "one chunk alone");
        let smalls = [layer(1, 9), row(keys.small(1, Stamp(9)))];
        assert_eq!(whole_chunks(&smalls, 2).len(), 2);
    }
}
