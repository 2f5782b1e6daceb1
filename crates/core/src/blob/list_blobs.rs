//! List Blobs: one page from one snapshot; a delimiter seeks past everything below a prefix.
//!
//! Must never read more than the page needs, however many blobs there are or lie below a prefix.

mod cursor;
mod past;

use self::cursor::Cursor;
use self::past::{Pasts, Shown};
use super::keys::{Keys, NameSpace};
use super::marker::{self, Listing, Place};
use super::op::ListBlobs;
use super::records::{Head, Record, Staging};
use super::reply::{BlobPage, BlobView, ListEntry};
use super::site::{find, is_deleted};
use super::view;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::limits::LIST_PAGE_BYTES;
use zaffre_base::{BlobName, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::listing::{Listed, listed};
use zaffre_store::{Snapshot, StoreError};

/// Lists the blobs of a container.
pub async fn list_blobs(core: &Core, op: Authorized<ListBlobs>) -> Result<BlobPage, Error> {
    let (op, _) = op.into_parts();
    let marker = op.marker.as_deref().filter(|marker| !marker.is_empty());
    let from = marker.map(|text| marker::read(Listing::Blobs, text)).transpose()?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let inside = core.store().meta.snapshot(&found.site.placement).await?;
    let now = core.now(&inside);
    let keys = found.site.keys;
    blocking(move || {
        // Held while the snapshot is read, so that the guard is still there to be seen.
        let _pin = found.pin;
        if is_deleted(&inside, keys)? {
            return Err(Refusal::ContainerNotFound.into());
        }
        page(&op, from.as_ref(), &inside, keys, now)
    })
    .await
}

fn page(
    op: &ListBlobs,
    from: Option<&Place>,
    inside: &Snapshot,
    keys: Keys,
    now: Timestamp,
) -> Result<BlobPage, Error> {
    let size = usize::try_from(op.max_results).unwrap_or(usize::MAX);
    let mut names = Names::open(op, from, inside, keys, now)?;
    let mut entries = Vec::new();
    let mut bytes = 0;
    while let Some(next) = names.peek()? {
        if entries.len() == size || bytes >= LIST_PAGE_BYTES {
            let next = Some(marker::make(Listing::Blobs, &names.resume(next)));
            return Ok(BlobPage { entries, next });
        }
        match listed(&op.prefix, op.delimiter.as_deref(), &next.name) {
            Some(Listed::Prefix(group)) => {
                entries.push(ListEntry::Prefix(group.to_owned()));
                names.skip_group(group);
            }
            Some(Listed::Blob) => entries.push(ListEntry::Blob(Box::new(names.take(&next)?))),
            None => return Err(StoreError::corrupt("a listed name lost its prefix").into()),
        }
        bytes += entries.last().map_or(0, text_bytes);
    }
    Ok(BlobPage { entries, next: None })
}

/// How much text of the client's own an entry holds.
fn text_bytes(entry: &ListEntry) -> usize {
    let view = match entry {
        ListEntry::Prefix(prefix) => return prefix.len(),
        ListEntry::Blob(view) => view,
    };
    let headers = [
        &view.properties.content_type,
        &view.properties.content_encoding,
        &view.properties.content_language,
        &view.properties.content_disposition,
        &view.properties.cache_control,
    ];
    let headers = headers.into_iter().flatten().map(String::len).sum::<usize>();
    let metadata =
        view.metadata.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    view.name.as_str().len() + headers + metadata
}

/// What to list, in order: for each name its history if asked for, oldest first, then the blob, or
/// if asked for one that has staged blocks only.
struct Names<'a> {
    op: &'a ListBlobs,
    now: Timestamp,
    blobs: Cursor<'a>,
    stagings: Option<Cursor<'a>>,
    pasts: Option<Pasts<'a>>,
}

impl<'a> Names<'a> {
    fn open(
        op: &'a ListBlobs,
        from: Option<&Place>,
        inside: &'a Snapshot,
        keys: Keys,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let open = |space: NameSpace| {
            let mut cursor = Cursor::new(inside, space, op);
            let from = from.map(|place| place.name.as_str());
            for name in [from, op.start_from.as_deref()].into_iter().flatten() {
                cursor.skip_to(cursor.space.from(name));
            }
            cursor
        };
        let stagings = op.include_uncommitted.then(|| open(keys.stagings()));
        let pasts = if op.history.any() {
            Some(Pasts::open(open(keys.histories()), op.history, inside, keys, now, from)?)
        } else {
            None
        };
        Ok(Self { op, now, blobs: open(keys.blobs()), stagings, pasts })
    }

    /// Where the next entry is.
    fn peek(&mut self) -> Result<Option<Place>, Error> {
        let blob = self.blobs.peek()?.map(Place::blob);
        let staged = self.peek_staged()?.map(Place::blob);
        let past = match &mut self.pasts {
            Some(pasts) => pasts.peek()?,
            None => None,
        };
        // All are in the order of their keys; the one that comes first decides. Of one name the
        // history comes first.
        let space = &self.blobs.space;
        let order = |place: &Place| (space.from(&place.name), place.position.is_empty());
        Ok([past, blob, staged].into_iter().flatten().min_by_key(order))
    }

    /// Where the next page starts so that nothing before `next` is shown again.
    fn resume(&self, next: Place) -> Place {
        if self.pasts.is_some() && next.position.is_empty() {
            Place { position: past::end(), ..next }
        } else {
            next
        }
    }

    /// The next name with staged blocks that have not expired.
    fn peek_staged(&mut self) -> Result<Option<String>, Error> {
        let Some(cursor) = &mut self.stagings else { return Ok(None) };
        while let Some(name) = cursor.peek()? {
            let row = cursor.rows.front();
            let staging = row.map(|row| Staging::from_bytes(&row.value)).transpose()?;
            if staging.is_some_and(|staging| !staging.has_expired(self.now)) {
                return Ok(Some(name));
            }
            cursor.rows.pop_front();
        }
        Ok(None)
    }

    /// Takes the entry just peeked at; a committed blob wins over its staged blocks.
    fn take(&mut self, place: &Place) -> Result<BlobView, Error> {
        let name = place.name.as_str();
        let parsed = BlobName::parse(name)
            .map_err(|_| StoreError::corrupt("the name in a blob's key is not legal"))?;
        if let (Some(pasts), false) = (&mut self.pasts, place.position.is_empty()) {
            let mut shown = match pasts.take() {
                Some(Shown::Moment { at, kind, head }) => {
                    view::past(parsed, at, kind, &head, self.now)
                }
                Some(Shown::VersionsOnly) => view::versions_only(parsed, self.now),
                None => return Err(StoreError::corrupt("a listed moment has no row").into()),
            };
            if !self.op.include_metadata {
                shown.metadata.clear();
            }
            return Ok(shown);
        }
        let staged = match &mut self.stagings {
            Some(cursor) => cursor.take_named(name)?,
            None => None,
        };
        if let Some(row) = self.blobs.take_named(name)? {
            let mut shown = view::blob(parsed, &Head::from_bytes(&row.value)?, self.now);
            if !self.op.include_metadata {
                shown.metadata.clear();
            }
            return Ok(shown);
        }
        let row = staged.ok_or_else(|| StoreError::corrupt("a listed name has no row"))?;
        Ok(view::uncommitted(parsed, &Staging::from_bytes(&row.value)?, self.now))
    }

    fn skip_group(&mut self, group: &str) {
        for cursor in [Some(&mut self.blobs), self.stagings.as_mut()].into_iter().flatten() {
            let past = cursor.space.past(group);
            cursor.skip_past(past);
        }
        if let Some(pasts) = &mut self.pasts {
            pasts.skip_group(group);
        }
    }
}
