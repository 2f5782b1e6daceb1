//! Get Blob: a blob or a range of it, all from one version however long the download takes.

use super::admit::{self, Presented};
use super::content::read::{Download, inline, sparse_reader};
use super::op::{CustomerKey, GetBlob, RangeChecksum};
use super::records::{Head, Shape};
use super::reply::GetBlobReply;
use super::site::{Found, find, is_deleted};
use super::{ByteStream, history};
use crate::{Core, Error};
use bytes::Bytes;
use futures_util::stream;
use std::ops::Range;
use zaffre_auth::Authorized;
use zaffre_base::checksum::{Crc64, Md5};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::range::{Span, check_checksum_span, clip};
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_store::Snapshot;

/// Reads a blob.
pub async fn get_blob(core: &Core, op: Authorized<GetBlob>) -> Result<GetBlobReply, Error> {
    let (op, _) = op.into_parts();
    read(core, op, None).await
}

/// Reads a blob, which may have to be of one kind.
pub(super) async fn read(
    core: &Core,
    op: GetBlob,
    only: Option<BlobKind>,
) -> Result<GetBlobReply, Error> {
    let version = op.context.version;
    check_combination(&op.conditions, Access::Read { version })?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let inside = core.store().meta.snapshot(&found.site.placement).await?;
    let keys = found.site.keys;
    let now = core.now(&inside);
    let seen = history::peek(&inside, keys, &op.at, now)?;
    if seen.is_none() && is_deleted(&inside, keys)? {
        return Err(Refusal::ContainerNotFound.into());
    }
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let seen = admit::read_content(seen, &presented, version, now)?;
    seen.readable()?;
    let head = &seen.head;
    head.encrypted.admits(&op.encryption.shown())?;
    if seen.is_current() && core.settings(&op.at.account).last_access_tracking {
        core.accesses().note(&found.site, &op.at.blob, head.last_access, now);
    }
    if let Some(kind) = only {
        head.kind().must_be(kind)?;
    }
    let total = head.content.length;
    let span = match op.range {
        Some(asked) => clip(asked, total, version)?,
        None => None,
    };
    let whole = Span { offset: 0, length: total };
    let wanted = span.unwrap_or(whole);
    if op.range_checksum.is_some() {
        check_checksum_span(wanted)?;
    }
    let key = op.encryption.key();
    let source = Source::open(core, found, &inside, head, wanted, key)?;
    let (body, sums) = source.start(op.range_checksum).await?;
    Ok(GetBlobReply {
        blob: seen.view(op.at.blob, now),
        range: span.map(|span| (span.offset, span.offset + (span.length - 1))),
        length: wanted.length,
        range_md5: sums.md5,
        range_crc64: sums.crc64,
        body,
    })
}

/// Where the bytes come from.
pub(super) enum Source {
    Ready(Bytes),
    Disk(Box<Download>),
}

#[derive(Default)]
pub(super) struct Sums {
    md5: Option<[u8; 16]>,
    crc64: Option<[u8; 8]>,
}

impl Source {
    pub(super) fn open(
        core: &Core,
        found: Found,
        inside: &Snapshot,
        head: &Head,
        wanted: Span,
        key: Option<&CustomerKey>,
    ) -> Result<Self, Error> {
        let (content, as_of) = (head.content, head.written);
        let bytes: Range<u64> = wanted.offset..wanted.offset.saturating_add(wanted.length);
        let site = found.site;
        match content.shape {
            Shape::Empty => Ok(Self::Ready(Bytes::new())),
            Shape::Inline => Ok(Self::Ready(inline(inside, &site, &content, bytes, key)?)),
            Shape::Sparse => {
                let (reader, pin) = sparse_reader(core, &site, content.id, as_of, found.pin);
                let download = Download::new(core, &site, content, bytes, pin);
                let download = download.seen_by(reader).decrypted_by(key.cloned());
                Ok(Self::Disk(Box::new(download)))
            }
            Shape::Pieces { .. } | Shape::Blocks { .. } => {
                let pin = found.pin.narrow(&site.placement, content.id);
                let download = Download::new(core, &site, content, bytes, pin);
                Ok(Self::Disk(Box::new(download.decrypted_by(key.cloned()))))
            }
        }
    }

    /// The stream, and the checksum asked for. The first bytes are read before the answer starts,
    /// so that an unreadable blob is an error and not a broken download.
    pub(super) async fn start(
        self,
        checksum: Option<RangeChecksum>,
    ) -> Result<(ByteStream, Sums), Error> {
        // On the heap what reads the disk: most blobs are small, and ready.
        match (self, checksum) {
            (Self::Ready(bytes), checksum) => Ok((once(bytes.clone()), sums(&bytes, checksum))),
            (Self::Disk(download), Some(_)) => {
                let bytes = Box::pin(download.collect()).await?;
                Ok((once(bytes.clone()), sums(&bytes, checksum)))
            }
            (Self::Disk(mut download), None) => {
                let first = Box::pin(download.next()).await?;
                Ok((download.into_stream(first), Sums::default()))
            }
        }
    }
}

fn once(bytes: Bytes) -> ByteStream {
    let some = if bytes.is_empty() { None } else { Some(Ok(bytes)) };
    Box::pin(stream::iter(some))
}

fn sums(bytes: &[u8], checksum: Option<RangeChecksum>) -> Sums {
    match checksum {
        None => Sums::default(),
        Some(RangeChecksum::Md5) => {
            let mut md5 = Md5::default();
            md5.update(bytes);
            Sums { md5: Some(md5.finish()), crc64: None }
        }
        Some(RangeChecksum::Crc64) => {
            let mut crc = Crc64::default();
            crc.update(bytes);
            Sums { md5: None, crc64: Some(crc.finish()) }
        }
    }
}
