//! Handles that outlive their connection, and the end of those that do not.
//!
//! Must never give a handle to anybody but the account and the client that opened it.

use super::create::ask::{DELETE_ON_CLOSE, Reconnect};
use super::create::lease_context;
use super::handle::{self, FileHandle, level_of, owner};
use super::{Open, facts};
use crate::server::exchange::{Exchange, Reply};
use crate::server::session::Session;
use crate::server::state::Server;
use crate::status::{Failure, Status};
use crate::wire::create::Response;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zaffre_base::AccountName;
use zaffre_core::file::opens::{Event, HandleId, Listener};
use zaffre_domain::fs::name::fold;
use zaffre_domain::fs::oplock::Caching;

/// Handles whose clients are gone and may come back.
#[derive(Debug, Default)]
pub(crate) struct Orphanage {
    all: Mutex<HashMap<HandleId, Orphan>>,
    /// Those that were closed since the last sweep: it may have to remove their files.
    closed: Mutex<Vec<Arc<FileHandle>>>,
}

#[derive(Debug)]
struct Orphan {
    file: Arc<FileHandle>,
    account: AccountName,
    client: [u8; 16],
}

impl Listener for Orphanage {
    fn tell(&self, event: Event) {
        if let Event::Closed { handle } = event {
            let gone = self.all().remove(&handle);
            self.closed().extend(gone.map(|orphan| orphan.file));
        }
    }
}

impl Orphanage {
    fn all(&self) -> MutexGuard<'_, HashMap<HandleId, Orphan>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> MutexGuard<'_, Vec<Arc<FileHandle>>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, to be closed.
    pub(crate) fn take_all(&self) -> Vec<Arc<FileHandle>> {
        std::mem::take(&mut *self.all()).into_values().map(|orphan| orphan.file).collect()
    }

    /// The handle, if it is the one that is meant; it stays until it is taken up.
    fn find(&self, handle: HandleId, is_it: impl Fn(&Orphan) -> bool) -> Option<Arc<FileHandle>> {
        self.all().get(&handle).filter(|orphan| is_it(orphan)).map(|orphan| orphan.file.clone())
    }
}

/// The handles of a session that ends: durable ones wait for their client, the others are closed.
pub(crate) async fn abandon(server: &Arc<Server>, session: &Session, opens: Vec<Arc<Open>>) {
    let files = opens.iter().filter_map(|open| open.file());
    let left: Vec<_> = files.filter(|file| !orphan(server, session, file)).cloned().collect();
    handle::leave(server, &left).await;
}

/// Leaves a handle to its client, if the client can come back to it; whether it can.
fn orphan(server: &Arc<Server>, session: &Session, file: &Arc<FileHandle>) -> bool {
    let Some(durable) = file.durable else { return false };
    // A client that wanted the file gone with its handle does not come back to it.
    if file.options & DELETE_ON_CLOSE != 0 {
        return false;
    }
    file.used(server);
    let opens = server.core.opens();
    let caching = opens.caching(file.handle).caching;
    let told = match file.lease {
        Some(_) => caching.contains(Caching::H),
        None => caching == Caching::RWH,
    };
    if !told {
        return false;
    }
    let orphan = Orphan {
        file: file.clone(),
        account: session.holder.account().clone(),
        client: session.agreed.client_guid,
    };
    // Known first: from the next line on it may be closed, which takes it out again.
    server.orphans.all().insert(file.handle, orphan);
    let until = opens.monotonic() + durable.time;
    let kept = opens.orphan(file.handle, until, server.orphans.clone()).is_ok();
    if !kept {
        server.orphans.all().remove(&file.handle);
    }
    kept
}

/// CREATE that takes a handle up again.
pub(crate) async fn reconnect(x: &mut Exchange<'_>, asked: Reconnect) -> Result<Reply, Failure> {
    let handle = HandleId(asked.persistent);
    let is_it = |orphan: &Orphan| {
        let file = &orphan.file;
        // The first version does not know of the second one's ids and may take up either.
        let guid = file.durable.and_then(|durable| durable.guid);
        let same_create = asked.guid.is_none_or(|asked| asked == guid.unwrap_or_default());
        let same_lease = match (file.lease, &asked.lease) {
            (None, None) => true,
            (Some(had), Some(has)) => {
                had.key == u128::from_le_bytes(has.key)
                    && orphan.client == x.session.agreed.client_guid
            }
            _ => false,
        };
        same_create && same_lease && orphan.account == *x.session.holder.account()
    };
    let file = x.server.orphans.find(handle, is_it).ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
    if asked.lease.is_some() {
        // Where clients cache by name, a handle under another name would mix two files up.
        let place = x.server.core.opens().place(handle).ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
        let path = asked.path.map_err(|_| Status::INVALID_PARAMETER)?;
        if fold(&path.text()) != fold(&place.path) {
            return Err(Status::INVALID_PARAMETER.into());
        }
    }
    let opens = x.server.core.opens().clone();
    let adopted = opens.adopt(handle, owner(x), x.server.now());
    adopted.map_err(|_| Status::OBJECT_NAME_NOT_FOUND)?;
    x.server.orphans.all().remove(&handle);
    let open = Arc::new(Open::of_file(file.clone(), x.tree.id));
    if x.session.add_open(open).is_err() {
        handle::close(&x.server, &file).await;
        return Err(Status::INSUFFICIENT_RESOURCES.into());
    }
    x.related = Ok(file.id());
    let opened = opens.caching(handle);
    let mut contexts = Vec::new();
    if let Some(lease) = &asked.lease {
        contexts.push(lease_context(lease, opened));
    }
    let facts = file.disk.mount.facts(file.file.file).await?;
    let facts = facts::of(&facts).with_reserved(file.reserved);
    let oplock = if file.lease.is_some() { 0xFF } else { level_of(opened.caching) };
    let response = Response { oplock, action: 1, facts, file: file.id(), contexts };
    Ok(Reply::ok(response.write()))
}

/// Ends handles whose clients were gone for too long, and removes what goes with them.
pub(crate) async fn sweep(server: &Arc<Server>) {
    let opens = server.core.opens();
    let swept = opens.sweep(opens.monotonic());
    // Taken after: whoever is in the first list was put in this one before.
    let files = std::mem::take(&mut *server.orphans.closed());
    for closed in swept {
        let of_file = files.iter().find(|file| file.file == closed.file);
        let disk = of_file.map(|file| file.disk.clone());
        if let Some(disk) = disk.or_else(|| server.disk(closed.file)) {
            handle::finish(&disk, closed).await;
        } else {
            tracing::warn!("a deleted file could not be removed: its share is not known");
        }
    }
}
