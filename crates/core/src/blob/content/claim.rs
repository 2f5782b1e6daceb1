//! What an upload has put into the store so far: kept by the commit that names it, or given up.
//!
//! Must never be kept when nothing was written, nor given up when something may have been.

use super::free;
use super::unclaimed::{Pledged, Unclaimed};
use crate::blob::records::{Intent, Record};
use crate::blob::replace::LeftOver;
use crate::blob::site::{Site, alive, writers_pin};
use crate::service::{detached, fresh_id, surely_nothing_written};
use crate::{Core, Error};
use bytes::Bytes;
use std::sync::Arc;
use zaffre_base::ContentId;
use zaffre_domain::Refusal;
use zaffre_store::pins::ContentPin;
use zaffre_store::{Abort, Interrupt, StoreError, TransactError, Tx};

/// A row to be written.
pub(crate) type KeyValue = (Vec<u8>, Bytes);

/// The rows that a deciding transaction writes along with the one that names the content.
#[derive(Clone, Default)]
pub(crate) struct NewRows {
    rows: Arc<Vec<KeyValue>>,
    provisional: Option<Vec<u8>>,
}

impl NewRows {
    pub(crate) fn new(rows: Vec<KeyValue>, provisional: Option<Vec<u8>>) -> Self {
        Self { rows: Arc::new(rows), provisional }
    }

    pub(crate) fn write(&self, tx: &mut Tx<'_>) -> Result<(), Interrupt> {
        for (key, value) in self.rows.iter() {
            tx.put_shared(key, value.clone())?;
        }
        match &self.provisional {
            Some(intent) => tx.delete(intent),
            None => Ok(()),
        }
    }
}

/// What an upload has put into the store so far: kept by a commit, or given up.
pub(crate) struct Claim {
    pub(super) core: Core,
    pub(super) site: Site,
    pub(super) content: ContentId,
    /// Extents whose rows the deciding transaction will write.
    pub(super) unclaimed: Vec<Unclaimed>,
    /// The intent that covers rows written before the deciding transaction.
    provisional: Option<Vec<u8>>,
    /// Keeps the container's guard.
    hold: Option<ContentPin>,
    /// Keeps the rows covered by the intent.
    own: Option<ContentPin>,
}

impl Claim {
    /// Nothing yet, for a content that is about to be made. `hold` is the container's.
    pub(crate) fn begin(core: &Core, site: &Site, hold: ContentPin) -> Result<Self, StoreError> {
        let store = core.store();
        let content = fresh_id(&store.clock)?;
        let pin = store.pins.enter(store.meta.last_stamp());
        let own = writers_pin(pin, &site.placement, content);
        Ok(Self {
            core: core.clone(),
            site: site.clone(),
            content,
            unclaimed: Vec::new(),
            provisional: None,
            hold: Some(hold),
            own: Some(own),
        })
    }

    /// Extents for a content that exists, kept by the commit that puts them into it.
    pub(crate) fn holding(
        core: &Core,
        site: &Site,
        hold: Option<ContentPin>,
        content: ContentId,
        unclaimed: Vec<Unclaimed>,
    ) -> Self {
        let (core, site) = (core.clone(), site.clone());
        Self { core, site, content, unclaimed, provisional: None, hold, own: None }
    }

    pub(crate) fn content(&self) -> ContentId {
        self.content
    }

    pub(crate) fn provisional(&self) -> Option<Vec<u8>> {
        self.provisional.clone()
    }

    /// Writes rows ahead of the deciding transaction, covered by an intent.
    pub(crate) async fn write_ahead(
        &mut self,
        rows: Vec<KeyValue>,
        unclaimed: Vec<Unclaimed>,
    ) -> Result<(), Error> {
        let (core, site, content) = (self.core.clone(), self.site.clone(), self.content);
        let covered = self.provisional.clone();
        let pledged = Pledged::new(unclaimed);
        let key = detached(async move {
            let keys = site.keys;
            let body = move |tx: &mut Tx<'_>| {
                alive(tx, keys)?;
                let intent = covered.clone().unwrap_or_else(|| keys.intent(tx.stamp()));
                if covered.is_none() {
                    Intent::Provisional { content }.store(tx, &intent)?;
                }
                for (key, value) in &rows {
                    tx.put_shared(key, value.clone())?;
                }
                Ok::<_, Abort<Refusal>>(intent)
            };
            let written = core.store().meta.transact(&site.placement, body).await;
            core.pending().mark(&site);
            pledged.settle(&written);
            written.map_err(Error::from)
        })
        .await?;
        self.provisional = Some(key);
        Ok(())
    }

    /// Gives back everything: nothing names this content, and nothing will.
    pub(crate) async fn give_up(mut self) {
        self.unclaimed.clear();
        let Some(intent) = self.provisional.take() else { return };
        let (core, site, content) = (self.core.clone(), self.site.clone(), self.content);
        let (hold, own) = (self.hold.take(), self.own.take());
        let freed = detached(async move {
            free::rows_of(&core, &site, content).await?;
            let body = move |tx: &mut Tx<'_>| Ok::<_, Abort<Refusal>>(tx.delete(&intent)?);
            core.store().meta.transact(&site.placement, body).await?;
            drop((hold, own));
            Ok(())
        })
        .await;
        if let Err(error) = freed {
            // The intent is still there; the background tries again.
            tracing::warn!(%error, "could not take back an upload at once");
            self.core.pending().mark(&self.site);
        }
    }

    /// Runs the transaction that decides about this content, to its end, and then keeps the content
    /// or gives it up.
    pub(crate) async fn commit<T, E, B>(mut self, body: B) -> Result<T, TransactError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        B: FnMut(&mut Tx<'_>) -> Result<(T, LeftOver), Abort<E>> + Send + 'static,
    {
        let pledged = Pledged::new(std::mem::take(&mut self.unclaimed));
        let work = async move {
            let (meta, at) = (self.core.store().meta.clone(), self.site.placement.clone());
            let outcome = meta.transact(&at, body).await;
            pledged.settle(&outcome);
            let nothing = outcome.as_ref().err().is_some_and(surely_nothing_written);
            if nothing {
                self.give_up().await;
            } else {
                self.keep(outcome.as_ref().map_or(LeftOver::Nothing, |(_, left)| *left));
            }
            Ok(outcome.map(|(value, _)| value))
        };
        match detached(work).await {
            Ok(outcome) => outcome,
            Err(_) => Err(TransactError::Store(StoreError::Closed)),
        }
    }

    fn keep(mut self, left: LeftOver) {
        self.core.announce(&self.site, left);
        // After an unknown outcome the intent may be there still; then the background decides.
        if self.provisional.take().is_some() {
            self.core.pending().mark(&self.site);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.provisional.is_some() {
            self.core.pending().mark(&self.site);
        }
    }
}
