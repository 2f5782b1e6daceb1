//! Commits that put bytes into a file: extents that were written before are named by one of them, or
//! given back.
//!
//! Must never leave bytes behind, nor release what a commit may have named.

use crate::blob::content::unclaimed::{Pledged, Unclaimed};
use crate::blob::replace::LeftOver;
use crate::blob::site::Site;
use crate::service::detached;
use crate::sparse::{self, Landed, Payload, SparseKeys};
use crate::{Core, Error};
use bytes::{Bytes, BytesMut};
use zaffre_domain::Refusal;
use zaffre_store::{Abort, TransactError, Tx};

/// Why a transaction did not write.
pub(super) enum Stopped {
    Refused(Refusal),
    /// What it was to change is not what it was.
    Moved,
}

/// A refusal of the rules as one of these.
pub(super) fn stopped(abort: Abort<Refusal>) -> Abort<Stopped> {
    match abort {
        Abort::Interrupt(interrupt) => Abort::Interrupt(interrupt),
        Abort::Fail(refusal) => Abort::Fail(Stopped::Refused(refusal)),
    }
}

/// Bytes that arrived, and the extents that hold them.
pub(super) struct Arrived {
    pub(super) landed: Landed,
    pub(super) extents: Vec<Unclaimed>,
}

impl Arrived {
    /// Bytes for `offset` of a content.
    pub(super) fn new(payload: Payload, offset: u64) -> Self {
        let landed = Landed::of(&payload, offset);
        let extents = match payload {
            Payload::Small(_) => Vec::new(),
            Payload::Written(written) => written.into_iter().map(|(_, piece)| piece).collect(),
        };
        Self { landed, extents }
    }

    /// The same bytes written once more, for another content.
    pub(super) async fn again(
        self,
        core: &Core,
        site: &Site,
        keys: SparseKeys,
    ) -> Result<Self, Error> {
        let Landed::Extents(extents) = &self.landed else { return Ok(self) };
        let offset = extents.first().map_or(0, |(part, _)| part.offset());
        let mut bytes = BytesMut::new();
        for (_, extent) in extents {
            bytes.extend_from_slice(&core.store().extents.read(extent, 0..extent.length).await?);
        }
        let pieces: [Bytes; 1] = [bytes.freeze()];
        let payload = sparse::write(core, site, keys, offset, pieces).await?;
        Ok(Self::new(payload, offset))
    }
}

/// What came of a commit.
pub(super) enum Outcome<T> {
    Done(T),
    /// Nothing was written; the extents are the caller's again.
    Moved(Vec<Unclaimed>),
}

/// Runs a transaction that may come to name extents, to its end.
pub(super) async fn commit<T, B>(
    core: &Core,
    site: &Site,
    extents: Vec<Unclaimed>,
    body: B,
) -> Result<Outcome<T>, Error>
where
    T: Send + 'static,
    B: FnMut(&mut Tx<'_>) -> Result<(T, LeftOver), Abort<Stopped>> + Send + 'static,
{
    let (core, site) = (core.clone(), site.clone());
    let pledged = Pledged::new(extents);
    detached(async move {
        let outcome = core.store().meta.transact(&site.placement, body).await;
        match outcome {
            Ok((value, left)) => {
                core.announce(&site, left);
                Ok(Outcome::Done(value))
            }
            Err(TransactError::Body(Stopped::Moved)) => Ok(Outcome::Moved(pledged.take_back())),
            Err(TransactError::Body(Stopped::Refused(refusal))) => {
                pledged.release();
                Err(refusal.into())
            }
            Err(TransactError::Store(error)) => {
                let outcome = Err::<(), _>(TransactError::<Refusal>::Store(error.clone()));
                pledged.settle(&outcome);
                Err(error.into())
            }
        }
    })
    .await
}

/// Tells who folds what was written, and waits for them if they fall behind.
pub(super) async fn settle(core: &Core, site: &Site, keys: SparseKeys, touched: Vec<(u32, usize)>) {
    core.folding().note(core, site, keys, &touched);
    for (chunk, _) in touched {
        // The write is done; what goes wrong here is no failure of it.
        if let Err(error) = sparse::wait_if_heavy(core, site, keys, chunk).await {
            tracing::warn!(%error, "a chunk could not be folded");
        }
    }
}
