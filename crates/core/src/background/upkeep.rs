//! The upkeep of the segments: what crashes left, orphans, sparse segments.
//!
//! Must never hurry: it works in small steps, so that requests come first.

use crate::Core;
use std::time::Duration;
use zaffre_store::StoreError;
use zaffre_store::extents::Upkeep;

/// How long it rests between two rounds.
const REST: Duration = Duration::from_secs(10);

/// How long it rests between two steps of a scan.
const PAUSE: Duration = Duration::from_millis(20);

/// Records looked at in one step of a scan for orphans.
const RECORDS: u64 = 256;

/// Segments counted, and segments rewritten, in one round.
const COUNTED: usize = 4;
const REWRITTEN: usize = 1;

/// Keeps the segments in order for as long as it runs.
pub(super) async fn run(core: &Core) {
    let store = core.store();
    if let Err(error) = store.extents.recover_unsealed().await {
        tracing::warn!(%error, "segments left open by a crash could not be looked at");
    }
    let (extents, meta, pins) = (store.extents.clone(), store.meta.clone(), store.pins.clone());
    let mut upkeep = Upkeep::new(extents, meta, pins);
    let mut next_scan = tokio::time::Instant::now();
    loop {
        if tokio::time::Instant::now() >= next_scan {
            next_scan = tokio::time::Instant::now() + core.options().full_sweep_every;
            log(scan(&mut upkeep).await);
        }
        log(round(core, &mut upkeep).await);
        tokio::time::sleep(REST).await;
    }
}

async fn scan(upkeep: &mut Upkeep) -> Result<(), StoreError> {
    loop {
        let report = upkeep.scan_orphans(RECORDS).await?;
        upkeep.free().await?;
        if report.finished {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn round(core: &Core, upkeep: &mut Upkeep) -> Result<(), StoreError> {
    core.store().extents.count_segments(COUNTED).await?;
    upkeep.compact(REWRITTEN).await?;
    upkeep.free().await?;
    Ok(())
}

fn log(result: Result<(), StoreError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "the upkeep of the segments failed and will be tried again");
    }
}
