//! SET_INFO: times, attributes, sizes, names, deletion and descriptors.
//!
//! Must never change what the handle was not opened for.

use super::handle::FileHandle;
use super::io::{needs, refused, target};
use super::query_info::{DACL, GROUP, OWNER, SACL};
use super::{notify, rename, write_time};
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::cursor::{Malformed, Reader};
use crate::wire::info::{SetRequest, set_response};
use zaffre_base::Timestamp;
use zaffre_core::file::mount::BasicChange;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::oplock::Cause;
use zaffre_domain::fs::properties::from_filetime;
use zaffre_domain::fs::security::{Acl, control};
use zaffre_domain::fs::{Attributes, Descriptor};

const FILE: u8 = 1;
const SECURITY: u8 = 3;

/// Attributes that can be set over the wire; the rest is refused or means nothing.
const SETTABLE: u32 = 0x0002_31B7;
const DIRECTORY: u32 = 0x10;
const TEMPORARY: u32 = 0x100;
const NORMAL: u32 = 0x80;

/// SET_INFO.
pub(crate) async fn run(x: &mut Exchange<'_>, request: SetRequest) -> Result<Reply, Failure> {
    let file = target(x, request.file)?;
    if file.disk.is_snapshot() {
        return Err(Status::MEDIA_WRITE_PROTECTED.into());
    }
    let data = request.data.as_slice();
    match (request.kind, request.class) {
        (FILE, 4) => basic(x, &file, data).await?,
        (FILE, 10) => rename::run(x, &file, data).await?,
        (FILE, 11 | 39) => return Err(Status::NOT_SUPPORTED.into()),
        (FILE, 13) => disposition(x, &file, data).await?,
        (FILE, 14) => file.scratch.kept().position = size(data)?,
        (FILE, 15) => return Err(Status::EAS_NOT_SUPPORTED.into()),
        // How a handle is used was said when it was opened.
        (FILE, 16) => drop(Reader::new(data).u32().map_err(wrong_length)?),
        (FILE, 19) => allocation(x, &file, size(data)?).await?,
        (FILE, 20) => end_of_file(x, &file, size(data)?).await?,
        (FILE, _) => return Err(Status::INVALID_INFO_CLASS.into()),
        (SECURITY, _) => security(&file, request.additional, data).await?,
        _ => return Err(Status::NOT_SUPPORTED.into()),
    }
    Ok(Reply::ok(set_response()))
}

fn wrong_length(_: Malformed) -> Status {
    Status::INFO_LENGTH_MISMATCH
}

fn size(data: &[u8]) -> Result<u64, Status> {
    let size = Reader::new(data).u64().map_err(wrong_length)?;
    if size > i64::MAX.unsigned_abs() { Err(Status::INVALID_PARAMETER) } else { Ok(size) }
}

/// What a request says of a time.
enum Said {
    Nothing,
    /// It does not change by what this handle does.
    Freeze,
    /// It changes again.
    Thaw,
    At(Timestamp),
}

fn said(ticks: u64) -> Result<Said, Status> {
    const FREEZE: u64 = u64::MAX;
    const THAW: u64 = u64::MAX - 1;
    match ticks {
        0 => Ok(Said::Nothing),
        FREEZE => Ok(Said::Freeze),
        THAW => Ok(Said::Thaw),
        ticks if ticks > i64::MAX.unsigned_abs() => Err(Status::INVALID_PARAMETER),
        ticks => Ok(Said::At(from_filetime(ticks))),
    }
}

async fn basic(x: &Exchange<'_>, file: &FileHandle, data: &[u8]) -> Result<(), Failure> {
    let mut reader = Reader::new(data);
    let read = (|| {
        let times = [reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?];
        let attributes = reader.u32()?;
        reader.skip(4)?;
        Ok::<_, Malformed>((times, attributes))
    })();
    let ([created, accessed, written, changed], attributes) = read.map_err(wrong_length)?;
    needs(file, AccessMask::WRITE_ATTRIBUTES)?;
    write_time::settle(&x.server, file).await?;
    let attributes = checked_attributes(file, attributes)?;
    let mut change = BasicChange { attributes, ..BasicChange::default() };
    let at = |said| match said {
        Said::At(at) => Some(at),
        Said::Nothing | Said::Freeze | Said::Thaw => None,
    };
    change.created = at(said(created)?);
    change.last_access = at(said(accessed)?);
    let (written, changed) = (said(written)?, said(changed)?);
    let mut filter = 0;
    {
        let mut kept = file.scratch.kept();
        // A time that was set stays what it was set to, for this handle.
        match written {
            Said::Freeze | Said::At(_) => kept.times.last_write = true,
            Said::Thaw => kept.times.last_write = false,
            Said::Nothing => {}
        }
        match changed {
            Said::Freeze => kept.times.change = true,
            Said::Thaw => kept.times.change = false,
            Said::Nothing | Said::At(_) => {}
        }
    }
    change.last_write = at(written);
    change.change = at(changed);
    let before = file.disk.mount.facts(file.file.file).await?;
    if file.scratch.kept_times().change && change.change.is_none() {
        change.change = Some(before.times.change);
    }
    if change == BasicChange::default() {
        return Ok(());
    }
    let after = file.disk.mount.set_basic(file.file.file, change).await?;
    for (different, bit) in [
        (before.attributes != after.attributes, notify::ATTRIBUTES),
        (before.times.last_write != after.times.last_write, notify::LAST_WRITE),
        (before.times.last_access != after.times.last_access, notify::LAST_ACCESS),
        (before.times.created != after.times.created, notify::CREATION),
    ] {
        filter |= if different { bit } else { 0 };
    }
    notify::modified(&x.server, file, filter);
    Ok(())
}

/// The attributes that a file gets; none if they stay.
fn checked_attributes(file: &FileHandle, wire: u32) -> Result<Option<Attributes>, Status> {
    if wire == 0 {
        return Ok(None);
    }
    if (wire & DIRECTORY != 0 && !file.directory) || (wire & TEMPORARY != 0 && file.directory) {
        return Err(Status::INVALID_PARAMETER);
    }
    let kind = if file.directory { DIRECTORY } else { 0 };
    Ok(Some(Attributes::from_bits((wire & SETTABLE & !NORMAL) | kind)))
}

async fn end_of_file(x: &Exchange<'_>, file: &FileHandle, size: u64) -> Result<(), Failure> {
    needs(file, AccessMask::WRITE_DATA)?;
    if file.directory {
        return Err(Status::INVALID_PARAMETER.into());
    }
    // Locked bytes may be cut off; only who has cached them is told.
    let opens = x.server.core.opens();
    opens.try_contend(file.handle, Cause::Change, opens.monotonic()).map_err(refused)?;
    write_time::settle(&x.server, file).await?;
    let kept = file.scratch.kept_times();
    file.disk.mount.set_size(file.file.file, size, kept).await?;
    notify::modified(&x.server, file, notify::SIZE | notify::LAST_WRITE);
    Ok(())
}

/// Space is not reserved; less than there is cuts.
async fn allocation(x: &Exchange<'_>, file: &FileHandle, size: u64) -> Result<(), Failure> {
    needs(file, AccessMask::WRITE_DATA)?;
    if file.directory {
        return Err(Status::INVALID_PARAMETER.into());
    }
    if size < file.disk.mount.facts(file.file.file).await?.size {
        return end_of_file(x, file, size).await;
    }
    let opens = x.server.core.opens();
    opens.try_contend(file.handle, Cause::Change, opens.monotonic()).map_err(refused)?;
    Ok(())
}

async fn disposition(x: &mut Exchange<'_>, file: &FileHandle, data: &[u8]) -> Result<(), Failure> {
    let delete = Reader::new(data).u8().map_err(wrong_length)? != 0;
    needs(file, AccessMask::DELETE)?;
    let opens = x.server.core.opens().clone();
    if delete {
        let id = file.file.file;
        if id == zaffre_domain::fs::FileId::ROOT {
            return Err(Status::CANNOT_DELETE.into());
        }
        let facts = file.disk.mount.facts(id).await?;
        if facts.attributes.contains(Attributes::READ_ONLY) {
            return Err(Status::CANNOT_DELETE.into());
        }
        if file.directory && !file.disk.mount.is_empty(id).await? {
            return Err(Status::DIRECTORY_NOT_EMPTY.into());
        }
        rename::contend(x, file).await?;
    }
    opens.set_delete(file.handle, delete).map_err(refused)?;
    if delete && file.directory {
        notify::marked(&x.server, file);
    }
    Ok(())
}

async fn security(file: &FileHandle, parts: u32, data: &[u8]) -> Result<(), Failure> {
    if parts & SACL != 0 {
        return Err(Status::ACCESS_DENIED.into());
    }
    for (part, access) in [(OWNER | GROUP, AccessMask::WRITE_OWNER), (DACL, AccessMask::WRITE_DAC)]
    {
        if parts & part != 0 {
            needs(file, access)?;
        }
    }
    let given = Descriptor::from_bytes(data).map_err(|_| Status::INVALID_PARAMETER)?;
    let mut descriptor = file.disk.mount.descriptor(file.file.file).await?;
    if parts & OWNER != 0 && given.owner.is_some() {
        descriptor.owner.clone_from(&given.owner);
    }
    if parts & GROUP != 0 && given.group.is_some() {
        descriptor.group.clone_from(&given.group);
    }
    if parts & DACL != 0 {
        const OF_DACL: u16 = control::DACL_PROTECTED | control::DACL_AUTO_INHERITED;
        descriptor.control = (descriptor.control & !OF_DACL) | given.kept_dacl_control();
        // To say nothing is to say that everybody may do everything.
        descriptor.dacl = given.spelled_out().dacl.or(Some(Acl::Null));
    }
    file.disk.mount.set_descriptor(file.file.file, descriptor).await?;
    Ok(())
}
