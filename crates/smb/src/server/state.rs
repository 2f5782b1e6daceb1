//! The server: what all connections share.
//!
//! Must never hold a lock while it waits.

use super::connection::Connection;
use super::session::Session;
use super::throttle::Throttle;
use crate::files::Disk;
use crate::files::create::replay::Replays;
use crate::files::durable::Orphanage;
use crate::files::notify::Watches;
use crate::options::Options;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Semaphore;
use zaffre_auth::Accounts;
use zaffre_base::{AccountName, Incarnation, ShareName, Timestamp};
use zaffre_core::Core;
use zaffre_core::file::opens::FileKey;
use zaffre_domain::fs::FileId;

/// Gives the accounts as they are now; keys may be rotated while the server runs.
pub type AccountsNow = Arc<dyn Fn() -> Arc<Accounts> + Send + Sync>;

/// What the server calls itself in NTLM and in `srvsvc`.
pub(crate) const NAME: &str = "ZAFFRE";

/// The server.
pub(crate) struct Server {
    pub(crate) core: Core,
    pub(crate) accounts: AccountsNow,
    pub(crate) options: Options,
    /// Shares whose listings leave out what may not be read.
    pub(crate) hiding: Vec<ShareName>,
    pub(crate) guid: [u8; 16],
    pub(crate) throttle: Throttle,
    /// Bytes that large messages may take.
    pub(crate) buffers: Arc<Semaphore>,
    /// Bytes that answers to reads may take.
    pub(crate) answers: Arc<Semaphore>,
    /// Handles whose clients may come back.
    pub(crate) orphans: Arc<Orphanage>,
    /// Who watches directories.
    pub(crate) watches: Watches,
    /// CREATEs that may be sent again.
    pub(crate) replays: Arc<Replays>,
    disks: Mutex<HashMap<Incarnation, Weak<Disk>>>,
    sessions: Mutex<HashMap<u64, Weak<Session>>>,
    /// The connections of each client that has a session, the oldest first.
    clients: Mutex<HashMap<Client, Vec<Weak<Connection>>>>,
    next_file: AtomicU64,
    next_session: AtomicU32,
}

/// A client by the id it gave itself, within its account.
type Client = (AccountName, [u8; 16]);

fn client(session: &Session) -> Client {
    (session.holder.account().clone(), session.agreed.client_guid)
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

/// Random bytes; without them there is no secure session.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

impl Server {
    pub(crate) fn new(
        core: Core,
        accounts: AccountsNow,
        options: Options,
        hiding: Vec<ShareName>,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            core,
            accounts,
            options,
            hiding,
            guid: random()?,
            throttle: Throttle::default(),
            watches: Watches::default(),
            buffers: Arc::new(Semaphore::new(crate::limits::BUFFERED_BYTES)),
            answers: Arc::new(Semaphore::new(crate::limits::ANSWERED_BYTES)),
            orphans: Arc::default(),
            replays: Arc::default(),
            disks: Mutex::default(),
            sessions: Mutex::default(),
            clients: Mutex::default(),
            next_file: AtomicU64::new(u64::from_le_bytes(random()?) >> 16),
            next_session: AtomicU32::new(u32::from_le_bytes(random()?)),
        })
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<u64, Weak<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a handle: never given twice.
    pub(crate) fn fresh_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    /// A number for a session that none has. It says nothing: a session's keys are what counts. There
    /// are clients that keep only half of a longer one.
    pub(crate) fn fresh_session(&self) -> u64 {
        loop {
            let id = self.next_session.fetch_add(1, Ordering::Relaxed);
            // Zero and all ones mean something else.
            if id != 0 && id != u32::MAX && self.session(id.into()).is_none() {
                return id.into();
            }
        }
    }

    /// Remembers where the files of a share are, for as long as somebody is connected to it.
    pub(crate) fn add_disk(&self, disk: &Arc<Disk>) {
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        disks.retain(|_, disk| disk.strong_count() > 0);
        disks.insert(disk.key(FileId::ROOT).share, Arc::downgrade(disk));
    }

    /// Where a file is, if somebody is connected to its share.
    pub(crate) fn disk(&self, file: FileKey) -> Option<Arc<Disk>> {
        let disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        disks.get(&file.share)?.upgrade()
    }

    /// The service's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.core.store().clock.now()
    }

    pub(crate) fn add_session(&self, session: &Arc<Session>, connection: &Arc<Connection>) {
        self.sessions().insert(session.id, Arc::downgrade(session));
        self.add_connection(session, connection);
    }

    /// A client's session is on this connection as well.
    pub(crate) fn add_connection(&self, session: &Session, connection: &Arc<Connection>) {
        let connection = Arc::downgrade(connection);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|_, of_client| {
            of_client.retain(|connection| connection.strong_count() > 0);
            !of_client.is_empty()
        });
        let of_client = clients.entry(client(session)).or_default();
        if !of_client.iter().any(|known| known.ptr_eq(&connection)) {
            of_client.push(connection);
        }
    }

    /// The oldest connection of a client: where it hears of its leases, whichever it opened them on.
    pub(crate) fn connection_of(&self, session: &Session) -> Option<Arc<Connection>> {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let mut alive = clients.get(&client(session))?.iter().filter_map(Weak::upgrade);
        alive.find(|connection| !connection.is_closing())
    }

    pub(crate) fn remove_session(&self, id: u64) {
        self.sessions().remove(&id);
    }

    pub(crate) fn session(&self, id: u64) -> Option<Arc<Session>> {
        self.sessions().get(&id)?.upgrade()
    }
}
