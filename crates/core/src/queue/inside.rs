//! Running a transaction inside a queue: find it, hold it, refuse if it was deleted meanwhile.
//!
//! Must never be skipped by a write to messages.

use super::keys::Keys;
use super::op::QueuePath;
use super::records::Queue;
use crate::directory::{self, Place, alive};
use crate::{Core, Error};
use zaffre_domain::Refusal;
use zaffre_store::{Abort, Tx};

/// How often an operation looks for a queue that is cleared under it.
const TRIES: usize = 8;

/// Runs the body that `make` gives for a queue's present life. A queue that is cleared meanwhile
/// begins a new life, in which the operation is tried again.
pub(super) async fn transact<T, B>(
    core: &Core,
    at: &QueuePath,
    mut make: impl FnMut(&Place) -> B,
) -> Result<(T, Place), Error>
where
    T: Send + 'static,
    B: FnMut(&mut Tx<'_>, Keys) -> Result<T, Abort<Refusal>> + Send + 'static,
{
    let mut tries = TRIES;
    loop {
        let found = directory::find::<Queue>(core, &at.account, at.queue.as_str()).await?;
        let place = found.place;
        let hold = directory::hold(&place, found.pin);
        let (mut body, keys) = (make(&place), Keys(place.incarnation));
        let guarded = move |tx: &mut Tx<'_>| {
            // Held for as long as this may run, even if the caller goes away.
            let _ = &hold;
            alive::<Queue>(tx, keys.0)?;
            body(tx, keys)
        };
        tries -= 1;
        match core.transact(&place.placement, guarded).await {
            Err(Error::Refused(Refusal::QueueNotFound)) if tries > 0 => {}
            result => return result.map(|value| (value, place)),
        }
    }
}
