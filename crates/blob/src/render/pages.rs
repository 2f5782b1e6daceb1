//! Answers of the operations on page blobs.

use super::upload::{checksum, started};
use super::{XML, written};
use crate::parse::put::Framing;
use hyper::StatusCode;
use zaffre_base::ApiVersion;
use zaffre_core::blob::reply::{Change, PageRangesReply, PageReply};
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, header};

/// Put Page. A clear has no checksum, and nothing that could be encrypted.
pub fn written_pages(reply: &PageReply, framing: Framing, version: ApiVersion) -> Reply {
    let out = match reply.crc64 {
        Some(crc64) => checksum(started(framing, version), reply.md5, crc64, version),
        None => Reply::new(StatusCode::CREATED, version),
    };
    written(out, reply.written, version)
        .with(header!("x-ms-blob-sequence-number"), reply.sequence_number)
}

/// Get Page Ranges, with or without a previous snapshot.
pub fn ranges(reply: &PageRangesReply, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    xml.open("PageList");
    for range in &reply.ranges {
        let name = match range.change {
            Change::Written => "PageRange",
            Change::Cleared => "ClearRange",
        };
        xml.open(name)
            .element("Start", range.bytes.start)
            .element("End", range.bytes.end.saturating_sub(1))
            .close(name);
    }
    if let Some(next) = reply.next {
        xml.element("NextMarker", next);
    }
    xml.close("PageList");
    written(Reply::new(StatusCode::OK, version), reply.written, version)
        .with(header!("x-ms-blob-content-length"), reply.length)
        .with_body(XML, xml.finish())
}
