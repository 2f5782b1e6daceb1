//! Which chunks have gathered small writes, and folding them one by one.
//!
//! Must never be the only record of work: it is a hint, and the rows are found again by [`look`].

use super::fold::{self, Folded, Target};
use super::keys::{SparseKeys, chunk_of, tags};
use super::{FOLD_BYTES, FOLD_WRITES, FOLDS_TOGETHER, HEAVY_BYTES, HEAVY_WRITES};
use crate::blob::site::Site;
use crate::{Core, Error};
use futures_util::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use zaffre_base::Stamp;
use zaffre_store::extents::ExtentRef;

/// Chunks whose writes are counted; beyond, the counts start over.
const COUNTED: usize = 100_000;

/// Rows looked at by one snapshot.
const BATCH: usize = 256;

/// What waits to be folded.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// A chunk is no longer being folded.
    ended: Notify,
}

#[derive(Default)]
struct State {
    weights: BTreeMap<(Site, SparseKeys, u32), Weight>,
    chunks: BTreeSet<Target>,
    /// Contents that have wide clears.
    clears: BTreeSet<(Site, SparseKeys)>,
    busy: BTreeSet<(Site, SparseKeys, u32)>,
    /// Extents that no row names since a commit, held until nobody can have their addresses.
    unnamed: Vec<(Stamp, Vec<ExtentRef>)>,
}

/// Small writes to a chunk since it was last folded.
#[derive(Clone, Copy, Default)]
struct Weight {
    writes: usize,
    bytes: usize,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what a commit wrote to the chunks it touched.
    pub(crate) fn note(
        &self,
        core: &Core,
        site: &Site,
        keys: SparseKeys,
        touched: &[(u32, usize)],
    ) {
        let mut due = false;
        {
            let mut state = self.state();
            if state.weights.len() > COUNTED {
                state.weights.clear();
            }
            for (chunk, bytes) in touched {
                let id = (site.clone(), keys, *chunk);
                let weight = state.weights.entry(id).or_default();
                weight.writes += 1;
                weight.bytes += bytes;
                if weight.writes >= FOLD_WRITES || weight.bytes >= FOLD_BYTES {
                    let target = Target { site: site.clone(), keys, chunk: *chunk };
                    due |= state.chunks.insert(target);
                }
            }
        }
        if due {
            core.pending().mark(site);
        }
    }

    /// A content has wide clears.
    pub(crate) fn note_clear(&self, core: &Core, site: &Site, keys: SparseKeys) {
        self.state().clears.insert((site.clone(), keys));
        core.pending().mark(site);
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.state();
        state.chunks.is_empty() && state.clears.is_empty() && state.unnamed.is_empty()
    }

    /// Releases extents once nobody can have read their addresses before `since`.
    pub(super) fn release_later(&self, since: Stamp, extents: Vec<ExtentRef>) {
        if !extents.is_empty() {
            self.state().unnamed.push((since, extents));
        }
    }

    fn release_now(&self, core: &Core) {
        let mut free = Vec::new();
        let store = core.store();
        self.state().unnamed.retain_mut(|(since, extents)| {
            let may = store.pins.may_move(*since);
            if may {
                free.append(extents);
            }
            !may
        });
        store.extents.release(&free);
    }

    /// Folds a chunk; nobody else does at the same time.
    pub(super) async fn alone(&self, core: &Core, target: &Target) -> Result<Folded, Error> {
        let id = (target.site.clone(), target.keys, target.chunk);
        loop {
            let ended = self.ended.notified();
            if self.state().busy.insert(id.clone()) {
                break;
            }
            ended.await;
        }
        let _busy = Busy { queue: self, id: id.clone() };
        let folded = fold::fold(core, target).await?;
        self.state().weights.remove(&id);
        Ok(folded)
    }

    fn is_heavy(&self, id: &(Site, SparseKeys, u32)) -> bool {
        let state = self.state();
        let weight = state.weights.get(id).copied().unwrap_or_default();
        weight.writes >= HEAVY_WRITES || weight.bytes >= HEAVY_BYTES
    }
}

/// A chunk that is being folded.
struct Busy<'a> {
    queue: &'a Queue,
    id: (Site, SparseKeys, u32),
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.queue.state().busy.remove(&self.id);
        self.queue.ended.notify_waiters();
    }
}

/// Lets a writer wait while too many small writes lie on a chunk: reading it would cost too much.
pub(crate) async fn wait_if_heavy(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
    chunk: u32,
) -> Result<(), Error> {
    let id = (site.clone(), keys, chunk);
    if core.folding().is_heavy(&id) {
        let target = Target { site: site.clone(), keys, chunk };
        core.folding().alone(core, &target).await?;
    }
    Ok(())
}

/// Folds what waits; what cannot be finished waits on.
pub(crate) async fn work(core: &Core) {
    let queue = core.folding();
    let (chunks, clears) = {
        let mut state = queue.state();
        (std::mem::take(&mut state.chunks), std::mem::take(&mut state.clears))
    };
    let folds = stream::iter(chunks).map(|target| async move {
        let left = loop {
            match core.folding().alone(core, &target).await {
                Ok(Folded::More) => {}
                Ok(Folded::Done | Folded::Gone) => break false,
                Ok(Folded::Held) => break true,
                Err(error) => {
                    tracing::warn!(%error, "a chunk could not be folded");
                    break true;
                }
            }
        };
        if left {
            core.folding().state().chunks.insert(target);
        }
    });
    folds.buffer_unordered(FOLDS_TOGETHER).collect::<()>().await;
    for (site, keys) in clears {
        let left = match fold::fold_clears(core, &site, keys).await {
            Ok(Folded::Done | Folded::Gone) => false,
            Ok(Folded::Held | Folded::More) => true,
            Err(error) => {
                tracing::warn!(%error, "the clears of a content could not be folded");
                true
            }
        };
        if left {
            queue.state().clears.insert((site, keys));
        }
    }
    queue.release_now(core);
}

/// Finds what waits in a container.
pub(crate) async fn look(core: &Core, site: &Site) -> Result<(), Error> {
    let incarnation = site.keys.0;
    let mut counts: BTreeMap<(SparseKeys, u32), usize> = BTreeMap::new();
    for tag in [tags::CLEAR, tags::SMALL] {
        let mut range = SparseKeys::everywhere(incarnation, tag);
        loop {
            let snapshot = core.store().meta.snapshot(&site.placement).await?;
            let rows = snapshot.scan(&range.start, range.end.as_deref(), BATCH)?;
            for row in &rows {
                let Some(keys) = SparseKeys::of(&row.key) else { continue };
                match chunk_of(&row.key).filter(|_| tag == tags::SMALL) {
                    Some(chunk) => *counts.entry((keys, chunk)).or_default() += 1,
                    None => core.folding().note_clear(core, site, keys),
                }
            }
            match rows.last() {
                Some(last) if rows.len() == BATCH => range.start = [&last.key[..], &[0]].concat(),
                _ => break,
            }
        }
    }
    let mut state = core.folding().state();
    for ((keys, chunk), _) in counts.into_iter().filter(|(_, count)| *count >= FOLD_WRITES) {
        state.chunks.insert(Target { site: site.clone(), keys, chunk });
    }
    Ok(())
}
