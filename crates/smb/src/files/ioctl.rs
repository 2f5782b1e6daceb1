//! IOCTL: what does not need a file, what pipes do, and what files do.
//!
//! Must never answer a control it does not know with success.

use super::handle::FileHandle;
use super::io::{before_change, needs, target};
use super::{copychunk, notify};
use crate::rpc::pipe;
use crate::server::exchange::{Exchange, Reply};
use crate::server::negotiate;
use crate::server::session::Share;
use crate::status::{Failure, Status};
use crate::wire::cursor::{Reader, Writer, index, length32, utf16_bytes};
use crate::wire::io::{IoctlRequest, ioctl_response};
use std::net::IpAddr;
use zaffre_base::Stamp;
use zaffre_domain::fs::access::AccessMask;

const VALIDATE_NEGOTIATE_INFO: u32 = 0x0014_0204;
const QUERY_NETWORK_INTERFACE_INFO: u32 = 0x0014_01FC;
const PIPE_TRANSCEIVE: u32 = 0x0011_C017;
const DFS_GET_REFERRALS: u32 = 0x0006_0194;
const DFS_GET_REFERRALS_EX: u32 = 0x0006_01B0;
const REQUEST_RESUME_KEY: u32 = 0x0014_0078;
const COPYCHUNK: u32 = 0x0014_40F2;
const COPYCHUNK_WRITE: u32 = 0x0014_80F2;
const ENUMERATE_SNAPSHOTS: u32 = 0x0014_4064;
const SET_SPARSE: u32 = 0x0009_00C4;
const SET_ZERO_DATA: u32 = 0x0009_80C8;
const QUERY_ALLOCATED_RANGES: u32 = 0x0009_40CF;
const GET_REPARSE_POINT: u32 = 0x0009_00A8;
const GET_COMPRESSION: u32 = 0x0009_003C;
const SET_COMPRESSION: u32 = 0x0009_C040;
const CREATE_OR_GET_OBJECT_ID: u32 = 0x0009_00C0;

/// IOCTL.
pub(crate) async fn run(x: &mut Exchange<'_>, request: IoctlRequest) -> Result<Reply, Failure> {
    const IS_FSCTL: u32 = 1;
    if request.flags != IS_FSCTL {
        return Err(Status::NOT_SUPPORTED.into());
    }
    match request.code {
        VALIDATE_NEGOTIATE_INFO => validate(x, &request),
        QUERY_NETWORK_INTERFACE_INFO if x.server.options.multichannel => interfaces(x, &request),
        DFS_GET_REFERRALS | DFS_GET_REFERRALS_EX => Err(Status::FS_DRIVER_REQUIRED.into()),
        PIPE_TRANSCEIVE => match x.tree.share {
            Share::Pipes => pipe::transceive(x, &request).await,
            Share::Disk(_) => Err(Status::INVALID_DEVICE_REQUEST.into()),
        },
        _ => match x.tree.share {
            Share::Pipes => Err(Status::INVALID_DEVICE_REQUEST.into()),
            Share::Disk(_) => of_file(x, &request).await,
        },
    }
}

/// Somebody in between may have changed what both sides said before there were keys; this request
/// is signed, so a difference ends the connection.
fn validate(x: &Exchange<'_>, request: &IoctlRequest) -> Result<Reply, Failure> {
    let agreed = x.connection.agreed().ok_or(Status::INVALID_PARAMETER)?;
    let Some(output) = negotiate::validate(&x.server, &agreed, &request.input) else {
        x.connection.close();
        return Err(Status::ACCESS_DENIED.into());
    };
    if output.len() > index(request.max_output) {
        return Err(Status::INVALID_PARAMETER.into());
    }
    Ok(Reply::ok(ioctl_response(request.code, request.file, &output)))
}

/// Where else the server can be reached: at the address that the client has found, and as often as
/// a session may be on connections.
fn interfaces(x: &Exchange<'_>, request: &IoctlRequest) -> Result<Reply, Failure> {
    let output = network_interface(x.connection.local.ip());
    if output.len() > index(request.max_output) {
        return Err(Status::BUFFER_TOO_SMALL.into());
    }
    Ok(Reply::ok(ioctl_response(request.code, request.file, &output)))
}

fn network_interface(address: IpAddr) -> Vec<u8> {
    const INDEX: u32 = 1;
    // Clients make several connections to an interface only if it says that it spreads them.
    const SPREADS: u32 = 1;
    // Bits in a second. Only one interface is told of, so that it is compared with none.
    const SPEED: u64 = 1_000_000_000;
    const ADDRESS_BYTES: usize = 128;
    let mut to = Writer::new();
    to.u32(0).u32(INDEX).u32(SPREADS).u32(0).u64(SPEED);
    let start = to.len();
    match address {
        IpAddr::V4(address) => to.u16(2).u16(0).bytes(&address.octets()),
        IpAddr::V6(address) => to.u16(0x17).u16(0).u32(0).bytes(&address.octets()),
    };
    to.zeros(ADDRESS_BYTES - (to.len() - start));
    to.finish()
}

async fn of_file(x: &mut Exchange<'_>, request: &IoctlRequest) -> Result<Reply, Failure> {
    let file = target(x, request.file)?;
    let most = index(request.max_output);
    let mut status = Status::SUCCESS;
    let output = match request.code {
        REQUEST_RESUME_KEY => {
            if most < 32 {
                return Err(Status::INVALID_PARAMETER.into());
            }
            copychunk::resume_key(&file)
        }
        COPYCHUNK | COPYCHUNK_WRITE => return copychunk::run(x, &file, request).await,
        ENUMERATE_SNAPSHOTS => snapshots(&file, most).await?,
        SET_SPARSE => {
            set_sparse(&file, &request.input).await?;
            Vec::new()
        }
        SET_ZERO_DATA => {
            zero_data(x, &file, &request.input).await?;
            Vec::new()
        }
        QUERY_ALLOCATED_RANGES => {
            let (output, cut) = allocated_ranges(&file, &request.input, most).await?;
            if cut {
                status = Status::BUFFER_OVERFLOW;
            }
            output
        }
        CREATE_OR_GET_OBJECT_ID => {
            if most < 64 {
                return Err(Status::INVALID_PARAMETER.into());
            }
            object_id(&file)
        }
        GET_REPARSE_POINT => return Err(Status::NOT_A_REPARSE_POINT.into()),
        SET_COMPRESSION => match request.input.as_slice() {
            // Not to compress is what is done anyway.
            [0, 0] => Vec::new(),
            _ => return Err(Status::NOT_SUPPORTED.into()),
        },
        GET_COMPRESSION => {
            if most < 2 {
                return Err(Status::INVALID_PARAMETER.into());
            }
            vec![0, 0]
        }
        _ => return Err(Status::INVALID_DEVICE_REQUEST.into()),
    };
    Ok(Reply { status, body: ioctl_response(request.code, file.id(), &output) })
}

/// An id that is the same for as long as the file lives: its own, and its share's.
fn object_id(file: &FileHandle) -> Vec<u8> {
    let mut to = Writer::new();
    let (volume, id) = (file.disk.volume(), file.file.file.0);
    to.u64(volume).u64(id).u64(volume).u64(0).u64(volume).u64(id).u64(0).u64(0);
    to.finish()
}

/// Every file is sparse, whatever it is told; where clients may mark files, the mark is kept.
async fn set_sparse(file: &FileHandle, input: &[u8]) -> Result<(), Failure> {
    if file.directory {
        return Err(Status::INVALID_PARAMETER.into());
    }
    needs(file, WRITES.union(AccessMask::WRITE_ATTRIBUTES))?;
    let sparse = input.first() != Some(&0);
    if file.disk.options.sparse {
        if file.disk.is_snapshot() {
            return Err(Status::MEDIA_WRITE_PROTECTED.into());
        }
        file.disk.mount.set_sparse(file.file.file, sparse).await?;
        return Ok(());
    }
    if sparse { Ok(()) } else { Err(Status::INVALID_DEVICE_REQUEST.into()) }
}

const WRITES: AccessMask = AccessMask::WRITE_DATA.union(AccessMask::APPEND_DATA);

async fn zero_data(x: &Exchange<'_>, file: &FileHandle, input: &[u8]) -> Result<(), Failure> {
    let mut reader = Reader::new(input);
    let (offset, end) = (reader.u64()?, reader.u64()?);
    if file.directory || offset > end || end > i64::MAX.unsigned_abs() {
        return Err(Status::INVALID_PARAMETER.into());
    }
    needs(file, AccessMask::WRITE_DATA)?;
    if file.disk.is_snapshot() {
        return Err(Status::MEDIA_WRITE_PROTECTED.into());
    }
    let _touching = before_change(x.server.core.opens(), file, offset, end - offset).await?;
    let kept = file.scratch.kept_times();
    file.disk.mount.clear(file.file.file, offset, end, kept).await?;
    notify::modified(&x.server, file, notify::LAST_WRITE);
    Ok(())
}

/// Ranges that were written; a file that could be marked as sparse and is not has them all.
async fn ranges(
    file: &FileHandle,
    offset: u64,
    end: u64,
) -> Result<(Vec<(u64, u64)>, bool), Failure> {
    let (mount, id) = (&file.disk.mount, file.file.file);
    if file.disk.options.sparse {
        let facts = mount.facts(id).await?;
        let end = end.min(facts.size);
        if !facts.sparse {
            return Ok(((offset < end).then_some((offset, end)).into_iter().collect(), false));
        }
    }
    Ok(mount.ranges(id, offset, end).await?)
}

/// Ranges that were written, as pairs of offset and length; and whether more did not fit.
async fn allocated_ranges(
    file: &FileHandle,
    input: &[u8],
    most: usize,
) -> Result<(Vec<u8>, bool), Failure> {
    let mut reader = Reader::new(input);
    let (offset, length) = (reader.u64()?, reader.u64()?);
    let end = offset.checked_add(length).filter(|end| *end <= i64::MAX.unsigned_abs());
    let Some(end) = end.filter(|_| !file.directory) else {
        return Err(Status::INVALID_PARAMETER.into());
    };
    // Which bytes are there is no secret of whoever has locked them.
    needs(file, AccessMask::READ_DATA)?;
    let (ranges, mut more) = ranges(file, offset, end).await?;
    let mut to = Writer::new();
    for (start, end) in ranges {
        if to.len() + 16 > most {
            if to.is_empty() {
                return Err(Status::BUFFER_TOO_SMALL.into());
            }
            more = true;
            break;
        }
        to.u64(start).u64(end - start);
    }
    Ok((to.finish(), more))
}

/// `@GMT-2026.01.31-23.59.59`
fn token(snapshot: Stamp) -> String {
    let text = snapshot.time().iso7().to_string();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let (date, time) = (part(0, 10).replace('-', "."), part(11, 19).replace(':', "."));
    format!("@GMT-{date}-{time}")
}

/// The share's snapshots, newest first; without room for them, how much they need.
async fn snapshots(file: &FileHandle, most: usize) -> Result<Vec<u8>, Failure> {
    if most < 16 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let snapshots = file.disk.mount.snapshots().await?;
    let mut names = Vec::new();
    for snapshot in snapshots.iter().rev() {
        names.extend(utf16_bytes(token(*snapshot).encode_utf16().chain([0])));
    }
    names.extend([0, 0]);
    let count = length32(snapshots.len());
    let mut to = Writer::new();
    if snapshots.is_empty() || 12 + names.len() > most {
        // A client asks with little room first, to hear how much it needs.
        to.u32(count).u32(0).length(names.len()).zeros(4);
    } else {
        to.u32(count).u32(count).length(names.len()).bytes(&names);
    }
    Ok(to.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::Timestamp;

    #[test]
    fn an_interface_is_its_address() {
        let four = network_interface(IpAddr::from([127, 0, 0, 1]));
        assert_eq!((four.len(), &four[24..32]), (152, &[2, 0, 0, 0, 127, 0, 0, 1][..]));
        let six = network_interface(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]));
        assert_eq!((six.len(), &six[24..28], six[47]), (152, &[0x17, 0, 0, 0][..], 1));
    }

    #[test]
    fn tokens_name_the_second() {
        let at = Timestamp::from_unix_seconds(1_769_903_999);
        assert_eq!(token(Stamp(at.0 + 77)), "@GMT-2026.01.31-23.59.59");
    }
}
