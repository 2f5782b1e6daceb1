//! Copying between files without the bytes going over the wire.
//!
//! Must never copy more in one request than the limits that it tells.

use super::handle::{FileHandle, id_of};
use super::io::{before_change, needs, unlocked};
use super::{notify, write_time};
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::cursor::{Reader, Writer, index};
use crate::wire::io::{IoctlRequest, ioctl_response};
use std::sync::Arc;
use zaffre_core::file::opens::HandleId;
use zaffre_domain::fs::access::AccessMask;

/// Chunks in a request, bytes in a chunk, bytes in a request.
const CHUNKS: u32 = 256;
const CHUNK_BYTES: u32 = 1024 * 1024;
const REQUEST_BYTES: u32 = 16 * 1024 * 1024;

const COPYCHUNK_WRITE: u32 = 0x0014_80F2;

/// What the client names the source by: its handle.
pub(super) fn resume_key(file: &FileHandle) -> Vec<u8> {
    let mut to = Writer::new();
    to.u64(file.handle.0).u64(file.file.file.0).u64(0).u32(0).u32(0);
    to.finish()
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    from: u64,
    to: u64,
    length: u32,
}

fn answer(code: u32, file: &FileHandle, done: (u32, u32, u32)) -> Vec<u8> {
    let mut to = Writer::new();
    to.u32(done.0).u32(done.1).u32(done.2);
    ioctl_response(code, file.id(), &to.finish())
}

/// FSCTL_SRV_COPYCHUNK and FSCTL_SRV_COPYCHUNK_WRITE.
pub(super) async fn run(
    x: &mut Exchange<'_>,
    to: &Arc<FileHandle>,
    request: &IoctlRequest,
) -> Result<Reply, Failure> {
    if request.max_output < 12 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let mut reader = Reader::new(&request.input);
    let handle = HandleId(reader.u64()?);
    let file = reader.u64()?;
    reader.skip(8)?;
    let count = reader.u32()?;
    reader.skip(4)?;
    let over = || {
        Ok(Reply {
            status: Status::INVALID_PARAMETER,
            body: answer(request.code, to, (CHUNKS, CHUNK_BYTES, REQUEST_BYTES)),
        })
    };
    if count > CHUNKS {
        return over();
    }
    let mut chunks = Vec::new();
    for _ in 0..count {
        let (from, to, length) = (reader.u64()?, reader.u64()?, reader.u32()?);
        reader.skip(4)?;
        chunks.push(Chunk { from, to, length });
    }
    let total: u64 = chunks.iter().map(|chunk| u64::from(chunk.length)).sum();
    if chunks.iter().any(|c| c.length == 0 || c.length > CHUNK_BYTES)
        || total > u64::from(REQUEST_BYTES)
    {
        return over();
    }
    let source = x.session.open(id_of(handle));
    let source = source.and_then(|open| open.file().cloned());
    let source = source.filter(|source| source.file.file.0 == file);
    let from = source.ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
    if from.directory || to.directory {
        return Err(Status::INVALID_DEVICE_REQUEST.into());
    }
    needs(&from, AccessMask::READ_DATA.union(AccessMask::EXECUTE))?;
    needs(to, AccessMask::WRITE_DATA.union(AccessMask::APPEND_DATA))?;
    if request.code != COPYCHUNK_WRITE {
        // The plain form is for targets that can be read too.
        needs(to, AccessMask::READ_DATA)?;
    }
    let (mut done, mut bytes) = (0, 0);
    for chunk in &chunks {
        match copy(x, &from, to, *chunk).await {
            Ok(()) => {
                done += 1;
                bytes += chunk.length;
            }
            Err(failure) => {
                let body = answer(request.code, to, (done, 0, bytes));
                return Ok(Reply { status: failure.status, body });
            }
        }
    }
    Ok(Reply::ok(answer(request.code, to, (done, 0, bytes))))
}

async fn copy(
    x: &Exchange<'_>,
    from: &FileHandle,
    to: &Arc<FileHandle>,
    chunk: Chunk,
) -> Result<(), Failure> {
    let opens = x.server.core.opens();
    let len = u64::from(chunk.length);
    let data = unlocked(opens, from, chunk.from, len).await?;
    if data.len() < index(chunk.length) {
        return Err(Status::INVALID_VIEW_SIZE.into());
    }
    let _touching = before_change(opens, to, chunk.to, len).await?;
    to.disk.mount.write(to.file.file, chunk.to, data).await?;
    write_time::wrote(&x.server, to);
    notify::modified(&x.server, to, notify::SIZE);
    Ok(())
}
