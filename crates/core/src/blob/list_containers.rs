//! List Containers: one page from one snapshot of the account's directory.

use super::marker::{self, Listing, Place};
use super::op::ListContainers;
use super::records::{Container, Record};
use super::reply::{ContainerPage, ContainerView};
use super::{keys, view};
use crate::directory::{Family, KeyRange};
use crate::service::blocking;
use crate::{Core, Error};
use std::collections::VecDeque;
use zaffre_auth::Authorized;
use zaffre_base::limits::LIST_PAGE_BYTES;
use zaffre_base::{ContainerName, Timestamp};
use zaffre_store::{Row, Snapshot, StoreError};

/// Rows read at once.
const BATCH: usize = 500;

/// Containers that the service keeps for itself.
const SYSTEM: [&str; 2] = ["$logs", "$blobchangefeed"];

/// Lists the containers of an account.
pub async fn list_containers(
    core: &Core,
    op: Authorized<ListContainers>,
) -> Result<ContainerPage, Error> {
    let (op, _) = op.into_parts();
    let from = op.marker.as_deref().filter(|marker| !marker.is_empty());
    let from = from.map(|text| marker::read(Listing::Containers, text)).transpose()?;
    let directory = core.store().meta.snapshot(&keys::directory(&op.account)).await?;
    let now = core.now(&directory);
    let immutability = core.settings(&op.account).version_immutability;
    blocking(move || page(&op, from.as_ref(), &directory, immutability, now)).await
}

fn page(
    op: &ListContainers,
    from: Option<&Place>,
    directory: &Snapshot,
    immutability: bool,
    now: Timestamp,
) -> Result<ContainerPage, Error> {
    let size = usize::try_from(op.max_results).unwrap_or(usize::MAX);
    let mut rows = Rows::open(op, from, directory);
    let mut containers = Vec::new();
    let mut bytes = 0;
    while let Some((place, record)) = rows.next()? {
        let name = ContainerName::parse(&place.name)
            .map_err(|_| StoreError::corrupt("the name in a container's key is not legal"))?;
        let hidden = SYSTEM.contains(&name.as_str()) && !op.include_system;
        if hidden || record.deleted.is_some_and(|deleted| deleted.until <= now) {
            continue;
        }
        if containers.len() == size || bytes >= LIST_PAGE_BYTES {
            let next = Some(marker::make(Listing::Containers, &place));
            return Ok(ContainerPage { containers, next });
        }
        let view = shown(op, name, &record, immutability, now);
        bytes += view.metadata.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        containers.push(view);
    }
    Ok(ContainerPage { containers, next: None })
}

/// Containers in the order of their names; of one name the deleted ones first, oldest first.
struct Rows<'a> {
    live: Cursor<'a>,
    deleted: Option<Cursor<'a>>,
}

/// The position after every deleted container of a name.
const AFTER_DELETED: [u8; 8] = [0xFF; 8];

impl<'a> Rows<'a> {
    fn open(op: &ListContainers, from: Option<&Place>, directory: &'a Snapshot) -> Self {
        let limit = usize::try_from(op.max_results).unwrap_or(BATCH).saturating_add(1).min(BATCH);
        let open = |range: KeyRange, from: Option<Vec<u8>>| {
            let start = from.unwrap_or_default().max(range.start);
            Cursor { directory, start, end: range.end, limit, rows: VecDeque::new(), ended: false }
        };
        let live = from.map(|place| keys::containers_from(&place.name));
        let deleted = from.map(|place| {
            let mut key = Family::Containers.deleted(&place.name);
            key.extend_from_slice(&place.position);
            key
        });
        Self {
            live: open(keys::containers(&op.prefix), live),
            deleted: op
                .include_deleted
                .then(|| open(keys::deleted_containers(&op.prefix), deleted)),
        }
    }

    fn next(&mut self) -> Result<Option<(Place, Container)>, Error> {
        let live = match self.live.peek()? {
            Some(row) => {
                let name = keys::container_of(&row.key)
                    .ok_or_else(|| StoreError::corrupt("the key of a container"))?;
                Some(name.to_string())
            }
            None => None,
        };
        let Some(cursor) = &mut self.deleted else {
            return Ok(match (live, self.live.rows.pop_front()) {
                (Some(name), Some(row)) => {
                    Some((Place::blob(name), Container::from_bytes(&row.value)?))
                }
                _ => None,
            });
        };
        let deleted = match cursor.peek()? {
            Some(row) => {
                let (name, at) = keys::deleted_container_of(&row.key)
                    .ok_or_else(|| StoreError::corrupt("the key of a deleted container"))?;
                Some(Place { name: name.to_string(), position: at.0.to_be_bytes().to_vec() })
            }
            None => None,
        };
        let live = live.map(|name| Place { name, position: AFTER_DELETED.to_vec() });
        let order = |place: &Place| (keys::containers_from(&place.name), place.position.clone());
        let Some(next) = [deleted, live].into_iter().flatten().min_by_key(order) else {
            return Ok(None);
        };
        let from = if next.position == AFTER_DELETED { &mut self.live } else { cursor };
        let row = from.rows.pop_front();
        let row = row.ok_or_else(|| StoreError::corrupt("a listed container has no row"))?;
        Ok(Some((next, Container::from_bytes(&row.value)?)))
    }
}

/// Rows of one kind, read in batches.
struct Cursor<'a> {
    directory: &'a Snapshot,
    start: Vec<u8>,
    end: Option<Vec<u8>>,
    limit: usize,
    rows: VecDeque<Row>,
    ended: bool,
}

impl Cursor<'_> {
    fn peek(&mut self) -> Result<Option<&Row>, Error> {
        if self.rows.is_empty() && !self.ended {
            let rows = self.directory.scan(&self.start, self.end.as_deref(), self.limit)?;
            match rows.last() {
                Some(last) if rows.len() == self.limit => {
                    self.start = [last.key.as_slice(), &[0]].concat();
                }
                _ => self.ended = true,
            }
            self.rows = rows.into();
        }
        Ok(self.rows.front())
    }
}

fn shown(
    op: &ListContainers,
    name: ContainerName,
    record: &Container,
    immutability: bool,
    now: Timestamp,
) -> ContainerView {
    let mut shown = view::container(name, record, immutability, now);
    if !op.include_metadata {
        shown.metadata.clear();
    }
    shown
}
