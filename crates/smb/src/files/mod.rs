//! The commands on files, one file each, on the same core as the REST service.
//!
//! Must never touch the store: everything goes through `zaffre_core::file`.

pub(crate) mod close;
mod copychunk;
pub(crate) mod create;
pub(crate) mod disk;
pub(crate) mod durable;
pub(crate) mod facts;
pub(crate) mod handle;
pub(crate) mod io;
pub(crate) mod ioctl;
pub(crate) mod lock;
pub(crate) mod notify;
pub(crate) mod oplock;
mod pattern;
pub(crate) mod query_directory;
pub(crate) mod query_info;
mod rename;
pub(crate) mod scratch;
pub(crate) mod set_info;
pub(crate) mod write_time;

pub(crate) use disk::Disk;
pub(crate) use durable::{abandon, sweep};
pub(crate) use handle::FileHandle;

use crate::rpc::pipe::Pipe;
use crate::server::connection::Connection;
use crate::server::exchange::Exchange;
use crate::server::session::{Session, Share};
use crate::server::state::Server;
use crate::status::{Failure, Status};
use crate::wire::FileId;
use std::sync::Arc;

/// A handle of a session.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) id: FileId,
    pub(crate) tree: u32,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Pipe(Pipe),
    File(Arc<FileHandle>),
}

impl Open {
    /// A pipe, newly opened.
    pub(crate) fn of_pipe(server: &Server, tree: u32) -> Self {
        let number = server.fresh_file();
        let id = FileId { persistent: number, volatile: number };
        Self { id, tree, kind: Kind::Pipe(Pipe::default()) }
    }

    /// A file or directory, newly opened or taken up again.
    pub(crate) fn of_file(file: Arc<FileHandle>, tree: u32) -> Self {
        Self { id: file.id(), tree, kind: Kind::File(file) }
    }

    pub(crate) fn pipe(&self) -> Option<&Pipe> {
        match &self.kind {
            Kind::Pipe(pipe) => Some(pipe),
            Kind::File(_) => None,
        }
    }

    pub(crate) fn file(&self) -> Option<&Arc<FileHandle>> {
        match &self.kind {
            Kind::Pipe(_) => None,
            Kind::File(file) => Some(file),
        }
    }
}

/// The share that a request is about.
pub(crate) fn disk(x: &Exchange<'_>) -> Result<Arc<Disk>, Status> {
    match &x.tree.share {
        Share::Disk(disk) => Ok(disk.clone()),
        Share::Pipes => Err(Status::INVALID_DEVICE_REQUEST),
    }
}

/// The names of the account's shares.
pub(crate) async fn share_names(
    server: &Server,
    session: &Session,
) -> Result<Vec<String>, Failure> {
    let names = zaffre_core::file::share::share_names(&server.core, session.holder.account()).await;
    Ok(names?.iter().map(ToString::to_string).collect())
}

/// Closes handles.
pub(crate) async fn close_all(server: &Arc<Server>, opens: Vec<Arc<Open>>) {
    for open in opens {
        if let Some(file) = open.file() {
            handle::close(server, file).await;
        }
    }
}

/// Closes every handle that waits for its client: the server stops.
pub(crate) async fn close_everything(server: &Arc<Server>) {
    for file in server.orphans.take_all() {
        handle::close(server, &file).await;
    }
    sweep(server).await;
}

/// A connection is gone.
pub(crate) fn disconnected(_: &Arc<Server>, _: &Arc<Connection>) {}
