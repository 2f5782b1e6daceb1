//! Get one entity, and finding the table that entities are in.

use super::keys::Keys;
use super::op::{GetEntity, TablePath};
use super::records::{Stored, Table};
use super::rows;
use crate::directory::keys::guard;
use crate::directory::{self, Found};
use crate::records::Record;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_domain::table::{Entity, TableRefusal};
use zaffre_store::Snapshot;

/// The table's present life.
pub(super) async fn find(core: &Core, at: &TablePath) -> Result<Found, Error> {
    directory::find::<Table>(core, &at.account, &at.folded).await
}

/// Refuses to read from a table that was deleted since it was found.
pub(super) fn check_alive(inside: &Snapshot, keys: Keys) -> Result<(), Error> {
    match inside.get(&guard(keys.0))? {
        None => Ok(()),
        Some(_) => Err(Refusal::from(TableRefusal::TableNotFound).into()),
    }
}

/// Gets one entity by its keys.
pub async fn get_entity(core: &Core, op: Authorized<GetEntity>) -> Result<Entity, Error> {
    let (GetEntity { at, key }, _) = op.into_parts();
    let place = find(core, &at).await?.place;
    let keys = Keys(place.incarnation);
    let inside = core.store().meta.snapshot(&place.placement).await?;
    let Some(first) = Stored::peek(&inside, &keys.entity(&key))? else {
        check_alive(&inside, keys)?;
        return Err(Refusal::from(TableRefusal::EntityNotFound).into());
    };
    Ok(rows::entity(&inside, keys, key, first)?)
}
