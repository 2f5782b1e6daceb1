//! List Blobs: one page from one snapshot; a delimiter seeks past everything below a prefix.
//!
//! Must never read more than the page needs, however many blobs there are or lie below a prefix.

use super::keys::{KeyRange, Keys, NameSpace};
use super::marker::{self, Listing};
use super::op::ListBlobs;
use super::records::{Head, Record, Staging};
use super::reply::{BlobPage, BlobView, ListEntry};
use super::site::{find, is_deleted};
use super::view;
use crate::service::blocking;
use crate::{Core, Error};
use std::collections::VecDeque;
use zaffre_auth::Authorized;
use zaffre_base::limits::LIST_PAGE_BYTES;
use zaffre_base::{BlobName, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::listing::{Listed, listed};
use zaffre_store::{Row, Snapshot, StoreError};

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
        page(&op, from.as_deref(), &inside, keys, now)
    })
    .await
}

fn page(
    op: &ListBlobs,
    from: Option<&str>,
    inside: &Snapshot,
    keys: Keys,
    now: Timestamp,
) -> Result<BlobPage, Error> {
    let size = usize::try_from(op.max_results).unwrap_or(usize::MAX);
    let mut names = Names::open(op, from, inside, keys, now);
    let mut entries = Vec::new();
    let mut bytes = 0;
    while let Some(next) = names.peek()? {
        if entries.len() == size || bytes >= LIST_PAGE_BYTES {
            let next = Some(marker::make(Listing::Blobs, &next));
            return Ok(BlobPage { entries, next });
        }
        match listed(&op.prefix, op.delimiter.as_deref(), &next) {
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

/// The names to list, in order: committed blobs, and if asked for those with staged blocks only.
struct Names<'a> {
    op: &'a ListBlobs,
    now: Timestamp,
    blobs: Cursor<'a>,
    stagings: Option<Cursor<'a>>,
}

impl<'a> Names<'a> {
    fn open(
        op: &'a ListBlobs,
        from: Option<&str>,
        inside: &'a Snapshot,
        keys: Keys,
        now: Timestamp,
    ) -> Self {
        let open = |space: NameSpace| {
            let mut cursor = Cursor::new(inside, space, op);
            for name in [from, op.start_from.as_deref()].into_iter().flatten() {
                cursor.skip_to(cursor.space.from(name));
            }
            cursor
        };
        let stagings = op.include_uncommitted.then(|| open(keys.stagings()));
        Self { op, now, blobs: open(keys.blobs()), stagings }
    }

    /// The next name.
    fn peek(&mut self) -> Result<Option<String>, Error> {
        let blob = self.blobs.peek()?;
        let staged = self.peek_staged()?;
        // Both are in the order of their keys; the one that comes first decides.
        Ok(match (blob, staged) {
            (Some(blob), Some(staged)) => {
                let key = |name: &str| self.blobs.space.from(name);
                Some(if key(&staged) < key(&blob) { staged } else { blob })
            }
            (one, other) => one.or(other),
        })
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

    /// Takes the blob with the name just peeked at; a committed one wins over its staged blocks.
    fn take(&mut self, name: &str) -> Result<BlobView, Error> {
        let staged = match &mut self.stagings {
            Some(cursor) => cursor.take_named(name)?,
            None => None,
        };
        let parsed = BlobName::parse(name)
            .map_err(|_| StoreError::corrupt("the name in a blob's key is not legal"))?;
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
    }
}

/// Rows of one kind, read in batches that grow while they are used up and shrink after a jump.
struct Cursor<'a> {
    inside: &'a Snapshot,
    space: NameSpace,
    range: KeyRange,
    rows: VecDeque<Row>,
    ended: bool,
    batch: usize,
    jumps: bool,
}

impl<'a> Cursor<'a> {
    const SMALL: usize = 8;
    const LARGE: usize = 512;

    fn new(inside: &'a Snapshot, space: NameSpace, op: &ListBlobs) -> Self {
        let range = space.starting_with(&op.prefix);
        let jumps = op.delimiter.is_some();
        // One more than the page shows: the marker names it.
        let page = usize::try_from(op.max_results).unwrap_or(Self::LARGE).saturating_add(1);
        let batch = if jumps { Self::SMALL } else { page.min(Self::LARGE) };
        Self { inside, space, range, rows: VecDeque::new(), ended: false, batch, jumps }
    }

    fn fill(&mut self) -> Result<(), Error> {
        if !self.rows.is_empty() || self.ended {
            return Ok(());
        }
        let rows = self.inside.scan(&self.range.start, self.range.end.as_deref(), self.batch)?;
        match rows.last() {
            Some(last) if rows.len() == self.batch => {
                self.range.start = [last.key.as_slice(), &[0]].concat();
                self.batch = (self.batch * 2).min(Self::LARGE);
            }
            _ => self.ended = true,
        }
        self.rows = rows.into();
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<String>, Error> {
        self.fill()?;
        let Some(row) = self.rows.front() else { return Ok(None) };
        let name = self.space.name_of(&row.key);
        Ok(Some(name.ok_or_else(|| StoreError::corrupt("the key of a blob"))?))
    }

    fn take_named(&mut self, name: &str) -> Result<Option<Row>, Error> {
        let is_next = self.peek()?.is_some_and(|next| next == name);
        Ok(if is_next { self.rows.pop_front() } else { None })
    }

    /// Goes on at `key` or where it is, whichever is later.
    fn skip_to(&mut self, key: Vec<u8>) {
        while self.rows.front().is_some_and(|row| row.key < key) {
            self.rows.pop_front();
        }
        if self.rows.is_empty() && !self.ended && self.range.start < key {
            self.range.start = key;
            if self.jumps {
                self.batch = Self::SMALL;
            }
        }
    }

    fn skip_past(&mut self, past: Option<Vec<u8>>) {
        if let Some(past) = past {
            self.skip_to(past);
        } else {
            self.rows.clear();
            self.ended = true;
        }
    }
}
