//! List Shares: one page from one snapshot of the account's directory.
//!
//! Must never read more of a share's snapshots than the page can still take, nor any of a share
//! that has none.

use super::find::{of_share, of_snapshot};
use super::op::ListShares;
use super::records::{Share, ShareSnapshot};
use super::reply::{SharePage, ShareView};
use crate::blob::marker::{self, Listing, Place};
use crate::directory::keys::directory;
use crate::directory::{Family, KeyRange};
use crate::records::Record;
use crate::service::blocking;
use crate::{Core, Error};
use std::collections::VecDeque;
use zaffre_auth::Authorized;
use zaffre_base::limits::{LIST_PAGE_BYTES, SHARE_SNAPSHOTS};
use zaffre_base::{ShareName, Stamp, Timestamp};
use zaffre_store::{Row, Snapshot, StoreError};

/// Rows read at once.
const BATCH: usize = 500;

/// What a position in the listing starts with: of one name, what is deleted comes first, then
/// snapshots, then the share itself.
const DELETED: u8 = 0;
const SNAPSHOT: u8 = 1;
const LIVE: u8 = 2;

/// Lists the shares of an account.
pub async fn list_shares(core: &Core, op: Authorized<ListShares>) -> Result<SharePage, Error> {
    let (op, _) = op.into_parts();
    let from = op.marker.as_deref().filter(|marker| !marker.is_empty());
    let from = from.map(|text| marker::read(Listing::Shares, text)).transpose()?;
    let inside = core.store().meta.snapshot(&directory(&op.account)).await?;
    let now = core.now(&inside);
    blocking(move || Pager::new(&op, from, &inside, now).page()).await
}

struct Pager<'a> {
    op: &'a ListShares,
    from: Option<Place>,
    inside: &'a Snapshot,
    now: Timestamp,
    shares: Vec<ShareView>,
    bytes: usize,
}

impl<'a> Pager<'a> {
    fn new(op: &'a ListShares, from: Option<Place>, inside: &'a Snapshot, now: Timestamp) -> Self {
        Self { op, from, inside, now, shares: Vec::new(), bytes: 0 }
    }

    fn page(mut self) -> Result<SharePage, Error> {
        let prefix = &self.op.prefix;
        let start = |key: fn(&str) -> Vec<u8>| self.from.as_ref().map(|from| key(&from.name));
        let mut live = Cursor::open(
            self.inside,
            Family::Shares.rows(prefix),
            start(|name| Family::Shares.row(name)),
        );
        let deleted = Family::Shares.all_deleted(prefix);
        let mut deleted =
            Cursor::open(self.inside, deleted, start(|name| Family::Shares.deleted(name)));
        deleted.ended |= !self.op.include_deleted;
        loop {
            let name = [live.name(live_name)?, deleted.name(deleted_name)?];
            let Some(name) = name.into_iter().flatten().min() else {
                return Ok(SharePage { shares: self.shares, next: None });
            };
            let shown = ShareName::parse(&name)
                .map_err(|_| StoreError::corrupt("the name in a share's key is not legal"))?;
            while deleted.name(deleted_name)?.as_ref() == Some(&name) {
                if let Some(next) = self.add_deleted(&shown, deleted.rows.pop_front())? {
                    return Ok(self.ended(&next));
                }
            }
            if live.name(live_name)?.as_ref() == Some(&name)
                && let Some(next) = self.add_live(&shown, live.rows.pop_front())?
            {
                return Ok(self.ended(&next));
            }
        }
    }

    fn ended(self, next: &Place) -> SharePage {
        SharePage { shares: self.shares, next: Some(marker::make(Listing::Shares, next)) }
    }

    fn add_deleted(&mut self, name: &ShareName, row: Option<Row>) -> Result<Option<Place>, Error> {
        let Some(row) = row else { return Ok(None) };
        let share = Share::from_bytes(&row.value)?;
        match share.deleted {
            Some(deleted) if self.now < deleted.until => {
                Ok(self.add((DELETED, deleted.at), of_share(name.clone(), &share, self.now)))
            }
            _ => Ok(None),
        }
    }

    /// Its snapshots, then the share.
    fn add_live(&mut self, name: &ShareName, row: Option<Row>) -> Result<Option<Place>, Error> {
        let Some(row) = row else { return Ok(None) };
        let share = Share::from_bytes(&row.value)?;
        if self.op.include_snapshots && share.snapshots > 0 {
            let range = Family::Shares.snapshots(name.as_str(), share.incarnation);
            for row in self.inside.scan(&range.start, range.end.as_deref(), SHARE_SNAPSHOTS)? {
                let taken = row.key.last_chunk::<8>().map(|at| Stamp(u64::from_be_bytes(*at)));
                let taken = taken.ok_or_else(|| StoreError::corrupt("the key of a snapshot"))?;
                let snapshot = ShareSnapshot::from_bytes(&row.value)?;
                let view = of_snapshot(name.clone(), taken, &snapshot, self.now);
                if let Some(next) = self.add((SNAPSHOT, taken), view) {
                    return Ok(Some(next));
                }
            }
        }
        Ok(self.add((LIVE, Stamp(0)), of_share(name.clone(), &share, self.now)))
    }

    /// Takes one in, unless it comes before where the page starts; gives its place if the page is
    /// full.
    fn add(&mut self, (kind, at): (u8, Stamp), mut view: ShareView) -> Option<Place> {
        let mut position = vec![kind];
        position.extend_from_slice(&at.0.to_be_bytes());
        let name = view.name.to_string();
        let before = |from: &Place| from.name == name && position < from.position;
        if self.from.as_ref().is_some_and(before) {
            return None;
        }
        let size = usize::try_from(self.op.max_results).unwrap_or(usize::MAX);
        if self.shares.len() >= size || self.bytes >= LIST_PAGE_BYTES {
            return Some(Place { name, position });
        }
        if !self.op.include_metadata {
            view.metadata.clear();
        }
        let metadata = view.metadata.iter().map(|(name, value)| name.len() + value.len());
        self.bytes += metadata.sum::<usize>();
        self.shares.push(view);
        None
    }
}

fn live_name(key: &[u8]) -> Option<String> {
    Family::Shares.name_of(key)
}

fn deleted_name(key: &[u8]) -> Option<String> {
    Family::Shares.deleted_name_of(key).map(|(name, _)| name)
}

/// Rows of one kind, read in batches.
struct Cursor<'a> {
    inside: &'a Snapshot,
    start: Vec<u8>,
    end: Option<Vec<u8>>,
    rows: VecDeque<Row>,
    ended: bool,
}

impl<'a> Cursor<'a> {
    fn open(inside: &'a Snapshot, range: KeyRange, from: Option<Vec<u8>>) -> Self {
        let start = from.unwrap_or_default().max(range.start);
        Self { inside, start, end: range.end, rows: VecDeque::new(), ended: false }
    }

    /// The name of the next row.
    fn name(&mut self, of: fn(&[u8]) -> Option<String>) -> Result<Option<String>, Error> {
        if self.rows.is_empty() && !self.ended {
            let rows = self.inside.scan(&self.start, self.end.as_deref(), BATCH)?;
            match rows.last() {
                Some(last) if rows.len() == BATCH => {
                    self.start = [last.key.as_slice(), &[0]].concat();
                }
                _ => self.ended = true,
            }
            self.rows = rows.into();
        }
        let Some(row) = self.rows.front() else { return Ok(None) };
        let name = of(&row.key).ok_or_else(|| StoreError::corrupt("the key of a share"))?;
        Ok(Some(name))
    }
}
