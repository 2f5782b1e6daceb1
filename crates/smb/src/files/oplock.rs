//! OPLOCK_BREAK: a client's answer to being told that it may cache less.
//!
//! Must never decide whether the answer is right: the open table does.

use super::handle::level_of;
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::FileId;
use crate::wire::oplock::{Acknowledgement, lease_response, oplock_body};
use zaffre_core::file::opens::LeaseId;
use zaffre_domain::fs::oplock::{AnswerError, Caching};

/// OPLOCK_BREAK.
pub(crate) fn run(x: &Exchange<'_>, answer: Acknowledgement) -> Result<Reply, Failure> {
    match answer {
        Acknowledgement::Oplock { level, file } => oplock(x, level, file),
        Acknowledgement::Lease { key, state } => lease(x, key, state),
    }
}

fn oplock(x: &Exchange<'_>, level: u8, file: FileId) -> Result<Reply, Failure> {
    let open = x.open(file)?;
    let file = open.file().ok_or(Status::INVALID_PARAMETER)?;
    let to = match level {
        0x00 => Caching::NONE,
        0x01 => Caching::R,
        _ => return Err(Status::INVALID_PARAMETER.into()),
    };
    x.server.core.opens().answer_oplock(file.handle, to).map_err(|error| match error {
        AnswerError::NotBreaking => Status::INVALID_OPLOCK_PROTOCOL,
        AnswerError::TooMuch => Status::INVALID_PARAMETER,
    })?;
    Ok(Reply::ok(oplock_body(level_of(to), file.id())))
}

fn lease(x: &Exchange<'_>, key: [u8; 16], state: u32) -> Result<Reply, Failure> {
    let lease = LeaseId { client: x.session.client(), key: u128::from_le_bytes(key) };
    if state & !7 != 0 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let opens = x.server.core.opens();
    if !opens.has_lease(lease) {
        return Err(Status::OBJECT_NAME_NOT_FOUND.into());
    }
    opens.answer_lease(lease, Caching::from_bits(state)).map_err(|error| match error {
        AnswerError::NotBreaking => Status::UNSUCCESSFUL,
        AnswerError::TooMuch => Status::REQUEST_NOT_ACCEPTED,
    })?;
    Ok(Reply::ok(lease_response(key, state)))
}
