//! Freeing what blobs with a history have let go of: only what no other head of the blob names.
//!
//! Must never compare with less than everything: the current state, the whole history, and what
//! later commits let go of, which a reader may still be following.

use super::Progress;
use super::retire::{free_content, free_staging};
use crate::blob::content::{free, manifest};
use crate::blob::history::settle;
use crate::blob::keys::Keys;
use crate::blob::records::{Content, Head, History, Leftover, Record, Shape};
use crate::blob::site::Site;
use crate::service::blocking;
use crate::{Core, Error, sparse};
use std::collections::HashSet;
use zaffre_base::{BlobName, ContentId, Stamp};
use zaffre_store::{Snapshot, StoreError, Tx};

/// Leftovers of one blob that are worked off together.
const TOGETHER: usize = 64;

/// Rows read at once.
const BATCH: usize = 256;

/// Works off the leftovers of every blob that has some from before `horizon`.
pub(super) async fn free_leftovers(
    core: &Core,
    site: &Site,
    horizon: Stamp,
    blocked: &HashSet<String>,
) -> Result<Progress, Error> {
    let space = site.keys.leftovers();
    let all = space.starting_with("");
    let (mut start, mut progress) = (all.start, Progress::Done);
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let rows = inside.scan(&start, all.end.as_deref(), 1)?;
        drop(inside);
        let Some(row) = rows.first() else { return Ok(progress) };
        let name = space.split(&row.key).and_then(|(name, _)| BlobName::parse(&name).ok());
        let name = name.ok_or_else(|| StoreError::corrupt("the key of a leftover"))?;
        let done = if blocked.contains(name.as_str()) {
            Progress::Blocked
        } else {
            settle(core, site, &name).await?;
            free_blob(core, site, &name, horizon).await?
        };
        if done == Progress::Blocked {
            progress = Progress::Blocked;
        }
        match site.keys.leftovers_of(&name).end {
            Some(end) => start = end,
            None => return Ok(progress),
        }
    }
}

async fn free_blob(
    core: &Core,
    site: &Site,
    name: &BlobName,
    horizon: Stamp,
) -> Result<Progress, Error> {
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let (watch, at, blob) = (core.clone(), site.clone(), name.clone());
        let round = blocking(move || Round::plan(&watch, &at, &inside, &blob, horizon)).await?;
        if round.rows.is_empty() {
            break Ok(if round.waits { Progress::Blocked } else { Progress::Done });
        }
        for id in round.thinned {
            let trimmed = sparse::trim(core, site, free::sparse_keys(site, id)).await?;
            if trimmed == sparse::Folded::Held {
                return Ok(Progress::Blocked);
            }
        }
        for content in round.contents {
            free_content(core, site, content, &round.kept).await?;
        }
        for staging in round.stagings {
            free_staging(core, site, staging, &round.kept).await?;
        }
        finish(core, site, name.clone(), round.rows).await?;
    }
}

/// What is freed together, all seen in one snapshot.
#[derive(Default)]
struct Round {
    /// The leftovers' rows.
    rows: Vec<Vec<u8>>,
    /// Contents that no head names.
    contents: Vec<Content>,
    /// Sparse contents that another head names still, of which some layers may have lost their
    /// last viewer.
    thinned: Vec<ContentId>,
    stagings: Vec<ContentId>,
    /// Blocks that stay because another list names them.
    kept: HashSet<ContentId>,
    /// There are leftovers that somebody still reads.
    waits: bool,
}

impl Round {
    fn plan(
        core: &Core,
        site: &Site,
        inside: &Snapshot,
        name: &BlobName,
        horizon: Stamp,
    ) -> Result<Self, Error> {
        let keys = site.keys;
        let range = keys.leftovers_of(name);
        let mut round = Self::default();
        let mut contents = Vec::new();
        let mut others = Others { keys, inside, ids: HashSet::new(), lists: Vec::new() };
        each_row(inside, range.start, range.end.as_deref(), |key, value| {
            let at = key.last_chunk::<8>().map(|at| Stamp(u64::from_be_bytes(*at)));
            let at = at.ok_or_else(|| StoreError::corrupt("the key of a leftover"))?;
            let left = Leftover::from_bytes(value)?;
            let free = |id: ContentId| core.store().pins.may_free(at, &site.placement, id);
            let mut ids = left.contents.iter().map(|content| content.id).chain(left.staging);
            let full = round.rows.len() == TOGETHER;
            round.waits |= !full && (at > horizon || !ids.all(free));
            if round.waits || full {
                left.contents.into_iter().for_each(|content| others.add(content));
                return Ok(());
            }
            round.rows.push(key.to_vec());
            contents.extend(left.contents);
            round.stagings.extend(left.staging);
            Ok(())
        })?;
        if round.rows.is_empty() {
            return Ok(round);
        }
        if let Some(head) = Head::peek(inside, &keys.blob(name))? {
            others.add(head.content);
        }
        let past = keys.past_of(name);
        each_row(inside, past.start, past.end.as_deref(), |_, value| {
            others.add(Head::from_bytes(value)?.content);
            Ok(())
        })?;
        let shared = |c: &&Content| c.shape == Shape::Sparse && others.ids.contains(&c.id);
        round.thinned = contents.iter().filter(shared).map(|content| content.id).collect();
        let mut seen = HashSet::new();
        contents.retain(|content| !others.ids.contains(&content.id) && seen.insert(content.id));
        let lists = contents.iter().any(|c| matches!(c.shape, Shape::Blocks { .. }));
        if lists || !round.stagings.is_empty() {
            round.kept = others.blocks()?;
        }
        round.contents = contents;
        Ok(round)
    }
}

/// What else of the blob there is.
struct Others<'a> {
    keys: Keys,
    inside: &'a Snapshot,
    ids: HashSet<ContentId>,
    lists: Vec<Content>,
}

impl Others<'_> {
    fn add(&mut self, content: Content) {
        if self.ids.insert(content.id) && matches!(content.shape, Shape::Blocks { .. }) {
            self.lists.push(content);
        }
    }

    /// The blocks that their lists name.
    fn blocks(&self) -> Result<HashSet<ContentId>, Error> {
        let mut blocks = HashSet::new();
        for list in &self.lists {
            manifest::for_each(self.inside, self.keys, list, |block| {
                blocks.insert(block.content.id);
            })?;
        }
        Ok(blocks)
    }
}

fn each_row(
    inside: &Snapshot,
    mut start: Vec<u8>,
    end: Option<&[u8]>,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    loop {
        let rows = inside.scan(&start, end, BATCH)?;
        for row in &rows {
            each(&row.key, &row.value)?;
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(()),
        }
    }
}

/// Removes leftovers that are worked off, and with the last one the counts of a history that has
/// come to its end.
async fn finish(core: &Core, site: &Site, name: BlobName, rows: Vec<Vec<u8>>) -> Result<(), Error> {
    let keys = site.keys;
    let body = move |tx: &mut Tx<'_>| {
        for row in &rows {
            tx.delete(row)?;
        }
        let key = keys.history(&name);
        let ended = History::load(tx, &key)?.is_some_and(|h| h.rows == 0 && h.cut.is_none());
        let left = keys.leftovers_of(&name);
        if ended && tx.scan(&left.start, left.end.as_deref(), 1)?.is_empty() {
            tx.delete(&key)?;
        }
        Ok(())
    };
    core.transact(&site.placement, body).await
}
