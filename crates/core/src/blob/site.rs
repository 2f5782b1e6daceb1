//! Finding a container: where its rows are, and the hold that keeps a deletion from finishing while
//! an operation is on its way.
//!
//! Must never be skipped by a write: [`alive`] inside the transaction is what makes a deleted
//! container refuse what was started before its deletion.

use super::keys::{self, Keys};
use super::records::{Container, Record};
use crate::{Core, Error};
use zaffre_base::{AccountName, ContainerName, ContentId, Incarnation, Stamp};
use zaffre_domain::Refusal;
use zaffre_store::extents::Owner;
use zaffre_store::pins::{ContentPin, StampPin};
use zaffre_store::{Abort, Placement, Snapshot, StoreError, Tx};

/// Where one incarnation of a container keeps its rows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Site {
    pub(crate) placement: Placement,
    pub(crate) keys: Keys,
}

impl Site {
    pub(crate) fn new(
        account: &AccountName,
        container: &ContainerName,
        incarnation: Incarnation,
    ) -> Self {
        Self { placement: keys::inside(account, container), keys: Keys(incarnation) }
    }

    /// The owner of the extent that the row under `key` names.
    pub(crate) fn owner(&self, key: Vec<u8>) -> Owner {
        Owner { placement: self.placement.clone(), key }
    }

    /// What operations inside the container pin. Content ids have the time in their first bits, so
    /// that none is ever equal to an incarnation.
    pub(crate) fn hold_id(&self) -> ContentId {
        ContentId(u128::from(self.keys.0.0))
    }
}

/// A container that exists, as of one moment.
pub(crate) struct Found {
    pub(crate) site: Site,
    /// Entered before the directory was read: keeps everything a snapshot taken now can see.
    pub(crate) pin: StampPin,
}

impl Found {
    /// The site, held for a write: the container's guard stays until the hold is dropped.
    pub(crate) fn for_write(self) -> (Site, ContentPin) {
        let hold = writers_pin(self.pin, &self.site.placement, self.site.hold_id());
        (self.site, hold)
    }
}

/// Holds one content for a write. A write reads no extent, so that it never keeps moved bytes from
/// being freed, however long it takes.
pub(crate) fn writers_pin(pin: StampPin, placement: &Placement, content: ContentId) -> ContentPin {
    let mut pin = pin.narrow(placement, content);
    pin.renew(Stamp(u64::MAX));
    pin
}

/// Looks a container up in its account's directory.
pub(crate) async fn find(
    core: &Core,
    account: &AccountName,
    container: &ContainerName,
) -> Result<Found, Error> {
    let store = core.store();
    let pin = store.pins.enter(store.meta.last_stamp());
    let directory = store.meta.snapshot(&keys::directory(account)).await?;
    let record = Container::peek(&directory, &keys::container(container))?
        .ok_or(Refusal::ContainerNotFound)?;
    let site = Site::new(account, container, record.incarnation);
    Ok(Found { site, pin })
}

/// Refuses a transaction inside a container that was deleted meanwhile.
pub(crate) fn alive(tx: &mut Tx<'_>, keys: Keys) -> Result<(), Abort<Refusal>> {
    match tx.get(&keys.guard())? {
        None => Ok(()),
        Some(_) => Err(Abort::Fail(Refusal::ContainerNotFound)),
    }
}

/// Whether a snapshot, taken after the directory was read, shows a deleted container.
pub(crate) fn is_deleted(inside: &Snapshot, keys: Keys) -> Result<bool, StoreError> {
    Ok(inside.get(&keys.guard())?.is_some())
}
