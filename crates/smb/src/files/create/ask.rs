//! What a CREATE asks for, checked as far as that takes no look at files.
//!
//! Must never touch the store or the open table.

use crate::dialect::Dialect;
use crate::options::Options;
use crate::status::Status;
use crate::wire::context::{DurableReconnect, DurableRequest, LeaseRequest};
use crate::wire::create::Request;
use zaffre_domain::fs::access::{AccessMask, Classes, MaskError};
use zaffre_domain::fs::oplock::Caching;
use zaffre_domain::fs::{Attributes, EntryName, FilePath, FileRefusal, Stream};

pub(crate) const DIRECTORY_FILE: u32 = 0x1;
pub(crate) const WRITE_THROUGH: u32 = 0x2;
pub(crate) const NON_DIRECTORY_FILE: u32 = 0x40;
pub(crate) const DELETE_ON_CLOSE: u32 = 0x1000;
/// By id, as a tree of its own, with a filter oplock: nobody does these.
const UNSERVED_OPTIONS: u32 = 0x2000 | 0x80 | 0x0010_0000;
const KNOWN_OPTIONS: u32 = 0x00FF_FFFF;
const MAXIMUM_ALLOWED: u32 = 0x0200_0000;
/// Attribute bits that a client may send; those it cannot set are left out.
const KNOWN_ATTRIBUTES: u32 = 0x0000_7FB7;
const ENCRYPTED: u32 = 0x4000;

/// What is to happen with what is there, and with what is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Disposition {
    Supersede,
    Open,
    Create,
    OpenIf,
    Overwrite,
    OverwriteIf,
}

impl Disposition {
    fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Supersede,
            1 => Self::Open,
            2 => Self::Create,
            3 => Self::OpenIf,
            4 => Self::Overwrite,
            5 => Self::OverwriteIf,
            _ => return None,
        })
    }

    /// Whether what is there loses its content.
    pub(crate) fn overwrites(self) -> bool {
        matches!(self, Self::Supersede | Self::Overwrite | Self::OverwriteIf)
    }

    /// Whether what is not there is made.
    pub(crate) fn makes(self) -> bool {
        !matches!(self, Self::Open | Self::Overwrite)
    }
}

/// How a handle is to outlive its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Durability {
    /// Not at all.
    None,
    /// The first version.
    First,
    /// The second, with the client's id of the create.
    Second(DurableRequest),
}

/// A handle that is taken up again; nothing else of the request counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reconnect {
    pub(crate) persistent: u64,
    /// The second version has the client's id of the create.
    pub(crate) guid: Option<[u8; 16]>,
    /// The lease that the handle is said to have.
    pub(crate) lease: Option<LeaseRequest>,
    /// The path that a leased file is said to have.
    pub(crate) path: Result<Named, Status>,
}

impl Reconnect {
    /// What a request takes up again, if it does.
    pub(crate) fn read(
        request: &Request,
        dialect: Dialect,
        options: Options,
    ) -> Result<Option<Self>, Status> {
        check_durable(request, dialect)?;
        let malformed = |_| Status::INVALID_PARAMETER;
        let second = request.context(*b"DH2C").filter(|_| dialect.is_third());
        let (persistent, guid) = if let Some(data) = second {
            let asked = DurableReconnect::parse(data).map_err(malformed)?;
            (asked.persistent, Some(asked.guid))
        } else if let Some(data) = request.context(*b"DHnC") {
            (DurableReconnect::first_version(data).map_err(malformed)?.0, None)
        } else {
            return Ok(None);
        };
        let lease = lease(request, dialect)?;
        Ok(Some(Self { persistent, guid, lease, path: path(&request.name, options) }))
    }
}

/// A CREATE that makes sense by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ask {
    pub(crate) path: FilePath,
    /// The stream that is named.
    pub(crate) stream: Option<Stream>,
    pub(crate) disposition: Disposition,
    pub(crate) options: u32,
    /// The rights as they were sent.
    pub(crate) access: u32,
    pub(crate) share: Classes,
    pub(crate) attributes: Attributes,
    pub(crate) oplock: Caching,
    pub(crate) lease: Option<LeaseRequest>,
    pub(crate) durability: Durability,
    /// The moment of the snapshot that is meant, 100 ns since 1601.
    pub(crate) moment: Option<u64>,
    /// Bytes to set aside for it.
    pub(crate) allocation: u64,
    /// The security descriptor of what is made.
    pub(crate) descriptor: Option<Vec<u8>>,
    pub(crate) wants_access: bool,
    pub(crate) wants_id: bool,
}

impl Ask {
    pub(crate) fn read(
        request: &Request,
        dialect: Dialect,
        options: Options,
    ) -> Result<Self, Status> {
        if request.impersonation > 3 {
            return Err(Status::BAD_IMPERSONATION_LEVEL);
        }
        let Named { path, stream } = path(&request.name, options)?;
        let options = create_options(request.options)?;
        let disposition = Disposition::of(request.disposition).ok_or(Status::INVALID_PARAMETER)?;
        let directory = options & DIRECTORY_FILE != 0;
        if directory && (options & NON_DIRECTORY_FILE != 0 || disposition.overwrites()) {
            return Err(Status::INVALID_PARAMETER);
        }
        if directory && stream.is_some() {
            return Err(Status::NOT_A_DIRECTORY);
        }
        let share = u8::try_from(request.share_access).ok().and_then(Classes::from_bits);
        let durability = durability(request, dialect)?;
        let lease = lease(request, dialect)?.filter(|_| request.oplock == LEASE_LEVEL);
        let moment = request.context(*b"TWrp").map(number).transpose()?;
        if request.context(*b"ExtA").is_some() {
            return Err(Status::EAS_NOT_SUPPORTED);
        }
        let ask = Self {
            path,
            stream,
            disposition,
            options,
            access: request.access,
            share: share.ok_or(Status::INVALID_PARAMETER)?,
            attributes: attributes(request.attributes, directory)?,
            oplock: level(request.oplock),
            lease,
            durability,
            moment,
            allocation: request.context(*b"AlSi").map(number).transpose()?.unwrap_or(0),
            descriptor: request.context(*b"SecD").map(<[u8]>::to_vec),
            wants_access: request.context(*b"MxAc").is_some(),
            wants_id: request.context(*b"QFid").is_some(),
        };
        // Whatever is permitted, these rights must exist.
        ask.rights(AccessMask::ALL)?;
        Ok(ask)
    }

    /// The rights that are asked for, of those that are permitted.
    pub(crate) fn rights(&self, permitted: AccessMask) -> Result<AccessMask, Status> {
        let rights =
            AccessMask::from_wire(self.access, permitted).map_err(|error| match error {
                MaskError::Unknown => Status::ACCESS_DENIED,
                MaskError::SystemSecurity => Status::PRIVILEGE_NOT_HELD,
            })?;
        if self.deletes_on_close() && !rights.contains(AccessMask::DELETE) {
            let all = self.access & MAXIMUM_ALLOWED != 0;
            return Err(if all { Status::ACCESS_DENIED } else { Status::INVALID_PARAMETER });
        }
        Ok(rights)
    }

    pub(crate) fn deletes_on_close(&self) -> bool {
        self.options & DELETE_ON_CLOSE != 0
    }

    pub(crate) fn wants_directory(&self) -> bool {
        self.options & DIRECTORY_FILE != 0
    }

    pub(crate) fn refuses_directory(&self) -> bool {
        self.options & NON_DIRECTORY_FILE != 0
    }
}

/// What a path names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) path: FilePath,
    /// A stream of what is there.
    pub(crate) stream: Option<Stream>,
}

impl Named {
    /// As the open table has it.
    pub(crate) fn text(&self) -> String {
        match &self.stream {
            Some(Stream::Named(name)) => format!("{}:{name}", self.path),
            Some(Stream::Unnamed) | None => self.path.to_string(),
        }
    }
}

/// The path from the share's root; its names are validated once and for all. No name has a slash in
/// it, so that one can only stand between names.
pub(crate) fn path(units: &[u16], options: Options) -> Result<Named, Status> {
    let text = String::from_utf16(units).map_err(|_| Status::OBJECT_NAME_INVALID)?;
    if text.is_empty() {
        return Ok(Named { path: FilePath::ROOT, stream: None });
    }
    let separators = ['\\', '/'];
    if text.starts_with(separators) {
        return Err(Status::INVALID_PARAMETER);
    }
    if text.split(separators).any(|part| part == "." || part == "..") {
        return Err(Status::OBJECT_PATH_SYNTAX_BAD);
    }
    let mut parts: Vec<&str> = text.split(separators).collect();
    let last = parts.pop().unwrap_or_default();
    let invalid = |refusal| match refusal {
        FileRefusal::InvalidPath | FileRefusal::InvalidResourceName => Status::OBJECT_NAME_INVALID,
        other => other.into(),
    };
    let (last, stream) =
        if options.streams { Stream::split(last).map_err(invalid)? } else { (last, None) };
    parts.push(last);
    let names = parts.into_iter().map(EntryName::parse).collect::<Result<_, _>>();
    let path = names.and_then(FilePath::of).map_err(invalid)?;
    Ok(Named { path, stream })
}

fn create_options(bits: u32) -> Result<u32, Status> {
    if bits & !KNOWN_OPTIONS != 0 {
        return Err(Status::INVALID_PARAMETER);
    }
    if bits & UNSERVED_OPTIONS != 0 {
        return Err(Status::NOT_SUPPORTED);
    }
    Ok(bits)
}

fn attributes(bits: u32, directory: bool) -> Result<Attributes, Status> {
    if bits & !KNOWN_ATTRIBUTES != 0 {
        return Err(Status::INVALID_PARAMETER);
    }
    if bits & ENCRYPTED != 0 {
        return Err(Status::ACCESS_DENIED);
    }
    let settable = Attributes::from_bits(bits & !Attributes::DIRECTORY.bits());
    if directory && bits & Attributes::TEMPORARY.bits() != 0 {
        return Err(Status::INVALID_PARAMETER);
    }
    Ok(settable)
}

fn level(level: u8) -> Caching {
    match level {
        0x01 => Caching::R,
        0x08 => Caching::RW,
        0x09 => Caching::RWH,
        _ => Caching::NONE,
    }
}

const LEASE_LEVEL: u8 = 0xFF;

fn lease(request: &Request, dialect: Dialect) -> Result<Option<LeaseRequest>, Status> {
    if dialect == Dialect::V2_0_2 {
        return Ok(None);
    }
    let Some(data) = request.context(*b"RqLs") else { return Ok(None) };
    let mut lease = LeaseRequest::parse(data).map_err(|_| Status::INVALID_PARAMETER)?;
    if !dialect.is_third() {
        lease.v2 = None;
    }
    Ok(Some(lease))
}

/// The second version beside anything else contradicts itself; the first ones may come together.
fn check_durable(request: &Request, dialect: Dialect) -> Result<(), Status> {
    let has = |tag: &[u8; 4]| request.context(*tag).is_some();
    let first = has(b"DHnQ") || has(b"DHnC");
    let second = [has(b"DH2Q"), has(b"DH2C")].map(|has| has && dialect.is_third());
    let kinds = [first, second[0], second[1]].into_iter().filter(|has| *has).count();
    if kinds > 1 { Err(Status::INVALID_PARAMETER) } else { Ok(()) }
}

fn durability(request: &Request, dialect: Dialect) -> Result<Durability, Status> {
    if let Some(data) = request.context(*b"DH2Q").filter(|_| dialect.is_third()) {
        let asked = DurableRequest::parse(data).map_err(|_| Status::INVALID_PARAMETER)?;
        return Ok(Durability::Second(asked));
    }
    let first = request.context(*b"DHnQ").is_some();
    Ok(if first { Durability::First } else { Durability::None })
}

fn number(data: &[u8]) -> Result<u64, Status> {
    let bytes = <[u8; 8]>::try_from(data).map_err(|_| Status::INVALID_PARAMETER)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::context::Context;

    fn plain() -> Request {
        Request {
            oplock: 0,
            impersonation: 2,
            access: 0x8000_0000,
            attributes: 0,
            share_access: 7,
            disposition: 1,
            options: 0,
            name: "a\\b".encode_utf16().collect(),
            contexts: Vec::new(),
        }
    }

    fn request(change: impl FnOnce(&mut Request)) -> Result<Ask, Status> {
        let mut request = plain();
        change(&mut request);
        Ask::read(&request, Dialect::V3_1_1, Options::default())
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        type Row = (&'static str, fn(&mut Request), Option<Status>);
        let rows: [Row; 17] = [
            ("plain", |_| {}, None),
            ("level", |r| r.impersonation = 4, Some(Status::BAD_IMPERSONATION_LEVEL)),
            ("share", |r| r.share_access = 8, Some(Status::INVALID_PARAMETER)),
            ("disposition", |r| r.disposition = 6, Some(Status::INVALID_PARAMETER)),
            ("both kinds", |r| r.options = 0x41, Some(Status::INVALID_PARAMETER)),
            ("overwritten directory", |r| (r.options, r.disposition) = (1, 5), {
                Some(Status::INVALID_PARAMETER)
            }),
            ("option", |r| r.options = 0x0100_0000, Some(Status::INVALID_PARAMETER)),
            ("by id", |r| r.options = 0x2000, Some(Status::NOT_SUPPORTED)),
            ("no rights", |r| r.access = 0, Some(Status::ACCESS_DENIED)),
            ("audit", |r| r.access = 0x0100_0000, Some(Status::PRIVILEGE_NOT_HELD)),
            ("delete on close", |r| r.options = 0x1000, Some(Status::INVALID_PARAMETER)),
            ("that may delete", |r| (r.options, r.access) = (0x1000, 0x1_0000), None),
            ("volume", |r| r.attributes = 8, Some(Status::INVALID_PARAMETER)),
            ("encrypted", |r| r.attributes = 0x4000, Some(Status::ACCESS_DENIED)),
            ("normal", |r| r.attributes = 0x80, None),
            ("attributes of files", |r| r.contexts.push(Context::new(*b"ExtA", vec![1])), {
                Some(Status::EAS_NOT_SUPPORTED)
            }),
            ("unknown context", |r| r.contexts.push(Context::new(*b"AAPL", vec![1])), None),
        ];
        for (name, change, want) in rows {
            assert_eq!(request(change).err(), want, "{name}");
        }
    }

    #[test]
    fn paths() {
        let plain = Options::default();
        let with_streams = Options { streams: true, ..plain };
        let invalid = Err(Status::OBJECT_NAME_INVALID);
        let rows = [
            ("", Ok(""), Ok("")),
            ("a", Ok("a"), Ok("a")),
            ("a\\b", Ok("a/b"), Ok("a/b")),
            ("a/b", Ok("a/b"), Ok("a/b")),
            ("\\a", Err(Status::INVALID_PARAMETER), Err(Status::INVALID_PARAMETER)),
            ("a\\", invalid, invalid),
            ("a\\\\b", invalid, invalid),
            ("a\\..\\b", Err(Status::OBJECT_PATH_SYNTAX_BAD), Err(Status::OBJECT_PATH_SYNTAX_BAD)),
            ("a*", invalid, invalid),
            ("a:s", invalid, Ok("a:s")),
            ("a:s:$data", invalid, Ok("a:s")),
            ("a::$DATA", invalid, Ok("a")),
            ("a:s\\b", invalid, invalid),
            ("a*:s", invalid, invalid),
        ];
        for (text, by_default, with) in rows {
            let units: Vec<u16> = text.encode_utf16().collect();
            for (options, want) in [(plain, by_default), (with_streams, with)] {
                let got = path(&units, options).map(|named| named.text());
                assert_eq!(got, want.map(str::to_owned), "{text} {options:?}");
            }
        }
        assert_eq!(path(&[0xD800], plain).err(), Some(Status::OBJECT_NAME_INVALID));
        assert_eq!(path(&vec![97; 256], plain).err(), Some(Status::OBJECT_NAME_INVALID));
    }

    #[test]
    fn durable_handles_come_in_two_versions() {
        let with = |contexts: &[([u8; 4], usize)]| {
            let context = |(tag, n): &([u8; 4], usize)| Context::new(*tag, vec![0; *n]);
            let mut request = plain();
            request.contexts = contexts.iter().map(context).collect();
            request
        };
        let dialect = Dialect::V3_1_1;
        let durability = |request: &Request| {
            Ask::read(request, dialect, Options::default()).map(|ask| ask.durability)
        };
        assert_eq!(durability(&with(&[(*b"DHnQ", 16)])), Ok(Durability::First));
        assert!(matches!(durability(&with(&[(*b"DH2Q", 32)])), Ok(Durability::Second(_))));
        let again = |request: &Request| Reconnect::read(request, dialect, Options::default());
        assert_eq!(again(&with(&[])), Ok(None));
        assert!(again(&with(&[(*b"DHnC", 16)])).is_ok_and(|again| again.is_some()));
        assert!(again(&with(&[(*b"DHnC", 16), (*b"DHnQ", 16)])).is_ok_and(|again| again.is_some()));
        assert!(again(&with(&[(*b"DH2C", 36)])).is_ok_and(|again| again.is_some()));
        let both = again(&with(&[(*b"DH2Q", 32), (*b"DHnQ", 16)]));
        assert_eq!(both, Err(Status::INVALID_PARAMETER));
        assert_eq!(again(&with(&[(*b"DH2C", 35)])), Err(Status::INVALID_PARAMETER));
    }
}
