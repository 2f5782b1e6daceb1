//! Query Entities: one page from one snapshot, along the runs of keys that the filter allows.
//!
//! Must never read without end: a page looks at so many rows and bytes and then says where to go on.

use super::entities::{check_alive, find};
use super::keys::Keys;
use super::op::QueryEntities;
use super::records::Stored;
use super::reply::EntityPage;
use super::rows;
use crate::records::Record;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_auth::{Authorized, KeyBound, KeyRange};
use zaffre_base::limits::{TABLE_PAGE, TABLE_PAGE_BYTES};
use zaffre_domain::table::filter::matches;
use zaffre_domain::table::plan::{Range, ranges};
use zaffre_domain::table::{Entity, EntityKey};
use zaffre_store::{Snapshot, StoreError};

/// Rows looked at for one page, whether they pass the filter or not: what a disk reads within the
/// time that a page may take.
const LOOKED_AT: usize = 100_000;
/// Rows read at once, at first; doubles up to the page size.
const FIRST_BATCH: usize = 64;

/// One page of the entities that a filter lets through.
pub async fn query_entities(
    core: &Core,
    op: Authorized<QueryEntities>,
) -> Result<EntityPage, Error> {
    let allowed = visible(op.key_range());
    let (op, _) = op.into_parts();
    let place = find(core, &op.at).await?.place;
    let inside = core.store().meta.snapshot(&place.placement).await?;
    let keys = Keys(place.incarnation);
    blocking(move || {
        check_alive(&inside, keys)?;
        Page::new(&inside, keys, &op).fill(&allowed)
    })
    .await
}

/// The keys that the caller's credential lets it see.
fn visible(range: &KeyRange) -> Range {
    fn ends(bound: &KeyBound) -> (&str, Option<&str>) {
        (&bound.partition, bound.row.as_deref())
    }
    Range::between(range.start.as_ref().map(ends), range.end.as_ref().map(ends))
}

struct Page<'a> {
    inside: &'a Snapshot,
    keys: Keys,
    op: &'a QueryEntities,
    entities: Vec<Entity>,
    bytes: usize,
    looked_at: usize,
}

impl<'a> Page<'a> {
    fn new(inside: &'a Snapshot, keys: Keys, op: &'a QueryEntities) -> Self {
        Self { inside, keys, op, entities: Vec::new(), bytes: 0, looked_at: 0 }
    }

    fn fill(mut self, allowed: &Range) -> Result<EntityPage, Error> {
        let next = self.op.next.as_ref();
        let from = Range::between(next.map(|(p, r)| (p.as_str(), r.as_deref())), None);
        for range in ranges(self.op.filter.as_ref()) {
            let range = range.and(allowed).and(&from);
            if let Some(next) = self.read(&range)? {
                return Ok(EntityPage { entities: self.entities, next: Some(next) });
            }
        }
        Ok(EntityPage { entities: self.entities, next: None })
    }

    /// Reads one run of keys; the key to go on with, if the page is full.
    fn read(&mut self, range: &Range) -> Result<Option<EntityKey>, Error> {
        let (mut start, end) = self.keys.entities(range);
        let mut batch = FIRST_BATCH;
        while start < end {
            let found = self.inside.scan(&start, Some(&end), batch)?;
            for row in &found {
                let key = self.keys.entity_of(&row.key);
                let key = key.ok_or_else(|| StoreError::corrupt("the key of an entity"))?;
                let full = self.entities.len() >= self.op.top.min(TABLE_PAGE)
                    || self.bytes >= TABLE_PAGE_BYTES
                    || self.looked_at >= LOOKED_AT;
                if full {
                    return Ok(Some(key));
                }
                self.looked_at += 1;
                let first = Stored::from_bytes(&row.value)?;
                let size = row.value.len() * (usize::from(first.parts) + 1);
                let entity = rows::entity(self.inside, self.keys, key, first)?;
                if self.op.filter.as_ref().is_none_or(|filter| matches(filter, &entity)) {
                    self.bytes += size;
                    self.entities.push(entity);
                }
            }
            match found.last() {
                Some(last) if found.len() == batch => {
                    start = [last.key.as_slice(), &[0]].concat();
                    batch = (batch * 2).min(TABLE_PAGE);
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}
