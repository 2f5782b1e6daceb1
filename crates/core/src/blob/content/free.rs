//! Freeing content: rows first, in bounded transactions, then the extents they named.
//!
//! Must never release an extent before the deletion of its row is durable. Doing it twice is
//! harmless: whoever deletes a row releases what it named.

use crate::blob::keys::KeyRange;
use crate::blob::records::{Content, Shape};
use crate::blob::site::Site;
use crate::service::detached;
use crate::sparse::{self, SparseKeys};
use crate::{Core, Error};
use zaffre_base::ContentId;
use zaffre_domain::Refusal;
use zaffre_store::extents::{ExtentRef, runs};
use zaffre_store::{Abort, Interrupt, Row, Tx};

/// Rows deleted by one transaction. A page of a block list is large, so not many.
pub(crate) const ROWS_PER_STEP: usize = 128;

/// Deletes all rows in a range and releases the extents they named.
pub(crate) async fn range(core: &Core, site: &Site, range: KeyRange) -> Result<(), Error> {
    loop {
        let range = range.clone();
        let deleted = step(core, site, move |tx, site| {
            let rows = tx.scan(&range.start, range.end.as_deref(), ROWS_PER_STEP)?;
            let whole = sparse::whole_chunks(&rows, ROWS_PER_STEP);
            let (_, extents) = delete(tx, site, whole)?;
            Ok((rows.len(), extents))
        })
        .await?;
        if deleted < ROWS_PER_STEP {
            return Ok(());
        }
    }
}

/// Deletes every row a content may have: pieces, pages (not what they list) and inline bytes.
pub(crate) async fn rows_of(core: &Core, site: &Site, content: ContentId) -> Result<(), Error> {
    range(core, site, site.keys.pieces(content)).await?;
    range(core, site, site.keys.pages(content)).await?;
    single(core, site, vec![site.keys.inline(content)]).await
}

/// The keys of a sparse content.
pub(crate) fn sparse_keys(site: &Site, content: ContentId) -> SparseKeys {
    SparseKeys { incarnation: site.keys.0, content }
}

/// Deletes rows that name no extents.
pub(crate) async fn single(core: &Core, site: &Site, keys: Vec<Vec<u8>>) -> Result<(), Error> {
    step(core, site, move |tx, _| {
        for key in &keys {
            tx.delete(key)?;
        }
        Ok((0, Vec::new()))
    })
    .await?;
    Ok(())
}

/// Collects contents and frees many with one transaction.
pub(crate) struct Batch<'a> {
    core: &'a Core,
    site: &'a Site,
    waiting: Vec<Content>,
    /// Rows that go along: intents that are done once the contents are freed.
    along: Vec<Vec<u8>>,
    rows: usize,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(core: &'a Core, site: &'a Site) -> Self {
        Self { core, site, waiting: Vec::new(), along: Vec::new(), rows: 0 }
    }

    /// Frees a content, now or with the next ones. Lists of blocks are the caller's to look into.
    pub(crate) async fn add(&mut self, content: Content) -> Result<(), Error> {
        let rows = match content.shape {
            Shape::Empty => return Ok(()),
            Shape::Sparse => {
                let keys = sparse_keys(self.site, content.id);
                return sparse::free(self.core, self.site, keys).await;
            }
            Shape::Inline => 1,
            Shape::Blocks { .. } => ROWS_PER_STEP,
            Shape::Pieces { size } => {
                let pieces = content.length.div_ceil(u64::from(size.max(1)));
                usize::try_from(pieces).unwrap_or(usize::MAX)
            }
        };
        if rows >= ROWS_PER_STEP {
            return rows_of(self.core, self.site, content.id).await;
        }
        if self.rows + rows > ROWS_PER_STEP {
            self.flush().await?;
        }
        self.rows += rows;
        self.waiting.push(content);
        Ok(())
    }

    /// Frees a content and deletes the row that said so.
    pub(crate) async fn add_with(&mut self, content: Content, row: Vec<u8>) -> Result<(), Error> {
        self.add(content).await?;
        self.along.push(row);
        if self.along.len() >= ROWS_PER_STEP { self.flush().await } else { Ok(()) }
    }

    /// Frees what was added and still waits.
    pub(crate) async fn flush(&mut self) -> Result<(), Error> {
        if self.waiting.is_empty() && self.along.is_empty() {
            return Ok(());
        }
        let contents = std::mem::take(&mut self.waiting);
        let along = std::mem::take(&mut self.along);
        self.rows = 0;
        step(self.core, self.site, move |tx, site| {
            let mut rows = Vec::new();
            for content in &contents {
                if content.shape == Shape::Inline {
                    tx.delete(&site.keys.inline(content.id))?;
                } else {
                    let range = site.keys.pieces(content.id);
                    rows.extend(tx.scan(&range.start, range.end.as_deref(), ROWS_PER_STEP)?);
                }
            }
            for row in &along {
                tx.delete(row)?;
            }
            delete(tx, site, &rows)
        })
        .await?;
        Ok(())
    }
}

/// What a step did: rows deleted, extents they named.
type Done = (usize, Vec<ExtentRef>);

fn delete(tx: &mut Tx<'_>, site: &Site, rows: &[Row]) -> Result<Done, Interrupt> {
    let mut extents = Vec::new();
    for row in rows {
        if site.keys.names_extents(&row.key) {
            extents.extend(runs::decode(&row.value)?.iter().map(|run| run.extent));
        }
        tx.delete(&row.key)?;
    }
    Ok((rows.len(), extents))
}

/// One transaction and the releases that follow from it, always both.
async fn step<B>(core: &Core, site: &Site, mut body: B) -> Result<usize, Error>
where
    B: FnMut(&mut Tx<'_>, &Site) -> Result<Done, Interrupt> + Send + 'static,
{
    let (core, site) = (core.clone(), site.clone());
    detached(async move {
        let at = site.placement.clone();
        let body = move |tx: &mut Tx<'_>| Ok::<_, Abort<Refusal>>(body(tx, &site)?);
        let (deleted, extents) = core.store().meta.transact(&at, body).await?;
        core.store().extents.release(&extents);
        Ok(deleted)
    })
    .await
}
