//! Receiving a body: hashed as it arrives, small ones kept for an inline row, others written to
//! extents piece by piece.
//!
//! Must never leave bytes behind: whatever no committed row names is released, also when the client
//! goes away in the middle.

use super::IN_FLIGHT;
use super::buffers::Buffer;
use super::claim::{Claim, KeyValue, NewRows};
use super::digest::Digest;
use super::unclaimed::Unclaimed;
use crate::blob::op::CustomerKey;
use crate::blob::records::{Content, Shape};
use crate::blob::site::Site;
use crate::blob::{ByteStream, StreamError};
use crate::service::Layout;
use crate::{Core, Error};
use bytes::Bytes;
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use tokio::task::JoinHandle;
use zaffre_base::checksum::Crc64;
use zaffre_domain::Refusal;
use zaffre_store::StoreError;
use zaffre_store::extents::WriteGuard;
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::pins::ContentPin;
use zaffre_store::xts::Xts;

/// What is asked of a body.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    /// The largest size allowed.
    pub(crate) limit: u64,
    /// The size announced, if any.
    pub(crate) length: Option<u64>,
    /// Compute the MD5.
    pub(crate) md5: bool,
}

/// A body that arrived whole. Its rows are still to be written by a deciding transaction.
pub(crate) struct Received {
    pub(crate) content: Content,
    pub(crate) md5: Option<[u8; 16]>,
    pub(crate) crc64: [u8; 8],
    pub(crate) rows: NewRows,
    pub(crate) claim: Claim,
}

/// Whether a body is so small that receiving it costs less than asking whether to.
pub(crate) fn is_small(core: &Core, length: Option<u64>) -> bool {
    let inline = u64::try_from(core.options().layout.inline_bytes).unwrap_or(u64::MAX);
    length.is_some_and(|length| length <= inline)
}

/// Takes a body in.
pub(crate) async fn receive(
    core: &Core,
    site: &Site,
    hold: ContentPin,
    body: ByteStream,
    expected: Expected,
    key: Option<&CustomerKey>,
) -> Result<Received, Error> {
    let digest = expected.md5.then(|| Digest::begin(core.hashing(), expected.length));
    let mut intake = Intake::begin(core, site, hold, key, digest)?;
    match intake.fill(body, expected).await {
        Ok((length, crc64)) => intake.finish(length, crc64).await,
        Err(error) => {
            intake.give_up().await;
            Err(error)
        }
    }
}

/// A body on its way in.
struct Intake {
    claim: Claim,
    layout: Layout,
    open: Arc<WriteGuard>,
    /// Encrypts every piece, whose blocks are numbered from where it starts.
    cipher: Option<Xts>,
    /// Behind what is on its way to the disk, which does not wait for it.
    digest: Option<Digest>,
    /// Bytes of the whole body, or none if that was not said.
    announced: usize,
    buffer: Buffer,
    /// Where the buffer starts in the body.
    offset: u64,
    writing: VecDeque<(u64, JoinHandle<Result<Unclaimed, StoreError>>)>,
    /// Written pieces, in order, that have no row yet.
    written: Vec<(u64, Unclaimed)>,
}

impl Intake {
    fn begin(
        core: &Core,
        site: &Site,
        hold: ContentPin,
        key: Option<&CustomerKey>,
        digest: Option<Digest>,
    ) -> Result<Self, Error> {
        let claim = Claim::begin(core, site, hold)?;
        Ok(Self {
            cipher: key.map(|key| key.cipher(claim.content)),
            claim,
            layout: core.options().layout,
            open: Arc::new(core.store().extents.begin_write()),
            digest,
            announced: 0,
            buffer: Buffer::default(),
            offset: 0,
            writing: VecDeque::new(),
            written: Vec::new(),
        })
    }

    /// Length and CRC of the body, of which all but the end is on its way to the disk then.
    async fn fill(
        &mut self,
        mut body: ByteStream,
        expected: Expected,
    ) -> Result<(u64, [u8; 8]), Error> {
        let mut crc = Crc64::default();
        let mut length = 0_u64;
        let announced = expected.length.and_then(|length| usize::try_from(length).ok());
        self.announced = announced.unwrap_or(0);
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| broken_body(&error))?;
            length = length.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
            zaffre_domain::blob::sizes::check_size(length, expected.limit)?;
            crc.update(&chunk);
            self.take(chunk).await?;
        }
        if expected.length.is_some_and(|announced| announced != length) {
            return Err(Refusal::IncompleteBody.into());
        }
        Ok((length, crc.finish()))
    }

    async fn take(&mut self, mut chunk: Bytes) -> Result<(), Error> {
        let piece = usize::try_from(self.layout.piece_bytes).unwrap_or(usize::MAX);
        while !chunk.is_empty() {
            if self.buffer.is_empty() {
                // Growing step by step would copy it again and again.
                let most = if self.offset > 0 { piece } else { self.announced.min(piece) };
                self.buffer = self.claim.core.buffers().get(most);
            }
            let room = piece - self.buffer.len();
            self.buffer.extend(&chunk.split_to(room.min(chunk.len())));
            if self.buffer.len() == piece {
                self.write_piece().await?;
            }
        }
        Ok(())
    }

    /// Sends the buffer to the disk as the next extent.
    async fn write_piece(&mut self) -> Result<(), Error> {
        while self.writing.len() >= IN_FLIGHT {
            self.wait_for_one().await?;
        }
        if self.written.len() >= self.layout.pieces_per_commit {
            self.write_rows_ahead().await?;
        }
        let payload = self.payload().await;
        let offset = self.offset;
        self.offset += u64::try_from(payload.len()).unwrap_or(u64::MAX);
        let site = &self.claim.site;
        let owner = site.owner(site.keys.piece(self.claim.content, offset));
        let (extents, open) = (self.claim.core.store().extents.clone(), Arc::clone(&self.open));
        let write = async move {
            let at = extents.write(&owner, payload).await?;
            Ok(Unclaimed::new(extents, at, open))
        };
        self.writing.push_back((offset, tokio::spawn(write)));
        Ok(())
    }

    /// The buffer as it is stored; what it says is hashed.
    async fn payload(&mut self) -> Bytes {
        let mut bytes = mem::take(&mut self.buffer);
        let Some(cipher) = &self.cipher else {
            let bytes = bytes.share();
            if let Some(digest) = &mut self.digest {
                digest.update(&bytes).await;
            }
            return bytes;
        };
        if let Some(digest) = &mut self.digest {
            digest.update(&Bytes::copy_from_slice(bytes.as_ref())).await;
        }
        cipher.seal(self.offset, bytes.as_mut());
        bytes.share()
    }

    async fn wait_for_one(&mut self) -> Result<(), Error> {
        if let Some((offset, write)) = self.writing.pop_front() {
            let written = write.await.map_err(|_| StoreError::Closed)??;
            self.written.push((offset, written));
        }
        Ok(())
    }

    /// The rows of the pieces written so far, and the extents they name.
    fn take_rows(&mut self) -> (Vec<KeyValue>, Vec<Unclaimed>) {
        let keys = self.claim.site.keys;
        let mut rows = Vec::with_capacity(self.written.len());
        let mut unclaimed = Vec::with_capacity(self.written.len());
        for (offset, piece) in self.written.drain(..) {
            if let Some(extent) = piece.extent() {
                let run = Run { at: 0, length: extent.length, extent, skip: 0 };
                rows.push((keys.piece(self.claim.content, offset), runs::encode(&[run]).into()));
                unclaimed.push(piece);
            }
        }
        (rows, unclaimed)
    }

    async fn write_rows_ahead(&mut self) -> Result<(), Error> {
        let (rows, unclaimed) = self.take_rows();
        self.claim.write_ahead(rows, unclaimed).await
    }

    async fn finish(mut self, length: u64, crc64: [u8; 8]) -> Result<Received, Error> {
        match self.write_rest().await {
            Ok((shape, rows, md5)) => {
                let content = Content { id: self.claim.content, length, shape };
                let rows = NewRows::new(rows, self.claim.provisional());
                Ok(Received { content, md5, crc64, rows, claim: self.claim })
            }
            Err(error) => {
                self.give_up().await;
                Err(error)
            }
        }
    }

    /// The end of the body, and the rows of all of it.
    async fn write_rest(&mut self) -> Result<(Shape, Vec<KeyValue>, Option<[u8; 16]>), Error> {
        let (shape, rows);
        if self.offset == 0 && self.buffer.len() <= self.layout.inline_bytes {
            (shape, rows) = if self.buffer.is_empty() {
                (Shape::Empty, Vec::new())
            } else {
                let key = self.claim.site.keys.inline(self.claim.content);
                (Shape::Inline, vec![(key, self.payload().await)])
            };
        } else {
            if !self.buffer.is_empty() {
                self.write_piece().await?;
            }
            if let Some(digest) = &mut self.digest {
                digest.end();
            }
            while !self.writing.is_empty() {
                self.wait_for_one().await?;
            }
            (rows, self.claim.unclaimed) = self.take_rows();
            shape = Shape::Pieces { size: self.layout.piece_bytes };
        }
        let md5 = match self.digest.take() {
            Some(digest) => Some(digest.finish().await?),
            None => None,
        };
        Ok((shape, rows, md5))
    }

    /// Takes everything back, also what is still on its way to the disk.
    async fn give_up(self) {
        for (_, write) in self.writing {
            drop(write.await);
        }
        drop(self.written);
        self.claim.give_up().await;
    }
}

pub(crate) fn broken_body(error: &StreamError) -> Error {
    match *error {
        StreamError::Broken => Refusal::IncompleteBody.into(),
        StreamError::TooLarge { limit } => Refusal::RequestBodyTooLarge { limit }.into(),
        StreamError::Corrupt => StoreError::corrupt("the source of a body").into(),
    }
}
