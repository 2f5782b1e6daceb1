//! Block lists on disk: pages written once, read back by number or by the offset they cover.

use super::claim::KeyValue;
use crate::Error;
use crate::blob::keys::Keys;
use crate::blob::records::{BLOCKS_PER_PAGE, Block, Content, Page, Record, Shape};
use zaffre_base::ContentId;
use zaffre_store::{Snapshot, StoreError};

/// The pages of a new block list, and the content they make.
pub(crate) struct NewManifest {
    pub(crate) content: Content,
    pub(crate) rows: Vec<KeyValue>,
}

/// Lays a list of blocks out in pages.
pub(crate) fn build(
    keys: Keys,
    id: ContentId,
    blocks: Vec<Block>,
) -> Result<NewManifest, StoreError> {
    let mut rows = Vec::with_capacity(blocks.len().div_ceil(BLOCKS_PER_PAGE));
    let mut offset = 0_u64;
    let mut number = 0_u32;
    let mut blocks = blocks.into_iter().peekable();
    while blocks.peek().is_some() {
        let page = Page { offset, blocks: blocks.by_ref().take(BLOCKS_PER_PAGE).collect() };
        for block in &page.blocks {
            offset = offset
                .checked_add(block.content.length)
                .ok_or(StoreError::Limit("a blob longer than 2^64 bytes"))?;
        }
        rows.push((keys.page(id, number), page.to_bytes().into()));
        number += 1;
    }
    let shape = if rows.is_empty() { Shape::Empty } else { Shape::Blocks { pages: number } };
    Ok(NewManifest { content: Content { id, length: offset, shape }, rows })
}

/// Reads one page.
pub(crate) fn page(
    snapshot: &Snapshot,
    keys: Keys,
    id: ContentId,
    number: u32,
) -> Result<Page, StoreError> {
    Page::peek(snapshot, &keys.page(id, number))?
        .ok_or_else(|| StoreError::corrupt(format!("page {number} of a block list is missing")))
}

/// The number of the page that covers `offset`, and the page.
pub(crate) fn page_at(
    snapshot: &Snapshot,
    keys: Keys,
    id: ContentId,
    pages: u32,
    offset: u64,
) -> Result<(u32, Page), StoreError> {
    // The last page that starts at or before the offset: it is in low..high.
    let (mut low, mut high) = (0, pages);
    let mut best = page(snapshot, keys, id, 0)?;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let candidate = page(snapshot, keys, id, middle)?;
        if candidate.offset <= offset {
            (low, best) = (middle, candidate);
        } else {
            high = middle;
        }
    }
    Ok((low, best))
}

/// All blocks of a content, in order, given to `each`; content without a list has none.
pub(crate) fn for_each(
    snapshot: &Snapshot,
    keys: Keys,
    content: &Content,
    mut each: impl FnMut(Block),
) -> Result<(), Error> {
    let Shape::Blocks { pages } = content.shape else { return Ok(()) };
    for number in 0..pages {
        page(snapshot, keys, content.id, number)?.blocks.into_iter().for_each(&mut each);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::Incarnation;

    fn blocks(count: usize) -> Vec<Block> {
        let block = |n: usize| Block {
            id: n.to_be_bytes().to_vec(),
            content: Content { id: ContentId(1), length: 10, shape: Shape::Inline },
        };
        (0..count).map(block).collect()
    }

    #[test]
    fn pages_hold_all_blocks_in_order() {
        let keys = Keys(Incarnation(1));
        for (count, pages) in [(0, 0), (1, 1), (512, 1), (513, 2), (50_000, 98)] {
            let built = build(keys, ContentId(9), blocks(count)).expect("fits");
            assert_eq!(built.rows.len(), pages, "{count}");
            assert_eq!(built.content.length, 10 * u64::try_from(count).unwrap_or(0));
            let mut seen = Vec::new();
            for (_, value) in &built.rows {
                let page = Page::from_bytes(value).expect("readable");
                assert_eq!(page.offset, 10 * u64::try_from(seen.len()).unwrap_or(0));
                seen.extend(page.blocks);
            }
            assert_eq!(seen, blocks(count));
        }
    }
}
