//! One request on its way to its answer: who asks, for what, and how to wait.
//!
//! Must never be made before the sender's signature was verified.

use super::connection::Connection;
use super::reply::{Answers, Payload};
use super::session::{Session, Tree};
use super::state::Server;
use crate::files::{FileHandle, Open};
use crate::status::{Failure, Status};
use crate::wire::{Command, FileId, Header};
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::{Notify, OwnedSemaphorePermit};

/// The answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    pub(crate) status: Status,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn ok(body: Vec<u8>) -> Self {
        Self { status: Status::SUCCESS, body }
    }
}

/// One request of a session.
pub(crate) struct Exchange<'a> {
    pub(crate) server: Arc<Server>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) session: Arc<Session>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) header: Header,
    /// The file that the chain speaks of.
    pub(crate) related: Result<FileId, Status>,
    pub(super) waiting: &'a mut Waiting,
}

/// What a request needs to wait without holding others up.
pub(super) struct Waiting {
    /// The turn on this connection.
    pub(super) turn: Option<OwnedSemaphorePermit>,
    /// Answers of the chain so far.
    pub(super) answers: Answers,
    /// Whether nothing follows in the chain.
    pub(super) last: bool,
    /// Whether the chain is this one request.
    pub(super) alone: bool,
    /// The id it waits under.
    pub(super) pending: Option<u64>,
    /// What cancels it.
    pub(super) cancel: Option<Arc<Notify>>,
    /// What comes behind the answer.
    pub(super) payload: Payload,
}

/// Tells that nobody wants the answer any more.
#[derive(Clone, Debug)]
pub(crate) struct Cancelled(Option<Arc<Notify>>);

impl Cancelled {
    /// Ends when the request was cancelled.
    pub(crate) async fn wait(&self) {
        match &self.0 {
            Some(notify) => notify.notified().await,
            None => std::future::pending().await,
        }
    }
}

impl Exchange<'_> {
    /// The handle that a request names, or that its chain speaks of.
    pub(crate) fn open(&self, id: FileId) -> Result<Arc<Open>, Status> {
        let id = if id == FileId::RELATED { self.related? } else { id };
        let open = self.session.open(id).ok_or(Status::FILE_CLOSED)?;
        if open.tree != self.tree.id {
            return Err(Status::FILE_CLOSED);
        }
        if let Some(file) = open.file() {
            file.used(&self.server);
            if !self.is_current(file) {
                return Err(Status::FILE_NOT_AVAILABLE);
            }
        }
        Ok(open)
    }

    /// Whether the request does not change anything, or was not overtaken by what its client sent
    /// after it had lost a connection: it must not undo that.
    fn is_current(&self, file: &FileHandle) -> bool {
        let changes = match Command::of(self.header.command) {
            Some(Command::Write | Command::SetInfo | Command::Ioctl) => true,
            Some(_) | None => false,
        };
        file.is_current(self.lost_connections()) || !changes
    }

    /// How often the client has lost a connection; older dialects do not say.
    pub(crate) fn lost_connections(&self) -> u16 {
        let third = self.connection.agreed().is_some_and(|agreed| agreed.dialect.is_third());
        let [low, high, ..] = self.header.status.to_le_bytes();
        if third { u16::from_le_bytes([low, high]) } else { 0 }
    }

    /// Whether the client has lost this connection and has another one for the same session.
    pub(crate) fn is_abandoned(&self) -> bool {
        let mut others = self.session.connections().into_iter();
        self.connection.is_closing() && others.any(|other| !other.is_closing())
    }

    /// Whether the client sends this again because it got no answer.
    pub(crate) fn is_replay(&self) -> bool {
        self.header.has(crate::wire::header::REPLAY)
    }

    /// Answers that it will take a while, and lets the next request run. In the middle of a chain
    /// it just waits: what follows needs its outcome.
    pub(crate) async fn pend(&mut self) -> Result<Cancelled, Failure> {
        if self.waiting.pending.is_some() || !self.waiting.last {
            return Ok(Cancelled(self.waiting.cancel.clone()));
        }
        let message_id = self.header.message_id;
        let (id, cancel) =
            self.connection.add_pending(message_id).ok_or(Status::INSUFFICIENT_RESOURCES)?;
        self.waiting.pending = Some(id);
        self.waiting.cancel = Some(cancel.clone());
        self.waiting.answers.interim(&self.connection, &self.header, id);
        if let Some(message) = self.waiting.answers.take() {
            self.connection.send(message).await;
        }
        self.waiting.turn = None;
        Ok(Cancelled(Some(cancel)))
    }

    /// Takes room for an answer with so many bytes. Waits for it, unless others of its chain have
    /// taken some: they would keep each other waiting.
    pub(crate) async fn room(&self, bytes: u32) -> Result<OwnedSemaphorePermit, Status> {
        let rooms = self.server.answers.clone();
        let room = if self.waiting.alone {
            rooms.acquire_many_owned(bytes).await.ok()
        } else {
            rooms.try_acquire_many_owned(bytes).ok()
        };
        room.ok_or(Status::INSUFFICIENT_RESOURCES)
    }

    /// Puts bytes behind the answer.
    pub(crate) fn attach(&mut self, bytes: Bytes, room: OwnedSemaphorePermit) {
        self.waiting.payload = Payload { bytes, room: Some(room) };
    }

    /// Lets the next request run while this one does: for reads and writes, which clients order
    /// themselves.
    pub(crate) fn let_others_run(&mut self) {
        if self.waiting.alone {
            self.waiting.turn = None;
        }
    }
}
