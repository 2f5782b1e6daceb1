//! Entities as rows: one row for most, several for those too large for one.
//!
//! Must never leave a part behind: parts come and go in the transaction of their first row.

use super::keys::Keys;
use super::records::{Stored, StoredProperties};
use crate::records::{Record, write_bytes};
use std::borrow::Cow;
use zaffre_base::Stamp;
use zaffre_domain::table::{Entity, EntityKey, Properties};
use zaffre_store::{Interrupt, Snapshot, StoreError, Tx};

/// Bytes of properties in one row; the rest of the row's limit is for what else is in it.
const PART_BYTES: usize = 60 * 1024;

/// An entity's properties as bytes, before they are cut for their rows.
pub(super) fn bytes_of(properties: &Properties) -> Vec<u8> {
    StoredProperties::from(properties).to_bytes()
}

/// The properties cut for their rows: what the first holds, and the parts after it.
pub(super) struct Cut<'a> {
    first: Stored<'a>,
    rest: &'a [u8],
}

impl<'a> Cut<'a> {
    /// Cuts the properties, as bytes, of an entity written by the commit `written`.
    pub(super) fn new(written: Stamp, bytes: &'a [u8]) -> Result<Self, StoreError> {
        let (first, rest) = bytes.split_at_checked(PART_BYTES).unwrap_or((bytes, &[]));
        let parts = u8::try_from(rest.len().div_ceil(PART_BYTES))
            .map_err(|_| StoreError::Limit("more parts than an entity can have"))?;
        Ok(Self { first: Stored { written, parts, bytes: Cow::Borrowed(first) }, rest })
    }

    /// How many parts there are after the first row.
    pub(super) fn parts(&self) -> u8 {
        self.first.parts
    }

    /// Writes them, the first under `row`, in place of an entity that had `before` parts. Many are
    /// written one after the other, with one `buffer`.
    pub(super) fn store(
        &self,
        tx: &mut Tx<'_>,
        keys: Keys,
        (key, row): (&EntityKey, &[u8]),
        before: u8,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Interrupt> {
        // No row of an entity is read after it was written.
        if tx.is_rehearsal() {
            tx.announce();
            return Ok(());
        }
        write_bytes(&self.first, buffer);
        tx.put(row, buffer)?;
        for (number, part) in (0..).zip(self.rest.chunks(PART_BYTES)) {
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
    first: &Stored<'_>,
) -> Result<Properties, Interrupt> {
    let mut bytes = first.bytes.to_vec();
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
    first: Stored<'_>,
) -> Result<Entity, StoreError> {
    let Stored { written, parts, bytes } = first;
    let mut bytes = bytes.into_owned();
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
