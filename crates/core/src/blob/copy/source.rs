//! The source of a copy: opened once for the request, and again by whoever goes on with it.
//!
//! Must never be read without having been permitted: the request's permission is the proof, and
//! what goes on later reads exactly the state that was permitted.

use super::remote::RemoteBlob;
use crate::blob::ByteStream;
use crate::blob::admit::{self, Presented};
use crate::blob::content::read::sparse_reader;
use crate::blob::get_blob;
use crate::blob::history::{self, Seen};
use crate::blob::op::{BlobPath, GetBlob, Moment, MomentId};
use crate::blob::records::{Content, Head, Origin, Shape};
use crate::blob::site::{Found, Site, find, is_deleted};
use crate::sparse::ReaderGuard;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::{AccountName, BlobName, ContainerName, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::copy::{CopyFailure, CopyRefusal};
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::range::Span;
use zaffre_domain::blob::{BlobKind, HttpProperties, Metadata};
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_store::Snapshot;
use zaffre_store::pins::ContentPin;

/// Something that can be copied.
pub struct CopySource(pub(super) Inner);

pub(super) enum Inner {
    Here(Box<Here>),
    There(Box<RemoteBlob>, ByteStream),
}

/// A blob of this server, as of one moment; it stays readable for as long as this is held.
pub(super) struct Here {
    pub(super) origin: Origin,
    pub(super) head: Head,
    pub(super) current: bool,
    archived: bool,
    found: Found,
    inside: Snapshot,
}

/// What a destination takes over from its source.
#[derive(Clone, Debug)]
pub(super) struct Traits {
    pub(super) kind: BlobKind,
    pub(super) length: u64,
    pub(super) properties: HttpProperties,
    pub(super) metadata: Metadata,
    pub(super) sequence_number: u64,
    pub(super) sealed: bool,
    pub(super) archived: bool,
}

impl std::fmt::Debug for CopySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CopySource")
    }
}

impl CopySource {
    /// A source on another server, and its bytes, which only a copy before the answer reads: one
    /// that goes on later asks for them again.
    pub fn elsewhere(blob: RemoteBlob, body: ByteStream) -> Self {
        Self(Inner::There(Box::new(blob), body))
    }

    /// What kind of blob a copy of it is.
    pub fn kind(&self) -> BlobKind {
        match &self.0 {
            Inner::Here(here) => here.head.kind(),
            Inner::There(blob, _) => blob.kind,
        }
    }

    /// Its tags; those on other servers are not known.
    pub fn tags(&self) -> zaffre_domain::blob::tags::Tags {
        match &self.0 {
            Inner::Here(here) => here.head.tags.clone(),
            Inner::There(..) => zaffre_domain::blob::tags::Tags::new(),
        }
    }

    pub(super) fn traits(&self) -> Traits {
        match &self.0 {
            Inner::Here(here) => {
                let head = &here.head;
                Traits {
                    kind: head.kind(),
                    length: head.content.length,
                    properties: head.properties(),
                    metadata: head.metadata.clone(),
                    sequence_number: head.sequence_number(),
                    sealed: head.appendable().sealed,
                    archived: here.archived,
                }
            }
            Inner::There(blob, _) => Traits {
                kind: blob.kind,
                length: blob.length,
                properties: blob.properties.clone(),
                metadata: blob.metadata.clone(),
                sequence_number: blob.sequence_number,
                sealed: false,
                archived: false,
            },
        }
    }
}

/// Opens the source of a copy.
pub async fn open_source(core: &Core, op: Authorized<GetBlob>) -> Result<CopySource, Error> {
    let (op, _) = op.into_parts();
    let version = op.context.version;
    check_combination(&op.conditions, Access::Read { version })?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let inside = core.store().meta.snapshot(&found.site.placement).await?;
    let now = core.now(&inside);
    let seen = history::peek(&inside, found.site.keys, &op.at, now)?;
    if seen.is_none() && is_deleted(&inside, found.site.keys)? {
        return Err(Refusal::ContainerNotFound.into());
    }
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let seen = admit::read(seen, &presented, version, now)?;
    seen.readable()?;
    // Bytes that only their customer's key opens are not copied.
    seen.head.encrypted.admits(&Encrypted::ByAccount)?;
    if seen.head.is_copied_to() {
        return Err(Refusal::Copy(CopyRefusal::PendingCopyOperation).into());
    }
    Ok(CopySource(Inner::Here(Box::new(Here::new(&op.at, found, inside, seen, now)))))
}

/// Opens a source again; it must be what it was.
pub(super) async fn reopen(
    core: &Core,
    origin: &Origin,
) -> Result<Result<Here, CopyFailure>, Error> {
    let Some(at) = path(origin) else { return Ok(Err(CopyFailure::SourceGone)) };
    let found = match find(core, &at.account, &at.container).await {
        Ok(found) if found.site.keys.0 == origin.incarnation => found,
        Ok(_) | Err(Error::Refused(_)) => return Ok(Err(CopyFailure::SourceGone)),
        Err(error) => return Err(error),
    };
    let inside = core.store().meta.snapshot(&found.site.placement).await?;
    let now = core.now(&inside);
    Ok(match history::peek(&inside, found.site.keys, &at, now)? {
        None => Err(CopyFailure::SourceGone),
        Some(seen) if seen.head.written != origin.written => Err(CopyFailure::SourceChanged),
        Some(seen) => Ok(Here::new(&at, found, inside, seen, now)),
    })
}

impl Here {
    fn new(at: &BlobPath, found: Found, inside: Snapshot, seen: Seen, now: Timestamp) -> Self {
        let (moment, moment_at) = match &at.moment {
            _ if seen.is_current() => (None, None),
            Moment::Current => (None, None),
            Moment::Snapshot(id) => (Some(SNAPSHOT), Some(id.at)),
            Moment::Version(id) => (Some(VERSION), Some(id.at)),
        };
        let origin = Origin {
            account: at.account.as_str().to_owned(),
            container: at.container.as_str().to_owned(),
            incarnation: found.site.keys.0,
            blob: at.blob.as_str().to_owned(),
            moment,
            moment_at,
            written: seen.head.written,
        };
        let (current, archived) = (seen.is_current(), seen.head.is_archived(now));
        Self { origin, current, archived, head: *seen.head, found, inside }
    }

    /// Which snapshot it is, if it is one.
    pub(super) fn snapshot(&self) -> Option<Timestamp> {
        self.origin.moment_at.filter(|_| self.origin.moment == Some(SNAPSHOT))
    }

    /// Its bytes from `offset` to the end.
    pub(super) async fn stream(
        self,
        core: &Core,
        offset: u64,
    ) -> Result<(Site, Content, ByteStream), Error> {
        let (content, site) = (self.head.content, self.found.site.clone());
        let wanted = Span { offset, length: content.length.saturating_sub(offset) };
        let source =
            get_blob::Source::open(core, self.found, &self.inside, &self.head, wanted, None)?;
        let (body, _) = source.start(None).await?;
        Ok((site, content, body))
    }

    /// Its pages, to be looked at for as long as the result is held.
    pub(super) fn sparse(self, core: &Core) -> Option<SparseSource> {
        let (content, site) = (self.head.content, self.found.site);
        if content.shape != Shape::Sparse {
            return None;
        }
        let (reader, pin) =
            sparse_reader(core, &site, content.id, self.head.written, self.found.pin);
        Some(SparseSource { site, content, reader, pin, head: self.head })
    }
}

/// The pages of a source.
pub(super) struct SparseSource {
    pub(super) site: Site,
    pub(super) content: Content,
    pub(super) reader: ReaderGuard,
    pub(super) pin: ContentPin,
    pub(super) head: Head,
}

const SNAPSHOT: u8 = 1;
const VERSION: u8 = 2;

fn path(origin: &Origin) -> Option<BlobPath> {
    let id = |at: Timestamp| MomentId { at, text: String::new() };
    Some(BlobPath {
        account: AccountName::parse(&origin.account).ok()?,
        container: ContainerName::parse(&origin.container).ok()?,
        blob: BlobName::parse(&origin.blob).ok()?,
        moment: match (origin.moment, origin.moment_at) {
            (None, _) => Moment::Current,
            (Some(SNAPSHOT), Some(at)) => Moment::Snapshot(id(at)),
            (Some(VERSION), Some(at)) => Moment::Version(id(at)),
            _ => return None,
        },
    })
}

/// Which blob it is, whichever of its states.
pub(super) fn identity(origin: &Origin) -> String {
    format!("{}/{}/{}", origin.account, origin.container, origin.blob)
}
