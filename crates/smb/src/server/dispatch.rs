//! Requests of a session to their handlers; trees and the end of sessions.
//!
//! Must never have a default arm: a new command does not compile until it has a handler.

use super::exchange::{Exchange, Reply};
use super::session::{Session, Share};
use super::state::Server;
use crate::files;
use crate::rpc::pipe;
use crate::status::{Failure, Status};
use crate::wire::Request;
use crate::wire::session::{ShareType, empty_response, tree_response};
use std::sync::Arc;

/// Of a share: listings leave out what may not be read.
const HIDES_UNREADABLE: u32 = 0x0000_0800;
/// Everything: whoever holds the key is the owner.
const FULL_ACCESS: u32 = 0x001F_01FF;

/// Connects a share by `\\host\share`; the host does not matter.
pub(super) async fn tree_connect(
    server: &Arc<Server>,
    session: &Session,
    path: &[u16],
) -> Result<(u32, Reply), Failure> {
    let path = String::from_utf16(path).map_err(|_| Status::BAD_NETWORK_NAME)?;
    let mut parts = path.strip_prefix("\\\\").ok_or(Status::BAD_NETWORK_NAME)?.splitn(2, '\\');
    let (Some(_host), Some(name)) = (parts.next(), parts.next()) else {
        return Err(Status::BAD_NETWORK_NAME.into());
    };
    let (share, kind, flags) = if name.eq_ignore_ascii_case("IPC$") {
        (Share::Pipes, ShareType::Pipe, 0)
    } else {
        let disk = files::Disk::find(server, session, &name.to_lowercase()).await?;
        server.add_disk(&disk);
        let flags = if disk.hides { HIDES_UNREADABLE } else { 0 };
        (Share::Disk(disk), ShareType::Disk, flags)
    };
    let tree = session.add_tree(share)?;
    Ok((tree.id, Reply::ok(tree_response(kind, flags, FULL_ACCESS))))
}

/// Ends a session: what it had open is closed, or waits to be taken up again.
pub(super) async fn end_session(server: &Arc<Server>, session: &Arc<Session>) {
    server.remove_session(session.id);
    for connection in session.connections() {
        connection.remove_session(session.id);
    }
    let opens = session.end();
    files::abandon(server, session, opens).await;
}

/// Runs a request.
pub(super) async fn run(x: &mut Exchange<'_>, request: Request) -> Result<Reply, Failure> {
    match &x.tree.clone().share {
        Share::Pipes => on_pipes(x, request).await,
        Share::Disk(_) => on_disk(x, request).await,
    }
}

async fn tree_disconnect(x: &Exchange<'_>) -> Result<Reply, Failure> {
    let opens = x.session.remove_tree(x.tree.id).ok_or(Status::NETWORK_NAME_DELETED)?;
    files::close_all(&x.server, opens).await;
    Ok(Reply::ok(empty_response()))
}

/// Commands that were handled before a tree was looked for.
fn misplaced() -> Result<Reply, Failure> {
    Err(Status::INVALID_PARAMETER.into())
}

async fn on_pipes(x: &mut Exchange<'_>, request: Request) -> Result<Reply, Failure> {
    match request {
        Request::Negotiate(_)
        | Request::SessionSetup(_)
        | Request::Logoff
        | Request::TreeConnect(_)
        | Request::Cancel
        | Request::Echo => misplaced(),
        Request::TreeDisconnect => tree_disconnect(x).await,
        Request::Create(request) => pipe::create(x, &request),
        Request::Close(request) => pipe::close(x, request),
        Request::Flush(file) => {
            x.open(file).map(|_| Reply::ok(empty_response())).map_err(Into::into)
        }
        Request::Read(request) => pipe::read(x, request),
        Request::Write(request) => pipe::write(x, &request).await,
        Request::Ioctl(request) => files::ioctl::run(x, request).await,
        Request::QueryInfo(request) => pipe::query_info(x, &request),
        Request::SetInfo(_) => Err(Status::NOT_SUPPORTED.into()),
        Request::Lock(_) | Request::QueryDirectory(_) | Request::ChangeNotify(_) => {
            Err(Status::INVALID_DEVICE_REQUEST.into())
        }
        Request::OplockBreak(_) => Err(Status::INVALID_PARAMETER.into()),
    }
}

async fn on_disk(x: &mut Exchange<'_>, request: Request) -> Result<Reply, Failure> {
    match request {
        Request::Negotiate(_)
        | Request::SessionSetup(_)
        | Request::Logoff
        | Request::TreeConnect(_)
        | Request::Cancel
        | Request::Echo => misplaced(),
        Request::TreeDisconnect => tree_disconnect(x).await,
        Request::Ioctl(request) => files::ioctl::run(x, request).await,
        Request::Create(request) => files::create::run(x, &request).await,
        Request::Close(request) => files::close::run(x, request).await,
        Request::Lock(request) => files::lock::run(x, &request).await,
        Request::OplockBreak(answer) => files::oplock::run(x, answer),
        Request::Flush(file) => files::io::flush(x, file).await,
        Request::Read(request) => files::io::read(x, request).await,
        Request::Write(request) => files::io::write(x, request).await,
        Request::QueryInfo(request) => files::query_info::run(x, request).await,
        Request::SetInfo(request) => files::set_info::run(x, request).await,
        Request::QueryDirectory(request) => files::query_directory::run(x, request).await,
        Request::ChangeNotify(request) => files::notify::run(x, request).await,
    }
}
