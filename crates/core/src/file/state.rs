//! The state of a share as a whole: its snapshots and the bytes used.
//!
//! A snapshot is a commit. Taking one costs the same whatever the share holds: from then on, writes
//! keep what they replace. Forgetting one leaves it to the background to find what nobody sees.

use super::books::{alive, refuse};
use super::keys::Keys;
use super::records::{Intent, State};
use crate::blob::site::Site;
use crate::directory::Place;
use crate::records::Record;
use crate::{Core, Error};
use zaffre_base::Stamp;
use zaffre_base::limits::SHARE_SNAPSHOTS;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::Snapshot;

/// Takes a snapshot; gives the commit that it shows.
pub(crate) async fn snapshot_begin(core: &Core, place: &Place) -> Result<Stamp, Error> {
    let keys = Keys(place.incarnation);
    core.transact(&place.placement, move |tx| {
        alive(tx, keys)?;
        let mut state = State::load(tx, &keys.state())?.unwrap_or_default();
        if state.snapshots.len() >= SHARE_SNAPSHOTS {
            return refuse(FileRefusal::ShareSnapshotCountExceeded);
        }
        let at = tx.stamp();
        state.snapshots.push(at.0);
        state.store(tx, &keys.state())?;
        Ok(at)
    })
    .await
}

/// Forgets a snapshot; harmless if it is forgotten already.
pub(crate) async fn snapshot_forget(core: &Core, place: &Place, at: Stamp) -> Result<(), Error> {
    let keys = Keys(place.incarnation);
    let forgotten = core
        .transact(&place.placement, move |tx| {
            alive(tx, keys)?;
            let mut state = State::load(tx, &keys.state())?.unwrap_or_default();
            let before = state.snapshots.len();
            state.snapshots.retain(|known| *known != at.0);
            if state.snapshots.len() == before {
                return Ok(false);
            }
            state.store(tx, &keys.state())?;
            let now = tx.stamp();
            Intent::Thin.store(tx, &keys.intent(now))?;
            Ok(true)
        })
        .await?;
    if forgotten {
        core.pending().mark(&Site::from(place.clone()));
    }
    Ok(())
}

/// The commits of all snapshots, in order.
pub(crate) async fn snapshots(core: &Core, place: &Place) -> Result<Vec<Stamp>, Error> {
    Ok(peek(core, place).await?.snapshots.into_iter().map(Stamp).collect())
}

/// The sizes of all files together.
pub(crate) async fn usage(core: &Core, place: &Place) -> Result<u64, Error> {
    Ok(peek(core, place).await?.used)
}

/// The sizes of all files together, as one moment shows them.
pub(crate) fn used(inside: &Snapshot, keys: Keys) -> Result<u64, Error> {
    Ok(State::peek(inside, &keys.state())?.unwrap_or_default().used)
}

async fn peek(core: &Core, place: &Place) -> Result<State, Error> {
    let inside = core.store().meta.snapshot(&place.placement).await?;
    Ok(State::peek(&inside, &Keys(place.incarnation).state())?.unwrap_or_default())
}
