//! SESSION_SETUP: the dialogue that makes a session, proves an old one anew, or puts it on one more
//! connection.
//!
//! Must never hand a session to another account, or to a client that does not have its keys.

use super::connection::{Agreed, Connection};
use super::exchange::Reply;
use super::session::Session;
use super::state::{NAME, Server, random};
use crate::crypto::{Algorithm, Preauth, SessionKeys};
use crate::limits;
use crate::status::{Failure, Status};
use crate::wire::session::{SetupRequest, setup_response};
use std::sync::Arc;
use zaffre_auth::ntlm::{Accepted, Acceptor, Refused, Step};
use zaffre_domain::fs::properties::to_filetime;

/// A dialogue under way.
#[derive(Debug)]
pub(crate) struct Dialogue {
    acceptor: Acceptor,
    preauth: Preauth,
    purpose: Purpose,
}

/// What a dialogue leads to.
#[derive(Debug)]
enum Purpose {
    /// A session.
    Begin,
    /// The session proves itself anew.
    Renew(Arc<Session>),
    /// The session comes to this connection too.
    Join(Arc<Session>),
}

impl Dialogue {
    /// Takes an answer of the server's into the hash.
    pub(super) fn heard(&mut self, answer: &[u8]) {
        self.preauth = self.preauth.with(answer);
    }
}

/// What came of one step.
pub(super) struct Outcome {
    pub(super) reply: Result<Reply, Failure>,
    /// The session's id, known from the first step on.
    pub(super) id: u64,
    /// What signs the answer: only a success is signed.
    pub(super) signer: Option<Arc<SessionKeys>>,
    /// A session of this client that has been lost and is to be ended.
    pub(super) previous: Option<Arc<Session>>,
}

/// One step.
pub(super) fn run(
    server: &Server,
    connection: &Arc<Connection>,
    id: u64,
    element: &[u8],
    request: &SetupRequest,
) -> Outcome {
    let bound =
        if request.binding { binding(server, connection, id, element).map(Some) } else { Ok(None) };
    let found = bound.and_then(|bound| dialogue(server, connection, id, bound));
    let (id, mut dialogue) = match found {
        Ok(found) => found,
        Err(status) => return refused(id, status),
    };
    let (address, now) = (connection.peer.ip(), server.core.store().clock.monotonic());
    if !server.throttle.admits(address, now) || request.token.len() > limits::TOKEN_BYTES {
        return refused(id, Status::LOGON_FAILURE);
    }
    let Ok(challenge) = random() else {
        return refused(id, Status::INSUFFICIENT_RESOURCES);
    };
    dialogue.preauth = dialogue.preauth.with(element);
    let accounts = (server.accounts)();
    let at = to_filetime(server.now());
    match dialogue.acceptor.step(&accounts, &request.token, challenge, at) {
        Ok(Step::Continue(token)) => {
            connection.state().dialogues.insert(id, dialogue);
            let body = setup_response(0, &token);
            let reply = Ok(Reply { status: Status::MORE_PROCESSING_REQUIRED, body });
            Outcome { reply, id, signer: None, previous: None }
        }
        Ok(Step::Done(accepted)) => {
            establish(server, connection, id, dialogue, *accepted, request.previous)
        }
        Err(why) => {
            server.throttle.failed(address, now);
            tracing::info!(peer = %connection.peer, "a log-in was refused");
            let status = match why {
                Refused::Malformed => Status::INVALID_PARAMETER,
                Refused::Denied => Status::LOGON_FAILURE,
            };
            let previous = match dialogue.purpose {
                // Whoever cannot prove anew who they are is not that any more.
                Purpose::Renew(session) => Some(session),
                Purpose::Begin | Purpose::Join(_) => None,
            };
            Outcome { previous, ..refused(id, status) }
        }
    }
}

fn refused(id: u64, status: Status) -> Outcome {
    Outcome { reply: Err(status.into()), id, signer: None, previous: None }
}

/// The session that is to come to this connection, if whoever asks for it has its keys.
fn binding(
    server: &Server,
    connection: &Connection,
    id: u64,
    element: &[u8],
) -> Result<Arc<Session>, Status> {
    let known = server.session(id).filter(|session| session.keys.verify(element));
    let session = known.ok_or(Status::USER_SESSION_DELETED)?;
    let agreed = connection.agreed().ok_or(Status::USER_SESSION_DELETED)?;
    may_bind(&session.agreed, &agreed)?;
    if !server.options.multichannel || connection.session(id).is_some() {
        return Err(Status::REQUEST_NOT_ACCEPTED);
    }
    Ok(session)
}

/// Whether what was agreed on a connection is what the session needs there.
fn may_bind(had: &Agreed, has: &Agreed) -> Result<(), Status> {
    let gmac = |algorithm| algorithm == Algorithm::AesGmac;
    match (gmac(had.algorithm), gmac(has.algorithm)) {
        (true, false) => Err(Status::REQUEST_OUT_OF_SEQUENCE),
        (false, true) => Err(Status::NOT_SUPPORTED),
        _ if !has.dialect.is_third() => Err(Status::REQUEST_NOT_ACCEPTED),
        _ if had.dialect != has.dialect || had.cipher != has.cipher => {
            Err(Status::INVALID_PARAMETER)
        }
        _ if had.client_guid != has.client_guid => Err(Status::USER_SESSION_DELETED),
        _ => Ok(()),
    }
}

/// The dialogue of that id, or a new one.
fn dialogue(
    server: &Server,
    connection: &Connection,
    id: u64,
    bound: Option<Arc<Session>>,
) -> Result<(u64, Dialogue), Status> {
    let agreed = connection.agreed().ok_or(Status::INVALID_PARAMETER)?;
    let mut state = connection.state();
    if let Some(dialogue) = state.dialogues.remove(&id) {
        // Every step to another connection is one of the session's own.
        if bound.is_none() && matches!(dialogue.purpose, Purpose::Join(_)) {
            return Err(Status::USER_SESSION_DELETED);
        }
        return Ok((id, dialogue));
    }
    if state.sessions.len() + state.dialogues.len() >= limits::SESSIONS {
        return Err(Status::INSUFFICIENT_RESOURCES);
    }
    let new =
        |purpose| Dialogue { acceptor: Acceptor::new(NAME), preauth: agreed.preauth, purpose };
    if let Some(session) = bound {
        return Ok((id, new(Purpose::Join(session))));
    }
    if id == 0 {
        return Ok((server.fresh_session(), new(Purpose::Begin)));
    }
    let existing = state.sessions.get(&id).cloned().ok_or(Status::USER_SESSION_DELETED)?;
    Ok((id, new(Purpose::Renew(existing))))
}

fn establish(
    server: &Server,
    connection: &Arc<Connection>,
    id: u64,
    dialogue: Dialogue,
    accepted: Accepted,
    previous: u64,
) -> Outcome {
    let Accepted { holder, session_key, token } = accepted;
    let Dialogue { preauth, purpose, .. } = dialogue;
    let reply = Ok(Reply::ok(setup_response(0, &token)));
    let Some(agreed) = connection.agreed() else { return refused(id, Status::INVALID_PARAMETER) };
    let known = match purpose {
        Purpose::Begin => None,
        Purpose::Renew(session) if session.holder != holder => {
            return refused(id, Status::LOGON_FAILURE);
        }
        // The old keys stay in use.
        Purpose::Renew(session) => Some(session.keys_on(connection)),
        Purpose::Join(session) if session.holder != holder => {
            return refused(id, Status::ACCESS_DENIED);
        }
        Purpose::Join(session) => {
            let Agreed { dialect, algorithm, .. } = agreed;
            let own = session.keys.of_channel(dialect, algorithm, &session_key, &preauth);
            match join(server, connection, &session, own) {
                Ok(own) => Some(own),
                Err(status) => return refused(id, status),
            }
        }
    };
    if known.is_some() {
        return Outcome { reply, id, signer: known, previous: None };
    }
    let keys =
        SessionKeys::new(agreed.dialect, agreed.algorithm, agreed.cipher, &session_key, &preauth);
    let previous = server.session(previous).filter(|old| old.holder == holder && old.id != id);
    let session = Session::new(id, holder, keys, connection, agreed);
    let session = Arc::new(session);
    connection.state().sessions.insert(id, session.clone());
    server.add_session(&session, connection);
    Outcome { reply, id, signer: Some(session.keys.clone()), previous }
}

/// Puts a session on this connection as well.
fn join(
    server: &Server,
    connection: &Arc<Connection>,
    session: &Arc<Session>,
    own: SessionKeys,
) -> Result<Arc<SessionKeys>, Status> {
    let own = Arc::new(own);
    session.join(connection, own.clone())?;
    connection.state().sessions.insert(session.id, session.clone());
    server.add_connection(session, connection);
    Ok(own)
}
