//! Pages of a committed block list: of a block blob written once, before the commit that makes them
//! count; of an append blob added to, where no reader of what was there before looks.

use super::{Content, Record};
use minicbor::{Decode, Encode};

/// Blocks in every page but the last. A block takes at most 102 bytes, so a page fits a value.
pub(crate) const BLOCKS_PER_PAGE: usize = 512;

/// Blocks in every page but the last of an append blob. Each append rewrites the last page, so that
/// it is small.
pub(crate) const APPENDED_PER_PAGE: u32 = 64;

/// One page of a block list.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Page {
    /// Where its first block starts in the blob.
    #[n(0)]
    pub(crate) offset: u64,
    #[n(1)]
    pub(crate) blocks: Vec<Block>,
}

/// One committed block.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
pub(crate) struct Block {
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(crate) id: Vec<u8>,
    #[n(1)]
    pub(crate) content: Content,
}

impl Record for Page {
    const WHAT: &'static str = "block list page";
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use zaffre_base::ContentId;

    #[test]
    fn the_largest_page_fits_a_value() {
        let content = Content {
            id: ContentId(u128::MAX),
            length: u64::MAX,
            shape: Shape::Pieces { size: u32::MAX },
        };
        let block = Block { id: vec![0xFF; 64], content };
        let page = Page { offset: u64::MAX, blocks: vec![block; BLOCKS_PER_PAGE] };
        let bytes = page.to_bytes();
        assert!(bytes.len() <= 64 * 1024, "{} bytes", bytes.len());
        assert_eq!(Page::from_bytes(&bytes).ok(), Some(page));
    }
}
