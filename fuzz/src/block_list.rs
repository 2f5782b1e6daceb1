//! The body of Put Block List: what is read can be written and read again as the same list.

use zaffre_base::base64;
use zaffre_base::limits::{BLOCK_ID_BYTES, COMMITTED_BLOCKS};
use zaffre_blob::body::block_list::parse;
use zaffre_domain::blob::{BlockListEntry, BlockSource};
use zaffre_http::xml::Writer;

/// The target.
pub fn run(input: &[u8]) {
    let Ok(blocks) = parse(input) else { return };
    assert!(blocks.len() <= COMMITTED_BLOCKS);
    assert!(blocks.iter().all(|block| (1..=BLOCK_ID_BYTES).contains(&block.id.len())));
    assert_eq!(parse(&written(&blocks)).ok(), Some(blocks));
}

fn written(blocks: &[BlockListEntry]) -> Vec<u8> {
    let mut xml = Writer::default();
    xml.open("BlockList");
    for block in blocks {
        let name = match block.source {
            BlockSource::Committed => "Committed",
            BlockSource::Uncommitted => "Uncommitted",
            BlockSource::Latest => "Latest",
        };
        xml.element(name, base64::encode(&block.id));
    }
    xml.close("BlockList");
    xml.finish()
}
