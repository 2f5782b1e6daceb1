//! Answers: headers, chains of them, signatures and encryption.
//!
//! Must never send an established session's answer neither signed nor encrypted, but for the notice
//! that an answer will come later, which clients do not verify.

use super::connection::Connection;
use super::exchange::Reply;
use super::session::Session;
use crate::crypto::SessionKeys;
use crate::status::{Failure, Status};
use crate::wire::cursor::{Writer, length32};
use crate::wire::header::{ASYNC, HEADER_BYTES, Header, RELATED, RESPONSE, Target};
use crate::wire::session::error_response;
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// The bits of a request's priority, which its answer repeats.
const PRIORITY: u32 = 0x70;

/// Bytes at the end of an answer that stay where they are, and the room they take until they have
/// left.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub(crate) bytes: Bytes,
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

/// What is sent: bytes, and more bytes that are elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Bytes,
    _rooms: Vec<OwnedSemaphorePermit>,
}

impl From<Vec<u8>> for Message {
    fn from(head: Vec<u8>) -> Self {
        Self { head, ..Self::default() }
    }
}

/// One answer that is not signed yet.
#[derive(Debug)]
struct Element {
    head: Vec<u8>,
    payload: Payload,
    signer: Option<Arc<SessionKeys>>,
}

/// The answers of one chain.
#[derive(Debug, Default)]
pub(super) struct Answers {
    done: Vec<Element>,
    /// Whose keys encrypt what goes out, because what came in was encrypted.
    pub(super) sealed: Option<Arc<Session>>,
}

/// A response's header for a request's.
fn response_header(request: &Header, status: Status, credits: u16) -> Header {
    let keep = request.flags & (RELATED | PRIORITY);
    Header {
        status: status.0,
        credits,
        flags: RESPONSE | keep,
        next: 0,
        signature: [0; 16],
        ..*request
    }
}

impl Answers {
    /// None yet; encrypted with the keys of the session whose message came encrypted.
    pub(super) fn to(sealed: Option<Arc<Session>>) -> Self {
        Self { done: Vec::new(), sealed }
    }

    /// Adds the answer to `request`; `signer` signs it when it leaves. Gives it as it is before.
    pub(super) fn add(
        &mut self,
        connection: &Connection,
        request: &Header,
        outcome: Result<Reply, Failure>,
        signer: Option<Arc<SessionKeys>>,
        pending: Option<u64>,
    ) -> &[u8] {
        self.add_with(connection, request, outcome, signer, pending, Payload::default())
    }

    /// The same for an answer with more bytes at its end.
    pub(super) fn add_with(
        &mut self,
        connection: &Connection,
        request: &Header,
        outcome: Result<Reply, Failure>,
        signer: Option<Arc<SessionKeys>>,
        pending: Option<u64>,
        payload: Payload,
    ) -> &[u8] {
        let (status, body) = match outcome {
            Ok(Reply { status, body }) => (status, body),
            Err(Failure { status, data }) => (status, error_response(&data)),
        };
        let credits = match pending {
            // Its interim answer has granted them.
            Some(_) => 0,
            None => connection.state().window.grant(request.credits),
        };
        let mut header = response_header(request, status, credits);
        if let Some(id) = pending {
            header.flags |= ASYNC;
            header.target = Target::Async(id);
        }
        self.push(&header, &body, signer, payload);
        self.done.last().map_or(&[], |element| &element.head)
    }

    /// Adds the word that the answer to `request` will come later.
    pub(super) fn interim(&mut self, connection: &Connection, request: &Header, id: u64) {
        let credits = connection.state().window.grant(request.credits);
        let mut header = response_header(request, Status::PENDING, credits);
        header.flags |= ASYNC;
        header.target = Target::Async(id);
        // Not signed: it has the same message id as the final answer, and with GMAC two signatures
        // under one id would give the key away.
        self.push(&header, &error_response(&[]), None, Payload::default());
    }

    fn push(
        &mut self,
        header: &Header,
        body: &[u8],
        signer: Option<Arc<SessionKeys>>,
        payload: Payload,
    ) {
        let mut to = Writer::new();
        header.write(&mut to);
        to.bytes(body);
        self.done.push(Element { head: to.finish(), payload, signer });
    }

    /// The message made of all answers so far: chained, signed or encrypted. None if there are none.
    pub(super) fn take(&mut self) -> Option<Message> {
        let mut done = std::mem::take(&mut self.done);
        if self.sealed.is_none() && done.len() == 1 {
            return done.pop().map(Element::alone);
        }
        let count = done.len();
        let (mut message, mut rooms) = (Vec::new(), Vec::new());
        for (at, Element { head: mut element, payload, signer }) in done.into_iter().enumerate() {
            element.extend_from_slice(&payload.bytes);
            rooms.extend(payload.room);
            if count > 1 {
                // The last one too, as clients measure it.
                element.resize(element.len().next_multiple_of(8), 0);
            }
            if at + 1 < count {
                let next = length32(element.len());
                element[20..24].copy_from_slice(&next.to_le_bytes());
            }
            if let (Some(keys), None) = (signer, &self.sealed) {
                keys.sign(&mut element);
            }
            message.append(&mut element);
        }
        if message.len() < HEADER_BYTES {
            return None;
        }
        let head = match &self.sealed {
            Some(session) => session.keys.seal()?.seal(session.id, message)?,
            None => message,
        };
        Some(Message { head, tail: Bytes::new(), _rooms: rooms })
    }
}

impl Element {
    /// An answer that is a message by itself: nothing of it is copied.
    fn alone(self) -> Message {
        let Self { mut head, payload, signer } = self;
        if let Some(keys) = signer {
            keys.sign_with(&mut head, &payload.bytes);
        }
        Message { head, tail: payload.bytes, _rooms: payload.room.into_iter().collect() }
    }
}
