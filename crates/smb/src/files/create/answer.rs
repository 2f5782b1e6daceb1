//! The answer to CREATE: the handle kept by its session, and what each context asked for. What a
//! client wants set aside is not: it only sees that it was heard.
//!
//! Must never answer with a handle that the session does not have.

use super::ask::{Ask, Durability};
use super::replay::Running;
use super::{Action, access};
use crate::files::Open;
use crate::files::disk::Disk;
use crate::files::facts;
use crate::files::handle::{self, Durable, FileHandle, level_of};
use crate::files::scratch::Scratch;
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::context::{Context, DurableRequest, LeaseRequest};
use crate::wire::create::Response;
use crate::wire::cursor::Writer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16};
use std::time::Duration;
use zaffre_base::limits::FILE_BYTES;
use zaffre_core::file::mount::NodeFacts;
use zaffre_core::file::opens::{OpenRequest, Opened, Wanted};
use zaffre_domain::fs::oplock::Caching;

/// How long a durable handle outlives its connection if the client does not say.
const DURABLE_TIME: Duration = Duration::from_mins(1);
/// The longest that a client may ask for.
const LONGEST_DURABLE_TIME: Duration = Duration::from_mins(5);

/// Gives a new handle to its session.
pub(super) async fn keep(
    x: &mut Exchange<'_>,
    disk: &Arc<Disk>,
    ask: &Ask,
    request: &OpenRequest,
    opened: Opened,
    action: Action,
    running: Running,
) -> Result<Arc<FileHandle>, Failure> {
    let lease = match request.wanted {
        Wanted::Lease { lease, .. } => Some(lease).filter(|_| !request.directory),
        Wanted::Oplock(_) | Wanted::Nothing => None,
    };
    let file = Arc::new(FileHandle {
        handle: opened.handle,
        file: request.file,
        base: request.base.map(|base| base.file),
        directory: request.directory,
        access: request.access,
        options: ask.options,
        disk: disk.clone(),
        lease,
        durable: durable(ask, request.directory, opened.caching),
        reserved: if action == Action::Opened || request.directory {
            0
        } else {
            ask.allocation.min(FILE_BYTES)
        },
        sequence: AtomicU16::new(x.lost_connections()),
        unused: AtomicBool::new(true),
        create: running.create(),
        scratch: Scratch::default(),
    });
    let open = Arc::new(Open::of_file(file.clone(), x.tree.id));
    if x.session.add_open(open).is_err() {
        handle::close(&x.server, &file).await;
        return Err(Status::INSUFFICIENT_RESOURCES.into());
    }
    running.done(&file, action);
    Ok(file)
}

/// The answer for a handle that its session has.
pub(super) async fn answer(
    x: &mut Exchange<'_>,
    ask: &Ask,
    file: &FileHandle,
    caching: Opened,
    action: Action,
    facts: &NodeFacts,
) -> Result<Reply, Failure> {
    x.related = Ok(file.id());
    let mut contexts = Vec::new();
    if ask.wants_access {
        let mut to = Writer::new();
        let permitted = access::permitted(&file.disk, file.file.file, facts).await?;
        to.u32(0).u32(permitted.0);
        contexts.push(Context::new(*b"MxAc", to.finish()));
    }
    if ask.wants_id {
        let mut to = Writer::new();
        to.u64(file.holder().0).u64(file.disk.volume()).zeros(16);
        contexts.push(Context::new(*b"QFid", to.finish()));
    }
    // There are no leases on directories: whoever asks for one is answered as if it had not.
    let lease = ask.lease.as_ref().filter(|_| !file.directory);
    if let Some(lease) = lease {
        contexts.push(lease_context(lease, caching));
    }
    // Sent again with less, it is answered with less.
    let durable = durable(ask, file.directory, caching.caching);
    contexts.extend(file.durable.and(durable).map(durable_context));
    let oplock = if lease.is_some() { 0xFF } else { level_of(caching.caching.and(ask.oplock)) };
    let facts = facts::of(facts).with_reserved(file.reserved);
    let response = Response { oplock, action: action.number(), facts, file: file.id(), contexts };
    Ok(Reply::ok(response.write()))
}

/// Whether a handle is one that a client can safely come back to: it must learn of others by a
/// break, so that it is gone if it could not.
fn durable(ask: &Ask, directory: bool, caching: Caching) -> Option<Durable> {
    let told = match ask.lease {
        None => caching.and(ask.oplock) == Caching::RWH,
        Some(_) => caching.contains(Caching::H),
    };
    if !told || directory {
        return None;
    }
    match ask.durability {
        Durability::None => None,
        Durability::First => Some(Durable { guid: None, time: DURABLE_TIME }),
        Durability::Second(asked) => {
            let wish = Duration::from_millis(u64::from(asked.timeout));
            let time = if wish.is_zero() { DURABLE_TIME } else { wish.min(LONGEST_DURABLE_TIME) };
            Some(Durable { guid: Some(asked.guid), time })
        }
    }
}

fn durable_context(durable: Durable) -> Context {
    if durable.guid.is_none() {
        return Context::new(*b"DHnQ", vec![0; 8]);
    }
    let time = u32::try_from(durable.time.as_millis()).unwrap_or(u32::MAX);
    Context::new(*b"DH2Q", DurableRequest::response(time, 0))
}

/// What became of a lease.
pub(crate) fn lease_context(asked: &LeaseRequest, opened: Opened) -> Context {
    const BREAKING: u32 = 2;
    const HAS_PARENT: u32 = 4;
    let parent = asked.flags & HAS_PARENT;
    let answer = LeaseRequest {
        key: asked.key,
        state: u32::from(opened.caching.bits()),
        flags: if opened.breaking { BREAKING | parent } else { parent },
        // As it was first asked for, however it is asked for now.
        v2: opened
            .second_version
            .then(|| (asked.v2.map_or([0; 16], |(parent, _)| parent), opened.epoch)),
    };
    Context::new(*b"RqLs", answer.write())
}
