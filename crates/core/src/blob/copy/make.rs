//! Making the content of a copy, step by step, from where it stands to the end of the source.
//!
//! Must never write a row that the content does not lead to: whoever gives a copy up frees what it
//! wrote by that content alone.

use super::batch::Batch;
use super::source::{Here, reopen};
use super::{bytes, pages};
use crate::blob::ByteStream;
use crate::blob::content::claim::Claim;
use crate::blob::content::free::sparse_keys;
use crate::blob::copy::remote::RemoteError;
use crate::blob::records::{CopyFrom, Head, PendingCopy, Record};
use crate::blob::replace::LeftOver;
use crate::blob::site::{Site, alive};
use crate::{CopyOptions, Core, Error};
use std::time::Duration;
use zaffre_base::checksum::{Crc64, Md5};
use zaffre_base::{BlobName, Guid};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::copy::{CopyFailure, CopyRefusal};
use zaffre_store::{Abort, StoreError, TransactError, Tx};

/// Why the making of a content stopped before its end.
pub(super) enum Stopped {
    /// Somebody else ended the copy.
    Ended,
    /// It cannot be finished, ever.
    Failed(CopyFailure),
    /// Not now.
    Error(Error),
}

impl<E: Into<Error>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// A copy that is being made.
pub(super) struct Making {
    pub(super) core: Core,
    /// Where the destination is.
    pub(super) site: Site,
    pub(super) name: BlobName,
    pub(super) id: Guid,
    pub(super) kind: BlobKind,
    /// How far it is.
    pub(super) row: PendingCopy,
    /// What the store has of that.
    stored: Option<PendingCopy>,
    /// Computed only of what is made in one go.
    pub(super) sums: Option<Sums>,
}

/// Checksums of all that is copied.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) crc64: Crc64,
    pub(super) md5: Option<Md5>,
}

impl Making {
    /// One whose row is, or is not yet, in the store.
    pub(super) fn new(
        core: &Core,
        site: &Site,
        name: &BlobName,
        id: Guid,
        kind: BlobKind,
        row: PendingCopy,
        is_stored: bool,
    ) -> Self {
        let stored = is_stored.then(|| row.clone());
        let (core, site, name) = (core.clone(), site.clone(), name.clone());
        Self { core, site, name, id, kind, row, stored, sums: None }
    }

    pub(super) fn key(&self) -> Vec<u8> {
        self.site.keys.copy(&self.name, self.id)
    }

    /// What the store must have of it, if anything.
    pub(super) fn stored(&self) -> Option<PendingCopy> {
        self.stored.clone()
    }

    /// Bytes of content between two commits.
    pub(super) fn step_bytes(&self) -> u64 {
        let CopyOptions { step_bytes, bytes_per_second, .. } = self.core.options().copies;
        match bytes_per_second {
            Some(rate) if self.row.attached => step_bytes.min(rate.max(1)),
            _ => step_bytes,
        }
    }

    /// Says how far it is, and writes what was copied since that was said last.
    pub(super) async fn step(&mut self, batch: Batch) -> Result<(), Stopped> {
        let (key, before, row) = (self.key(), self.stored.clone(), self.row.clone());
        let (keys, name, id) = (self.site.keys, self.name.clone(), self.id);
        let copied = batch.bytes;
        let (landing, unclaimed) = batch.land(sparse_keys(&self.site, row.content.id));
        let next = row.clone();
        let body = move |tx: &mut Tx<'_>| {
            alive(tx, keys)?;
            still(tx, &key, before.as_ref())?;
            landing.write(tx)?;
            row.store(tx, &key)?;
            if row.attached {
                let mut head = attached(tx, &keys.blob(&name), id)?;
                if let Some(copy) = &mut head.copy {
                    copy.done = row.done;
                }
                head.store(tx, &keys.blob(&name))?;
            }
            Ok(((), LeftOver::Nothing))
        };
        let content = next.content.id;
        let claim = Claim::holding(&self.core, &self.site, None, content, unclaimed);
        ended(claim.commit(body).await)?;
        self.stored = Some(next);
        self.rest(copied).await;
        Ok(())
    }

    /// Leaves room for others, if the operator wants that.
    async fn rest(&self, copied: u64) {
        let rate = self.core.options().copies.bytes_per_second.filter(|_| self.row.attached);
        if let Some(rate) = rate {
            let millis = copied.saturating_mul(1000) / rate.max(1);
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
    }

    /// Goes on to the end from a source that is open; what the last commit is to write comes back.
    pub(super) async fn go_on_here(&mut self, source: Here) -> Result<Batch, Stopped> {
        if self.kind == BlobKind::Page {
            return pages::copy(self, source).await;
        }
        let core = self.core.clone();
        let (from, content, body) = source.stream(&core, self.row.done).await?;
        bytes::copy(self, bytes::Parts::of(from, content), body).await
    }

    /// The same from wherever the row says.
    pub(super) async fn go_on(&mut self) -> Result<Batch, Stopped> {
        match self.row.from.clone() {
            CopyFrom::Here(origin) => {
                let source = reopen(&self.core, &origin).await?.map_err(Stopped::Failed)?;
                let batch = self.go_on_here(source).await?;
                // What changed since would not have been copied whole by the service.
                reopen(&self.core, &origin).await?.map_err(Stopped::Failed)?;
                Ok(batch)
            }
            CopyFrom::There(there) => {
                let remote =
                    self.core.remote().ok_or(Stopped::Failed(CopyFailure::SourceRefused))?;
                let part = remote.read_on(&there.url, there.etag.as_deref(), self.row.done).await;
                let part = part.map_err(|error| match error {
                    RemoteError::Changed => Stopped::Failed(CopyFailure::SourceChanged),
                    RemoteError::Gone => Stopped::Failed(CopyFailure::SourceGone),
                    RemoteError::Refused => Stopped::Failed(CopyFailure::SourceRefused),
                    RemoteError::Unreachable => Stopped::Error(StoreError::Busy.into()),
                })?;
                if self.row.done.checked_add(part.length) != Some(self.row.content.length) {
                    return Err(Stopped::Failed(CopyFailure::SourceChanged));
                }
                self.go_on_with(part.body).await
            }
        }
    }

    /// The same from bytes that come from elsewhere.
    pub(super) async fn go_on_with(&mut self, body: ByteStream) -> Result<Batch, Stopped> {
        match self.kind {
            BlobKind::Page => pages::copy_stream(self, body).await,
            BlobKind::Block => bytes::copy(self, bytes::Parts::One, body).await,
            BlobKind::Append => bytes::copy(self, bytes::Parts::Cut, body).await,
        }
    }
}

/// Refuses to go on with a copy that somebody ended, or went on with.
pub(super) fn still(
    tx: &mut Tx<'_>,
    key: &[u8],
    expected: Option<&PendingCopy>,
) -> Result<(), Abort<Refusal>> {
    if PendingCopy::load(tx, key)?.as_ref() == expected {
        Ok(())
    } else {
        Err(Abort::Fail(Refusal::Copy(CopyRefusal::NoPendingCopyOperation)))
    }
}

/// The head that waits for a copy.
pub(super) fn attached(tx: &mut Tx<'_>, key: &[u8], id: Guid) -> Result<Head, Abort<Refusal>> {
    let head = Head::load(tx, key)?.filter(Head::is_copied_to);
    let waits = |head: &Head| head.copy.as_ref().is_some_and(|copy| copy.id == id);
    head.filter(waits).ok_or(Abort::Fail(Refusal::Copy(CopyRefusal::NoPendingCopyOperation)))
}

/// What a transaction about a copy under way came to.
pub(super) fn ended<T>(result: Result<T, TransactError<Refusal>>) -> Result<T, Stopped> {
    result.map_err(|error| match error {
        TransactError::Body(Refusal::Copy(CopyRefusal::NoPendingCopyOperation)) => Stopped::Ended,
        other => Stopped::Error(other.into()),
    })
}
