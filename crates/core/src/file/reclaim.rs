//! Freeing what a share no longer needs: contents that commits took out of use, states that no
//! snapshot shows any more, and everything once the share is deleted.
//!
//! Must never free what a past state names, or what somebody still reads. Doing it twice is harmless.

use super::keys::{Keys, until_of};
use super::records::{Entry, Inode, Intent, Retired, State};
use super::views::content_views;
use crate::background::Progress;
use crate::blob::content::free::{self, sparse_keys};
use crate::blob::site::Site;
use crate::directory::KeyRange;
use crate::records::{Guard, Record};
use crate::service::blocking;
use crate::{Core, Error, sparse};
use zaffre_base::{ContentId, Stamp};
use zaffre_domain::Refusal;
use zaffre_store::{Abort, Row, StoreError, Tx};

/// Intents looked at by one snapshot.
const INTENTS: usize = 256;

/// Past states looked at by one transaction.
const STATES: usize = 128;

/// Inodes looked at by one snapshot.
const INODES: usize = 500;

/// Works off the intents of a share.
pub(crate) async fn work(core: &Core, site: &Site) -> Result<Progress, Error> {
    let keys = Keys(site.keys.0);
    let mut range = keys.intents();
    let mut progress = Progress::Done;
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let rows = inside.scan(&range.start, range.end.as_deref(), INTENTS)?;
        drop(inside);
        // What is let go of on the way makes intents behind these.
        let Some(last) = rows.last() else { return Ok(progress) };
        range.start = [&last.key[..], &[0]].concat();
        for row in &rows {
            if one(core, site, keys, row).await? == Progress::Blocked {
                progress = Progress::Blocked;
            }
        }
    }
}

async fn one(core: &Core, site: &Site, keys: Keys, row: &Row) -> Result<Progress, Error> {
    let at = until_of(&row.key).ok_or_else(|| StoreError::corrupt("the key of an intent"))?;
    let may_free = |id: ContentId| core.store().pins.may_free(at, &site.placement, id);
    let mut progress = Progress::Done;
    match Intent::from_bytes(&row.value)? {
        Intent::Provisional { content } => {
            if !may_free(content) {
                return Ok(Progress::Blocked);
            }
            // Seen after its pin: the copy may have committed and let go of it meanwhile.
            let inside = core.store().meta.snapshot(&site.placement).await?;
            if inside.get(&row.key)?.is_none() {
                return Ok(Progress::Done);
            }
            drop(inside);
            sparse::free(core, site, sparse_keys(site, content)).await?;
        }
        Intent::Retired(retired) => {
            if !retired.iter().all(|retired| may_free(retired.content)) {
                return Ok(Progress::Blocked);
            }
            for retired in retired {
                if let_go(core, site, retired).await? == Progress::Blocked {
                    progress = Progress::Blocked;
                }
            }
        }
        Intent::Thin => thin(core, site, keys).await?,
    }
    if progress == Progress::Done {
        free::single(core, site, vec![row.key.clone()]).await?;
    }
    Ok(progress)
}

/// Frees a content, or the layers of it that nobody sees any more if a past state names it.
async fn let_go(core: &Core, site: &Site, retired: Retired) -> Result<Progress, Error> {
    let inside = core.store().meta.snapshot(&site.placement).await?;
    let views = content_views(&mut &inside, site.keys.0, retired.file(), retired.content)?;
    drop(inside);
    let keys = sparse_keys(site, retired.content);
    if views.newest().is_none() {
        sparse::free(core, site, keys).await?;
        return Ok(Progress::Done);
    }
    Ok(match sparse::trim(core, site, keys).await? {
        sparse::Folded::Held => Progress::Blocked,
        _ => Progress::Done,
    })
}

/// Removes the past states that no snapshot shows.
async fn thin(core: &Core, site: &Site, keys: Keys) -> Result<(), Error> {
    for range in [keys.all_past_entries(), keys.all_past_inodes()] {
        let mut range = range;
        loop {
            let inside = core.store().meta.snapshot(&site.placement).await?;
            let rows = inside.scan(&range.start, range.end.as_deref(), STATES)?;
            drop(inside);
            let last = rows.last().filter(|_| rows.len() == STATES).map(|row| row.key.clone());
            let found: Vec<Vec<u8>> = rows.into_iter().map(|row| row.key).collect();
            let body = move |tx: &mut Tx<'_>| thin_out(tx, keys, &found);
            core.transact(&site.placement, body).await?;
            match last {
                Some(last) => range.start = [&last[..], &[0]].concat(),
                None => break,
            }
        }
    }
    Ok(())
}

fn thin_out(tx: &mut Tx<'_>, keys: Keys, found: &[Vec<u8>]) -> Result<(), Abort<Refusal>> {
    let state = State::load(tx, &keys.state())?.unwrap_or_default();
    let shown = |since: Stamp, until: Stamp| {
        state.snapshots.iter().any(|taken| since.0 <= *taken && *taken < until.0)
    };
    let mut retired = Vec::new();
    for key in found {
        let Some(value) = tx.get(key)? else { continue };
        let wrong = || zaffre_store::Interrupt::from(StoreError::corrupt("a past state"));
        let until = until_of(key).ok_or_else(wrong)?;
        let (since, content) = if keys.is_past_inode(key) {
            let inode = Inode::from_bytes(&value).map_err(zaffre_store::Interrupt::from)?;
            let id = Keys::past_inode_of(key).ok_or_else(wrong)?;
            (inode.since, inode.content().map(|content| Retired::new(id, content.id)))
        } else {
            (Entry::from_bytes(&value).map_err(zaffre_store::Interrupt::from)?.since, None)
        };
        if !shown(since, until) {
            tx.delete(key)?;
            retired.extend(content);
        }
    }
    if !retired.is_empty() {
        let at = tx.stamp();
        Intent::Retired(retired).store(tx, &keys.intent(at))?;
    }
    Ok(())
}

/// Marks a share that has work waiting.
pub(crate) async fn look(core: &Core, site: &Site) -> Result<(), Error> {
    sparse::look(core, site).await?;
    let inside = core.store().meta.snapshot(&site.placement).await?;
    let intents = Keys(site.keys.0).intents();
    if !inside.scan(&intents.start, intents.end.as_deref(), 1)?.is_empty() {
        core.pending().mark(site);
    }
    Ok(())
}

/// Removes everything in a deleted share, unless somebody still reads from it.
pub(crate) async fn empty(core: &Core, site: &Site, guard: Guard) -> Result<Progress, Error> {
    let keys = Keys(site.keys.0);
    for range in [keys.intents(), keys.inodes(), keys.all_past_inodes()] {
        if any_read(core, site, guard, range).await? {
            return Ok(Progress::Blocked);
        }
    }
    free::range(core, site, site.keys.all_but_guard()).await?;
    Ok(Progress::Done)
}

/// The contents that an intent or an inode names.
fn contents(keys: Keys, row: &Row) -> Result<Vec<ContentId>, StoreError> {
    if !row.key.starts_with(&keys.intents().start) {
        let content = Inode::from_bytes(&row.value)?.content();
        return Ok(content.map(|content| content.id).into_iter().collect());
    }
    Ok(match Intent::from_bytes(&row.value)? {
        Intent::Provisional { content } => vec![content],
        Intent::Retired(retired) => retired.iter().map(|retired| retired.content).collect(),
        Intent::Thin => Vec::new(),
    })
}

/// Whether somebody still reads, or may start to read, what rows of this range name.
async fn any_read(
    core: &Core,
    site: &Site,
    guard: Guard,
    mut range: KeyRange,
) -> Result<bool, Error> {
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let (core, site, asked) = (core.clone(), site.clone(), range.clone());
        let (pinned, last) = blocking(move || {
            let rows = inside.scan(&asked.start, asked.end.as_deref(), INODES)?;
            for row in &rows {
                let free = |id| core.store().pins.may_free(guard.set, &site.placement, id);
                if !contents(Keys(site.keys.0), row)?.into_iter().all(free) {
                    return Ok((true, None));
                }
            }
            let more = rows.len() == INODES;
            Ok((false, rows.into_iter().next_back().filter(|_| more).map(|row| row.key)))
        })
        .await?;
        match last {
            _ if pinned => return Ok(true),
            Some(last) => range.start = [&last[..], &[0]].concat(),
            None => return Ok(false),
        }
    }
}
