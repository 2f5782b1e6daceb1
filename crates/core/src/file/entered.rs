//! The way of every REST operation through the table of opens.
//!
//! Must never be skipped by an operation on something that exists: who has it open decides too.

use super::op::Patience;
use super::opens::{FileKey, Guard, Under};
use super::write_back::{Calm, before_rest};
use crate::directory::Place;
use crate::{Core, Error};
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{FileId, FileRefusal};

/// An operation that the table knows of, until it is dropped.
#[derive(Debug)]
pub(super) struct Entered {
    /// Before the guard: whoever comes next may have writes wait again.
    _calm: Option<Calm>,
    _guard: Guard,
}

/// The table's name of something in a share.
pub(super) fn key(place: &Place, file: FileId) -> FileKey {
    FileKey { share: place.incarnation, file }
}

/// Enters an operation; waits for clients to give back what they cached, and has committed what they
/// wrote.
pub(super) async fn enter(
    core: &Core,
    place: &Place,
    id: FileId,
    op: RestOp,
    patience: Patience,
) -> Result<Entered, Error> {
    let key = key(place, id);
    let guard = core.opens().enter(key, op, patience.wait).await;
    let guard = guard.map_err(FileRefusal::from)?;
    let access = op.mode().access;
    let calm = before_rest(core, key, access.write || access.delete).await?;
    Ok(Entered { _calm: calm, _guard: guard })
}

/// Whether somebody has it open, and may have cached writes to it that an operation makes them give
/// back, or writes to it wait to be committed: what was looked up before is then not what is there.
pub(super) fn is_open(core: &Core, place: &Place, id: FileId) -> bool {
    core.opens().is_open(place.incarnation, Under::Only(id))
        || core.write_back().is_dirty(key(place, id))
}

/// Whether it is deleted as soon as its last handle is closed.
pub(super) fn is_delete_pending(core: &Core, place: &Place, id: FileId) -> bool {
    core.opens().is_delete_pending(key(place, id))
}
