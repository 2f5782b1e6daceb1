//! Writing entities, one or a batch of them: all in one commit, or nothing.

use super::entities::find;
use super::keys::Keys;
use super::op::{TablePath, WriteEntity};
use super::records::{Stored, Table};
use super::reply::{Batch, Wrote, entity};
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
use zaffre_domain::table::{Properties, TableRefusal, batch};
use zaffre_store::{Abort, Interrupt, StoreError, TransactError, Tx};

/// Bytes of entities that one commit writes at most; the rest of its limit is for keys.
const COMMIT_BYTES: usize = 3 * 1024 * 1024;
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

async fn commit(core: &Core, at: TablePath, ops: Vec<WriteEntity>) -> Result<Batch, Error> {
    let found = match find(core, &at).await {
        Err(Error::Refused(refusal)) => return Ok(Batch::Refused { index: 0, refusal }),
        other => other?,
    };
    let place = found.place;
    let hold = hold(&place, found.pin);
    let keys = Keys(place.incarnation);
    let ops = Arc::new(ops);
    let sent = Arc::clone(&ops);
    let body = move |tx: &mut Tx<'_>| {
        // Held for as long as this may run, even if the caller goes away.
        let _ = &hold;
        alive::<Table>(tx, keys.0).map_err(|abort| declined(0, abort))?;
        Writing { stamp: tx.stamp(), keys, bytes: 0, reads: 0 }.all(tx, &ops)
    };
    let meta = core.store().meta.clone();
    match detached(async move { Ok(meta.transact(&place.placement, body).await) }).await? {
        Ok(made) => Ok(Batch::Done(made.into_iter().zip(&*sent).map(wrote).collect())),
        Err(TransactError::Body(Declined { index, refusal })) => {
            Ok(Batch::Refused { index, refusal })
        }
        Err(TransactError::Store(error)) => Err(error.into()),
    }
}

/// Copied here and not inside the transaction, where everybody else would wait for it.
fn wrote((made, op): (Made, &WriteEntity)) -> Wrote {
    match made {
        Made::AsSent(stamp) => {
            let sent = op.write.sent().cloned().unwrap_or_default();
            entity(op.key.clone(), stamp, sent)
        }
        Made::Other(stamp, properties) => entity(op.key.clone(), stamp, properties),
        Made::Gone => Wrote::Gone,
    }
}

fn declined(index: usize, abort: Abort<Refusal>) -> Abort<Declined> {
    match abort {
        Abort::Interrupt(interrupt) => Abort::Interrupt(interrupt),
        Abort::Fail(refusal) => Abort::Fail(Declined { index, refusal }),
    }
}

/// A commit under way.
struct Writing {
    stamp: Stamp,
    keys: Keys,
    bytes: usize,
    reads: usize,
}

impl Writing {
    fn all(mut self, tx: &mut Tx<'_>, ops: &[WriteEntity]) -> Result<Vec<Made>, Abort<Declined>> {
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

    fn one(&mut self, tx: &mut Tx<'_>, op: &WriteEntity) -> Result<Made, Abort<Refusal>> {
        let key = &op.key;
        let row = self.keys.entity(key);
        let first = Stored::load(tx, &row)?;
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
            rows::delete(tx, self.keys, key, before)?;
            return Ok(Made::Gone);
        };
        let cut = Cut::new(self.stamp, &properties).map_err(Interrupt::from)?;
        self.bytes += cut.len();
        self.check()?;
        cut.store(tx, self.keys, key, &row, before)?;
        Ok(match properties {
            Cow::Borrowed(_) => Made::AsSent(self.stamp),
            Cow::Owned(properties) => Made::Other(self.stamp, properties),
        })
    }

    /// Refuses what the store could not commit at once.
    fn check(&self) -> Result<(), Abort<Refusal>> {
        if self.bytes > COMMIT_BYTES || self.reads > COMMIT_READS {
            return Err(Abort::Fail(TableRefusal::BatchTooLarge.into()));
        }
        Ok(())
    }
}
