//! Get File: a file or a range of it, all from one state however long the download takes.

use super::admit;
use super::entered::{enter, is_open};
use super::file_properties::file_view;
use super::found::Reading;
use super::op::{GetFile, Kind};
use super::permission;
use super::reply::GetFileReply;
use crate::blob::ByteStream;
use crate::blob::content::read::Download;
use crate::{Core, Error};
use bytes::Bytes;
use futures_util::stream;
use std::ops::Range as Bounds;
use zaffre_auth::Authorized;
use zaffre_base::ApiVersion;
use zaffre_base::checksum::Md5;
use zaffre_domain::blob::range::{Span, check_checksum_span, clip};
use zaffre_domain::fs::locks::Range;
use zaffre_domain::fs::rest::RestOp;
use zaffre_store::StoreError;

/// Reads a file.
pub async fn get_file(core: &Core, op: Authorized<GetFile>) -> Result<GetFileReply, Error> {
    let (op, _) = op.into_parts();
    let mut reading = Reading::open(core, &op.at).await?;
    let (mut id, mut inode) = reading.item(&op.at.path, Kind::File)?;
    let mut entered = None;
    if op.at.snapshot.is_none() {
        let how = RestOp::GetFile(locked(op.range));
        let opened = is_open(core, &reading.place, id);
        entered = Some(enter(core, &reading.place, id, how, op.patience).await?);
        if opened {
            // What was cached is written while this waits: it is looked up again.
            reading = Reading::open(core, &op.at).await?;
            (id, inode) = reading.item(&op.at.path, Kind::File)?;
        }
        admit::read(&inode, op.lease, reading.now)?;
    }
    let content = inode.content().ok_or_else(|| StoreError::corrupt("a file without content"))?;
    let whole = Span { offset: 0, length: content.length };
    let span = match op.range {
        Some(asked) => clip(asked, content.length, ApiVersion::LATEST)?,
        None => None,
    };
    let wanted = span.unwrap_or(whole);
    if op.range_md5 {
        check_checksum_span(wanted)?;
    }
    let descriptor = permission::of(&mut &reading.inside, reading.keys, &inode)?;
    let (site, as_of) = (reading.site(), inode.since);
    let file = file_view(id, inode, op.at.snapshot.is_some(), reading.now)?;
    let bytes: Bounds<u64> = wanted.offset..wanted.offset.saturating_add(wanted.length);
    let (body, range_md5) = if bytes.is_empty() {
        (once(Bytes::new()), op.range_md5.then(|| md5(&[])))
    } else {
        // As a reader before the pin is let go, so that what is read stays.
        let reader = core.readers().enter(&site.placement, content.id, as_of);
        let pin = reading.pin.narrow(&site.placement, content.id);
        let mut download = Download::new(core, &site, content, bytes, pin).seen_by(reader);
        if op.range_md5 {
            let bytes = download.collect().await?;
            (once(bytes.clone()), Some(md5(&bytes)))
        } else {
            let first = download.next().await?;
            (download.into_stream(first), None)
        }
    };
    drop(entered);
    Ok(GetFileReply {
        file,
        descriptor: Box::new(descriptor),
        range: span.map(|span| (span.offset, span.offset + (span.length - 1))),
        length: wanted.length,
        range_md5,
        body,
    })
}

/// The bytes that a read is about, for those who hold locks.
pub(super) fn locked(range: Option<(u64, Option<u64>)>) -> Range {
    let (first, last) = range.unwrap_or((0, None));
    let len = last.map_or(u64::MAX - first, |last| last.saturating_sub(first).saturating_add(1));
    Range { offset: first, len }
}

fn once(bytes: Bytes) -> ByteStream {
    let some = if bytes.is_empty() { None } else { Some(Ok(bytes)) };
    Box::pin(stream::iter(some))
}

fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut md5 = Md5::default();
    md5.update(bytes);
    md5.finish()
}
