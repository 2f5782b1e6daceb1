//! The answer of Get Block List.

use super::{XML, written};
use hyper::StatusCode;
use zaffre_base::{ApiVersion, base64};
use zaffre_core::blob::reply::{BlockListReply, BlockView};
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, header};

/// Get Block List; a blob that only has staged blocks shows no ETag and no length.
pub fn list(reply: &BlockListReply, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    xml.open("BlockList");
    section(&mut xml, "CommittedBlocks", reply.committed.as_deref());
    section(&mut xml, "UncommittedBlocks", reply.uncommitted.as_deref());
    xml.close("BlockList");
    let mut out = Reply::new(StatusCode::OK, version);
    if let Some((commit, length)) = reply.committed_state {
        out = written(out, commit, version).with(header!("x-ms-blob-content-length"), length);
    }
    out.with_body(XML, xml.finish())
}

fn section(xml: &mut Writer, name: &str, blocks: Option<&[BlockView]>) {
    let Some(blocks) = blocks else { return };
    if blocks.is_empty() {
        xml.empty(name);
        return;
    }
    xml.open(name);
    for block in blocks {
        xml.open("Block")
            .element("Name", base64::encode(&block.id))
            .element("Size", block.length)
            .close("Block");
    }
    xml.close(name);
}
