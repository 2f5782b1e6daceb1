//! What an account has by name: finding it, holding it while an operation is under way, deleting it.
//!
//! ```text
//!   directory row ── incarnation ──► keys of everything inside
//!   deletion: the row goes, an intent to purge comes (one commit) ─► guard ─► answer ─► purge
//! ```
//! Must never be skipped by a write: [`alive`] inside the transaction is what makes a deleted thing
//! refuse what was started before its deletion.

pub(crate) mod keys;

pub(crate) use keys::{Family, KeyRange};

use crate::background::purge::{Doomed, wake};
use crate::records::{Guard, HeldName, Purge, Record};
use crate::service::detached;
use crate::{Core, Error};
use zaffre_base::{AccountName, ContentId, Incarnation, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_store::pins::{ContentPin, StampPin};
use zaffre_store::{Abort, Interrupt, Placement, StoreError, Tx};

/// A record in the directory.
pub(crate) trait Listed: Record {
    /// What kind of thing it is about.
    const FAMILY: Family;

    /// Its present life.
    fn incarnation(&self) -> Incarnation;

    /// How an operation on one that is not there is refused.
    fn not_found() -> Refusal;

    /// How making one whose name is still held is refused.
    fn being_deleted() -> Refusal;
}

/// Where one incarnation keeps its rows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Place {
    pub(crate) family: Family,
    pub(crate) placement: Placement,
    pub(crate) incarnation: Incarnation,
}

impl Place {
    pub(crate) fn new(
        family: Family,
        account: &AccountName,
        name: &str,
        incarnation: Incarnation,
    ) -> Self {
        Self { family, placement: family.inside(account, name), incarnation }
    }

    /// What operations inside pin. Content ids have the time in their first bits, so that none is
    /// ever equal to an incarnation.
    pub(crate) fn hold_id(&self) -> ContentId {
        ContentId(u128::from(self.incarnation.0))
    }
}

/// Something that exists, as of one moment.
pub(crate) struct Found {
    pub(crate) place: Place,
    /// Entered before the directory was read: keeps everything a snapshot taken now can see.
    pub(crate) pin: StampPin,
}

/// Holds a place for a write: if it is deleted meanwhile, its guard stays until the hold is dropped.
pub(crate) fn hold(place: &Place, pin: StampPin) -> ContentPin {
    writers_pin(pin, &place.placement, place.hold_id())
}

/// Holds one content for a write. A write reads no extent, so that it never keeps moved bytes from
/// being freed, however long it takes.
pub(crate) fn writers_pin(pin: StampPin, placement: &Placement, content: ContentId) -> ContentPin {
    let mut pin = pin.narrow(placement, content);
    pin.renew(Stamp(u64::MAX));
    pin
}

/// Looks a name up in its account's directory.
pub(crate) async fn find<R: Listed>(
    core: &Core,
    account: &AccountName,
    name: &str,
) -> Result<Found, Error> {
    Ok(look_up::<R>(core, account, name).await?.0)
}

/// The same with its record.
pub(crate) async fn look_up<R: Listed>(
    core: &Core,
    account: &AccountName,
    name: &str,
) -> Result<(Found, R), Error> {
    let store = core.store();
    let pin = store.pins.enter(store.meta.last_stamp());
    let directory = store.meta.snapshot(&keys::directory(account)).await?;
    let record = R::peek(&directory, &R::FAMILY.row(name))?.ok_or_else(R::not_found)?;
    let place = Place::new(R::FAMILY, account, name, record.incarnation());
    Ok((Found { place, pin }, record))
}

/// Refuses a transaction inside something that was deleted meanwhile.
pub(crate) fn alive<R: Listed>(
    tx: &mut Tx<'_>,
    incarnation: Incarnation,
) -> Result<(), Abort<Refusal>> {
    match tx.get(&keys::guard(incarnation))? {
        None => Ok(()),
        Some(_) => Err(Abort::Fail(R::not_found())),
    }
}

/// Makes sure that the background finds the account after a restart.
pub(crate) async fn register(core: &Core, account: &AccountName) -> Result<(), Error> {
    if core.pending().is_registered(account) {
        return Ok(());
    }
    let registry = keys::registry();
    let key = keys::registered_account(account);
    if core.store().meta.snapshot(&registry).await?.get(&key)?.is_none() {
        core.transact(&registry, move |tx| Ok(tx.put(&key, &[1])?)).await?;
    }
    core.pending().registered(account);
    Ok(())
}

/// Refuses a name that is still held; one that is no longer is free.
pub(crate) fn claim_name<R: Listed>(tx: &mut Tx<'_>, name: &str) -> Result<(), Abort<Refusal>> {
    let key = R::FAMILY.held_name(name);
    if let Some(held) = HeldName::load(tx, &key)? {
        if tx.stamp().time() < held.until {
            return Err(Abort::Fail(R::being_deleted()));
        }
        tx.delete(&key)?;
    }
    Ok(())
}

/// Deletes what `name` is, if `admit` allows it, and everything inside.
pub(crate) async fn delete<R: Listed>(
    core: &Core,
    account: &AccountName,
    name: &str,
    mut admit: impl FnMut(&R, Timestamp) -> Result<(), Refusal> + Send + 'static,
) -> Result<(), Error> {
    let (core, account, name) = (core.clone(), account.clone(), name.to_owned());
    detached(async move {
        let delay = core.options().container_delete_delay;
        let called = name.clone();
        let body = move |tx: &mut Tx<'_>| {
            let now = tx.stamp().time();
            let key = R::FAMILY.row(&called);
            let record = R::load(tx, &key)?.ok_or_else(|| Abort::Fail(R::not_found()))?;
            admit(&record, now).map_err(Abort::Fail)?;
            tx.delete(&key)?;
            let until = (!delay.is_zero()).then(|| now.plus(delay));
            let intent = doom(tx, R::FAMILY, &called, record.incarnation(), until)?;
            Ok::<_, Abort<Refusal>>((record.incarnation(), intent))
        };
        let directory = keys::directory(&account);
        let (incarnation, intent) = core.store().meta.transact(&directory, body).await?;
        let place = Place::new(R::FAMILY, &account, &name, incarnation);
        let guard = set_guard(&core, &place).await;
        // Also when the guard could not be set: the background tries again.
        wake(&core, Doomed { account, place, intent });
        guard.map(|_| ())
    })
    .await
}

/// Writes the intent to purge an incarnation, and holds its name until `until`; gives the intent's
/// key.
pub(crate) fn doom(
    tx: &mut Tx<'_>,
    family: Family,
    name: &str,
    incarnation: Incarnation,
    until: Option<Timestamp>,
) -> Result<Vec<u8>, Interrupt> {
    if let Some(until) = until {
        HeldName { until }.store(tx, &family.held_name(name))?;
    }
    let intent = family.purge(tx.stamp());
    Purge { name: name.to_owned(), incarnation }.store(tx, &intent)?;
    Ok(intent)
}

/// Makes every later write inside fail. Content with finding the guard set already.
pub(crate) async fn set_guard(core: &Core, place: &Place) -> Result<Guard, Error> {
    let key = keys::guard(place.incarnation);
    let body = move |tx: &mut Tx<'_>| {
        if let Some(guard) = Guard::load(tx, &key)? {
            return Ok(guard);
        }
        let guard = Guard { set: tx.stamp() };
        guard.store(tx, &key)?;
        Ok(guard)
    };
    core.transact(&place.placement, body).await
}

/// The place an intent to purge names.
pub(crate) fn doomed_place(
    family: Family,
    account: &AccountName,
    intent: &[u8],
) -> Result<Place, StoreError> {
    let Purge { name, incarnation } = Purge::from_bytes(intent)?;
    Ok(Place::new(family, account, &name, incarnation))
}
