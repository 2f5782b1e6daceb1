//! What is known of one connection, shared by the requests that run on it.
//!
//! Must never block: a client that does not read is cut off.

use super::credits::Window;
use super::reply::Message;
use super::session::Session;
use super::setup::Dialogue;
use crate::crypto::{Algorithm, Cipher, Preauth, SessionKeys};
use crate::dialect::Dialect;
use crate::limits;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// What NEGOTIATE agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) dialect: Dialect,
    pub(crate) algorithm: Algorithm,
    pub(crate) cipher: Option<Cipher>,
    pub(crate) client_guid: [u8; 16],
    pub(crate) client_capabilities: u32,
    pub(crate) client_security_mode: u16,
    pub(crate) capabilities: u32,
    pub(crate) largest: u32,
    pub(crate) largest_transaction: u32,
    pub(crate) preauth: Preauth,
}

/// Where NEGOTIATE is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Nothing was said yet.
    Fresh,
    /// SMB 1 asked for SMB 2: one NEGOTIATE more.
    Upgrading,
    /// It is over.
    Agreed(Agreed),
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    /// The address of the server that the client knows it by.
    pub(crate) local: SocketAddr,
    pub(crate) state: Mutex<State>,
    /// What goes to the client, in order.
    out: mpsc::Sender<Outgoing>,
    /// Answers that may wait for a slow client.
    slots: Arc<Semaphore>,
    /// Whoever holds its permit runs; the next request waits for it.
    pub(crate) turn: Arc<Semaphore>,
    closing: watch::Sender<bool>,
    next_async: AtomicU64,
}

/// What requests change.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) stage: Stage,
    pub(crate) window: Window,
    pub(crate) sessions: HashMap<u64, Arc<Session>>,
    /// Sessions that ended not long ago.
    ended: VecDeque<Arc<Session>>,
    pub(crate) dialogues: HashMap<u64, Dialogue>,
    pending: HashMap<u64, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    message_id: u64,
    cancel: Arc<Notify>,
}

/// A message on its way out, and the slot it takes until it has left.
pub(crate) type Outgoing = (Message, Option<OwnedSemaphorePermit>);

/// The end where what is sent comes out, and the word that the connection ends.
#[derive(Debug)]
pub(crate) struct Outlet {
    pub(crate) messages: mpsc::Receiver<Outgoing>,
    pub(crate) closing: watch::Receiver<bool>,
}

impl Connection {
    pub(crate) fn new(peer: SocketAddr, local: SocketAddr) -> (Arc<Self>, Outlet) {
        let (out, messages) = mpsc::channel(limits::ANSWERS + limits::NOTICES);
        let (closing, closing_out) = watch::channel(false);
        let state = State {
            stage: Stage::Fresh,
            window: Window::new(),
            sessions: HashMap::new(),
            ended: VecDeque::new(),
            dialogues: HashMap::new(),
            pending: HashMap::new(),
        };
        let connection = Self {
            peer,
            local,
            state: Mutex::new(state),
            out,
            slots: Arc::new(Semaphore::new(limits::ANSWERS)),
            turn: Arc::new(Semaphore::new(1)),
            closing,
            next_async: AtomicU64::new(1),
        };
        (Arc::new(connection), Outlet { messages, closing: closing_out })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was agreed, once it was.
    pub(crate) fn agreed(&self) -> Option<Agreed> {
        match self.state().stage {
            Stage::Agreed(agreed) => Some(agreed),
            Stage::Fresh | Stage::Upgrading => None,
        }
    }

    pub(crate) fn session(&self, id: u64) -> Option<Arc<Session>> {
        self.state().sessions.get(&id).cloned()
    }

    /// Whose keys an element was signed with, whatever session it names: a refusal is worth more to
    /// a sender who can verify it.
    pub(crate) fn signer_of(self: &Arc<Self>, element: &[u8]) -> Option<Arc<SessionKeys>> {
        let state = self.state();
        let known = state.sessions.values().chain(&state.ended);
        known.map(|session| session.keys_on(self)).find(|keys| keys.verify(element))
    }

    /// Forgets a session, but for its keys for a while.
    pub(crate) fn remove_session(&self, id: u64) {
        let mut state = self.state();
        if let Some(session) = state.sessions.remove(&id) {
            state.ended.push_back(session);
            if state.ended.len() > limits::ENDED_SESSIONS {
                state.ended.pop_front();
            }
        }
    }

    /// Sends a message; waits while the client is slow.
    pub(crate) async fn send(&self, message: Message) {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            _ = closing.wait_for(|closing| *closing) => {}
            slot = self.slots.clone().acquire_owned() => self.push((message, slot.ok())),
        }
    }

    /// Sends a session what it did not ask for, encrypted if the session is. Never waits: a client
    /// with so many unread notices is gone.
    pub(crate) fn notify(&self, session: &Session, message: Vec<u8>) {
        let message = if session.encrypts() {
            session.keys.seal().and_then(|seal| seal.seal(session.id, message))
        } else {
            Some(message)
        };
        if let Some(message) = message {
            self.push((message.into(), None));
        }
    }

    /// A session on it of the same client that encrypts if that one does.
    pub(crate) fn session_like(&self, session: &Session) -> Option<Arc<Session>> {
        let state = self.state();
        let like = |other: &&Arc<Session>| {
            other.holder == session.holder && other.encrypts() >= session.encrypts()
        };
        state.sessions.get(&session.id).or_else(|| state.sessions.values().find(like)).cloned()
    }

    fn push(&self, outgoing: Outgoing) {
        if self.out.try_send(outgoing).is_err() {
            self.close();
        }
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
        for waiting in self.state().pending.values() {
            waiting.cancel.notify_one();
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Registers a request that will be answered later; none if too many are.
    pub(crate) fn add_pending(&self, message_id: u64) -> Option<(u64, Arc<Notify>)> {
        let mut state = self.state();
        if state.pending.len() >= limits::PENDING {
            return None;
        }
        let id = self.next_async.fetch_add(1, Ordering::Relaxed);
        let cancel = Arc::new(Notify::new());
        if self.is_closing() {
            cancel.notify_one();
        }
        state.pending.insert(id, Waiting { message_id, cancel: cancel.clone() });
        Some((id, cancel))
    }

    pub(crate) fn remove_pending(&self, id: u64) {
        self.state().pending.remove(&id);
    }

    /// Cancels what waits under that AsyncId, or that message's id.
    pub(crate) fn cancel(&self, async_id: Option<u64>, message_id: u64) {
        let state = self.state();
        let found = match async_id {
            Some(id) => state.pending.get(&id),
            None => state.pending.values().find(|waiting| waiting.message_id == message_id),
        };
        if let Some(waiting) = found {
            waiting.cancel.notify_one();
        }
    }
}
