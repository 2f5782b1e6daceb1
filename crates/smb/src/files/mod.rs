//! The commands on files, one file each, on the same core as the REST service.
//!
//! Must never touch the store: everything goes through `zaffre_core::file`.
#![expect(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    reason = "there is one kind of handle yet"
)]

pub(crate) mod ioctl;

use crate::rpc::pipe::Pipe;
use crate::server::connection::Connection;
use crate::server::session::Session;
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
}

impl Open {
    /// A pipe, newly opened.
    pub(crate) fn of_pipe(server: &Server, tree: u32) -> Self {
        let number = server.fresh_file();
        let id = FileId { persistent: number, volatile: number };
        Self { id, tree, kind: Kind::Pipe(Pipe::default()) }
    }

    pub(crate) fn pipe(&self) -> Option<&Pipe> {
        match &self.kind {
            Kind::Pipe(pipe) => Some(pipe),
        }
    }
}

/// A share with files.
#[derive(Debug)]
pub(crate) struct Disk {}

impl Disk {
    /// The account's share of that name.
    pub(crate) async fn find(_: &Server, _: &Session, _: &str) -> Result<Self, Failure> {
        Err(Status::BAD_NETWORK_NAME.into())
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

/// The handles of a session that ends.
pub(crate) async fn abandon(_: &Arc<Server>, _: &Session, opens: Vec<Arc<Open>>) {
    drop(opens);
}

/// Closes handles.
pub(crate) async fn close_all(_: &Arc<Server>, opens: Vec<Arc<Open>>) {
    drop(opens);
}

/// Looks through handles that wait for their clients to come back.
pub(crate) async fn sweep(_: &Arc<Server>) {}

/// Closes every handle: the server stops.
pub(crate) async fn close_everything(_: &Arc<Server>) {}

/// A connection is gone.
pub(crate) fn disconnected(_: &Arc<Server>, _: &Arc<Connection>) {}
