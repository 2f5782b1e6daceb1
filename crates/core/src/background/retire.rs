//! Working off a container's intents: freeing what commits have replaced.
//!
//! Must never free what a later intent's blob still uses: the intents of one blob are worked off in
//! their order, so that what an intent compares with is still there.

use super::{Progress, shared};
use crate::blob::content::{free, manifest};
use crate::blob::records::{Content, Intent, Page, Record, Retired, Shape, StagedBlock};
use crate::blob::site::Site;
use crate::service::blocking;
use crate::{Core, Error};
use std::collections::HashSet;
use zaffre_base::{ContentId, Stamp};
use zaffre_store::StoreError;

/// Intents looked at by one snapshot.
const INTENTS: usize = 256;

/// Pages of a block list looked at by one snapshot.
const PAGES: usize = 16;

/// Frees everything the container's intents name and nobody needs any more.
pub(super) async fn free_leftovers(core: &Core, site: &Site) -> Result<Progress, Error> {
    // What a blob leaves over once it has a history comes after its intents: only what was there
    // before the intents are looked at is worked off after them.
    let horizon = core.store().meta.snapshot(&site.placement).await?.stamp();
    let mut blocked = HashSet::new();
    let intents = work_off(core, site, &mut blocked).await?;
    let shared = shared::free_leftovers(core, site, horizon, &blocked).await?;
    Ok(if intents == Progress::Done { shared } else { intents })
}

/// Works off the intents; `blocked` gets the blobs that still have some.
async fn work_off(
    core: &Core,
    site: &Site,
    blocked: &mut HashSet<String>,
) -> Result<Progress, Error> {
    let range = site.keys.intents();
    let mut start = range.start;
    let mut progress = Progress::Done;
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let rows = inside.scan(&start, range.end.as_deref(), INTENTS)?;
        drop(inside);
        let mut batch = free::Batch::new(core, site);
        for row in &rows {
            let at = site.keys.intent_stamp(&row.key);
            let at = at.ok_or_else(|| StoreError::corrupt("the key of an intent"))?;
            let intent = Intent::from_bytes(&row.value)?;
            if !may_start(core, site, at, &intent, blocked) {
                progress = Progress::Blocked;
                if let Intent::Retired(retired) = intent {
                    blocked.insert(retired.blob);
                }
            } else if let Some(content) = bytes_alone(&intent) {
                batch.add_with(content, row.key.clone()).await?;
            } else if is_still_there(core, site, &row.key).await? {
                free_one(core, site, intent).await?;
                free::single(core, site, vec![row.key.clone()]).await?;
            }
        }
        batch.flush().await?;
        match rows.last() {
            Some(last) if rows.len() == INTENTS => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(progress),
        }
    }
}

fn may_start(
    core: &Core,
    site: &Site,
    at: Stamp,
    intent: &Intent,
    blocked: &HashSet<String>,
) -> bool {
    let free = |id: ContentId| core.store().pins.may_free(at, &site.placement, id);
    match intent {
        Intent::Provisional { content } => free(*content),
        Intent::Retired(Retired { blob, content, staging, .. }) => {
            let ids = [content.map(|content| content.id), *staging];
            !blocked.contains(blob) && ids.into_iter().flatten().all(free)
        }
    }
}

/// Whether an intent still stands, seen after its pins were looked at: an upload may have committed
/// and removed it, and let go of its pin, since the intents were read.
async fn is_still_there(core: &Core, site: &Site, key: &[u8]) -> Result<bool, Error> {
    let inside = core.store().meta.snapshot(&site.placement).await?;
    Ok(inside.get(key)?.is_some())
}

/// The content of an intent that is about nothing else; many such are freed by one commit.
fn bytes_alone(intent: &Intent) -> Option<Content> {
    match intent {
        Intent::Retired(Retired { content: Some(content), staging: None, .. })
            if !matches!(content.shape, Shape::Blocks { .. }) =>
        {
            Some(*content)
        }
        _ => None,
    }
}

async fn free_one(core: &Core, site: &Site, intent: Intent) -> Result<(), Error> {
    match intent {
        Intent::Provisional { content } => free::rows_of(core, site, content).await,
        Intent::Retired(Retired { content, staging, successor, .. }) => {
            let kept = kept(core, site, successor).await?;
            if let Some(content) = content {
                free_content(core, site, content, &kept).await?;
            }
            if let Some(staging) = staging {
                free_staging(core, site, staging, &kept).await?;
            }
            Ok(())
        }
    }
}

/// What the successor's block list still refers to.
async fn kept(
    core: &Core,
    site: &Site,
    successor: Option<Content>,
) -> Result<HashSet<ContentId>, Error> {
    let Some(successor) = successor else { return Ok(HashSet::new()) };
    let inside = core.store().meta.snapshot(&site.placement).await?;
    let keys = site.keys;
    blocking(move || {
        let mut kept = HashSet::new();
        manifest::for_each(&inside, keys, &successor, |block| {
            kept.insert(block.content.id);
        })?;
        Ok(kept)
    })
    .await
}

pub(super) async fn free_content(
    core: &Core,
    site: &Site,
    content: Content,
    kept: &HashSet<ContentId>,
) -> Result<(), Error> {
    if matches!(content.shape, Shape::Blocks { .. }) {
        return free_blocks(core, site, content.id, kept).await;
    }
    let mut batch = free::Batch::new(core, site);
    batch.add(content).await?;
    batch.flush().await
}

/// Frees the blocks of a list and then the list: all the pages that are there, because those of an
/// append blob may have become more since the content was named.
async fn free_blocks(
    core: &Core,
    site: &Site,
    id: ContentId,
    kept: &HashSet<ContentId>,
) -> Result<(), Error> {
    let range = site.keys.pages(id);
    let mut start = range.start.clone();
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let rows = inside.scan(&start, range.end.as_deref(), PAGES)?;
        drop(inside);
        let mut batch = free::Batch::new(core, site);
        for row in &rows {
            for block in Page::from_bytes(&row.value)?.blocks {
                if !kept.contains(&block.content.id) {
                    batch.add(block.content).await?;
                }
            }
        }
        batch.flush().await?;
        match rows.last() {
            Some(last) if rows.len() == PAGES => start = [last.key.as_slice(), &[0]].concat(),
            _ => return free::range(core, site, range).await,
        }
    }
}

pub(super) async fn free_staging(
    core: &Core,
    site: &Site,
    staging: ContentId,
    kept: &HashSet<ContentId>,
) -> Result<(), Error> {
    let range = site.keys.staged_blocks(staging);
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let rows = inside.scan(&range.start, range.end.as_deref(), free::ROWS_PER_STEP)?;
        drop(inside);
        if rows.is_empty() {
            return Ok(());
        }
        let mut batch = free::Batch::new(core, site);
        for row in &rows {
            let content = StagedBlock::from_bytes(&row.value)?.content;
            if !kept.contains(&content.id) {
                batch.add(content).await?;
            }
        }
        batch.flush().await?;
        free::single(core, site, rows.into_iter().map(|row| row.key).collect()).await?;
    }
}
