//! Entities as rows: one row for most, several for those too large for one.
//!
//! Must never leave a part behind: parts come and go in the transaction of their first row.

use super::keys::Keys;
use super::records::{Stored, StoredProperties};
use crate::records::Record;
use zaffre_base::Stamp;
use zaffre_domain::table::{Entity, EntityKey, Properties};
use zaffre_store::{Interrupt, Snapshot, StoreError, Tx};

/// Bytes of properties in one row; the rest of the row's limit is for what else is in it.
const PART_BYTES: usize = 60 * 1024;

/// The properties cut for their rows: what the first holds, and the parts after it.
pub(super) struct Cut {
    pub(super) first: Stored,
    pub(super) parts: Vec<Vec<u8>>,
}

impl Cut {
    /// Cuts the properties of an entity written by the commit `written`.
    pub(super) fn new(written: Stamp, properties: &Properties) -> Result<Self, StoreError> {
        let mut first = StoredProperties::bytes_of(properties);
        let rest = first.get(PART_BYTES..).unwrap_or_default();
        let parts: Vec<Vec<u8>> = rest.chunks(PART_BYTES).map(<[u8]>::to_vec).collect();
        first.truncate(PART_BYTES);
        let count = u8::try_from(parts.len())
            .map_err(|_| StoreError::Limit("more parts than an entity can have"))?;
        Ok(Self { first: Stored { written, parts: count, bytes: first }, parts })
    }

    /// Bytes in all.
    pub(super) fn len(&self) -> usize {
        self.first.bytes.len() + self.parts.iter().map(Vec::len).sum::<usize>()
    }

    /// Writes them, the first under `row`, in place of an entity that had `before` parts.
    pub(super) fn store(
        &self,
        tx: &mut Tx<'_>,
        keys: Keys,
        key: &EntityKey,
        row: &[u8],
        before: u8,
    ) -> Result<(), Interrupt> {
        self.first.store(tx, row)?;
        for (number, part) in (0..).zip(&self.parts) {
            tx.put(&keys.part(key, number), part)?;
        }
        for number in self.first.parts..before {
            tx.delete(&keys.part(key, number))?;
        }
        Ok(())
    }
}

/// Removes an entity.
pub(super) fn delete(
    tx: &mut Tx<'_>,
    keys: Keys,
    key: &EntityKey,
    parts: u8,
) -> Result<(), Interrupt> {
    tx.delete(&keys.entity(key))?;
    for number in 0..parts {
        tx.delete(&keys.part(key, number))?;
    }
    Ok(())
}

/// The properties of an entity whose first row was read, inside a transaction.
pub(super) fn load(
    tx: &mut Tx<'_>,
    keys: Keys,
    key: &EntityKey,
    first: &Stored,
) -> Result<Properties, Interrupt> {
    let mut bytes = first.bytes.clone();
    for number in 0..first.parts {
        let part = tx.get(&keys.part(key, number))?.ok_or_else(missing)?;
        bytes.extend_from_slice(&part);
    }
    Ok(StoredProperties::from_bytes(&bytes)?.into())
}

/// An entity whose first row was read, from the same snapshot.
pub(super) fn entity(
    inside: &Snapshot,
    keys: Keys,
    key: EntityKey,
    first: Stored,
) -> Result<Entity, StoreError> {
    let Stored { written, parts, mut bytes } = first;
    for number in 0..parts {
        let part = inside.get(&keys.part(&key, number))?.ok_or_else(missing)?;
        bytes.extend_from_slice(&part);
    }
    let properties = StoredProperties::from_bytes(&bytes)?.into();
    Ok(Entity { key, written, properties })
}

fn missing() -> StoreError {
    StoreError::corrupt("a part of an entity is missing")
}
