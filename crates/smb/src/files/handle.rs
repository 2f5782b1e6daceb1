//! A handle of a file or directory, and its end.
//!
//! Must never be dropped while the open table still has it: [`close`] ends both.

use super::create::ask::DELETE_ON_CLOSE;
use super::create::replay::CreateId;
use super::disk::Disk;
use super::scratch::Scratch;
use super::{notify, write_time};
use crate::server::connection::Connection;
use crate::server::exchange::Exchange;
use crate::server::session::Session;
use crate::server::state::Server;
use crate::wire::FileId;
use crate::wire::oplock::{lease_break, notice, oplock_body};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use zaffre_core::Error;
use zaffre_core::file::opens::{Closed, Event, FileKey, HandleId, LeaseId, Listener, Owner, Under};
use zaffre_domain::fs::FileId as Id;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::oplock::Caching;

/// A handle of a file or directory.
#[derive(Debug)]
pub(crate) struct FileHandle {
    /// Its number in the open table.
    pub(crate) handle: HandleId,
    pub(crate) file: FileKey,
    /// What it is a stream of, if it is one.
    pub(crate) base: Option<Id>,
    pub(crate) directory: bool,
    pub(crate) access: AccessMask,
    /// The options of its CREATE.
    pub(crate) options: u32,
    pub(crate) disk: Arc<Disk>,
    pub(crate) lease: Option<LeaseId>,
    pub(crate) durable: Option<Durable>,
    /// Bytes set aside for it.
    pub(crate) reserved: u64,
    /// The newest number of connections lost that its client has sent.
    pub(crate) sequence: AtomicU16,
    /// Whether no request has named it yet.
    pub(crate) unused: AtomicBool,
    /// The CREATE that would be answered with it again until then.
    pub(crate) create: Option<CreateId>,
    /// What commands keep with it.
    pub(crate) scratch: Scratch,
}

/// How a handle outlives its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Durable {
    /// The client's id of the create, in the second version.
    pub(crate) guid: Option<[u8; 16]>,
    /// How long.
    pub(crate) time: Duration,
}

impl FileHandle {
    /// Whether a request with this number of connections lost was not overtaken by a later one.
    pub(crate) fn is_current(&self, number: u16) -> bool {
        const AHEAD: u16 = 0x7FFF;
        let newer = |last: u16| (number.wrapping_sub(last) <= AHEAD).then_some(number);
        self.sequence.fetch_update(Ordering::Relaxed, Ordering::Relaxed, newer).is_ok()
    }

    /// A request names it, or it goes: its client knows it, and will not ask for it again.
    pub(crate) fn used(&self, server: &Server) {
        if let Some(create) = self.create
            && self.unused.swap(false, Ordering::Relaxed)
        {
            server.replays.forget(create);
        }
    }

    /// What has its times, attributes, descriptor and id: the file, also of a stream.
    pub(crate) fn holder(&self) -> Id {
        self.base.unwrap_or(self.file.file)
    }

    /// Its id on the wire.
    pub(crate) fn id(&self) -> FileId {
        id_of(self.handle)
    }
}

/// The id of a handle on the wire: the table's number is never used twice, so both parts are it.
pub(crate) fn id_of(handle: HandleId) -> FileId {
    FileId { persistent: handle.0, volatile: handle.0 }
}

/// The level of an oplock that caches so much.
pub(crate) fn level_of(caching: Caching) -> u8 {
    match caching {
        Caching::RWH => 0x09,
        Caching::RW => 0x08,
        caching if caching.contains(Caching::R) => 0x01,
        _ => 0x00,
    }
}

/// Tells a session's client what happens to its handles.
#[derive(Debug)]
struct Ear {
    server: Weak<Server>,
    connection: Weak<Connection>,
    session: Weak<Session>,
}

impl Ear {
    /// The connection that the handle was opened on, or another one that its session is on.
    fn way(&self, session: &Session) -> Option<Arc<Connection>> {
        let own = self.connection.upgrade().filter(|connection| !connection.is_closing());
        own.or_else(|| session.connections().into_iter().find(|other| !other.is_closing()))
    }
}

impl Listener for Ear {
    fn tell(&self, event: Event) {
        let Some(session) = self.session.upgrade() else { return };
        match event {
            Event::Oplock { handle, notice: told } => {
                let body = oplock_body(level_of(told.to), id_of(handle));
                if let Some(connection) = self.way(&session) {
                    connection.notify(&session, notice(&body));
                }
            }
            Event::Lease { lease, notice: told, second_version, .. } => {
                let epoch = if second_version { told.epoch } else { 0 };
                let [from, to] = [told.from, told.to].map(|state| u32::from(state.bits()));
                let key = lease.key.to_le_bytes();
                let message = notice(&lease_break(epoch, told.answer, key, from, to));
                let oldest = self.server.upgrade().and_then(|s| s.connection_of(&session));
                let there = oldest.and_then(|c| c.session_like(&session).map(|like| (c, like)));
                let own = || self.way(&session).map(|c| (c, session.clone()));
                if let Some((connection, session)) = there.or_else(own) {
                    connection.notify(&session, message);
                }
            }
            Event::Closed { handle } => {
                session.take_open(id_of(handle));
            }
        }
    }
}

/// The owner of handles that a request opens.
pub(crate) fn owner(x: &Exchange<'_>) -> Owner {
    let ear = Ear {
        server: Arc::downgrade(&x.server),
        connection: Arc::downgrade(&x.connection),
        session: Arc::downgrade(&x.session),
    };
    Owner {
        listener: Arc::new(ear),
        session: x.session.id,
        tree: u64::from(x.tree.id),
        client_address: x.connection.peer.to_string().into(),
        client_name: x.connection.peer.ip().to_string().into(),
    }
}

/// Closes a handle and does what its close leaves to be done.
pub(crate) async fn close(server: &Server, open: &FileHandle) {
    let settled = write_time::settle_closed(server, open).await;
    release(server, open).await;
    if let Err(error) = settled {
        give_up(server, open, &error);
    }
}

/// Closes handles whose client is gone: first all of them, so that nobody finds them in the way while
/// what they wrote is committed.
pub(crate) async fn leave(server: &Server, opens: &[Arc<FileHandle>]) {
    for open in opens {
        release(server, open).await;
    }
    for open in opens {
        if let Err(error) = write_time::settle_closed(server, open).await {
            give_up(server, open, &error);
        }
    }
}

async fn release(server: &Server, open: &FileHandle) {
    open.used(server);
    open.scratch.watch.close();
    let place = server.core.opens().place(open.handle);
    // Somebody else may have closed it.
    let Ok(closed) = server.core.opens().close(open.handle) else { return };
    // The last stream of a file that was marked takes the file with it.
    let with_file = closed.file != open.file;
    if finish(&open.disk, closed).await
        && let Some(place) = place
    {
        let file = place.path.rsplit_once(':').filter(|_| with_file).map(|(file, _)| file);
        notify::removed(server, &open.disk, open.directory, file.unwrap_or(&place.path));
    } else if open.directory && open.options & DELETE_ON_CLOSE != 0 {
        // Others have it open: it goes with them.
        notify::marked(server, open);
    }
}

/// What was written could not be committed: whoever still has the file open may try again.
fn give_up(server: &Server, open: &FileHandle, error: &Error) {
    let FileKey { share, file } = open.file;
    if !server.core.opens().is_open(share, Under::Only(file)) {
        tracing::warn!(%error, "writes to a file that was closed are lost");
        open.disk.mount.abandon(file);
    }
}

/// Removes what goes with its last handle; says whether something was.
pub(crate) async fn finish(disk: &Disk, closed: Closed) -> bool {
    disk.mount.finish(closed).await
}
