//! Folding: the small writes of a chunk become an extent and one whole layer, and layers that nobody
//! can see any more go away.
//!
//! Must never change what anybody sees: a fold adds whole layers that say what the layers below them
//! say, one for every snapshot in between, so that what two snapshots share stays the same bytes.

use super::keys::{Kept, SparseKeys, moment_of};
use super::load::{self, Chunk, Layer, Source, What};
use super::owner::Owner;
use super::{CRUMBS, LAYERS_PER_FOLD, read};
use crate::blob::content::claim::{Claim, KeyValue};
use crate::blob::content::unclaimed::Unclaimed;
use crate::blob::replace::LeftOver;
use crate::blob::site::{Site, alive};
use crate::{Core, Error};
use bytes::BytesMut;
use std::sync::Arc;
use zaffre_base::{ContentId, Stamp};
use zaffre_domain::Refusal;
use zaffre_domain::sparse::{self, Map, Piece, needed};
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::extents::{ExtentRef, MAX_EXTENT};
use zaffre_store::{Abort, Row, Snapshot, StoreError, TransactError, Tx};

/// What came of a fold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Folded {
    /// Nothing is left to do.
    Done,
    /// There is more to do.
    More,
    /// Layers are left that somebody may be about to look at.
    Held,
    /// Its owner has another content: it stays as it is until it is freed.
    Gone,
}

/// A chunk to be folded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Target {
    pub(super) site: Site,
    pub(super) keys: SparseKeys,
    pub(super) chunk: u32,
}

/// What a transaction is to do to a chunk.
struct Plan {
    owner: Owner,
    /// Rows that must be as they were read.
    basis: Vec<KeyValue>,
    whole: Vec<KeyValue>,
    delete: Vec<Vec<u8>>,
    /// Extents that no layer names afterwards.
    unnamed: Vec<ExtentRef>,
    extents: Vec<Unclaimed>,
    outcome: Folded,
}

/// Folds a chunk whose content somebody has.
pub(super) async fn fold(core: &Core, target: &Target) -> Result<Folded, Error> {
    let store = core.store();
    let Target { site, keys, .. } = target;
    // Keeps moved extents, so that what the new layers name is there when they are committed.
    let pin = store.pins.enter(store.meta.last_stamp());
    let pin = pin.narrow(&site.placement, keys.content);
    let snapshot = store.meta.snapshot(&site.placement).await?;
    let Some(plan) = plan(core, target, &snapshot).await? else { return Ok(Folded::Gone) };
    drop(snapshot);
    let outcome = plan.outcome;
    if plan.whole.is_empty() && plan.delete.is_empty() {
        return Ok(outcome);
    }
    let done = commit(core, target, plan).await;
    drop(pin);
    match done {
        Ok(()) => Ok(outcome),
        // Somebody changed the rows meanwhile: next time.
        Err(None) => Ok(Folded::Held),
        Err(Some(error)) => Err(error),
    }
}

async fn commit(core: &Core, target: &Target, plan: Plan) -> Result<(), Option<Error>> {
    let Target { site, keys, .. } = target;
    let (keys, at, inside) = (*keys, site.keys, site.clone());
    let Plan { owner, basis, whole, delete, unnamed, extents, .. } = plan;
    let claim = Claim::holding(core, site, None, keys.content, extents);
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, at)?;
        if !owner.has(tx, &inside, keys)? {
            return Err(Abort::Fail(Refusal::BlobNotFound));
        }
        for (key, value) in &basis {
            if tx.get(key)?.as_ref() != Some(value) {
                return Err(Abort::Fail(Refusal::BlobNotFound));
            }
        }
        for (key, value) in &whole {
            tx.put(key, value)?;
        }
        for key in &delete {
            tx.delete(key)?;
        }
        Ok(((), LeftOver::Nothing))
    };
    match claim.commit(body).await {
        Ok(()) => {
            core.folding().release_later(core.store().meta.last_stamp(), unnamed);
            Ok(())
        }
        Err(TransactError::Body(_)) => Err(None),
        Err(TransactError::Store(error)) => Err(Some(error.into())),
    }
}

/// What can be done about a chunk; `None` if its content is nobody's any more.
async fn plan(core: &Core, target: &Target, snapshot: &Snapshot) -> Result<Option<Plan>, Error> {
    let Target { site, keys, chunk } = target;
    let Some(owner) = Owner::of(snapshot, *keys)? else { return Ok(None) };
    let Some(seen_by) = owner.seen(snapshot, site, *keys)? else { return Ok(None) };
    let views = seen_by.views;
    let clears = load::clears(snapshot, *keys, Stamp(u64::MAX))?;
    let mut seen = load::layers(snapshot, *keys, *chunk, Stamp(u64::MAX), &clears)?;
    seen.reverse();
    let floor = usize::from(seen.first().is_some_and(|l| matches!(l.what, What::Whole(_))));
    let more = seen.len() - floor > LAYERS_PER_FOLD;
    seen.truncate(floor + LAYERS_PER_FOLD);
    let mut plan = Plan {
        owner,
        basis: basis(snapshot, &seen)?,
        whole: Vec::new(),
        delete: Vec::new(),
        unnamed: Vec::new(),
        extents: Vec::new(),
        outcome: if more { Folded::More } else { Folded::Done },
    };
    if seen.len() > floor {
        fold_layers(core, target, &seen, &views, &mut plan).await?;
    }
    thin_out(core, target, snapshot, views, &mut plan)?;
    Ok(Some(plan))
}

/// The layers of runs: compaction may change where they point to.
fn basis(snapshot: &Snapshot, seen: &[Layer]) -> Result<Vec<KeyValue>, StoreError> {
    let mut basis = Vec::new();
    for layer in seen {
        if matches!(layer.what, What::Whole(_) | What::Over(_))
            && let Some(value) = snapshot.get(&layer.key)?
        {
            basis.push((layer.key.clone(), value));
        }
    }
    Ok(basis)
}

/// Adds a whole layer for each snapshot in between and one for the newest layer.
async fn fold_layers(
    core: &Core,
    target: &Target,
    seen: &[Layer],
    views: &[Stamp],
    plan: &mut Plan,
) -> Result<(), Error> {
    let mut chunk = Chunk::default();
    let mut index = 0;
    while let Some(first) = seen.get(index) {
        // Layers up to the next snapshot are folded together.
        let cut = views.iter().copied().filter(|view| *view >= first.stamp).min();
        let mut last = first;
        let whole_only = matches!(first.what, What::Whole(_));
        while let Some(layer) = seen.get(index)
            && cut.is_none_or(|cut| layer.stamp <= cut)
        {
            chunk.apply(layer)?;
            (last, index) = (layer, index + 1);
        }
        if whole_only && last.stamp == first.stamp {
            continue;
        }
        let dense = chunk.map.pieces().len() > CRUMBS && views.is_empty();
        let too_many = chunk.map.pieces().len() > runs::MAX_RUNS / 2;
        let map = materialize(core, target, &chunk, dense || too_many, plan).await?;
        let key = target.keys.layer(target.chunk, last.stamp, Kept::Whole);
        plan.whole.push((key, runs::encode(&to_runs(&map)?).into()));
        chunk = Chunk::of(map);
    }
    Ok(())
}

/// The map with every small write, or everything, in an extent of its own.
async fn materialize(
    core: &Core,
    target: &Target,
    chunk: &Chunk,
    everything: bool,
    plan: &mut Plan,
) -> Result<Map<Source>, Error> {
    let moves = |piece: &Piece<Source>| everything || matches!(piece.source, Source::Small(_));
    let mut payload = BytesMut::new();
    let mut placed: Vec<(Piece<Source>, usize)> = Vec::new();
    for piece in chunk.map.pieces().iter().filter(|piece| moves(piece)) {
        placed.push((*piece, payload.len()));
        payload.extend_from_slice(&read::read(core, chunk, piece.at..piece.end()).await?);
    }
    let mut map = chunk.map.clone();
    if payload.is_empty() || payload.len() > MAX_EXTENT {
        return Ok(map);
    }
    let owner = target.site.owner(target.keys.owner(target.chunk));
    let extents = &core.store().extents;
    let open = Arc::new(extents.begin_write());
    let extent = extents.write(&owner, payload.freeze()).await?;
    plan.extents.push(Unclaimed::new(extents.clone(), extent, open));
    for (piece, skip) in placed {
        let skip = u32::try_from(skip).unwrap_or(u32::MAX);
        map.write(Piece { source: Source::Extent(extent), skip, ..piece });
    }
    Ok(map)
}

fn to_runs(map: &Map<Source>) -> Result<Vec<Run>, StoreError> {
    let run = |piece: &Piece<Source>| match piece.source {
        Source::Extent(extent) => {
            Ok(Run { at: piece.at, length: piece.length, extent, skip: piece.skip })
        }
        Source::Small(_) => Err(StoreError::corrupt("a small write was left in a fold")),
    };
    let runs: Vec<Run> = map.pieces().iter().map(run).collect::<Result<_, _>>()?;
    if runs.len() > runs::MAX_RUNS {
        return Err(StoreError::Limit("a chunk of more than 2,048 pieces"));
    }
    Ok(runs)
}

/// Finds the layers that no snapshot and no reader can see once the new ones are there.
fn thin_out(
    core: &Core,
    target: &Target,
    snapshot: &Snapshot,
    mut views: Vec<Stamp>,
    plan: &mut Plan,
) -> Result<(), Error> {
    let Target { site, keys, chunk } = target;
    let runs_rows = load::all(snapshot, keys.layers(*chunk, Stamp(u64::MAX)))?;
    let small_rows = load::all(snapshot, keys.smalls(*chunk, Stamp(u64::MAX), None))?;
    let stamps = |row: &Row| -> Result<sparse::Layer, StoreError> {
        let (stamp, kept) =
            moment_of(&row.key).ok_or_else(|| StoreError::corrupt("a layer's key"))?;
        Ok(sparse::Layer { stamp, whole: kept == Kept::Whole })
    };
    let old: Vec<&Row> = runs_rows.iter().chain(&small_rows).collect();
    let mut layers = old.iter().map(|row| stamps(row)).collect::<Result<Vec<_>, _>>()?;
    for (key, _) in &plan.whole {
        let (stamp, _) = moment_of(key).ok_or_else(|| StoreError::corrupt("a layer's key"))?;
        layers.push(sparse::Layer { stamp, whole: true });
    }
    let newest = layers.iter().filter(|layer| layer.whole).map(|layer| layer.stamp).max();
    let Some(newest) = newest else { return Ok(()) };
    // Who took a snapshot before that commit has entered as a reader or still holds this pin.
    let free = core.store().pins.may_free(newest, &site.placement, ContentId(0));
    views.extend(core.readers().of(&site.placement, keys.content));
    let seen = needed(&layers, &views);
    let goes: Vec<&Row> =
        old.iter().zip(&seen).filter(|(_, seen)| !**seen).map(|(row, _)| *row).collect();
    if !free && !goes.is_empty() {
        plan.outcome = Folded::Held;
        return Ok(());
    }
    plan.delete = goes.iter().take(LAYERS_PER_FOLD * 2).map(|row| row.key.clone()).collect();
    drop_empty(&seen, plan);
    plan.unnamed = unnamed(&runs_rows, plan)?;
    Ok(())
}

/// A chunk of which only an empty whole layer is left is as if never written to.
fn drop_empty(seen: &[bool], plan: &mut Plan) {
    let left = seen.iter().filter(|seen| **seen).count();
    let empty = plan.whole.last().is_some_and(|(_, value)| *value == runs::encode(&[]));
    if left == 1 && empty {
        plan.whole.clear();
    }
}

/// Extents that only rows name that go.
fn unnamed(rows: &[Row], plan: &Plan) -> Result<Vec<ExtentRef>, StoreError> {
    let named = |value: &[u8]| -> Result<Vec<ExtentRef>, StoreError> {
        Ok(runs::decode(value)?.iter().map(|run| run.extent).collect())
    };
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for row in rows {
        let goes = plan.delete.contains(&row.key);
        if goes { &mut gone } else { &mut kept }.extend(named(&row.value)?);
    }
    for (_, value) in &plan.whole {
        kept.extend(named(value)?);
    }
    gone.sort_unstable();
    gone.dedup();
    gone.retain(|extent| !kept.contains(extent));
    Ok(gone)
}

/// Works the wide clears of a content into its chunks.
pub(crate) async fn fold_clears(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
) -> Result<Folded, Error> {
    let snapshot = core.store().meta.snapshot(&site.placement).await?;
    let clears = load::clears(&snapshot, keys, Stamp(u64::MAX))?;
    let Some(from) = clears.iter().map(|clear| clear.bytes.start).min() else {
        return Ok(Folded::Done);
    };
    drop(snapshot);
    let from = u32::try_from(from / sparse::CHUNK_BYTES).unwrap_or(u32::MAX);
    let folded = each_chunk(core, site, keys, from).await?;
    if folded != Folded::Done {
        return Ok(folded);
    }
    let folded = are_seen(core, site, keys).await?;
    if folded != Folded::Done {
        return Ok(folded);
    }
    let stamps: Vec<Vec<u8>> = clears.iter().map(|clear| keys.clear(clear.stamp)).collect();
    core.transact(&site.placement, move |tx| {
        for key in &stamps {
            tx.delete(key)?;
        }
        Ok(())
    })
    .await?;
    Ok(Folded::Done)
}

/// Takes away the layers of a content that nobody can see any more.
pub(crate) async fn trim(core: &Core, site: &Site, keys: SparseKeys) -> Result<Folded, Error> {
    each_chunk(core, site, keys, 0).await
}

/// Whether somebody reads, or may be about to read, the content as of a commit before the last: to
/// them the whole layers of a fold may be too new, and what was folded still counts.
async fn are_seen(core: &Core, site: &Site, keys: SparseKeys) -> Result<Folded, Error> {
    let snapshot = core.store().meta.snapshot(&site.placement).await?;
    let Some(owner) = Owner::of(&snapshot, keys)? else { return Ok(Folded::Gone) };
    let Some(seen_by) = owner.seen(&snapshot, site, keys)? else { return Ok(Folded::Gone) };
    let starting = !core.store().pins.may_free(seen_by.newest, &site.placement, ContentId(0));
    let reading = core.readers().of(&site.placement, keys.content);
    let seen = starting || reading.iter().any(|as_of| *as_of < seen_by.newest);
    Ok(if seen { Folded::Held } else { Folded::Done })
}

/// Folds every chunk from `from` on; says whether all layers below the newest are folded.
async fn each_chunk(
    core: &Core,
    site: &Site,
    keys: SparseKeys,
    from: u32,
) -> Result<Folded, Error> {
    let mut next = Some(from);
    let mut outcome = Folded::Done;
    while let Some(from) = next {
        let snapshot = core.store().meta.snapshot(&site.placement).await?;
        let Some(chunk) = load::next_chunk(&snapshot, keys, from)? else { break };
        drop(snapshot);
        let target = Target { site: site.clone(), keys, chunk };
        loop {
            match core.folding().alone(core, &target).await? {
                Folded::More => {}
                Folded::Done => break,
                Folded::Gone => return Ok(Folded::Gone),
                Folded::Held => {
                    outcome = Folded::Held;
                    break;
                }
            }
        }
        next = chunk.checked_add(1);
    }
    Ok(outcome)
}
