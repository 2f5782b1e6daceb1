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
use std::sync::Arc;

/// The bits of a request's priority, which its answer repeats.
const PRIORITY: u32 = 0x70;

/// The answers of one chain.
#[derive(Debug, Default)]
pub(super) struct Answers {
    done: Vec<(Vec<u8>, Option<Arc<SessionKeys>>)>,
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
        self.push(&header, &body, signer);
        self.done.last().map_or(&[], |(element, _)| element)
    }

    /// Adds the word that the answer to `request` will come later.
    pub(super) fn interim(&mut self, connection: &Connection, request: &Header, id: u64) {
        let credits = connection.state().window.grant(request.credits);
        let mut header = response_header(request, Status::PENDING, credits);
        header.flags |= ASYNC;
        header.target = Target::Async(id);
        // Not signed: it has the same message id as the final answer, and with GMAC two signatures
        // under one id would give the key away.
        self.push(&header, &error_response(&[]), None);
    }

    fn push(&mut self, header: &Header, body: &[u8], signer: Option<Arc<SessionKeys>>) {
        let mut to = Writer::new();
        header.write(&mut to);
        to.bytes(body);
        self.done.push((to.finish(), signer));
    }

    /// The message made of all answers so far: chained, signed or encrypted. None if there are none.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let done = std::mem::take(&mut self.done);
        let count = done.len();
        let mut message = Vec::new();
        for (at, (mut element, signer)) in done.into_iter().enumerate() {
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
        match &self.sealed {
            Some(session) => session.keys.seal()?.seal(session.id, message),
            None => Some(message),
        }
    }
}
