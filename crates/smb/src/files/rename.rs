//! Renaming what a handle is held of.
//!
//! Must never replace a file that somebody has open, or move a directory from under its users.

use super::create::access;
use super::handle::FileHandle;
use super::io::{needs, refused};
use super::notify;
use crate::server::exchange::Exchange;
use crate::status::{Failure, Status};
use crate::wire::cursor::{Malformed, Reader, index, utf16};
use std::time::Duration;
use zaffre_core::Error;
use zaffre_core::file::opens::{Attempt, Place, Under};
use zaffre_domain::Refusal;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::oplock::Cause;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{Attributes, EntryName, FilePath, FileRefusal};

/// How often a rename starts over because the target was replaced meanwhile.
const TRIES: usize = 4;

/// Waits until nobody caches a handle of the file any more. Others may wait for this request to go
/// on, so the client is told.
pub(super) async fn contend(x: &mut Exchange<'_>, file: &FileHandle) -> Result<(), Failure> {
    let opens = x.server.core.opens().clone();
    loop {
        let now = opens.monotonic();
        match opens.try_contend(file.handle, Cause::NameChange, now).map_err(refused)? {
            Attempt::Done(()) => return Ok(()),
            Attempt::Wait(waiting) => {
                let cancelled = x.pend().await?;
                tokio::select! {
                    () = waiting.wait(now) => {}
                    () = cancelled.wait() => return Err(Status::CANCELLED.into()),
                }
            }
        }
    }
}

/// The same for everything below a directory.
async fn empty_below(x: &mut Exchange<'_>, file: &FileHandle) -> Result<(), Failure> {
    let opens = x.server.core.opens().clone();
    loop {
        let now = opens.monotonic();
        let attempt = opens.try_empty_below(file.handle, now);
        match attempt.map_err(|_| Status::ACCESS_DENIED)? {
            Attempt::Done(()) => return Ok(()),
            Attempt::Wait(waiting) => {
                let cancelled = x.pend().await?;
                tokio::select! {
                    () = waiting.wait(now) => {}
                    () = cancelled.wait() => return Err(Status::CANCELLED.into()),
                }
            }
        }
    }
}

/// The name as the wire has it.
fn parse(data: &[u8]) -> Result<(bool, Vec<u16>), Malformed> {
    let mut reader = Reader::new(data);
    let replace = reader.u8()? != 0;
    reader.skip(7)?;
    let root = reader.u64()?;
    let length = index(reader.u32()?);
    let name = utf16(reader.take(length)?)?;
    if root != 0 || name.is_empty() { Err(Malformed) } else { Ok((replace, name)) }
}

/// A path from the share's root.
pub(super) fn path(units: &[u16]) -> Result<FilePath, Status> {
    let text = String::from_utf16(units).map_err(|_| Status::OBJECT_NAME_INVALID)?;
    let text = text.strip_prefix('\\').unwrap_or(&text);
    let names = text
        .split('\\')
        .map(|name| EntryName::parse(name).map_err(Status::from))
        .collect::<Result<Vec<_>, _>>()?;
    FilePath::of(names).map_err(Status::from)
}

/// FileRenameInformation.
pub(super) async fn run(
    x: &mut Exchange<'_>,
    file: &FileHandle,
    data: &[u8],
) -> Result<(), Failure> {
    let (replace, name) = parse(data).map_err(|_| Status::INFO_LENGTH_MISMATCH)?;
    needs(file, AccessMask::DELETE)?;
    if file.base.is_some() {
        return stream(x, file, &name).await;
    }
    let to = path(&name)?;
    contend(x, file).await?;
    if file.directory {
        empty_below(x, file).await?;
    }
    if x.server.core.opens().has_open_streams(file.file) {
        return Err(Status::ACCESS_DENIED.into());
    }
    parent_stays(x, file)?;
    let before = x.server.core.opens().place(file.handle).map(|place| place.path);
    let mut moved = Err(Status::ACCESS_DENIED.into());
    for _ in 0..TRIES {
        moved = attempt(x, file, &to, replace).await;
        if !matches!(&moved, Err(failure) if failure.status == Status::OBJECT_NAME_COLLISION && replace)
        {
            break;
        }
    }
    let node = moved?;
    let place = Place { above: node.above, path: node.path.clone() };
    x.server.core.opens().moved(file.file, &place);
    if let Some(before) = before {
        notify::renamed(&x.server, &file.disk, file.directory, &before, &node.path);
    }
    Ok(())
}

/// Gives a stream another name, of the form `:name` or `:name:$DATA`; it stays with its file.
async fn stream(x: &mut Exchange<'_>, file: &FileHandle, name: &[u16]) -> Result<(), Failure> {
    let text = String::from_utf16(name).map_err(|_| Status::OBJECT_NAME_INVALID)?;
    let text = text.strip_prefix(':').ok_or(Status::INVALID_PARAMETER)?;
    let (name, kind) = text.split_once(':').unwrap_or((text, "$DATA"));
    if !kind.eq_ignore_ascii_case("$DATA") {
        return Err(Status::OBJECT_NAME_INVALID.into());
    }
    let name = EntryName::of_stream(name).map_err(Status::from)?;
    contend(x, file).await?;
    file.disk.mount.rename_stream(file.file.file, &name).await?;
    let opens = x.server.core.opens();
    if let Some(place) = opens.place(file.handle) {
        let base = place.path.rsplit_once(':').map_or("", |(base, _)| base);
        opens.moved(file.file, &Place { path: format!("{base}:{name}"), above: place.above });
    }
    Ok(())
}

/// Whoever may delete the directory that a file is in keeps it from being moved.
fn parent_stays(x: &Exchange<'_>, file: &FileHandle) -> Result<(), Status> {
    if file.directory {
        return Ok(());
    }
    let opens = x.server.core.opens();
    let Some(parent) = opens.place(file.handle).and_then(|place| place.above.last().copied())
    else {
        return Ok(());
    };
    let handles = opens.handles(file.file.share, Under::Only(parent));
    if handles.iter().any(|handle| handle.access.intersects(AccessMask::DELETE)) {
        return Err(Status::SHARING_VIOLATION);
    }
    Ok(())
}

async fn attempt(
    x: &Exchange<'_>,
    file: &FileHandle,
    to: &FilePath,
    replace: bool,
) -> Result<zaffre_core::file::mount::Node, Failure> {
    let mount = &file.disk.mount;
    access::may_make(&file.disk, to, file.directory).await?;
    let there = match mount.lookup(to).await {
        Ok(node) => Some(node).filter(|node| node.id != file.file.file),
        Err(Error::Refused(Refusal::File(FileRefusal::ResourceNotFound))) => None,
        Err(error) => return Err(error.into()),
    };
    let mut guard = None;
    if let Some(node) = &there {
        if !replace {
            return Err(Status::OBJECT_NAME_COLLISION.into());
        }
        if node.facts.directory || node.facts.attributes.contains(Attributes::READ_ONLY) {
            return Err(Status::ACCESS_DENIED.into());
        }
        let permitted = access::permitted(&file.disk, node.id, &node.facts).await?;
        if !permitted.contains(AccessMask::DELETE) {
            return Err(Status::ACCESS_DENIED.into());
        }
        let entered = x.server.core.opens().enter(
            file.disk.key(node.id),
            RestOp::Delete,
            Duration::from_secs(35),
        );
        guard = Some(entered.await.map_err(|_| Status::ACCESS_DENIED)?);
    }
    let replaced = there.map(|node| node.id);
    let moved = mount.rename(file.file.file, to, replaced).await;
    drop(guard);
    Ok(moved?)
}
