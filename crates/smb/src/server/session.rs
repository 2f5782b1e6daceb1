//! Sessions, the connections they are on, the shares they are connected to, and the handles they hold.
//!
//! Must never exist without a proven key holder.

use super::connection::{Agreed, Connection};
use crate::crypto::SessionKeys;
use crate::files::Open;
use crate::limits;
use crate::status::Status;
use crate::wire::FileId;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use zaffre_auth::ntlm::KeyHolder;

/// An established session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: u64,
    pub(crate) holder: KeyHolder,
    /// Those of the connection that it began on.
    pub(crate) keys: Arc<SessionKeys>,
    channels: Mutex<Vec<Channel>>,
    /// What was agreed with its client.
    pub(crate) agreed: Agreed,
    ended: AtomicBool,
    /// Whether its client encrypts.
    encrypts: AtomicBool,
    next_tree: AtomicU32,
    trees: Mutex<BTreeMap<u32, Arc<Tree>>>,
    opens: Mutex<BTreeMap<u64, Arc<Open>>>,
}

/// A connection that a session is on.
#[derive(Debug)]
struct Channel {
    connection: Weak<Connection>,
    keys: Arc<SessionKeys>,
}

/// A share that a session is connected to.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) id: u32,
    pub(crate) share: Share,
}

/// What a tree leads to.
#[derive(Debug)]
pub(crate) enum Share {
    /// The pipes.
    Pipes,
    /// Files.
    Disk(Arc<crate::files::Disk>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One number for an account's client, by the id that it gave itself.
fn client_id(account: &str, guid: &[u8; 16]) -> u128 {
    let digest: [u8; 32] = Sha256::new().chain_update(guid).chain_update(account).finalize().into();
    let half = digest.first_chunk().copied().unwrap_or_default();
    u128::from_le_bytes(half)
}

impl Channel {
    fn is(&self, connection: &Arc<Connection>) -> bool {
        std::ptr::eq(self.connection.as_ptr(), Arc::as_ptr(connection))
    }
}

impl Session {
    pub(crate) fn new(
        id: u64,
        holder: KeyHolder,
        keys: SessionKeys,
        connection: &Arc<Connection>,
        agreed: Agreed,
    ) -> Self {
        let keys = Arc::new(keys);
        let first = Channel { connection: Arc::downgrade(connection), keys: keys.clone() };
        Self {
            id,
            holder,
            keys,
            channels: Mutex::new(vec![first]),
            agreed,
            ended: AtomicBool::new(false),
            encrypts: AtomicBool::new(false),
            next_tree: AtomicU32::new(1),
            trees: Mutex::default(),
            opens: Mutex::default(),
        }
    }

    /// Its client, within its account: two accounts' clients are never the same, whatever they call
    /// themselves.
    pub(crate) fn client(&self) -> u128 {
        client_id(self.holder.account().as_str(), &self.agreed.client_guid)
    }

    /// A message of its client came encrypted.
    pub(crate) fn heard_encrypted(&self) {
        self.encrypts.store(true, Ordering::Relaxed);
    }

    /// Whether what its client did not ask for has to be encrypted, as what it asks is.
    pub(crate) fn encrypts(&self) -> bool {
        self.encrypts.load(Ordering::Relaxed)
    }

    /// What is signed with on that connection.
    pub(crate) fn keys_on(&self, connection: &Arc<Connection>) -> Arc<SessionKeys> {
        let channels = lock(&self.channels);
        let own = channels.iter().find(|channel| channel.is(connection));
        own.map_or_else(|| self.keys.clone(), |channel| channel.keys.clone())
    }

    /// What an element was signed with, if it was with something of this session.
    pub(crate) fn signer_of(&self, element: &[u8]) -> Option<Arc<SessionKeys>> {
        let channels = lock(&self.channels);
        let mut all = channels.iter().map(|channel| &channel.keys).chain([&self.keys]);
        all.find(|keys| keys.verify(element)).cloned()
    }

    /// Puts it on one more connection.
    pub(crate) fn join(
        &self,
        connection: &Arc<Connection>,
        keys: Arc<SessionKeys>,
    ) -> Result<(), Status> {
        let mut channels = lock(&self.channels);
        // One that has none left is ending.
        if channels.is_empty() || self.has_ended() {
            return Err(Status::USER_SESSION_DELETED);
        }
        if channels.len() >= limits::CHANNELS {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        channels.push(Channel { connection: Arc::downgrade(connection), keys });
        Ok(())
    }

    /// Takes it off a connection that is gone; whether that was the last.
    pub(crate) fn leave(&self, connection: &Arc<Connection>) -> bool {
        let mut channels = lock(&self.channels);
        channels.retain(|channel| !channel.is(connection));
        channels.is_empty()
    }

    /// The connections that it is on, the oldest first.
    pub(crate) fn connections(&self) -> Vec<Arc<Connection>> {
        lock(&self.channels).iter().filter_map(|channel| channel.connection.upgrade()).collect()
    }

    /// Connects a share.
    pub(crate) fn add_tree(&self, share: Share) -> Result<Arc<Tree>, Status> {
        let mut trees = lock(&self.trees);
        if trees.len() >= limits::TREES || self.has_ended() {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let id = self.next_tree.fetch_add(1, Ordering::Relaxed);
        let tree = Arc::new(Tree { id, share });
        trees.insert(id, tree.clone());
        Ok(tree)
    }

    pub(crate) fn tree(&self, id: u32) -> Option<Arc<Tree>> {
        lock(&self.trees).get(&id).cloned()
    }

    /// Disconnects a share; its opens are the caller's to close.
    pub(crate) fn remove_tree(&self, id: u32) -> Option<Vec<Arc<Open>>> {
        lock(&self.trees).remove(&id)?;
        let mut opens = lock(&self.opens);
        let of_tree: Vec<u64> =
            opens.iter().filter(|(_, open)| open.tree == id).map(|(id, _)| *id).collect();
        Some(of_tree.iter().filter_map(|id| opens.remove(id)).collect())
    }

    /// Keeps a handle. One that cannot be kept is given back, to be closed.
    pub(crate) fn add_open(&self, open: Arc<Open>) -> Result<(), Arc<Open>> {
        let mut opens = lock(&self.opens);
        if opens.len() >= limits::OPENS || self.has_ended() {
            return Err(open);
        }
        opens.insert(open.id.volatile, open);
        Ok(())
    }

    pub(crate) fn open(&self, id: FileId) -> Option<Arc<Open>> {
        lock(&self.opens).get(&id.volatile).filter(|open| open.id == id).cloned()
    }

    /// Lets go of a handle.
    pub(crate) fn take_open(&self, id: FileId) -> Option<Arc<Open>> {
        let mut opens = lock(&self.opens);
        opens.get(&id.volatile).filter(|open| open.id == id)?;
        opens.remove(&id.volatile)
    }

    /// Ends it, once: no tree and no open can be added any more, and those it had are given back.
    pub(crate) fn end(&self) -> Vec<Arc<Open>> {
        self.ended.store(true, Ordering::SeqCst);
        lock(&self.trees).clear();
        std::mem::take(&mut *lock(&self.opens)).into_values().collect()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_two_accounts_are_two() {
        let (one, other) = ([7; 16], [8; 16]);
        assert_eq!(client_id("first", &one), client_id("first", &one));
        assert_ne!(client_id("first", &one), client_id("second", &one));
        assert_ne!(client_id("first", &one), client_id("first", &other));
    }
}
