//! QUERY_INFO: what a file, its share and its descriptor are like.
//!
//! Must never send more than the client has room for, or cut what may not be cut.

use super::handle::FileHandle;
use super::io::{needs, target};
use crate::dialect::Dialect;
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::create::Facts;
use crate::wire::cursor::{Writer, index, length32, utf16_bytes};
use crate::wire::info::{QueryRequest, buffer_response};
use zaffre_base::limits::FILE_ALLOCATION_BYTES;
use zaffre_domain::fs::access::AccessMask;
use zaffre_domain::fs::properties::to_filetime;
use zaffre_domain::fs::security::control;

const FILE: u8 = 1;
const FILE_SYSTEM: u8 = 2;
const SECURITY: u8 = 3;

/// QUERY_INFO.
pub(crate) async fn run(x: &mut Exchange<'_>, request: QueryRequest) -> Result<Reply, Failure> {
    let file = target(x, request.file)?;
    let most = index(request.output);
    match request.kind {
        FILE => file_info(x, &file, request.class, most).await,
        FILE_SYSTEM => system_info(&file, request.class, most).await,
        SECURITY => security(&file, request.additional, most).await,
        _ => Err(Status::NOT_SUPPORTED.into()),
    }
}

/// An answer of one size.
fn fixed(body: &[u8], most: usize) -> Result<Reply, Failure> {
    if body.len() > most {
        return Err(Status::INFO_LENGTH_MISMATCH.into());
    }
    Ok(Reply::ok(buffer_response(body)))
}

/// An answer whose tail may be cut; `least` bytes may not.
fn cut(mut body: Vec<u8>, least: usize, most: usize) -> Result<Reply, Failure> {
    if least > most {
        return Err(Status::INFO_LENGTH_MISMATCH.into());
    }
    let status = if body.len() > most { Status::BUFFER_OVERFLOW } else { Status::SUCCESS };
    body.truncate(most);
    Ok(Reply { status, body: buffer_response(&body) })
}

/// The path from the share's root, with `\` in front.
fn path(x: &Exchange<'_>, file: &FileHandle) -> String {
    let place = x.server.core.opens().place(file.handle);
    let path = place.map_or_else(String::new, |place| place.path.replace('/', "\\"));
    format!("\\{path}")
}

fn standard(x: &Exchange<'_>, file: &FileHandle, facts: &Facts, to: &mut Writer) {
    let pending = x.server.core.opens().is_delete_pending(file.file);
    // A file that is going has no name any more.
    let links = u32::from(!pending);
    to.u64(facts.allocation).u64(facts.end_of_file).u32(links);
    to.u8(u8::from(pending)).u8(u8::from(file.directory)).u16(0);
}

fn basic(facts: &Facts, to: &mut Writer) {
    to.u64(facts.created).u64(facts.accessed).u64(facts.written).u64(facts.changed);
    to.u32(facts.attributes).u32(0);
}

fn named(text: &str, to: &mut Writer) {
    let name = utf16_bytes(text.encode_utf16());
    to.length(name.len()).bytes(&name);
}

async fn file_info(
    x: &Exchange<'_>,
    file: &FileHandle,
    class: u8,
    most: usize,
) -> Result<Reply, Failure> {
    let id = file.file.file;
    let facts = file.disk.mount.facts(id).await?;
    let facts = super::facts::of(&facts).with_reserved(file.reserved);
    let kept = *file.scratch.kept();
    let mut to = Writer::new();
    let attributes = AccessMask::READ_ATTRIBUTES;
    match class {
        4 => {
            needs(file, attributes)?;
            basic(&facts, &mut to);
        }
        5 => standard(x, file, &facts, &mut to),
        6 => drop(to.u64(file.holder().0)),
        7 | 17 => drop(to.u32(0)),
        8 => drop(to.u32(file.access.0)),
        14 => drop(to.u64(kept.position)),
        15 => return Err(Status::NO_EAS_ON_FILE.into()),
        16 => drop(to.u32(mode(file))),
        18 => {
            needs(file, attributes)?;
            basic(&facts, &mut to);
            standard(x, file, &facts, &mut to);
            to.u64(file.holder().0)
                .u32(0)
                .u32(file.access.0)
                .u64(kept.position)
                .u32(mode(file))
                .u32(0);
            named(&path(x, file), &mut to);
            return cut(to.finish(), 100, most);
        }
        21 => {
            let path = path(x, file);
            let name = path.rsplit('\\').next().unwrap_or_default();
            named(&short_name(name).ok_or(Status::OBJECT_NAME_NOT_FOUND)?, &mut to);
            return cut(to.finish(), 4, most);
        }
        22 => return streams(file, most).await,
        28 => drop(to.u64(facts.end_of_file).u16(0).zeros(6)),
        34 => {
            needs(file, attributes)?;
            to.u64(facts.created).u64(facts.accessed).u64(facts.written).u64(facts.changed);
            to.u64(facts.allocation).u64(facts.end_of_file).u32(facts.attributes).u32(0);
        }
        35 => {
            needs(file, attributes)?;
            to.u32(facts.attributes).u32(0);
        }
        48 => {
            // Older clients do not know of it.
            let dialect = x.connection.agreed().map(|agreed| agreed.dialect);
            if dialect != Some(Dialect::V3_1_1) {
                return Err(Status::NOT_SUPPORTED.into());
            }
            named(path(x, file).trim_start_matches('\\'), &mut to);
            return cut(to.finish(), 4, most);
        }
        59 => drop(to.u64(file.disk.volume()).u64(file.holder().0).u64(0)),
        _ => return Err(Status::INVALID_INFO_CLASS.into()),
    }
    fixed(&to.finish(), most)
}

/// A name that is short enough to be its own short name; others have none.
fn short_name(name: &str) -> Option<String> {
    let plain = |part: &str, most: usize| {
        let mut bytes = part.bytes();
        part.len() <= most
            && bytes.all(|b| b.is_ascii_alphanumeric() || b"-_$~!#%&{}()@'`^".contains(&b))
    };
    let (base, extension) = name.split_once('.').unwrap_or((name, ""));
    let short = !base.is_empty() && plain(base, 8) && plain(extension, 3) && !name.ends_with('.');
    short.then(|| name.to_ascii_uppercase())
}

/// The options of CREATE that say how a handle is used.
fn mode(file: &FileHandle) -> u32 {
    const KEPT: u32 = 0x0000_103E;
    file.options & KEPT
}

/// The file's own stream, which a directory does not have, and those with names.
async fn streams(file: &FileHandle, most: usize) -> Result<Reply, Failure> {
    let (mount, base) = (&file.disk.mount, file.holder());
    let own = mount.facts(base).await?;
    let mut all = Vec::new();
    if !own.directory {
        all.push(("::$DATA".to_owned(), own.size, own.allocated));
    }
    if file.disk.options.streams {
        let named = mount.streams(base).await?;
        all.extend(named.into_iter().map(|s| (format!(":{}:$DATA", s.name), s.size, s.allocated)));
    }
    let mut to = Writer::new();
    let mut last = None;
    for (name, size, allocated) in all {
        to.align(8);
        let start = to.len();
        if let Some(last) = last {
            to.set_u32(last, length32(start - last));
        }
        let name = utf16_bytes(name.encode_utf16());
        to.u32(0).length(name.len()).u64(size).u64(allocated).bytes(&name);
        last = Some(start);
    }
    let body = to.finish();
    if body.len() > most {
        return Err(Status::BUFFER_OVERFLOW.into());
    }
    Ok(Reply::ok(buffer_response(&body)))
}

async fn system_info(file: &FileHandle, class: u8, most: usize) -> Result<Reply, Failure> {
    const SECTOR: u32 = 512;
    let disk = &file.disk;
    let unit = FILE_ALLOCATION_BYTES;
    let sectors = 8;
    let mut to = Writer::new();
    match class {
        1 => {
            let label = utf16_bytes(disk.mount.share().to_string().encode_utf16());
            let serial = disk.volume().to_le_bytes();
            to.u64(to_filetime(disk.mount.created())).bytes(&serial[..4]);
            to.length(label.len()).u8(0).u8(0).bytes(&label);
            return cut(to.finish(), 24, most);
        }
        3 | 7 => {
            let (quota, used) = disk.mount.space().await?;
            let (total, free) = (quota / unit, quota.saturating_sub(used) / unit);
            to.u64(total).u64(free);
            if class == 7 {
                to.u64(free);
            }
            to.u32(sectors).u32(SECTOR);
        }
        4 => drop(to.u32(7).u32(0x20)),
        5 => {
            // Case is kept but does not count; names are Unicode; descriptors are stored.
            const TRAITS: u32 = 0x2 | 0x4 | 0x8;
            // Named streams, and that names could be told apart by case, as NTFS says.
            const OF_STREAMS: u32 = 0x0004_0000 | 0x1;
            const OF_SPARSE: u32 = 0x40;
            let traits = TRAITS
                | if disk.options.streams { OF_STREAMS } else { 0 }
                | if disk.options.sparse { OF_SPARSE } else { 0 };
            let name = utf16_bytes("NTFS".encode_utf16());
            to.u32(traits).u32(255).length(name.len()).bytes(&name);
            return cut(to.finish(), 16, most);
        }
        8 => return Err(Status::INVALID_PARAMETER.into()),
        11 => {
            let bytes = u32::try_from(unit).unwrap_or(SECTOR);
            to.u32(SECTOR).u32(bytes).u32(bytes).u32(bytes).u32(3).u32(0).u32(0);
        }
        6 => return Err(Status::NOT_SUPPORTED.into()),
        _ => return Err(Status::INVALID_INFO_CLASS.into()),
    }
    fixed(&to.finish(), most)
}

/// Parts of a descriptor.
pub(super) const OWNER: u32 = 0x1;
pub(super) const GROUP: u32 = 0x2;
pub(super) const DACL: u32 = 0x4;
pub(super) const SACL: u32 = 0x8;

async fn security(file: &FileHandle, parts: u32, most: usize) -> Result<Reply, Failure> {
    if parts & SACL != 0 {
        return Err(Status::ACCESS_DENIED.into());
    }
    if parts & (OWNER | GROUP | DACL) != 0 {
        needs(file, AccessMask::READ_CONTROL)?;
    }
    let mut descriptor = file.disk.mount.descriptor(file.file.file).await?;
    descriptor.sacl = None;
    descriptor.control &= !(control::SACL_PROTECTED | control::SACL_AUTO_INHERITED);
    if parts & OWNER == 0 {
        descriptor.owner = None;
    }
    if parts & GROUP == 0 {
        descriptor.group = None;
    }
    if parts & DACL == 0 {
        descriptor.dacl = None;
        descriptor.control &= !(control::DACL_PROTECTED | control::DACL_AUTO_INHERITED);
    }
    let bytes = descriptor.to_bytes().map_err(Status::from)?;
    if bytes.len() > most {
        let data = length32(bytes.len()).to_le_bytes().to_vec();
        return Err(Failure { status: Status::BUFFER_TOO_SMALL, data });
    }
    Ok(Reply::ok(buffer_response(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names() {
        for (name, short) in [
            ("f", Some("F")),
            ("Read_me.txt", Some("READ_ME.TXT")),
            ("longer-than-8", None),
            ("a.text", None),
            ("a.b.c", None),
            ("a b", None),
            ("a.", None),
            (".a", None),
            ("", None),
            ("\u{e4}", None),
        ] {
            assert_eq!(short_name(name).as_deref(), short, "{name}");
        }
    }
}
