//! Receiving bytes for a place in a sparse content: small ones are kept for a row, others written to
//! extents chunk by chunk.
//!
//! Must never leave bytes behind: whatever no committed row names is released.

use super::keys::SparseKeys;
use crate::blob::ByteStream;
use crate::blob::content::digest::Digest;
use crate::blob::content::unclaimed::Unclaimed;
use crate::blob::content::upload::{Expected, broken_body};
use crate::blob::op::{CustomerKey, ExpectedChecksum};
use crate::blob::site::Site;
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::task::JoinHandle;
use zaffre_base::checksum::Crc64;
use zaffre_domain::Refusal;
use zaffre_domain::blob::sizes::check_size;
use zaffre_domain::sparse::{Part, first_part};
use zaffre_store::StoreError;
use zaffre_store::extents::WriteGuard;
use zaffre_store::xts::{BLOCK_BYTES, Xts};

/// Extents on their way to the disk for one upload.
const IN_FLIGHT: usize = 2;

/// Bytes in a chunk.
const CHUNK: usize = 1024 * 1024;

/// Bytes that arrived for a place in a content. Their rows are still to be written.
pub(crate) struct Incoming {
    pub(crate) bytes: Payload,
    /// Perhaps not finished yet: it is nothing that the bytes on the disk wait for.
    pub(crate) digest: Option<Digest>,
    pub(crate) crc64: [u8; 8],
}

impl Incoming {
    /// Holds the bytes against what was announced. Waits for the digest only if it is asked for;
    /// otherwise it is still to come.
    pub(crate) async fn checked(
        mut self,
        expect: &ExpectedChecksum,
    ) -> Result<(Payload, Option<Digest>, Sums), Error> {
        let digest = self.digest.take_if(|_| expect.md5.is_some());
        let md5 = match digest {
            Some(digest) => Some(digest.finish().await?),
            None => None,
        };
        expect.check(md5, self.crc64)?;
        Ok((self.bytes, self.digest, Sums { md5, crc64: self.crc64 }))
    }
}

/// Checksums of what arrived.
pub(crate) struct Sums {
    pub(crate) md5: Option<[u8; 16]>,
    pub(crate) crc64: [u8; 8],
}

/// Where the bytes are.
pub(crate) enum Payload {
    /// Here, to be kept in rows.
    Small(Bytes),
    /// In extents whose owners are chunks of one content.
    Written(Vec<(Part, Unclaimed)>),
}

/// Takes bytes in for `offset` of the content.
pub(crate) async fn receive(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
    offset: u64,
    body: ByteStream,
    expected: Expected,
) -> Result<Incoming, Error> {
    receive_sealed(core, site, keys, offset, body, expected, None).await
}

/// The same for content that is encrypted with a customer's key, if there is one.
pub(crate) async fn receive_sealed(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
    offset: u64,
    mut body: ByteStream,
    expected: Expected,
    key: Option<&CustomerKey>,
) -> Result<Incoming, Error> {
    let mut crc = Crc64::default();
    let mut digest = expected.md5.then(|| Digest::begin(core.hashing(), expected.length));
    let mut length = 0_u64;
    let mut intake = Intake::begin(core, site, keys, offset, key);
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|error| broken_body(&error))?;
        length = length.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        check_size(length, expected.limit)?;
        crc.update(&piece);
        if let Some(digest) = &mut digest {
            digest.update(&piece).await;
        }
        intake.take(piece).await?;
    }
    if expected.length.is_some_and(|announced| announced != length) {
        return Err(Refusal::IncompleteBody.into());
    }
    if let Some(digest) = &mut digest {
        digest.end();
    }
    let bytes = intake.finish().await?;
    Ok(Incoming { bytes, digest, crc64: crc.finish() })
}

/// Writes bytes that are here already, for a content that turned out to be another one.
pub(crate) async fn write(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
    offset: u64,
    pieces: impl IntoIterator<Item = Bytes>,
) -> Result<Payload, Error> {
    write_sealed(core, site, keys, offset, pieces, None).await
}

/// The same for content that is encrypted with a customer's key, if there is one.
pub(crate) async fn write_sealed(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
    offset: u64,
    pieces: impl IntoIterator<Item = Bytes>,
    key: Option<&CustomerKey>,
) -> Result<Payload, Error> {
    let mut intake = Intake::begin(core, site, keys, offset, key);
    for piece in pieces {
        intake.take(piece).await?;
    }
    intake.finish().await
}

struct Intake {
    core: Core,
    site: Site,
    keys: SparseKeys,
    open: Arc<WriteGuard>,
    /// Encrypts what is stored, whose blocks are numbered from the content's start.
    cipher: Option<Xts>,
    buffer: BytesMut,
    /// Where the buffer starts in the content.
    offset: u64,
    writing: VecDeque<(Part, JoinHandle<Result<Unclaimed, StoreError>>)>,
    written: Vec<(Part, Unclaimed)>,
}

impl Intake {
    fn begin(
        core: &Core,
        site: &Site,
        keys: SparseKeys,
        offset: u64,
        key: Option<&CustomerKey>,
    ) -> Self {
        Self {
            cipher: key.map(|key| key.cipher(keys.content)),
            core: core.clone(),
            site: site.clone(),
            keys,
            open: Arc::new(core.store().extents.begin_write()),
            buffer: BytesMut::new(),
            offset,
            writing: VecDeque::new(),
            written: Vec::new(),
        }
    }

    async fn take(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        while !bytes.is_empty() {
            let room = CHUNK.saturating_sub(self.buffer.len()).max(1);
            self.buffer.extend_from_slice(&bytes.split_to(room.min(bytes.len())));
            // What may yet turn out to be small is kept together, also over the edge of a chunk.
            while self.buffer.len() > self.small() && self.buffer.len() >= self.room_in_chunk()? {
                self.write().await?;
            }
        }
        Ok(())
    }

    /// Bytes from here to the end of the chunk.
    fn room_in_chunk(&self) -> Result<usize, StoreError> {
        let part = first_part(self.offset, u64::MAX);
        let part = part.ok_or(StoreError::Limit("a content of more than 4 PiB"))?;
        Ok(usize::try_from(part.length).unwrap_or(usize::MAX))
    }

    fn small(&self) -> usize {
        if self.written.is_empty() && self.writing.is_empty() {
            self.core.options().layout.inline_bytes
        } else {
            0
        }
    }

    /// Sends what the buffer holds of the chunk to the disk.
    async fn write(&mut self) -> Result<(), Error> {
        while self.writing.len() >= IN_FLIGHT {
            self.wait_for_one().await?;
        }
        let length = self.room_in_chunk()?.min(self.buffer.len());
        let payload = self.sealed(length);
        let end = self.offset + u64::try_from(payload.len()).unwrap_or(0);
        let part =
            first_part(self.offset, end).ok_or_else(|| StoreError::corrupt("nothing to write"))?;
        self.offset = end;
        let owner = self.site.owner(self.keys.owner(part.chunk));
        let (extents, open) = (self.core.store().extents.clone(), Arc::clone(&self.open));
        let write = async move {
            let at = extents.write(&owner, payload).await?;
            Ok(Unclaimed::new(extents, at, open))
        };
        self.writing.push_back((part, tokio::spawn(write)));
        Ok(())
    }

    /// The first bytes of the buffer as they are stored.
    fn sealed(&mut self, length: usize) -> Bytes {
        let mut bytes = self.buffer.split_to(length);
        if let Some(cipher) = &self.cipher {
            // Pages begin and end with whole blocks.
            cipher.seal(self.offset / BLOCK_BYTES, &mut bytes);
        }
        bytes.freeze()
    }

    async fn wait_for_one(&mut self) -> Result<(), Error> {
        if let Some((part, write)) = self.writing.pop_front() {
            let written = write.await.map_err(|_| StoreError::Closed)??;
            self.written.push((part, written));
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<Payload, Error> {
        let nothing_written = self.written.is_empty() && self.writing.is_empty();
        if nothing_written && self.buffer.len() <= self.small() {
            let length = self.buffer.len();
            return Ok(Payload::Small(self.sealed(length)));
        }
        while !self.buffer.is_empty() {
            self.write().await?;
        }
        while !self.writing.is_empty() {
            self.wait_for_one().await?;
        }
        Ok(Payload::Written(self.written))
    }
}
