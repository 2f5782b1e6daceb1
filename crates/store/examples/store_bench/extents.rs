//! Durable extents: so many writers, each waiting for its last one.
//!
//! Must never leave bytes behind that make the next round slower: a round frees what it wrote.

use crate::commits::placement;
use crate::report::{Result, per_second};
use bytes::Bytes;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use zaffre_store::Store;
use zaffre_store::extents::Owner;

/// Extents per second.
pub(crate) async fn run(store: &Store, writers: u32, size: usize, time: Duration) -> Result<f64> {
    let payload = Bytes::from(vec![0x5A; size]);
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for writer in 0..writers {
        let (extents, payload) = (store.extents.clone(), payload.clone());
        tasks.spawn(async move {
            let owner = Owner { placement: placement(), key: writer.to_be_bytes().to_vec() };
            let mut written = Vec::new();
            while begun.elapsed() < time {
                let _open = extents.begin_write();
                written.push(extents.write(&owner, payload.clone()).await?);
            }
            Result::Ok(written)
        });
    }
    let mut written = Vec::new();
    while let Some(done) = tasks.join_next().await {
        written.extend(done??);
    }
    let rate = per_second(u32::try_from(written.len())?, begun.elapsed());
    store.extents.release(&written);
    store.extents.settle().await;
    Ok(rate)
}
