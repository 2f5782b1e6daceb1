//! SESSION_SETUP: the dialogue that makes a session, or proves an old one anew.
//!
//! Must never bind a session to a second connection, or hand one to another account.

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
    /// The session that proves itself anew.
    existing: Option<Arc<Session>>,
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
    /// Whose keys sign the answer: only a success is signed.
    pub(super) signer: Option<Arc<Session>>,
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
    let refused = |id, status: Status| Outcome {
        reply: Err(status.into()),
        id,
        signer: None,
        previous: None,
    };
    if request.binding {
        return binding(server, connection, id, element);
    }
    let (id, mut dialogue) = match dialogue(server, connection, id) {
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
            // Whoever cannot prove anew who they are is not that any more.
            Outcome { previous: dialogue.existing, ..refused(id, status) }
        }
    }
}

/// A session stays on its connection. What stands against moving it is told as clients expect it,
/// and under the session's own signature, if the client has that.
fn binding(server: &Server, connection: &Connection, id: u64, element: &[u8]) -> Outcome {
    let known = server.session(id);
    let signer = known.filter(|session| session.keys.verify(element));
    let status = match (&signer, connection.agreed()) {
        (Some(session), Some(agreed)) => refusal_to_bind(session, &agreed),
        _ => Status::USER_SESSION_DELETED,
    };
    Outcome { reply: Err(status.into()), id, signer, previous: None }
}

fn refusal_to_bind(session: &Session, agreed: &Agreed) -> Status {
    let gmac = |algorithm| algorithm == Algorithm::AesGmac;
    match (gmac(session.agreed.algorithm), gmac(agreed.algorithm)) {
        (true, false) => Status::REQUEST_OUT_OF_SEQUENCE,
        (false, true) => Status::NOT_SUPPORTED,
        _ if !agreed.dialect.is_third() => Status::REQUEST_NOT_ACCEPTED,
        _ if session.agreed.dialect != agreed.dialect || session.agreed.cipher != agreed.cipher => {
            Status::INVALID_PARAMETER
        }
        _ => Status::REQUEST_NOT_ACCEPTED,
    }
}

/// The dialogue of that id, or a new one.
fn dialogue(server: &Server, connection: &Connection, id: u64) -> Result<(u64, Dialogue), Status> {
    let agreed = connection.agreed().ok_or(Status::INVALID_PARAMETER)?;
    let mut state = connection.state();
    if let Some(dialogue) = state.dialogues.remove(&id) {
        return Ok((id, dialogue));
    }
    if state.sessions.len() + state.dialogues.len() >= limits::SESSIONS {
        return Err(Status::INSUFFICIENT_RESOURCES);
    }
    let new =
        |existing| Dialogue { acceptor: Acceptor::new(NAME), preauth: agreed.preauth, existing };
    if id == 0 {
        return Ok((server.fresh_session(), new(None)));
    }
    let existing = state.sessions.get(&id).cloned().ok_or(Status::USER_SESSION_DELETED)?;
    Ok((id, new(Some(existing))))
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
    let reply = Ok(Reply::ok(setup_response(0, &token)));
    if let Some(session) = dialogue.existing {
        if session.holder != holder {
            let reply = Err(Status::LOGON_FAILURE.into());
            return Outcome { reply, id, signer: None, previous: None };
        }
        // The old keys stay in use.
        return Outcome { reply, id, signer: Some(session), previous: None };
    }
    let Some(agreed) = connection.agreed() else {
        let reply = Err(Status::INVALID_PARAMETER.into());
        return Outcome { reply, id, signer: None, previous: None };
    };
    let keys = SessionKeys::new(
        agreed.dialect,
        agreed.algorithm,
        agreed.cipher,
        &session_key,
        &dialogue.preauth,
    );
    let previous = server.session(previous).filter(|old| old.holder == holder && old.id != id);
    let session = Session::new(id, holder, keys, connection, agreed);
    let session = Arc::new(session);
    connection.state().sessions.insert(id, session.clone());
    server.add_session(&session);
    Outcome { reply, id, signer: Some(session), previous }
}
