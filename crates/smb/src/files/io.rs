//! READ, WRITE and FLUSH.
//!
//! Must never touch bytes that another handle has locked, or that this handle was not opened for.

use super::create::ask;
use super::handle::FileHandle;
use super::{notify, write_time};
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::FileId;
use crate::wire::cursor::index;
use crate::wire::io::{ReadRequest, WriteRequest, read_head, write_response};
use crate::wire::session::empty_response;
use bytes::Bytes;
use std::sync::Arc;
use zaffre_core::file::opens::{Attempt, Opens, Refused, Touching};
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::locks::{Range, Touch};
use zaffre_domain::fs::oplock::Cause;

/// The flag of a WRITE that is answered when it is durable.
const WRITE_THROUGH: u32 = 1;

/// No file system that clients know has larger files; up to there the disk is just full.
const LARGEST_FILE: u64 = (1 << 44) - (1 << 16);

/// Offsets are signed on the other side.
const LARGEST_OFFSET: u64 = i64::MAX.unsigned_abs();

/// The file or directory of a request.
pub(super) fn target(x: &mut Exchange<'_>, id: FileId) -> Result<Arc<FileHandle>, Status> {
    let open = x.open(id)?;
    x.related = Ok(open.id);
    open.file().cloned().ok_or(Status::INVALID_DEVICE_REQUEST)
}

/// Refuses what the handle was not opened for.
pub(super) fn needs(file: &FileHandle, any_of: AccessMask) -> Result<(), Status> {
    if file.access.intersects(any_of) { Ok(()) } else { Err(Status::ACCESS_DENIED) }
}

/// A refusal of the open table as a status.
pub(super) fn refused(refused: Refused) -> Status {
    Status::from(FileRefusal::from(refused))
}

/// Begins to change the bytes; whoever has cached them is told, and nobody locks them until the end.
pub(super) async fn before_change(
    opens: &Opens,
    file: &FileHandle,
    offset: u64,
    len: u64,
) -> Result<Touching, Status> {
    let touching = opens.touch(file.handle, Range { offset, len }, Touch::Write).await;
    changes(opens, file, touching.map_err(not_touched)?)
}

fn changes(opens: &Opens, file: &FileHandle, touching: Touching) -> Result<Touching, Status> {
    opens.try_contend(file.handle, Cause::Change, opens.monotonic()).map_err(refused)?;
    Ok(touching)
}

/// A handle that is just closed has no locks, and is not told apart from one that is kept out.
fn not_touched(why: Refused) -> Status {
    match why {
        Refused::TooMany => refused(why),
        _ => Status::FILE_LOCK_CONFLICT,
    }
}

/// As [`before_change`]; what comes after it has its turn when this one has to wait, and not before.
async fn before_write(
    x: &mut Exchange<'_>,
    file: &FileHandle,
    offset: u64,
    len: u64,
) -> Result<Touching, Status> {
    let opens = x.server.core.opens().clone();
    let range = Range { offset, len };
    let tried = opens.try_touch(file.handle, range, Touch::Write, opens.monotonic());
    match tried.map_err(not_touched)? {
        Attempt::Done(touching) => changes(&opens, file, touching),
        Attempt::Wait(_) => {
            x.let_others_run();
            before_change(&opens, file, offset, len).await
        }
    }
}

/// The bytes, which nobody locks until they are read.
pub(super) async fn unlocked(
    opens: &Opens,
    file: &FileHandle,
    offset: u64,
    len: u64,
) -> Result<Bytes, Failure> {
    let touching = opens.touch(file.handle, Range { offset, len }, Touch::Read).await;
    if let Err(why) = &touching
        && len > 0
    {
        return Err(not_touched(*why).into());
    }
    Ok(file.disk.mount.read(file.file.file, offset, len).await?)
}

/// READ.
pub(crate) async fn read(x: &mut Exchange<'_>, request: ReadRequest) -> Result<Reply, Failure> {
    let file = target(x, request.file)?;
    if file.directory {
        return Err(Status::INVALID_DEVICE_REQUEST.into());
    }
    needs(&file, AccessMask::READ_DATA.union(AccessMask::EXECUTE))?;
    let (offset, len) = (request.offset, u64::from(request.length));
    if offset.checked_add(len).is_none_or(|end| end > LARGEST_OFFSET) {
        return Err(Status::INVALID_PARAMETER.into());
    }
    x.let_others_run();
    let room = x.room(request.length).await?;
    let data = unlocked(x.server.core.opens(), &file, offset, len).await?;
    if (data.is_empty() && len > 0) || data.len() < index(request.minimum) {
        return Err(Status::END_OF_FILE.into());
    }
    let end = offset.saturating_add(u64::try_from(data.len()).unwrap_or(0));
    file.scratch.kept().position = end;
    let head = read_head(data.len());
    x.attach(data, room);
    Ok(Reply::ok(head))
}

/// WRITE.
pub(crate) async fn write(x: &mut Exchange<'_>, request: WriteRequest) -> Result<Reply, Failure> {
    let file = target(x, request.file)?;
    if file.directory {
        return Err(Status::INVALID_DEVICE_REQUEST.into());
    }
    needs(&file, AccessMask::WRITE_DATA.union(AccessMask::APPEND_DATA))?;
    let count = request.data.len();
    let (offset, len) = (request.offset, u64::try_from(count).unwrap_or(u64::MAX));
    let most = if count == 0 { LARGEST_OFFSET } else { LARGEST_FILE };
    if offset.checked_add(len).is_none_or(|end| end > most) {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let mount = &file.disk.mount;
    if !file.access.intersects(AccessMask::WRITE_DATA) {
        // Whoever may only append may not change what is there.
        let size = mount.facts(file.file.file).await?.size;
        if offset < size {
            return Err(Status::ACCESS_DENIED.into());
        }
    }
    if count == 0 {
        return Ok(Reply::ok(write_response(0)));
    }
    let touching = before_write(x, &file, offset, len).await?;
    x.let_others_run();
    mount.write(file.file.file, offset, request.data).await?;
    drop(touching);
    write_time::wrote(&x.server, &file);
    notify::modified(&x.server, &file, notify::SIZE);
    if request.flags & WRITE_THROUGH != 0 || file.options & ask::WRITE_THROUGH != 0 {
        mount.flush(file.file.file, None).await?;
    }
    Ok(Reply::ok(write_response(count)))
}

/// FLUSH: what was written to the file is durable when it is answered.
pub(crate) async fn flush(x: &mut Exchange<'_>, id: FileId) -> Result<Reply, Failure> {
    let file = target(x, id)?;
    needs(&file, AccessMask::WRITE_DATA.union(AccessMask::APPEND_DATA))?;
    write_time::settle(&x.server, &file).await?;
    Ok(Reply::ok(empty_response()))
}
