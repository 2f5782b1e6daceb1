//! Writing entities, one or a batch of them: all in one commit, or nothing.

use super::entities::find;
use super::keys::Keys;
use super::op::{TablePath, WriteEntity};
use super::records::{Stored, Table};
use super::reply::{Batch, Wrote};
use super::rows::{self, Cut};
use crate::directory::{alive, hold};
use crate::records::Record;
use crate::service::detached;
use crate::{Core, Error};
use std::borrow::Cow;
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_base::planted::{Bug, planted};
use zaffre_domain::Refusal;
use zaffre_domain::table::write::Existing;
use zaffre_domain::table::{Entity, Properties, TableRefusal, Write, batch};
use zaffre_store::meta::limits;
use zaffre_store::{Abort, Interrupt, Row, StoreError, TransactError, Tx};

/// Bytes of a row beside its key and what is in it, at most: where it is, when it was written, how
/// long all that is.
const ROW_BYTES: usize = 320;
/// Operations from which on one look at all their rows is worth it.
const WORTH_A_LOOK: usize = 3;
/// Rows that may be found by it.
const HARDLY_ANY: usize = 4;
/// Room for most rows.
const USUAL_ROW: usize = 256;
/// Rows that one commit reads at most, below the store's own limit.
const COMMIT_READS: usize = 450;

/// Inserts, changes or deletes one entity.
pub async fn write_entity(core: &Core, op: Authorized<WriteEntity>) -> Result<Wrote, Error> {
    let (op, _) = op.into_parts();
    match commit(core, op.at.clone(), vec![op]).await? {
        Batch::Done(mut done) => done.pop().ok_or_else(|| Error::Store(unreadable())),
        Batch::Refused { refusal, .. } => Err(refusal.into()),
    }
}

/// Performs the operations of a batch, which were all permitted.
pub async fn write_batch(core: &Core, ops: Vec<Authorized<WriteEntity>>) -> Result<Batch, Error> {
    let ops: Vec<WriteEntity> = ops.into_iter().map(|op| op.into_parts().0).collect();
    let named = ops.iter().map(|op| (op.at.folded.as_str(), &op.key));
    if let Err(misfit) = batch::check(named) {
        return Ok(Batch::Refused { index: misfit.index, refusal: misfit.refusal.into() });
    }
    match ops.first() {
        None => Ok(Batch::Done(Vec::new())),
        Some(first) => commit(core, first.at.clone(), ops).await,
    }
}

fn unreadable() -> StoreError {
    StoreError::corrupt("a write without a result")
}

/// What a write made of an entity.
enum Made {
    /// What was sent, by the commit with this stamp.
    AsSent(Stamp),
    /// Something else.
    Other(Stamp, Properties),
    Gone,
}

/// Which operation was refused, and why: ends the transaction, so that nothing of it stays.
struct Declined {
    index: usize,
    refusal: Refusal,
}

/// What a write needs that does not depend on what is there: made once, however often the
/// transaction runs, and not where everybody else would wait for it.
struct Prepared {
    op: WriteEntity,
    /// The entity's row.
    row: Vec<u8>,
    /// What was sent, as bytes, where nothing else can become of it.
    sent: Option<Vec<u8>>,
}

impl Prepared {
    fn new(op: WriteEntity, keys: Keys) -> Self {
        let sent = match &op.write {
            Write::Insert(sent) => Some(rows::bytes_of(sent)),
            Write::Update(..)
            | Write::Merge(..)
            | Write::InsertOrReplace(_)
            | Write::InsertOrMerge(_)
            | Write::Delete(_) => None,
        };
        Self { row: keys.entity(&op.key), op, sent }
    }
}

async fn commit(core: &Core, at: TablePath, ops: Vec<WriteEntity>) -> Result<Batch, Error> {
    let found = match find(core, &at).await {
        Err(Error::Refused(refusal)) => return Ok(Batch::Refused { index: 0, refusal }),
        other => other?,
    };
    let place = found.place;
    let hold = hold(&place, found.pin);
    let keys = Keys(place.incarnation);
    let prepared: Vec<Prepared> = ops.into_iter().map(|op| Prepared::new(op, keys)).collect();
    let prepared = Arc::new(prepared);
    let sent = Arc::clone(&prepared);
    let mut buffer = Vec::with_capacity(USUAL_ROW);
    let body = move |tx: &mut Tx<'_>| {
        // Held for as long as this may run, even if the caller goes away.
        let _ = &hold;
        alive::<Table>(tx, keys.0).map_err(|abort| declined(0, abort))?;
        let near = look(tx, &prepared).map_err(Abort::from)?;
        let (stamp, buffer) = (tx.stamp(), &mut buffer);
        Writing { stamp, keys, near, buffer, bytes: 0, reads: 0 }.all(tx, &prepared)
    };
    let meta = core.store().meta.clone();
    match detached(async move { Ok(meta.transact(&place.placement, body).await) }).await? {
        // The transaction is over and has let go of its own.
        Ok(made) => Ok(Batch::Done(match Arc::try_unwrap(sent) {
            Ok(sent) => made.into_iter().zip(sent).map(|(made, p)| wrote(made, p.op)).collect(),
            Err(sent) => {
                made.into_iter().zip(&*sent).map(|(made, p)| wrote(made, p.op.clone())).collect()
            }
        })),
        Err(TransactError::Body(Declined { index, refusal })) => {
            Ok(Batch::Refused { index, refusal })
        }
        Err(TransactError::Store(error)) => Err(error.into()),
    }
}

fn wrote(made: Made, op: WriteEntity) -> Wrote {
    let key = op.key;
    match made {
        Made::AsSent(written) => {
            let properties = op.write.into_sent().unwrap_or_default();
            Wrote::Entity(Entity { key, written, properties })
        }
        Made::Other(written, properties) => Wrote::Entity(Entity { key, written, properties }),
        Made::Gone => Wrote::Gone,
    }
}

fn declined(index: usize, abort: Abort<Refusal>) -> Abort<Declined> {
    match abort {
        Abort::Interrupt(interrupt) => Abort::Interrupt(interrupt),
        Abort::Fail(refusal) => Abort::Fail(Declined { index, refusal }),
    }
}

/// One look instead of one for each entity: most batches write entities that are next to each other,
/// to where there are none or hardly any. All rows from the first to the last, unless they are many.
fn look(tx: &mut Tx<'_>, ops: &[Prepared]) -> Result<Option<Vec<Row>>, Interrupt> {
    let rows = || ops.iter().map(|op| &op.row);
    let (Some(first), Some(last)) = (rows().min(), rows().max()) else { return Ok(None) };
    if ops.len() < WORTH_A_LOOK {
        return Ok(None);
    }
    let found = tx.scan(first, Some(&[last.as_slice(), &[0]].concat()), HARDLY_ANY + 1)?;
    Ok((found.len() <= HARDLY_ANY).then_some(found))
}

/// A commit under way.
struct Writing<'a> {
    stamp: Stamp,
    keys: Keys,
    /// All rows around those that are written, if they are known.
    near: Option<Vec<Row>>,
    buffer: &'a mut Vec<u8>,
    bytes: usize,
    reads: usize,
}

impl Writing<'_> {
    fn all(mut self, tx: &mut Tx<'_>, ops: &[Prepared]) -> Result<Vec<Made>, Abort<Declined>> {
        let mut done = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            if planted(Bug::TornBatch) && index > 0 && self.stamp.0.is_multiple_of(4) {
                done.push(Made::Gone);
                continue;
            }
            done.push(self.one(tx, op).map_err(|abort| declined(index, abort))?);
        }
        Ok(done)
    }

    /// The row as it was before; a batch has no row twice.
    fn before(&self, tx: &mut Tx<'_>, row: &[u8]) -> Result<Option<Stored<'static>>, Interrupt> {
        let Some(near) = &self.near else { return Stored::load(tx, row) };
        let found = near.iter().find(|near| near.key == row);
        Ok(found.map(|near| Stored::from_bytes(&near.value)).transpose()?)
    }

    fn one(&mut self, tx: &mut Tx<'_>, prepared: &Prepared) -> Result<Made, Abort<Refusal>> {
        let Prepared { op, row, sent } = prepared;
        let key = &op.key;
        let first = self.before(tx, row)?;
        let before = first.as_ref().map_or(0, |first| first.parts);
        self.reads += 1 + usize::from(before);
        self.check()?;
        let known = match &first {
            Some(first) if op.write.needs_properties() => rows::load(tx, self.keys, key, first)?,
            _ => Properties::default(),
        };
        let existing =
            first.as_ref().map(|first| Existing { written: first.written, properties: &known });
        let made = op.write.apply(key, existing).map_err(|refusal| Abort::Fail(refusal.into()))?;
        let Some(properties) = made else {
            self.count(row, usize::from(before), 0)?;
            rows::delete(tx, self.keys, key, before)?;
            return Ok(Made::Gone);
        };
        let bytes = match (&properties, sent) {
            (Cow::Borrowed(_), Some(sent)) => Cow::Borrowed(sent),
            (properties, _) => Cow::Owned(rows::bytes_of(properties)),
        };
        let cut = Cut::new(self.stamp, &bytes).map_err(Interrupt::from)?;
        self.count(row, usize::from(before.max(cut.parts())), bytes.len())?;
        cut.store(tx, self.keys, (key, row), before, self.buffer)?;
        Ok(match properties {
            Cow::Borrowed(_) => Made::AsSent(self.stamp),
            Cow::Owned(properties) => Made::Other(self.stamp, properties),
        })
    }

    /// Counts what a write puts into the commit: its first row and `parts` more.
    fn count(&mut self, row: &[u8], parts: usize, bytes: usize) -> Result<(), Abort<Refusal>> {
        self.bytes += bytes + (1 + parts) * (row.len() + ROW_BYTES);
        self.check()
    }

    /// Refuses what the store could not commit at once.
    fn check(&self) -> Result<(), Abort<Refusal>> {
        if self.bytes > limits::WRITE_BYTES || self.reads > COMMIT_READS {
            return Err(Abort::Fail(TableRefusal::BatchTooLarge.into()));
        }
        Ok(())
    }
}
