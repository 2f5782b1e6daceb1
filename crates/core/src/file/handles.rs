//! List Handles and Force Close Handles: who has a file or directory open over SMB.

use super::found::Reading;
use super::mount::Mount;
use super::op::{ForceCloseHandles, ItemPath, ListHandles};
use super::opens::{Closed, HandleId, HandleInfo, Under};
use super::reply::{ForceClosed, HandlePage, HandleView};
use crate::blob::marker::{self, Listing, Place as Marker};
use crate::service::detached;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;

/// Lists one page of handles, in order of their ids.
pub async fn list_handles(core: &Core, op: Authorized<ListHandles>) -> Result<HandlePage, Error> {
    let (op, _) = op.into_parts();
    let (reading, under) = find(core, &op.at, op.recursive).await?;
    let from = from(op.marker.as_deref())?;
    let mut handles = core.opens().handles(reading.place.incarnation, under);
    handles.retain(|handle| handle.handle.0 >= from);
    let most = usize::try_from(op.max_results).unwrap_or(usize::MAX);
    let next = handles.get(most).map(|handle| mark(handle.handle));
    let handles = handles.into_iter().take(most).map(shown).collect();
    Ok(HandlePage { handles, next })
}

/// Closes one handle, or all of them. What was marked for deletion before goes with its last handle, as
/// with any close; a handle that only would have marked it at its own close does not.
pub async fn force_close_handles(
    core: &Core,
    op: Authorized<ForceCloseHandles>,
) -> Result<ForceClosed, Error> {
    let (op, _) = op.into_parts();
    from(op.marker.as_deref())?;
    let (reading, under) = find(core, &op.at, op.recursive).await?;
    let share = reading.place.incarnation;
    let closed: Vec<Closed> = match op.handle {
        Some(handle) => {
            let known = core.opens().handles(share, under);
            let known = known.iter().any(|known| known.handle.0 == handle);
            let closed = known.then(|| core.opens().force_close(share, HandleId(handle)));
            closed.flatten().into_iter().collect()
        }
        None => core.opens().force_close_all(share, under),
    };
    let count = u64::try_from(closed.len()).unwrap_or(u64::MAX);
    let mount = Mount::of(core, &op.at.share, share);
    // The handles are closed: what that leaves to be done is done also if the caller goes away.
    detached(async move {
        for closed in closed {
            mount.finish(closed).await;
        }
        Ok(ForceClosed { closed: count, failed: 0, next: None })
    })
    .await
}

/// What the handles are of. It may be about to go: its handles are then of interest most of all.
async fn find(
    core: &Core,
    at: &ItemPath,
    recursive: Option<bool>,
) -> Result<(Reading, Under), Error> {
    let reading = Reading::open(core, at).await?;
    let found = reading.walk(&at.path)?.found();
    let (id, directory) = found.ok_or(FileRefusal::ResourceNotFound)?;
    let under = match recursive {
        Some(_) if !directory => return Err(FileRefusal::NothingBelow.into()),
        Some(true) => Under::Tree(id),
        Some(false) | None => Under::Only(id),
    };
    Ok((reading, under))
}

fn mark(handle: HandleId) -> String {
    marker::make(Listing::Handles, &Marker::blob(handle.0.to_string()))
}

fn from(text: Option<&str>) -> Result<u64, Refusal> {
    let Some(text) = text else { return Ok(0) };
    let place = marker::read(Listing::Handles, text)?;
    place.name.parse().map_err(|_| Refusal::InvalidMarker)
}

fn shown(handle: HandleInfo) -> HandleView {
    let classes = handle.access.classes();
    HandleView {
        id: handle.handle.0,
        path: handle.path,
        file: handle.file,
        parent: handle.parent,
        session: handle.session,
        client_address: handle.client_address.to_string(),
        client_name: handle.client_name.to_string(),
        opened: handle.opened,
        reconnected: handle.reconnected,
        reads: classes.read,
        writes: classes.write,
        deletes: classes.delete,
    }
}
