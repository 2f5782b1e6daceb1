//! A message from the wire: who sent it, whether they may, and its requests one after the other.
//!
//! Must never run a request of a session whose signature was not verified, unless it came encrypted.

use super::connection::{Connection, Stage};
use super::credits::Window;
use super::dispatch;
use super::exchange::{Exchange, Reply, Waiting};
use super::reply::{Answers, Payload};
use super::session::Session;
use super::state::Server;
use super::{negotiate, setup};
use crate::crypto::SessionKeys;
use crate::dialect::Dialect;
use crate::limits;
use crate::status::{Failure, Status};
use crate::wire::cursor::Malformed;
use crate::wire::header::{self, ASYNC, Kind, RELATED, RESPONSE, SIGNED, Target, TransformHeader};
use crate::wire::negotiate::{Upgrade, upgrade};
use crate::wire::session::empty_response;
use crate::wire::{Command, FileId, Header, Request};
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// The connection has to end: the peer does not speak the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hangup;

impl From<Malformed> for Hangup {
    fn from(_: Malformed) -> Self {
        Self
    }
}

/// What the requests of a chain inherit.
struct Chain {
    session: Option<Arc<Session>>,
    tree: u32,
    file: Result<FileId, Status>,
}

/// Handles one message to its end.
pub(super) async fn run(
    server: Arc<Server>,
    connection: Arc<Connection>,
    message: Vec<u8>,
    turn: OwnedSemaphorePermit,
) -> Result<(), Hangup> {
    let (message, sealed) = match header::kind(&message)? {
        Kind::Plain => (message, None),
        Kind::Smb1 => return first_words(&server, &connection, &message).await,
        Kind::Encrypted => {
            let header = TransformHeader::parse(&message)?;
            let session = connection.session(header.session_id).ok_or(Hangup)?;
            let opened = session.keys.seal().and_then(|seal| seal.open(&header, &message));
            let opened = opened.ok_or(Hangup)?;
            session.heard_encrypted();
            (opened, Some(session))
        }
    };
    let message = Bytes::from(message);
    let elements = header::elements(&message)?;
    let answers = Answers::to(sealed.clone());
    let alone = elements.len() == 1;
    let mut waiting = Waiting {
        turn: Some(turn),
        answers,
        last: false,
        alone,
        pending: None,
        cancel: None,
        payload: Payload::default(),
    };
    let mut chain = Chain { session: sealed, tree: 0, file: Err(Status::FILE_CLOSED) };
    for (at, element) in elements.iter().enumerate() {
        waiting.last = at + 1 == elements.len();
        (waiting.pending, waiting.cancel) = (None, None);
        let header = Header::parse(element)?;
        if header.has(RESPONSE) {
            return Err(Hangup);
        }
        let element = &message.slice_ref(element);
        let step =
            Step { server: &server, connection: &connection, header, element, first: at == 0 };
        step.run(&mut chain, &mut waiting).await?;
    }
    if let Some(message) = waiting.answers.take() {
        connection.send(message).await;
    }
    Ok(())
}

/// SMB 1: only the question whether there is more.
async fn first_words(
    server: &Server,
    connection: &Connection,
    message: &[u8],
) -> Result<(), Hangup> {
    if !matches!(connection.state().stage, Stage::Fresh) {
        return Err(Hangup);
    }
    let request = Header {
        credit_charge: 0,
        status: 0,
        command: 0,
        credits: 1,
        flags: 0,
        next: 0,
        message_id: 0,
        target: Target::Tree { process: 0, tree: 0 },
        session_id: 0,
        signature: [0; 16],
    };
    let reply = match upgrade(message)? {
        Upgrade::None => return Err(Hangup),
        Upgrade::Any => {
            connection.state().stage = Stage::Upgrading;
            negotiate::wildcard(server)
        }
        Upgrade::OnlyFirst => {
            let asked = crate::wire::negotiate::Request {
                security_mode: 0,
                capabilities: 0,
                client_guid: [0; 16],
                dialects: vec![Dialect::V2_0_2.number()],
                contexts: Vec::new(),
            };
            let (agreed, reply) = negotiate::agree(server, &asked).map_err(|_| Hangup)?;
            negotiate::keep(connection, agreed, message, &[]);
            reply
        }
    };
    connection.state().window.take(0, 1).map_err(|_| Hangup)?;
    let mut answers = Answers::default();
    answers.add(connection, &request, Ok(reply), None, None);
    if let Some(message) = answers.take() {
        connection.send(message).await;
    }
    Ok(())
}

/// One request of a chain.
struct Step<'a> {
    server: &'a Arc<Server>,
    connection: &'a Arc<Connection>,
    header: Header,
    element: &'a Bytes,
    first: bool,
}

impl Step<'_> {
    async fn run(&self, chain: &mut Chain, waiting: &mut Waiting) -> Result<(), Hangup> {
        let command = Command::of(self.header.command);
        if command == Some(Command::Cancel) {
            self.cancel(chain, waiting);
            return Ok(());
        }
        self.charge()?;
        match command {
            Some(Command::Negotiate) => self.negotiate(waiting),
            Some(Command::SessionSetup) => {
                self.session_setup(waiting).await;
                Ok(())
            }
            Some(Command::Echo) if self.header.session_id == 0 => {
                let outcome = Request::parse(Command::Echo, self.element)
                    .map(|_| Reply::ok(empty_response()))
                    .map_err(Failure::from);
                waiting.answers.add(self.connection, &self.header, outcome, None, None);
                Ok(())
            }
            _ if self.connection.agreed().is_none() => Err(Hangup),
            _ => {
                self.of_session(command, chain, waiting).await;
                Ok(())
            }
        }
    }

    /// Uses up the message's ids.
    fn charge(&self) -> Result<(), Hangup> {
        let mut state = self.connection.state();
        let large = match state.stage {
            Stage::Fresh => false,
            Stage::Upgrading => {
                // The client may count on from the SMB 1 message or start anew.
                if self.header.message_id > 1 {
                    return Err(Hangup);
                }
                state.window = Window::starting_at(self.header.message_id);
                false
            }
            Stage::Agreed(agreed) => agreed.dialect.has_large_messages(),
        };
        let charge = if large { self.header.credit_charge } else { 1 };
        state.window.take(self.header.message_id, charge).map_err(|_| Hangup)
    }

    fn negotiate(&self, waiting: &mut Waiting) -> Result<(), Hangup> {
        let before = matches!(self.connection.state().stage, Stage::Fresh | Stage::Upgrading);
        if !before || !self.first {
            return Err(Hangup);
        }
        let outcome = match Request::parse(Command::Negotiate, self.element) {
            Ok(Request::Negotiate(request)) => negotiate::agree(self.server, &request),
            Ok(_) | Err(Malformed) => Err(Status::INVALID_PARAMETER.into()),
        };
        let (agreed, outcome) = match outcome {
            Ok((agreed, reply)) => (Some(agreed), Ok(reply)),
            Err(failure) => (None, Err(failure)),
        };
        let answer = waiting.answers.add(self.connection, &self.header, outcome, None, None);
        if let Some(agreed) = agreed {
            negotiate::keep(self.connection, agreed, self.element, answer);
        }
        Ok(())
    }

    async fn session_setup(&self, waiting: &mut Waiting) {
        let Ok(Request::SessionSetup(request)) =
            Request::parse(Command::SessionSetup, self.element)
        else {
            let outcome = Err(Status::INVALID_PARAMETER.into());
            waiting.answers.add(self.connection, &self.header, outcome, None, None);
            return;
        };
        let known = self.connection.session(self.header.session_id);
        if let Some(session) = &known
            && waiting.answers.sealed.is_none()
            && !(self.header.has(SIGNED) && session.keys_on(self.connection).verify(self.element))
        {
            let outcome = Err(Status::ACCESS_DENIED.into());
            let signer = Some(session.keys_on(self.connection));
            waiting.answers.add(self.connection, &self.header, outcome, signer, None);
            return;
        }
        let id = self.header.session_id;
        let outcome = setup::run(self.server, self.connection, id, self.element, &request);
        let header = Header { session_id: outcome.id, ..self.header };
        let known = known.map(|session| session.keys_on(self.connection));
        let signer = outcome.signer.or(known).or_else(|| self.signer_elsewhere());
        let answer =
            waiting.answers.add(self.connection, &header, outcome.reply, signer.clone(), None);
        if let Some(dialogue) = self.connection.state().dialogues.get_mut(&outcome.id) {
            // As the client hears it: signed, when the session is known from another connection.
            let mut answer = answer.to_vec();
            signer.inspect(|keys| keys.sign(&mut answer));
            dialogue.heard(&answer);
        }
        if let Some(previous) = outcome.previous {
            dispatch::end_session(self.server, &previous).await;
        }
    }

    /// What signed it, if that belongs to the session it names, which is not on this connection.
    fn signer_elsewhere(&self) -> Option<Arc<SessionKeys>> {
        self.server.session(self.header.session_id)?.signer_of(self.element)
    }

    /// Whose request it is; refuses what is not signed as it has to be.
    fn sender(&self, chain: &Chain, sealed: Option<&Session>) -> Result<Arc<Session>, Status> {
        let related = self.header.has(RELATED);
        if related && self.first {
            return Err(Status::INVALID_PARAMETER);
        }
        let session = if related {
            chain.session.clone().ok_or(Status::INVALID_PARAMETER)?
        } else {
            let id = self.header.session_id;
            self.connection.session(id).ok_or(Status::USER_SESSION_DELETED)?
        };
        if session.has_ended() {
            return Err(Status::USER_SESSION_DELETED);
        }
        if let Some(sealed) = sealed {
            return if sealed.id == session.id { Ok(session) } else { Err(Status::ACCESS_DENIED) };
        }
        if !self.header.has(SIGNED) || !session.keys_on(self.connection).verify(self.element) {
            return Err(Status::ACCESS_DENIED);
        }
        Ok(session)
    }

    fn cancel(&self, chain: &Chain, waiting: &Waiting) {
        if self.sender(chain, waiting.answers.sealed.as_deref()).is_err() {
            return;
        }
        let async_id = match self.header.target {
            Target::Async(id) if self.header.has(ASYNC) => Some(id),
            Target::Async(_) | Target::Tree { .. } => None,
        };
        self.connection.cancel(async_id, self.header.message_id);
    }

    async fn of_session(&self, command: Option<Command>, chain: &mut Chain, waiting: &mut Waiting) {
        let session = match self.sender(chain, waiting.answers.sealed.as_deref()) {
            Ok(session) => session,
            Err(status) => {
                // What is related to a request of nobody is a request of nobody.
                chain.session = None;
                let here = self.connection.signer_of(self.element);
                let signer = here.or_else(|| self.signer_elsewhere());
                let outcome = Err(status.into());
                waiting.answers.add(self.connection, &self.header, outcome, signer, None);
                return;
            }
        };
        if !self.header.has(RELATED) {
            chain.tree = self.header.tree();
            chain.file = Err(Status::FILE_CLOSED);
        }
        chain.session = Some(session.clone());
        let outcome = self.perform(command, &session, chain, waiting).await;
        if let Err(failure) = &outcome {
            tracing::debug!(?command, status = format!("{:x}", failure.status.0), "refused");
        }
        let pending = waiting.pending;
        let payload = std::mem::take(&mut waiting.payload);
        if let Some(id) = pending {
            self.connection.remove_pending(id);
        }
        let mut header = self.header;
        if let Target::Tree { process, .. } = header.target {
            let tree = if command == Some(Command::TreeConnect) || self.header.has(RELATED) {
                chain.tree
            } else {
                header.tree()
            };
            header.target = Target::Tree { process, tree };
        }
        header.session_id = session.id;
        let signer = Some(session.keys_on(self.connection));
        waiting.answers.add_with(self.connection, &header, outcome, signer, pending, payload);
    }

    async fn perform(
        &self,
        command: Option<Command>,
        session: &Arc<Session>,
        chain: &mut Chain,
        waiting: &mut Waiting,
    ) -> Result<Reply, Failure> {
        let command = command.ok_or(Status::INVALID_PARAMETER)?;
        let request = Request::parse_shared(command, self.element)?;
        self.paid(&request)?;
        match request {
            Request::Echo => return Ok(Reply::ok(empty_response())),
            Request::Logoff => {
                dispatch::end_session(self.server, session).await;
                return Ok(Reply::ok(empty_response()));
            }
            Request::TreeConnect(path) => {
                let (tree, reply) = dispatch::tree_connect(self.server, session, &path).await?;
                chain.tree = tree;
                return Ok(reply);
            }
            _ => {}
        }
        let tree = session.tree(chain.tree).ok_or(Status::NETWORK_NAME_DELETED)?;
        let mut exchange = Exchange {
            server: self.server.clone(),
            connection: self.connection.clone(),
            session: session.clone(),
            tree,
            header: self.header,
            related: chain.file,
            waiting,
        };
        let is_create = command == Command::Create;
        let outcome = dispatch::run(&mut exchange, request).await;
        match &outcome {
            Ok(_) => chain.file = exchange.related,
            Err(failure) if is_create => chain.file = Err(failure.status),
            Err(_) => {}
        }
        outcome
    }

    /// Whether the credits it costs pay for what it carries.
    fn paid(&self, request: &Request) -> Result<(), Status> {
        let Some(agreed) = self.connection.agreed() else { return Err(Status::INVALID_PARAMETER) };
        let payload = request.payload();
        let largest = match request {
            Request::Read(_) | Request::Write(_) => agreed.largest,
            _ => agreed.largest_transaction,
        };
        if payload > usize::try_from(largest).unwrap_or(0) {
            return Err(Status::INVALID_PARAMETER);
        }
        let charge = usize::from(self.header.credit_charge.max(1));
        let needed = payload.div_ceil(limits::CREDIT_BYTES).max(1);
        if agreed.dialect.has_large_messages() && charge < needed {
            return Err(Status::INVALID_PARAMETER);
        }
        Ok(())
    }
}
