//! The way of every REST operation through the table of opens.
//!
//! Must never be skipped by an operation on something that exists: who has it open decides too.

use super::op::Patience;
use super::opens::{FileKey, Guard, Under};
use crate::directory::Place;
use crate::{Core, Error};
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{FileId, FileRefusal};

/// An operation that the table knows of, until it is dropped.
pub(super) type Entered = Guard;

/// The table's name of something in a share.
pub(super) fn key(place: &Place, file: FileId) -> FileKey {
    FileKey { share: place.incarnation, file }
}

/// Enters an operation; waits for clients to give back what they cached.
pub(super) async fn enter(
    core: &Core,
    place: &Place,
    id: FileId,
    op: RestOp,
    patience: Patience,
) -> Result<Entered, Error> {
    let entered = core.opens().enter(key(place, id), op, patience.wait).await;
    entered.map_err(|refused| FileRefusal::from(refused).into())
}

/// Whether somebody has it open, and may have cached writes to it that an operation makes them give
/// back: what was looked up before is then not what is there.
pub(super) fn is_open(core: &Core, place: &Place, id: FileId) -> bool {
    core.opens().is_open(place.incarnation, Under::Only(id))
}

/// Whether it is deleted as soon as its last handle is closed.
pub(super) fn is_delete_pending(core: &Core, place: &Place, id: FileId) -> bool {
    core.opens().is_delete_pending(key(place, id))
}
