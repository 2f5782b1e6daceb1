//! What the whole-store tests share: a user of metadata and extents together, with a model of what
//! it must find after whatever happens.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test binary uses its part")]

use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zaffre_store::disk::Disk;
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::extents::{ExtentOptions, Owner, Upkeep};
use zaffre_store::{
    Abort, OpenError, Placement, Snapshot, Store, StoreError, StoreOptions, TransactError, Tx,
};
use zaffre_testkit::Random;

/// Everything small, so that a short script turns journals over and fills segments.
pub fn options() -> StoreOptions {
    StoreOptions {
        cache_bytes: 256 * 1024,
        memory_bytes: 6 * 1024,
        extents: ExtentOptions { segment_bytes: 48 * 1024, writers: 2, open_files: 8 },
        clock: None,
    }
}

pub fn open(disk: Arc<dyn Disk>) -> Result<Store, OpenError> {
    Store::open(disk, &options())
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

type Key = (u8, u8);

fn place(number: u8) -> Placement {
    Placement::new(vec![b'p', number])
}

fn cause(error: TransactError<StoreError>) -> StoreError {
    match error {
        TransactError::Body(error) | TransactError::Store(error) => error,
    }
}

fn body(random: &mut Random, length: usize) -> Bytes {
    let start = random.below(256);
    (0..length as u64).map(|i| ((start + i * 7) % 256).to_le_bytes()[0]).collect()
}

/// Marks an object whose bytes are extents; others follow the mark themselves.
const IN_EXTENTS: u8 = 1;

/// What a script expects to find, and what it cannot know.
#[derive(Clone, Default)]
pub struct Model {
    /// Every state an object may be in: one if the last write was answered.
    states: BTreeMap<Key, BTreeSet<Option<Bytes>>>,
    pub acknowledged: u64,
}

impl Model {
    fn settle(&mut self, key: Key, body: Option<Bytes>) {
        self.states.insert(key, BTreeSet::from([body]));
        self.acknowledged += 1;
    }

    fn doubt(&mut self, key: Key, body: Option<Bytes>) {
        self.states.entry(key).or_insert_with(|| BTreeSet::from([None])).insert(body);
    }

    /// The store holds exactly what it may hold.
    pub async fn verify(&mut self, store: &Store) {
        for (key, states) in &mut self.states {
            let got = load(store, *key).await.expect("readable");
            assert!(states.contains(&got), "object {key:?} is neither its old nor its new self");
            // From here on it must stay what it is.
            *states = BTreeSet::from([got]);
        }
    }

    /// Like `verify`, but an error instead of an object is fine; true if there was one.
    pub async fn never_wrong(&self, store: &Store) -> bool {
        let mut detected = false;
        for (key, states) in &self.states {
            match load(store, *key).await {
                Ok(got) => assert!(states.contains(&got), "object {key:?} came back wrong"),
                Err(_) => detected = true,
            }
        }
        detected
    }
}

/// Reads an object and checks that its rows belong to one commit.
async fn load(store: &Store, (at, name): Key) -> Result<Option<Bytes>, StoreError> {
    let snapshot = store.meta.snapshot(&place(at)).await?;
    let object = snapshot.get(&[b'o', name])?;
    let index = snapshot.get(&[b'i', name])?;
    let stamps = (object.as_ref().map(|row| row.slice(..8)), index);
    assert_eq!(stamps.0, stamps.1, "an object without its index, or the other way round");
    let Some(object) = object else {
        assert_eq!(snapshot.get(&[b'x', name])?, None, "runs without an object");
        return Ok(None);
    };
    if object[8] != IN_EXTENTS {
        return Ok(Some(Bytes::copy_from_slice(&object[9..])));
    }
    read_runs(store, &snapshot, name).await.map(Some)
}

async fn read_runs(store: &Store, snapshot: &Snapshot, name: u8) -> Result<Bytes, StoreError> {
    let runs = snapshot.get(&[b'x', name])?.expect("an object in extents has runs");
    let mut body = Vec::new();
    for run in runs::decode(&runs)? {
        body.extend_from_slice(&store.extents.read(&run.extent, 0..run.length).await?);
    }
    Ok(Bytes::from(body))
}

/// Works on a store by a script that a seed decides.
pub struct User {
    pub store: Store,
    pub model: Model,
    pub random: Random,
    upkeep: Upkeep,
    first_place: u8,
}

impl User {
    pub fn new(store: Store, seed: u64) -> Self {
        let upkeep = upkeep(&store);
        Self { store, model: Model::default(), random: Random(seed), upkeep, first_place: 0 }
    }

    /// Goes on with a model after a restart.
    pub fn with_model(store: Store, model: Model, seed: u64) -> Self {
        Self { model, ..Self::new(store, seed) }
    }

    /// A user of other objects in the same store.
    pub fn neighbour(&self, number: u8) -> Self {
        let seed = self.random.0 ^ (u64::from(number) << 40);
        Self { first_place: 2 * number, ..Self::new(self.store.clone(), seed) }
    }

    fn key(&mut self) -> Key {
        let mut byte = |bound| u8::try_from(self.random.below(bound)).expect("small");
        (self.first_place + byte(2), byte(6))
    }

    /// One step of the script.
    pub async fn step(&mut self) -> Result<(), StoreError> {
        match self.random.below(20) {
            0..9 => {
                let length = self.random.index(900);
                self.put(length, false).await
            }
            9..15 => {
                let length = 1 + self.random.index(9_000);
                self.put(length, true).await
            }
            15..18 => self.delete().await,
            18 => self.tidy().await,
            _ => {
                self.store.extents.settle().await;
                Ok(())
            }
        }
    }

    async fn put(&mut self, length: usize, in_extents: bool) -> Result<(), StoreError> {
        let (key, body) = (self.key(), body(&mut self.random, length));
        let open = self.store.extents.begin_write();
        let runs = if in_extents { Some(self.write_extents(key, &body).await?) } else { None };
        let inline = if in_extents { Bytes::new() } else { body.clone() };
        let form = if in_extents { IN_EXTENTS } else { 0 };
        let result = self.swap(key, Some((form, inline, runs))).await;
        drop(open);
        match result {
            Ok(()) => self.model.settle(key, Some(body)),
            Err(_) => self.model.doubt(key, Some(body)),
        }
        result
    }

    async fn write_extents(&mut self, key: Key, body: &Bytes) -> Result<Vec<u8>, StoreError> {
        let owner = Owner { placement: place(key.0), key: vec![b'x', key.1] };
        let (mut runs, mut at) = (Vec::new(), 0);
        for piece in body.chunks(4_000) {
            let payload = Bytes::copy_from_slice(piece);
            let extent = self.store.extents.write(&owner, payload).await?;
            runs.push(Run { at, length: extent.length, extent, skip: 0 });
            at += extent.length;
        }
        Ok(runs::encode(&runs))
    }

    async fn delete(&mut self) -> Result<(), StoreError> {
        let key = self.key();
        let result = self.swap(key, None).await;
        match result {
            Ok(()) => self.model.settle(key, None),
            Err(_) => self.model.doubt(key, None),
        }
        result
    }

    async fn swap(
        &mut self,
        (at, name): Key,
        object: Option<(u8, Bytes, Option<Vec<u8>>)>,
    ) -> Result<(), StoreError> {
        let body = move |tx: &mut Tx<'_>| {
            let old = tx.get(&[b'x', name])?;
            for kind in [b'o', b'i', b'x'] {
                tx.delete(&[kind, name])?;
            }
            if let Some((form, inline, runs)) = &object {
                let stamp = tx.stamp().0.to_le_bytes();
                tx.put(&[b'o', name], &[&stamp[..], &[*form], inline].concat())?;
                tx.put(&[b'i', name], &stamp)?;
                if let Some(runs) = runs {
                    tx.put(&[b'x', name], runs)?;
                }
            }
            Ok::<_, Abort<StoreError>>(old)
        };
        let old = self.store.meta.transact(&place(at), body).await.map_err(cause)?;
        if let Some(old) = old {
            let refs: Vec<_> = runs::decode(&old)?.iter().map(|run| run.extent).collect();
            self.store.extents.release(&refs);
        }
        Ok(())
    }

    /// Background work: recovery, orphans, compaction.
    pub async fn tidy(&mut self) -> Result<(), StoreError> {
        self.store.extents.recover_unsealed().await?;
        self.store.extents.count_segments(8).await?;
        self.upkeep.free().await?;
        self.upkeep.scan_orphans(512).await?;
        self.upkeep.compact(4).await?;
        self.upkeep.free().await?;
        Ok(())
    }

    /// Ends the process's use of the store and keeps what is known.
    pub fn stop(self) -> Model {
        self.model
    }
}

fn upkeep(store: &Store) -> Upkeep {
    Upkeep::new(store.extents.clone(), store.meta.clone(), store.pins.clone())
}
