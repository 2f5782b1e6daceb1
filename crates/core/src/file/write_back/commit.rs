//! Committing what waits for a file: one transaction, one after the other.
//!
//! Must never stop half-way, nor let a later write overtake an earlier one.

use super::Way;
use super::entry::Entry;
use crate::file::mount::{BasicChange, Mount, NodeFacts};
use crate::file::opens::FileKey;
use crate::service::detached;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;

/// Commits what is gathered now, with a change of times; gives what the file is like if anything was
/// committed.
pub(super) async fn commit(
    core: &Core,
    file: FileKey,
    entry: Arc<Entry>,
    way: Way,
    also: Option<BasicChange>,
) -> Result<Option<NodeFacts>, Error> {
    let core = core.clone();
    detached(async move {
        let turn = entry.turn.lock().await;
        let batch = entry.begin();
        let mount = Mount::on(&core, way);
        let outcome = match (batch, also) {
            (Some(batch), also) => {
                let outcome = mount.commit_batch(file.file, &batch, also).await;
                let all = &core.write_back().held;
                match &outcome {
                    Ok(_) => entry.done(all),
                    // Whatever it was written to is not there any more.
                    Err(error) if is_gone(error) => entry.done(all),
                    Err(_) => entry.failed(all),
                }
                outcome.map(Some)
            }
            (None, Some(change)) => mount.set_basic(file.file, change).await.map(Some),
            (None, None) => Ok(None),
        };
        drop(turn);
        core.write_back().tidy(file, &entry);
        outcome
    })
    .await
}

fn is_gone(error: &Error) -> bool {
    let gone = [FileRefusal::ResourceNotFound, FileRefusal::ShareNotFound];
    matches!(error, Error::Refused(Refusal::File(refusal)) if gone.contains(refusal))
}

/// The same while the client goes on; whoever flushes hears of a failure.
pub(super) fn in_background(core: &Core, file: FileKey, entry: Arc<Entry>, way: Way) {
    let core = core.clone();
    tokio::spawn(async move {
        if let Err(error) = commit(&core, file, entry, way, None).await {
            tracing::warn!(%error, "writes that waited could not be committed");
        }
    });
}
