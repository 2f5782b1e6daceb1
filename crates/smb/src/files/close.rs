//! CLOSE: the handle goes, and with the last one a file that was marked.
//!
//! Must never answer before what was closed is gone, nor that all is well if what was written is not
//! durable.

use super::{facts, handle, write_time};
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::create::{CloseRequest, close_response};

/// CLOSE.
pub(crate) async fn run(x: &mut Exchange<'_>, request: CloseRequest) -> Result<Reply, Failure> {
    let open = x.open(request.file)?;
    let file = open.file().ok_or(Status::FILE_CLOSED)?;
    let settled = write_time::settle_closed(&x.server, file).await;
    let facts = if request.with_facts {
        file.disk.mount.facts(file.file.file).await.ok().map(|node| facts::of(&node))
    } else {
        None
    };
    if x.session.take_open(file.id()).is_none() {
        return Err(Status::FILE_CLOSED.into());
    }
    handle::close(&x.server, file).await;
    settled?;
    Ok(Reply::ok(close_response(facts.as_ref())))
}
