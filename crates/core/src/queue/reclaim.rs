//! Removing the rows of expired messages, in bounded commits.
//!
//! Must never decide that a message has expired by anything but the commit's own time.

use super::keys::Keys;
use super::records::Stored;
use super::rows;
use crate::directory::Place;
use crate::records::Record;
use crate::{Core, Error};
use zaffre_base::Timestamp;
use zaffre_store::{StoreError, Tx};

/// Messages removed by one commit.
const MESSAGES: usize = 128;

/// Removes the expired messages of a queue; gives the instant when the next one expires.
pub(crate) async fn reclaim(core: &Core, place: &Place) -> Result<Option<Timestamp>, Error> {
    let keys = Keys(place.incarnation);
    loop {
        let body = move |tx: &mut Tx<'_>| {
            let range = keys.expired(tx.stamp().time());
            let expired = tx.scan(&range.start, range.end.as_deref(), MESSAGES)?;
            let mut gone = 0;
            for row in &expired {
                let found = keys.expiry_of(&row.key);
                let (_, id) = found
                    .ok_or_else(|| StoreError::corrupt("the key of an expiry"))
                    .map_err(zaffre_store::Interrupt::from)?;
                if let Some(stored) = Stored::load(tx, &keys.message(id))? {
                    rows::remove(tx, keys, id, &stored)?;
                    gone += 1;
                }
                tx.delete(&row.key)?;
            }
            if gone > 0 {
                rows::count(tx, keys, 0, gone)?;
            }
            Ok(expired.len())
        };
        if core.transact(&place.placement, body).await? < MESSAGES {
            return next(core, place).await;
        }
    }
}

/// When the next message of a queue expires, if one does.
pub(crate) async fn next(core: &Core, place: &Place) -> Result<Option<Timestamp>, Error> {
    let keys = Keys(place.incarnation);
    let range = keys.expiries();
    let inside = core.store().meta.snapshot(&place.placement).await?;
    let first = inside.scan(&range.start, range.end.as_deref(), 1)?;
    Ok(first.first().and_then(|row| keys.expiry_of(&row.key)).map(|(expires, _)| expires))
}
