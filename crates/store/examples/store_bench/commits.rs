//! Durable commits: read-modify-write of one key of many, plus an index key.
//!
//! Must never count a commit that was not acknowledged.

use crate::report::{Result, per_second};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use zaffre_store::disk::RealDisk;
use zaffre_store::{Abort, Placement, Store, StoreOptions, Tx};

const KEY_BYTES: usize = 64;
const VALUE_BYTES: usize = 400;
/// Rows per transaction when the keys are made.
const LOAD_BATCH: u32 = 1_000;
/// Such transactions that wait together.
const LOAD_AHEAD: usize = 8;
/// The number of the hot key: none of the spread ones.
pub(crate) const HOT: u32 = u32::MAX;

/// Which keys a client writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    /// Any of the first so many.
    Spread(u32),
    /// All clients the same one.
    Hot,
}

/// Opens the store in `folder`.
pub(crate) fn open(folder: &Path) -> Result<Store> {
    let disk = RealDisk::create(folder)?;
    Ok(Store::open(Arc::new(disk), &StoreOptions::default())?)
}

pub(crate) fn placement() -> Placement {
    Placement::new(&b"bench"[..])
}

/// The row under test with this number.
pub(crate) fn key(number: u32) -> Vec<u8> {
    padded(b'K', number)
}

fn index_key(number: u32) -> Vec<u8> {
    padded(b'N', number)
}

/// Keys of neighbouring numbers are far apart, as names hashed by users are.
fn padded(kind: u8, number: u32) -> Vec<u8> {
    let mut key = vec![kind];
    key.extend_from_slice(&number.wrapping_mul(0x9E37_79B1).to_be_bytes());
    key.resize(KEY_BYTES, b'.');
    key
}

/// A value that counts: the first bytes are the count.
fn value(count: u64) -> Vec<u8> {
    let mut value = count.to_le_bytes().to_vec();
    value.resize(VALUE_BYTES, b'v');
    value
}

/// What a value has counted.
pub(crate) fn count_of(value: &[u8]) -> u64 {
    value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Makes the keys with numbers below `keys`.
pub(crate) async fn load(store: &Store, keys: u32) -> Result<()> {
    let mut under_way = JoinSet::new();
    for first in (0..keys).step_by(LOAD_BATCH.try_into()?) {
        let meta = store.meta.clone();
        let numbers = first..keys.min(first + LOAD_BATCH);
        under_way.spawn(async move {
            let body = move |tx: &mut Tx<'_>| -> std::result::Result<(), Abort<()>> {
                for number in numbers.clone() {
                    tx.put(&key(number), &value(0))?;
                }
                Ok(())
            };
            meta.transact(&placement(), body).await.map_err(|error| format!("{error:?}"))
        });
        while under_way.len() >= LOAD_AHEAD {
            under_way.join_next().await.transpose()?.transpose()?;
        }
    }
    while under_way.join_next().await.transpose()?.transpose()?.is_some() {}
    Ok(())
}

/// Adds one to a key and writes its index key.
async fn bump(store: &Store, number: u32) -> Result<()> {
    let body = move |tx: &mut Tx<'_>| -> std::result::Result<(), Abort<()>> {
        let key = key(number);
        let count = tx.get(&key)?.map_or(0, |value| count_of(&value));
        tx.put(&key, &value(count + 1))?;
        tx.put(&index_key(number), &(count + 1).to_le_bytes())?;
        Ok(())
    };
    let done = store.meta.transact(&placement(), body).await;
    done.map_err(|error| format!("a commit failed: {error:?}").into())
}

/// What a run of clients did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) commits: u32,
    pub(crate) per_second: f64,
}

/// When clients stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    Passed(Duration),
    Done(u32),
}

/// Lets so many clients commit one after the other.
pub(crate) async fn run(store: &Store, clients: u32, keys: Keys, until: Until) -> Result<Run> {
    let begun = Instant::now();
    let started = Arc::new(AtomicU32::new(0));
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let (store, started) = (store.clone(), Arc::clone(&started));
        tasks.spawn(async move {
            let mut random = Random::new(client);
            let mut commits = 0_u32;
            loop {
                let over = match until {
                    Until::Passed(time) => begun.elapsed() >= time,
                    Until::Done(wanted) => started.fetch_add(1, Ordering::Relaxed) >= wanted,
                };
                if over {
                    return Result::Ok(commits);
                }
                let number = match keys {
                    Keys::Spread(keys) => random.below(keys),
                    Keys::Hot => HOT,
                };
                bump(&store, number).await?;
                commits += 1;
            }
        });
    }
    let mut commits = 0;
    while let Some(done) = tasks.join_next().await {
        commits += done??;
    }
    Ok(Run { commits, per_second: per_second(commits, begun.elapsed()) })
}

/// Numbers that look random: xorshift, the same for each run.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u32) -> Self {
        Self(0x2545_F491_4F6C_DD1D ^ u64::from(seed + 1) << 20)
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(bound)).unwrap_or_default()
    }
}
