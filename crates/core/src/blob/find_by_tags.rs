//! Find Blobs by Tags: one page, read from the index of tags, container by container.
//!
//! Must never look at a blob whose tag lies outside the run of values that the expression seeks:
//! what a search costs follows what that run holds, not how many blobs there are.

use super::keys::{self, KeyRange, Keys, Tagged, TaggedRow};
use super::marker::{self, Listing, Place};
use super::op::FindBlobsByTags;
use super::records::{Container, Head, PastKind, Record};
use super::reply::{FoundBlob, FoundPage};
use super::site::{Site, find, is_deleted};
use crate::service::blocking;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::limits::{FIND_CANDIDATES, FIND_CONTAINERS, LIST_PAGE_BYTES};
use zaffre_base::{BlobName, ContainerName, Stamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::tags::FindExpression;
use zaffre_store::{Snapshot, StoreError};

/// Index rows read at once.
const BATCH: usize = 256;

/// Containers looked up at once.
const CONTAINERS: usize = 100;

/// Finds blobs by their tags.
pub async fn find_blobs_by_tags(
    core: &Core,
    op: Authorized<FindBlobsByTags>,
) -> Result<FoundPage, Error> {
    let (op, _) = op.into_parts();
    let from = op.marker.as_deref().filter(|marker| !marker.is_empty());
    let from = from.map(Position::read).transpose()?;
    let mut page = Page {
        expression: Arc::new(op.expression),
        versions: op.include_versions,
        size: usize::try_from(op.max_results).unwrap_or(usize::MAX),
        blobs: Vec::new(),
        bytes: 0,
        candidates: FIND_CANDIDATES,
        next: None,
    };
    // Entered before the directory is read: a container deleted meanwhile still shows its guard.
    let store = core.store();
    let _pin = store.pins.enter(store.meta.last_stamp());
    if let Some(container) = op.container {
        let site = find(core, &op.account, &container).await?.site;
        let (after, deleted) = page.look_into(core, site, container, from).await?;
        if deleted {
            return Err(Refusal::ContainerNotFound.into());
        }
        return Ok(after.finish());
    }
    let mut containers = Containers::open(op.account, &page.expression, from.as_ref());
    let mut looked = 0;
    while let Some((name, site)) = containers.next(core).await? {
        if looked == FIND_CONTAINERS {
            page.next = Some(Position::at_start_of(&name));
        }
        if page.next.is_some() {
            break;
        }
        looked += 1;
        let resumed = from.clone().filter(|from| from.container == name.as_str());
        (page, _) = page.look_into(core, site, name, resumed).await?;
    }
    Ok(page.finish())
}

/// Where a page starts: a row of the index.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Position {
    container: String,
    /// `None` = the container's first.
    row: Option<TaggedRow>,
}

impl Position {
    fn at_start_of(container: &ContainerName) -> Self {
        Self { container: container.as_str().to_owned(), row: None }
    }

    /// Tag values and names of containers have no line breaks, and the blob's name comes last.
    fn write(&self) -> String {
        let Self { container, row } = self;
        let text = match row {
            None => container.clone(),
            Some(TaggedRow { value, name, version }) => {
                let version = version.map(|at| at.0.to_string()).unwrap_or_default();
                format!("{container}\n{value}\n{version}\n{name}")
            }
        };
        marker::make(Listing::Found, &Place::blob(text))
    }

    fn read(marker: &str) -> Result<Self, Refusal> {
        let text = marker::read(Listing::Found, marker)?.name;
        let mut parts = text.splitn(4, '\n').map(str::to_owned);
        let container = parts.next().ok_or(Refusal::InvalidMarker)?;
        let (Some(value), Some(version), Some(name)) = (parts.next(), parts.next(), parts.next())
        else {
            return Ok(Self { container, row: None });
        };
        let version = match version.as_str() {
            "" => None,
            at => Some(Stamp(at.parse().map_err(|_| Refusal::InvalidMarker)?)),
        };
        Ok(Self { container, row: Some(TaggedRow { value, name, version }) })
    }
}

/// The containers to look into, in order of their names.
struct Containers {
    account: zaffre_base::AccountName,
    range: KeyRange,
    ready: std::vec::IntoIter<(ContainerName, Site)>,
    ended: bool,
}

impl Containers {
    fn open(
        account: zaffre_base::AccountName,
        expression: &FindExpression,
        from: Option<&Position>,
    ) -> Self {
        let mut range = match &expression.container {
            Some(name) => keys::container_named(name),
            None => keys::containers(""),
        };
        if let Some(from) = from {
            range.start = range.start.max(keys::containers_from(&from.container));
        }
        Self { account, range, ready: Vec::new().into_iter(), ended: false }
    }

    async fn next(&mut self, core: &Core) -> Result<Option<(ContainerName, Site)>, Error> {
        if let Some(next) = self.ready.next() {
            return Ok(Some(next));
        }
        if self.ended {
            return Ok(None);
        }
        let directory = core.store().meta.snapshot(&keys::directory(&self.account)).await?;
        let (range, account) = (self.range.clone(), self.account.clone());
        let (found, last) = blocking(move || {
            let rows = directory.scan(&range.start, range.end.as_deref(), CONTAINERS)?;
            let found = rows.iter().map(|row| {
                let name = keys::container_of(&row.key)
                    .ok_or_else(|| StoreError::corrupt("the key of a container"))?;
                let record = Container::from_bytes(&row.value)?;
                let site = Site::new(&account, &name, record.incarnation);
                Ok((name, site))
            });
            let found = found.collect::<Result<Vec<_>, StoreError>>()?;
            let more = rows.len() == CONTAINERS;
            Ok((found, rows.into_iter().next_back().filter(|_| more).map(|row| row.key)))
        })
        .await?;
        match last {
            Some(last) => self.range.start = [last.as_slice(), &[0]].concat(),
            None => self.ended = true,
        }
        self.ready = found.into_iter();
        Ok(self.ready.next())
    }
}

/// A page on its way.
struct Page {
    expression: Arc<FindExpression>,
    versions: bool,
    size: usize,
    blobs: Vec<FoundBlob>,
    bytes: usize,
    /// How many more may be compared.
    candidates: usize,
    next: Option<Position>,
}

impl Page {
    /// Adds what one container has; says whether the container is there at all.
    async fn look_into(
        self,
        core: &Core,
        site: Site,
        container: ContainerName,
        from: Option<Position>,
    ) -> Result<(Self, bool), Error> {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        blocking(move || {
            let mut page = self;
            if is_deleted(&inside, site.keys)? {
                return Ok((page, true));
            }
            let from = from.and_then(|from| from.row);
            page.scan(&inside, site.keys, &container, from.as_ref())?;
            Ok((page, false))
        })
        .await
    }

    /// Current blobs, then versions if they are wanted.
    fn scan(
        &mut self,
        inside: &Snapshot,
        keys: Keys,
        container: &ContainerName,
        from: Option<&TaggedRow>,
    ) -> Result<(), Error> {
        let in_versions = from.is_some_and(|from| from.version.is_some());
        if !in_versions {
            self.scan_one(Tagged::Current, inside, keys, container, from)?;
        }
        if self.versions && self.next.is_none() {
            let from = from.filter(|_| in_versions);
            self.scan_one(Tagged::Version, inside, keys, container, from)?;
        }
        Ok(())
    }

    fn scan_one(
        &mut self,
        of: Tagged,
        inside: &Snapshot,
        keys: Keys,
        container: &ContainerName,
        from: Option<&TaggedRow>,
    ) -> Result<(), Error> {
        let expression = Arc::clone(&self.expression);
        let sought = expression.sought();
        let range = keys.tagged_with(of, &sought);
        let mut start = range.start;
        if let Some(TaggedRow { value, name, version }) = from {
            let mut key = keys.tagged_from(of, sought.name, value, name);
            key.extend(version.iter().flat_map(|at| at.0.to_be_bytes()));
            start = start.max(key);
        }
        loop {
            let rows = inside.scan(&start, range.end.as_deref(), BATCH)?;
            for row in &rows {
                let found = keys
                    .tagged_of(of, sought.name, &row.key)
                    .ok_or_else(|| StoreError::corrupt("the key of a tag"))?;
                let full = self.blobs.len() == self.size || self.bytes >= LIST_PAGE_BYTES;
                if full || self.candidates == 0 {
                    let container = container.as_str().to_owned();
                    self.next = Some(Position { container, row: Some(found) });
                    return Ok(());
                }
                self.candidates -= 1;
                self.compare(inside, keys, container, &found)?;
            }
            match rows.last() {
                Some(last) if rows.len() == BATCH => start = [last.key.as_slice(), &[0]].concat(),
                _ => return Ok(()),
            }
        }
    }

    fn compare(
        &mut self,
        inside: &Snapshot,
        keys: Keys,
        container: &ContainerName,
        found: &TaggedRow,
    ) -> Result<(), Error> {
        let name = BlobName::parse(&found.name)
            .map_err(|_| StoreError::corrupt("the name in a tag's key is not legal"))?;
        let key = match found.version {
            None => keys.blob(&name),
            Some(at) => keys.past(&name, at, PastKind::Version),
        };
        let head = Head::peek(inside, &key)?
            .ok_or_else(|| StoreError::corrupt("a tag of a blob that is not there"))?;
        if self.expression.matches(&head.tags) {
            let tags = self.expression.shown(&head.tags);
            self.bytes += name.as_str().len();
            self.bytes += tags.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
            let version = head.version.filter(|_| self.versions).map(Stamp::time);
            let (container, current) = (container.clone(), found.version.is_none());
            self.blobs.push(FoundBlob { container, name, tags, version, current });
        }
        Ok(())
    }

    fn finish(self) -> FoundPage {
        FoundPage { blobs: self.blobs, next: self.next.map(|next| next.write()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back() {
        for (container, row) in [
            ("photos", None),
            ("photos", Some(("", "a", None))),
            ("$root", Some(("a b:c", "dir/x y\u{10000}", Some(Stamp(7))))),
        ] {
            let row = row.map(|(value, name, version): (&str, &str, _)| TaggedRow {
                value: value.to_owned(),
                name: name.to_owned(),
                version,
            });
            let position = Position { container: container.to_owned(), row };
            assert_eq!(Position::read(&position.write()), Ok(position));
        }
        let other = marker::make(Listing::Blobs, &Place::blob("photos".to_owned()));
        assert_eq!(Position::read(&other), Err(Refusal::InvalidMarker));
    }
}
