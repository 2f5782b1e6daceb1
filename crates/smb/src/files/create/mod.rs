//! CREATE: opens what is there or makes it, in the order in which the checks are seen.
//!
//! Must never leave a handle in the open table that no session has.

pub(crate) mod access;
mod answer;
pub(crate) mod ask;
pub(crate) mod replay;

pub(crate) use answer::lease_context;

use super::disk::Disk;
use super::durable;
use super::handle::{FileHandle, owner};
use super::notify;
use crate::server::exchange::{Cancelled, Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::create::Request;
use ask::{Ask, Disposition, Reconnect};
use replay::Turn;
use std::sync::Arc;
use std::time::Duration;
use zaffre_core::Error;
use zaffre_core::file::mount::{NewNode, Node, NodeFacts};
use zaffre_core::file::opens::{
    Attempt, LeaseId, OpenRequest, Opened, Opens, Place, Refused, Waiting, Wanted,
};
use zaffre_domain::Refusal;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::oplock::Caching;
use zaffre_domain::fs::share_mode::OpenMode;
use zaffre_domain::fs::{Attributes, Descriptor, EntryName, FileRefusal, Stream};

/// How often a CREATE starts over because what it found was replaced meanwhile.
const TRIES: usize = 16;

/// What was done, as the answer says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Superseded,
    Opened,
    Created,
    Overwritten,
}

impl Action {
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Superseded => 0,
            Self::Opened => 1,
            Self::Created => 2,
            Self::Overwritten => 3,
        }
    }
}

/// An open that is taken back unless it is kept.
struct Fresh {
    opens: Opens,
    opened: Option<Opened>,
}

impl Fresh {
    fn keep(mut self) -> Option<Opened> {
        self.opened.take()
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(opened) = self.opened.take() {
            self.opens.retract(opened.handle);
        }
    }
}

/// How a CREATE waits.
struct Patience {
    /// What tells that nobody wants the answer any more, once it has waited.
    cancelled: Option<Cancelled>,
    /// Whether its client may ask for the answer again.
    again: bool,
}

/// What a try came to.
struct Done {
    request: OpenRequest,
    fresh: Fresh,
    action: Action,
    facts: NodeFacts,
}

/// CREATE.
pub(crate) async fn run(x: &mut Exchange<'_>, request: &Request) -> Result<Reply, Failure> {
    let agreed = x.connection.agreed().ok_or(Status::INVALID_PARAMETER)?;
    if let Some(reconnect) = Reconnect::read(request, agreed.dialect, x.server.options)? {
        return durable::reconnect(x, reconnect).await;
    }
    let ask = Ask::read(request, agreed.dialect, x.server.options)?;
    let mut disk = super::disk(x)?;
    if let Some(moment) = ask.moment {
        disk = disk.at(moment).await?;
    }
    let running = match replay::turn(x, &ask)? {
        Turn::New(running) => running,
        Turn::Again(file, action) => return again(x, &ask, &file, action).await,
    };
    let mut patience = Patience { cancelled: None, again: running.create().is_some() };
    for _ in 0..TRIES {
        if let Some(done) = attempt(x, &disk, &ask, &mut patience).await? {
            let Done { request, fresh, action, facts } = done;
            let opened = fresh.keep().ok_or(Status::INTERNAL_ERROR)?;
            let file = answer::keep(x, &disk, &ask, &request, opened, action, running).await?;
            return answer::answer(x, &ask, &file, opened, action, &facts).await;
        }
    }
    Err(Status::SHARING_VIOLATION.into())
}

/// A CREATE that was done before.
async fn again(
    x: &mut Exchange<'_>,
    ask: &Ask,
    file: &FileHandle,
    action: Action,
) -> Result<Reply, Failure> {
    let facts = file.disk.mount.facts(file.file.file).await?;
    let caching = x.server.core.opens().caching(file.handle);
    answer::answer(x, ask, file, caching, action, &facts).await
}

/// One try; `None` if what was found is no longer there.
async fn attempt(
    x: &mut Exchange<'_>,
    disk: &Arc<Disk>,
    ask: &Ask,
    patience: &mut Patience,
) -> Result<Option<Done>, Failure> {
    match find(disk, ask).await {
        Ok(node) => existing(x, disk, ask, node, patience).await,
        Err(error) if is(&error, FileRefusal::ResourceNotFound) => {
            if !ask.disposition.makes() {
                return Err(Status::OBJECT_NAME_NOT_FOUND.into());
            }
            make(x, disk, ask, patience).await
        }
        Err(error) => Err(error.into()),
    }
}

/// What the request names.
async fn find(disk: &Disk, ask: &Ask) -> Result<Node, Error> {
    let base = disk.mount.lookup(&ask.path).await?;
    match &ask.stream {
        Some(Stream::Named(name)) => disk.mount.stream(&base, name).await,
        Some(Stream::Unnamed) | None => Ok(base),
    }
}

fn is(error: &Error, refusal: FileRefusal) -> bool {
    matches!(error, Error::Refused(Refusal::File(why)) if *why == refusal)
}

async fn existing(
    x: &mut Exchange<'_>,
    disk: &Arc<Disk>,
    ask: &Ask,
    node: Node,
    patience: &mut Patience,
) -> Result<Option<Done>, Failure> {
    let now = x.server.core.opens().monotonic();
    let found = x.server.core.opens().try_find(disk.key(node.id), now).map_err(refused)?;
    if let Attempt::Wait(waiting) = found {
        wait(x, waiting, now, patience).await?;
        return Ok(None);
    }
    let access = admit(disk, ask, &node).await?;
    let request = open_request(x, disk, ask, &node, access);
    let fresh = open(x, &request, patience).await?;
    // Between finding and opening it may have been replaced; from now on it cannot be.
    let node = match find(disk, ask).await {
        Ok(again) if again.id == node.id => again,
        _ => return Ok(None),
    };
    let (action, facts) = perform(disk, ask, node).await?;
    Ok(Some(Done { request, fresh, action, facts }))
}

/// Whether what is there may be opened so, and with which rights.
async fn admit(disk: &Disk, ask: &Ask, node: &Node) -> Result<AccessMask, Failure> {
    let facts = &node.facts;
    if ask.disposition == Disposition::Create {
        return Err(Status::OBJECT_NAME_COLLISION.into());
    }
    if facts.directory && (ask.refuses_directory() || ask.stream.is_some()) {
        return Err(Status::FILE_IS_A_DIRECTORY.into());
    }
    if facts.directory && ask.disposition.overwrites() {
        return Err(Status::OBJECT_NAME_COLLISION.into());
    }
    if !facts.directory && ask.wants_directory() {
        return Err(Status::NOT_A_DIRECTORY.into());
    }
    let permitted = access::permitted(disk, node.id, facts).await?;
    Ok(access::grant(disk, ask, facts, permitted)?)
}

async fn perform(disk: &Disk, ask: &Ask, node: Node) -> Result<(Action, NodeFacts), Failure> {
    if !ask.disposition.overwrites() {
        return Ok((Action::Opened, node.facts));
    }
    let mut facts = disk.mount.overwrite(node.id, new_attributes(ask)).await?;
    if node.base.is_some() {
        // All but the size is that of the file.
        facts = disk.mount.facts(node.id).await?;
    }
    let superseded = ask.disposition == Disposition::Supersede;
    Ok((if superseded { Action::Superseded } else { Action::Overwritten }, facts))
}

/// The attributes of a file whose content is new.
fn new_attributes(ask: &Ask) -> Attributes {
    Attributes::from_bits(ask.attributes.bits() | Attributes::ARCHIVE.bits())
}

async fn make(
    x: &mut Exchange<'_>,
    disk: &Arc<Disk>,
    ask: &Ask,
    patience: &mut Patience,
) -> Result<Option<Done>, Failure> {
    let directory = ask.wants_directory();
    let access = ask.rights(AccessMask::ALL)?;
    let attributes = if directory { ask.attributes } else { new_attributes(ask) };
    if ask.deletes_on_close() && attributes.contains(Attributes::READ_ONLY) {
        return Err(Status::CANNOT_DELETE.into());
    }
    if disk.is_snapshot() {
        return Err(Status::MEDIA_WRITE_PROTECTED.into());
    }
    let descriptor = match &ask.descriptor {
        Some(bytes) => Some(Descriptor::from_bytes(bytes).map_err(Status::from)?),
        None => None,
    };
    let new = NewNode { directory, attributes, descriptor };
    let made = match &ask.stream {
        Some(Stream::Named(name)) => make_stream(x, disk, ask, name, new).await?,
        Some(Stream::Unnamed) | None => make_file(x, disk, ask, new).await?,
    };
    let Some(node) = made else { return Ok(None) };
    let mut request = open_request(x, disk, ask, &node, access);
    // It was made a moment ago: there is nothing to replace.
    request.overwrites = false;
    let fresh = open(x, &request, patience).await?;
    Ok(Some(Done { request, fresh, action: Action::Created, facts: node.facts }))
}

/// Makes a file or directory, unless somebody else has.
async fn make_file(
    x: &Exchange<'_>,
    disk: &Disk,
    ask: &Ask,
    new: NewNode,
) -> Result<Option<Node>, Failure> {
    let directory = new.directory;
    access::may_make(disk, &ask.path, directory).await?;
    match disk.mount.make(&ask.path, new).await {
        Ok(node) => {
            notify::added(&x.server, disk, directory, &node.path);
            Ok(Some(node))
        }
        Err(error) if is(&error, FileRefusal::ResourceAlreadyExists) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes a stream, and a file for it if there is none.
async fn make_stream(
    x: &Exchange<'_>,
    disk: &Disk,
    ask: &Ask,
    name: &EntryName,
    new: NewNode,
) -> Result<Option<Node>, Failure> {
    let base = match disk.mount.lookup(&ask.path).await {
        Ok(base) => {
            let opens = x.server.core.opens();
            opens.try_find(disk.key(base.id), opens.monotonic()).map_err(refused)?;
            let permitted = access::permitted(disk, base.id, &base.facts).await?;
            if !permitted.contains(AccessMask::WRITE_DATA) {
                return Err(Status::ACCESS_DENIED.into());
            }
            base
        }
        Err(error) if is(&error, FileRefusal::ResourceNotFound) => {
            let Some(base) = make_file(x, disk, ask, new).await? else { return Ok(None) };
            base
        }
        Err(error) => return Err(error.into()),
    };
    match disk.mount.make_stream(&base, name).await {
        Ok(node) => {
            notify::added(&x.server, disk, false, &node.path);
            Ok(Some(node))
        }
        Err(error)
            if is(&error, FileRefusal::ResourceAlreadyExists)
                || is(&error, FileRefusal::ResourceNotFound) =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn open_request(
    x: &Exchange<'_>,
    disk: &Disk,
    ask: &Ask,
    node: &Node,
    access: AccessMask,
) -> OpenRequest {
    let wanted = match &ask.lease {
        Some(lease) => Wanted::Lease {
            lease: LeaseId { client: x.session.client(), key: u128::from_le_bytes(lease.key) },
            caching: Caching::from_bits(lease.state),
            epoch: lease.v2.map_or(0, |(_, epoch)| epoch),
            second_version: lease.v2.is_some(),
        },
        None if ask.oplock.is_none() => Wanted::Nothing,
        None => Wanted::Oplock(ask.oplock),
    };
    OpenRequest {
        file: disk.key(node.id),
        place: Place { above: node.above.clone(), path: node.path.clone() },
        base: node.base.map(|base| disk.key(base)),
        directory: node.facts.directory,
        access,
        mode: OpenMode { access: access.classes(), share: ask.share },
        overwrites: ask.disposition.overwrites(),
        delete_on_close: ask.deletes_on_close(),
        wanted,
        rest_leased: node.facts.leased,
        owner: owner(x),
    }
}

/// Opens in the table, telling the client once that it takes a while.
async fn open(
    x: &mut Exchange<'_>,
    request: &OpenRequest,
    patience: &mut Patience,
) -> Result<Fresh, Failure> {
    let opens = x.server.core.opens().clone();
    loop {
        let now = opens.monotonic();
        let again = patience.cancelled.is_some();
        match opens.try_open(request, again, now, x.server.now()).map_err(refused)? {
            Attempt::Done(opened) => return Ok(Fresh { opens, opened: Some(opened) }),
            Attempt::Wait(waiting) => wait(x, waiting, now, patience).await?,
        }
    }
}

/// Waits for what is in the way, unless the client gives up.
async fn wait(
    x: &mut Exchange<'_>,
    waiting: Waiting,
    now: Duration,
    patience: &mut Patience,
) -> Result<(), Failure> {
    let cancelled = match patience.cancelled.take() {
        Some(cancelled) => cancelled,
        None => x.pend().await?,
    };
    tokio::select! {
        () = waiting.wait(now) => {}
        // Its client asks for the answer on another connection.
        () = cancelled.wait() => if !(patience.again && x.is_abandoned()) {
            return Err(Status::CANCELLED.into());
        }
    }
    patience.cancelled = Some(cancelled);
    Ok(())
}

pub(crate) fn refused(refused: Refused) -> Status {
    match refused {
        Refused::LeaseElsewhere => Status::INVALID_PARAMETER,
        Refused::NoSuchHandle => Status::FILE_CLOSED,
        other => FileRefusal::from(other).into(),
    }
}
