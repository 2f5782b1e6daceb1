//! Writes of SMB handles that are acknowledged and not yet committed, by file.
//!
//! They are durable when FLUSH, CLOSE or a write-through write is answered, and seen by everybody at
//! once: SMB reads look here, REST operations have them committed first. Must never acknowledge that
//! something is durable that is not, nor commit a write before an earlier one of the same file.

mod commit;
mod entry;
mod landing;
mod over;
mod piece;
mod table;

pub(super) use entry::Batch;
pub(super) use landing::land;
pub(super) use over::Over;
pub(super) use piece::Piece;
pub(crate) use table::WriteBack;
pub(super) use table::{Calm, Way};

use super::mount::BasicChange;
use super::opens::{FileKey, Under};
use crate::{Core, Error};
use entry::Taken;
use std::time::Duration;
use zaffre_base::Incarnation;
use zaffre_domain::fs::write_back::Verdict;
use zaffre_store::StoreError;

/// How long a write may wait when nobody asks for it.
pub const AGE: Duration = Duration::from_secs(1);

/// Whether a write waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    Waits,
    /// What waited before it is committed; so must it be.
    Not,
}

/// Takes a write that may wait. `basis` finds the size of the file and the room that is left in the
/// share.
pub(super) async fn keep<B, F>(
    core: &Core,
    file: FileKey,
    way: &Way,
    (offset, piece): (u64, &Piece),
    basis: B,
) -> Result<Kept, Error>
where
    B: Fn() -> F,
    F: Future<Output = Result<(u64, u64), Error>>,
{
    if core.store().is_poisoned() {
        return Err(StoreError::Poisoned.into());
    }
    let back = core.write_back();
    loop {
        let entry = back.entry(file, Some(way));
        match entry.take(offset, piece, &back.held, core.opens().monotonic()) {
            Taken::Gone => {}
            Taken::Unknown => match basis().await {
                Ok((size, room)) => entry.found(size, room),
                Err(error) => {
                    back.tidy(file, &entry);
                    return Err(error);
                }
            },
            Taken::As(Verdict::Keep) => return Ok(Kept::Waits),
            Taken::As(Verdict::KeepAndCommit) => {
                commit::in_background(core, file, entry, way.clone());
                return Ok(Kept::Waits);
            }
            Taken::As(Verdict::Wait) => {
                commit::commit(core, file, entry, way.clone(), None).await?;
            }
            Taken::As(Verdict::Through) => {
                commit::commit(core, file, entry, way.clone(), None).await?;
                return Ok(Kept::Not);
            }
        }
    }
}

/// Commits what waits for a file, with a change of its times; whether there was an entry for it.
pub(super) async fn flush(
    core: &Core,
    file: FileKey,
    also: Option<BasicChange>,
) -> Result<bool, Error> {
    let Some((entry, way)) = core.write_back().reached(file) else { return Ok(false) };
    commit::commit(core, file, entry, way, also).await?;
    Ok(true)
}

/// Commits what waits for a file, and lets nothing wait until the value is dropped.
pub(super) async fn calm(core: &Core, file: FileKey) -> Result<Calm, Error> {
    let calm = Calm::begin(core, file);
    flush(core, file, None).await?;
    Ok(calm)
}

/// What a REST operation needs before it looks at a file: whatever was written is there, and if it
/// changes something, nothing waits until the value is dropped.
///
/// Writes that the rules refuse, a quota that is used up, are their client's to hear of: they are no
/// part of the file that others see.
pub(super) async fn before_rest(
    core: &Core,
    file: FileKey,
    changes: bool,
) -> Result<Option<Calm>, Error> {
    let calm = changes.then(|| Calm::begin(core, file));
    match flush(core, file, None).await {
        Ok(_) | Err(Error::Refused(_)) => Ok(calm),
        Err(error) => Err(error),
    }
}

/// Commits what waits for any file of a share; what the rules refuse is left out.
pub(super) async fn before_snapshot(core: &Core, share: Incarnation) -> Result<(), Error> {
    for file in core.write_back().dirty(Some(share)) {
        before_rest(core, file, false).await?;
    }
    Ok(())
}

/// Commits what waits for any file: the server stops.
pub async fn commit_all(core: &Core) -> Result<(), Error> {
    let mut outcome = Ok(());
    for file in core.write_back().dirty(None) {
        outcome = outcome.and(flush(core, file, None).await.map(drop));
    }
    outcome
}

/// Commits what has waited for too long; to be called about twice a second.
pub async fn sweep(core: &Core) {
    let before = core.opens().monotonic().saturating_sub(AGE);
    for file in core.write_back().due(before) {
        // Whoever flushes or closes the file hears of it.
        if let Err(error) = flush(core, file, None).await {
            tracing::warn!(%error, "writes that waited could not be committed");
        }
    }
    for file in core.write_back().failed() {
        // Nobody is left who could be told, or try again.
        if !core.opens().is_open(file.share, Under::Only(file.file)) {
            tracing::warn!("writes to a file that was closed are lost");
            core.write_back().discard(file);
        }
    }
}

/// Bytes that wait, of all files.
pub fn held(core: &Core) -> u64 {
    core.write_back().held.load(std::sync::atomic::Ordering::Relaxed)
}
