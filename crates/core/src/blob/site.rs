//! Finding a container: where its rows are, and the hold that keeps a deletion from finishing while
//! an operation is on its way.
//!
//! Must never be skipped by a write: [`alive`] inside the transaction is what makes a deleted
//! container refuse what was started before its deletion.

use super::keys::{self, Keys};
use super::op::Encryption;
use super::records::Container;
pub(crate) use crate::directory::writers_pin;
use crate::directory::{self, Family, Place};
use crate::settings::AccountSettings;
use crate::{Core, Error};
use zaffre_base::{AccountName, ContainerName, Incarnation};
use zaffre_domain::Refusal;
use zaffre_domain::blob::encryption::{Encrypted, ScopePolicy};
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

    /// As every kind of named thing has it.
    pub(crate) fn place(&self) -> Place {
        let (placement, incarnation) = (self.placement.clone(), self.keys.0);
        Place { family: Family::Containers, placement, incarnation }
    }
}

impl From<Place> for Site {
    fn from(place: Place) -> Self {
        Self { placement: place.placement, keys: Keys(place.incarnation) }
    }
}

/// A container that exists, as of one moment.
pub(crate) struct Found {
    pub(crate) site: Site,
    /// Entered before the directory was read: keeps everything a snapshot taken now can see.
    pub(crate) pin: StampPin,
    /// What the container says about encryption.
    pub(crate) scopes: ScopePolicy,
}

impl Found {
    /// What a new blob is encrypted with.
    pub(crate) fn choose(
        &self,
        asked: &Encryption,
        settings: &AccountSettings,
    ) -> Result<Encrypted, Refusal> {
        self.scopes.choose(&asked.shown(), &settings.encryption_scopes)
    }

    /// The site, held for a write: the container's guard stays until the hold is dropped.
    pub(crate) fn for_write(self) -> (Site, ContentPin) {
        let hold = directory::hold(&self.site.place(), self.pin);
        (self.site, hold)
    }
}

/// Looks a container up in its account's directory.
pub(crate) async fn find(
    core: &Core,
    account: &AccountName,
    container: &ContainerName,
) -> Result<Found, Error> {
    let (found, record) =
        directory::look_up::<Container>(core, account, container.as_str()).await?;
    Ok(Found { site: Site::from(found.place), pin: found.pin, scopes: record.scopes() })
}

/// Refuses a transaction inside a container that was deleted meanwhile.
pub(crate) fn alive(tx: &mut Tx<'_>, keys: Keys) -> Result<(), Abort<Refusal>> {
    directory::alive::<Container>(tx, keys.0)
}

/// Whether a snapshot, taken after the directory was read, shows a deleted container.
pub(crate) fn is_deleted(inside: &Snapshot, keys: Keys) -> Result<bool, StoreError> {
    Ok(inside.get(&keys.guard())?.is_some())
}
