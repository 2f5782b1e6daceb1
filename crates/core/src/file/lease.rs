//! Lease File: taken for ever, changed, given up, or broken at once.

use super::books::Books;
use super::found::{Subject, change};
use super::op::{Kind, LeaseFile};
use super::reply::FileLeaseReply;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::LeaseOn;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::lease::{LeaseCommand, step};
use zaffre_store::{Abort, StoreError, Tx};

/// Acts on the lease of a file; ETag and times stay.
pub async fn lease_file(core: &Core, op: Authorized<LeaseFile>) -> Result<FileLeaseReply, Error> {
    let (op, _) = op.into_parts();
    let (command, at) = (op.command, op.at);
    let body = move |tx: &mut Tx<'_>, books: &mut Books, subject: &Subject| {
        let mut inode = subject.inode.clone();
        let written = inode.written;
        let file = inode.file.as_mut();
        let file = file.ok_or_else(|| StoreError::corrupt("a file without content"));
        let file = file.map_err(zaffre_store::Interrupt::from)?;
        let (lease, reply) =
            step(file.lease, command, LeaseOn::File, tx.stamp().time()).map_err(Abort::Fail)?;
        file.lease = lease;
        // In place: snapshots show no leases, so that there is nothing to keep for them.
        books.put_lease(tx, subject.id, &inode)?;
        let reply = FileLeaseReply { written, id: reply.id, break_seconds: reply.break_seconds };
        Ok((reply, subject.id, lease, tx.stamp().time()))
    };
    let how = match command {
        LeaseCommand::Acquire { .. } => RestOp::AcquireLease,
        _ => RestOp::List,
    };
    let (reply, id, lease, now) = change(core, &at, Kind::File, how, op.patience, body).await?;
    core.leases().note(at.leased(id), &lease, now);
    Ok(reply)
}
