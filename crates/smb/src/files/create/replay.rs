//! CREATEs that a client sends again because it got no answer: done once, answered as often.
//!
//! Must never answer with a handle that the client has used since: then it got the first answer.

use super::Action;
use super::ask::{Ask, Durability};
use crate::files::handle::FileHandle;
use crate::server::exchange::Exchange;
use crate::status::Status;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A CREATE by its client and the client's id of it.
pub(crate) type CreateId = (u128, [u8; 16]);

/// CREATEs that can be sent again.
#[derive(Debug, Default)]
pub(crate) struct Replays(Mutex<HashMap<CreateId, Known>>);

#[derive(Debug)]
enum Known {
    /// It waits for something.
    Pending,
    /// It is answered with this, until its handle is used.
    Done(Weak<FileHandle>, Action),
}

impl Replays {
    fn all(&self) -> MutexGuard<'_, HashMap<CreateId, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle of that CREATE is used: its client got the answer.
    pub(crate) fn forget(&self, create: CreateId) {
        self.all().remove(&create);
    }
}

/// A CREATE that is on its way; forgotten unless it is done.
pub(super) struct Running {
    replays: Arc<Replays>,
    create: Option<CreateId>,
}

impl Running {
    /// Its id, if the client gave it one.
    pub(super) fn create(&self) -> Option<CreateId> {
        self.create
    }

    /// It is done: sent again, it is answered the same.
    pub(super) fn done(mut self, file: &Arc<FileHandle>, action: Action) {
        if let Some(create) = self.create.take() {
            self.replays.all().insert(create, Known::Done(Arc::downgrade(file), action));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(create) = self.create.take() {
            self.replays.forget(create);
        }
    }
}

/// What a CREATE is.
pub(super) enum Turn {
    /// One to run.
    New(Running),
    /// One that was done.
    Again(Arc<FileHandle>, Action),
}

/// Whether a CREATE was sent before.
pub(super) fn turn(x: &Exchange<'_>, ask: &Ask) -> Result<Turn, Status> {
    let replays = x.server.replays.clone();
    let Durability::Second(durable) = ask.durability else {
        return Ok(Turn::New(Running { replays, create: None }));
    };
    let create = (x.session.client(), durable.guid);
    let mut all = replays.all();
    let known = match all.get(&create) {
        None => None,
        Some(Known::Pending) => Some(None),
        Some(Known::Done(file, action)) => file.upgrade().map(|file| Some((file, *action))),
    };
    let again = match known {
        None => {
            all.insert(create, Known::Pending);
            drop(all);
            return Ok(Turn::New(Running { replays, create: Some(create) }));
        }
        Some(_) if !x.is_replay() => return Err(Status::DUPLICATE_OBJECTID),
        Some(None) => return Err(Status::FILE_NOT_AVAILABLE),
        Some(Some(again)) => again,
    };
    drop(all);
    let (file, action) = again;
    let same_lease = match &ask.lease {
        Some(asked) => file.lease.is_some_and(|had| had.key == u128::from_le_bytes(asked.key)),
        None => true,
    };
    if !same_lease || x.session.open(file.id()).is_none() {
        return Err(Status::ACCESS_DENIED);
    }
    Ok(Turn::Again(file, action))
}
