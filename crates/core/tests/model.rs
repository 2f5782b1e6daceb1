//! Random sequences of operations against a small model of one container, on both engines, with
//! the background and long downloads in between. The seed of a failing sequence is printed.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;
use support::{
    World, acquire, commit, get, if_absent, if_match, list, must, pattern, put, stage, strict,
};
use zaffre_base::{Guid, Stamp};
use zaffre_core::blob::op::{DeleteBlob, ListBlobs, PutBlob, PutBlock, PutBlockList};
use zaffre_core::blob::reply::Written;
use zaffre_core::blob::{self, ByteStream};
use zaffre_core::{CoreOptions, Error, Layout};
use zaffre_domain::blob::BlockSource::{self, Committed, Latest, Uncommitted};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::lease::LeaseCommand;
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::Store;

const SEEDS: u64 = 100;
const STEPS: usize = 150;
const NAMES: [&str; 5] = ["a", "a/1", "a/2", "b", "é"];
const IDS: [&str; 5] = ["b1", "b2", "b3", "b4", "longer"];
const SIZES: [usize; 7] = [0, 1, 64, 65, 5_000, 16_384, 70_000];
const HOLDER: u128 = 7;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(bound).unwrap_or(1)).unwrap_or(0)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn bytes(&mut self) -> Vec<u8> {
        let seed = u8::try_from(self.below(256)).unwrap_or(0);
        let size = self.pick(&SIZES);
        pattern(size, seed)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Lease {
    #[default]
    Free,
    Held,
    Broken,
}

#[derive(Clone, Debug, Default)]
struct Blob {
    bytes: Vec<u8>,
    blocks: Vec<(String, Vec<u8>)>,
    metadata: Option<String>,
    written: Option<Written>,
    lease: Lease,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    None,
    Absent,
    Current,
    Stale,
}

/// The container as it should be.
#[derive(Default)]
struct Model {
    blobs: BTreeMap<String, Blob>,
    staged: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
}

type Expected = Result<(), Refusal>;

impl Model {
    fn lease(&self, name: &str, id: Option<u128>) -> Expected {
        let Some(blob) = self.blobs.get(name) else {
            return id.map_or(Ok(()), |_| Err(Refusal::LeaseNotPresent(LeaseOn::Blob)));
        };
        match (blob.lease, id) {
            (Lease::Held, None) => Err(Refusal::LeaseIdMissing(LeaseOn::Blob)),
            (Lease::Held, Some(HOLDER)) | (_, None) => Ok(()),
            (Lease::Held, Some(_)) => Err(Refusal::LeaseIdMismatch(LeaseOn::Blob)),
            (Lease::Free, Some(_)) => Err(Refusal::LeaseNotPresent(LeaseOn::Blob)),
            (Lease::Broken, Some(_)) => Err(Refusal::LeaseLost(LeaseOn::Blob)),
        }
    }

    fn may_replace(&self, name: &str, id: Option<u128>, condition: Condition) -> Expected {
        self.lease(name, id)?;
        let holds = self.blobs.get(name).is_some_and(|b| b.lease == Lease::Held);
        match (condition, self.blobs.contains_key(name)) {
            (Condition::Absent, true) if !holds => Err(Refusal::BlobAlreadyExists),
            (Condition::Stale, _) | (Condition::Current, false) => Err(Refusal::ConditionNotMet),
            _ => Ok(()),
        }
    }

    fn after_write(blob: &mut Blob) {
        if blob.lease == Lease::Broken {
            blob.lease = Lease::Free;
        }
    }

    fn replace(&mut self, name: &str, bytes: Vec<u8>, blocks: Vec<(String, Vec<u8>)>) {
        self.staged.remove(name);
        let blob = self.blobs.entry(name.to_owned()).or_default();
        (blob.bytes, blob.blocks, blob.metadata) = (bytes, blocks, None);
        Self::after_write(blob);
    }

    fn stage(&mut self, name: &str, id: &str, lease: Option<u128>, bytes: Vec<u8>) -> Expected {
        self.lease(name, lease)?;
        let staged = self.staged.entry(name.to_owned()).or_default();
        if staged.keys().any(|other| other.len() != id.len()) {
            return Err(Refusal::InvalidBlobOrBlock);
        }
        staged.insert(id.to_owned(), bytes);
        self.blobs.get_mut(name).into_iter().for_each(Self::after_write);
        Ok(())
    }

    fn commit(
        &mut self,
        name: &str,
        entries: &[(BlockSource, &str)],
        lease: Option<u128>,
        condition: Condition,
    ) -> Expected {
        let mixed = entries.iter().any(|(s, id)| entries.iter().any(|e| e.1 == *id && e.0 != *s));
        if mixed {
            return Err(Refusal::InvalidBlockList);
        }
        self.may_replace(name, lease, condition)?;
        let staged = |id: &str| self.staged.get(name).and_then(|s| s.get(id)).cloned();
        let committed = |id: &str| {
            let blocks = &self.blobs.get(name)?.blocks;
            blocks.iter().find(|(other, _)| other == id).map(|(_, bytes)| bytes.clone())
        };
        let mut blocks = Vec::new();
        for (source, id) in entries {
            let bytes = match source {
                Committed => committed(id),
                Uncommitted => staged(id),
                Latest => staged(id).or_else(|| committed(id)),
            };
            blocks.push(((*id).to_owned(), bytes.ok_or(Refusal::InvalidBlockList)?));
        }
        let whole = blocks.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        self.replace(name, whole, blocks);
        Ok(())
    }

    fn delete(&mut self, name: &str, lease: Option<u128>) -> Expected {
        if !self.blobs.contains_key(name) && !self.staged.contains_key(name) {
            return Err(Refusal::BlobNotFound);
        }
        self.lease(name, lease)?;
        self.blobs.remove(name);
        self.staged.remove(name);
        Ok(())
    }
}

/// Compares an outcome with what the model says, and returns whether it was a success.
#[track_caller]
fn agree<T>(got: &Result<T, Error>, want: &Expected) -> bool {
    match (got, want) {
        (Ok(_), Ok(())) => true,
        (Err(Error::Refused(got)), Err(want)) if got == want => false,
        (Ok(_), Err(want)) => panic!("succeeded, expected {want:?}"),
        (Err(got), want) => panic!("{got:?}, expected {want:?}"),
    }
}

struct Run {
    world: World,
    model: Model,
    random: Random,
    /// Downloads that were begun and what they must bring.
    held: Vec<(ByteStream, Vec<u8>)>,
}

impl Run {
    fn conditions(&self, name: &str, condition: Condition) -> Conditions {
        let current = self.model.blobs.get(name).and_then(|blob| blob.written);
        match condition {
            Condition::None => Conditions::default(),
            Condition::Absent => if_absent(),
            Condition::Current => if_match(current.unwrap_or(Written { stamp: Stamp(1) })),
            Condition::Stale => if_match(Written { stamp: Stamp(1) }),
        }
    }

    async fn step(&mut self) {
        let name = self.random.pick(&NAMES);
        let at = format!("photos/{name}");
        let lease = self.random.pick(&[None, None, Some(HOLDER), Some(9)]);
        let kinds = [Condition::None, Condition::Absent, Condition::Current, Condition::Stale];
        let condition = self.random.pick(&kinds);
        match self.random.below(14) {
            0 | 1 => self.put(name, &at, lease, condition).await,
            2..=4 => self.stage(name, &at, lease).await,
            5 | 6 => self.commit(name, &at, lease, condition).await,
            7 => self.delete(name, &at, lease).await,
            8 => self.set_metadata(name, &at, condition).await,
            9 => self.lease(name, &at).await,
            10 => self.hold(&at).await,
            11 => self.finish_download().await,
            12 => drop(must(self.world.core.run_background_once().await)),
            _ => self.look(name).await,
        }
    }

    async fn put(&mut self, name: &str, at: &str, lease: Option<u128>, condition: Condition) {
        let bytes = self.random.bytes();
        let conditions = self.conditions(name, condition);
        let op = PutBlob { lease: lease.map(Guid), conditions, ..put(at) };
        let got = self.world.put_with(op, bytes.clone()).await;
        let want = self.model.may_replace(name, lease, condition);
        if agree(&got, &want) {
            self.model.replace(name, bytes, Vec::new());
            self.model.blobs.get_mut(name).expect("just put").written = got.ok();
        }
    }

    async fn stage(&mut self, name: &str, at: &str, lease: Option<u128>) {
        let bytes = self.random.bytes();
        let id = self.random.pick(&IDS);
        let op = PutBlock { lease: lease.map(Guid), ..stage(at, id) };
        let got =
            blob::put_block(&self.world.core, self.world.ok(op), support::body(bytes.clone()));
        agree(&got.await, &self.model.stage(name, id, lease, bytes));
    }

    async fn commit(&mut self, name: &str, at: &str, lease: Option<u128>, condition: Condition) {
        let count = self.random.below(5);
        let kinds = [Latest, Latest, Latest, Committed, Uncommitted];
        let entries: Vec<_> =
            (0..count).map(|_| (self.random.pick(&kinds), self.random.pick(&IDS))).collect();
        let conditions = self.conditions(name, condition);
        let op = PutBlockList { lease: lease.map(Guid), conditions, ..commit(at, &entries) };
        let got = blob::put_block_list(&self.world.core, self.world.ok(op)).await;
        if agree(&got, &self.model.commit(name, &entries, lease, condition)) {
            self.model.blobs.get_mut(name).expect("just committed").written = got.ok();
        }
    }

    async fn delete(&mut self, name: &str, at: &str, lease: Option<u128>) {
        let conditions = Conditions::default();
        let op = DeleteBlob { at: support::path(at), lease: lease.map(Guid), conditions };
        let got = blob::delete_blob(&self.world.core, self.world.ok(op)).await;
        agree(&got, &self.model.delete(name, lease));
    }

    async fn set_metadata(&mut self, name: &str, at: &str, condition: Condition) {
        let condition = if condition == Condition::Absent { Condition::None } else { condition };
        let value = self.random.below(100).to_string();
        let conditions = self.conditions(name, condition);
        let got = self.world.set_metadata(at, "key", &value, conditions).await;
        let Some(blob) = self.model.blobs.get_mut(name) else {
            agree(&got, &Err(Refusal::BlobNotFound));
            return;
        };
        let want = match (blob.lease, condition) {
            (Lease::Held, _) => Err(Refusal::LeaseIdMissing(LeaseOn::Blob)),
            (_, Condition::Stale) => Err(Refusal::ConditionNotMet),
            _ => Ok(()),
        };
        if agree(&got, &want) {
            (blob.metadata, blob.written) = (Some(value), got.ok());
            Model::after_write(blob);
        }
    }

    async fn lease(&mut self, name: &str, at: &str) {
        let release = LeaseCommand::Release { id: Guid(HOLDER) };
        let commands = [acquire(None, HOLDER), release, LeaseCommand::Break { period: None }];
        let command = self.random.pick(&commands);
        let got = self.world.lease(at, command).await;
        let Some(blob) = self.model.blobs.get_mut(name) else {
            agree(&got, &Err(Refusal::BlobNotFound));
            return;
        };
        let (want, after) = match (command, blob.lease) {
            (LeaseCommand::Acquire { .. }, _) => (Ok(()), Lease::Held),
            (LeaseCommand::Release { .. }, Lease::Free) => {
                let refusal = Refusal::LeaseIdMismatchWithLeaseOperation(LeaseOn::Blob);
                (Err(refusal), Lease::Free)
            }
            (LeaseCommand::Release { .. }, _) => (Ok(()), Lease::Free),
            (_, Lease::Free) => {
                let refusal = Refusal::LeaseNotPresentWithLeaseOperation(LeaseOn::Blob);
                (Err(refusal), Lease::Free)
            }
            _ => (Ok(()), Lease::Broken),
        };
        agree(&got, &want);
        blob.lease = after;
    }

    async fn hold(&mut self, at: &str) {
        if self.held.len() < 3
            && let Ok(reply) = blob::get_blob(&self.world.core, self.world.ok(get(at))).await
        {
            let name = at.split_once('/').map_or("", |(_, name)| name);
            self.held.push((reply.body, self.model.blobs[name].bytes.clone()));
        }
    }

    async fn finish_download(&mut self) {
        if let Some((stream, want)) = self.held.pop() {
            assert_eq!(must(support::read(stream).await), want, "a download changed");
        }
    }

    /// Everything that can be seen of one blob.
    async fn look(&mut self, name: &str) {
        let at = format!("photos/{name}");
        match (self.world.get_with(get(&at)).await, self.model.blobs.get(name)) {
            (Ok((bytes, seen)), Some(want)) => {
                assert_eq!(bytes, want.bytes, "{name}");
                assert_eq!(Some(seen.written), want.written, "{name}");
                assert_eq!(seen.metadata.get("key"), want.metadata.as_ref(), "{name}");
                let middle = u64::try_from(bytes.len() / 2).unwrap_or(0);
                if middle > 0 {
                    let got = must(self.world.range(&at, middle, middle + 9_999).await);
                    let end = bytes.len().min(bytes.len() / 2 + 10_000);
                    assert_eq!(got, bytes[bytes.len() / 2..end], "{name}");
                }
            }
            (Err(Error::Refused(Refusal::BlobNotFound)), None) => {}
            (got, want) => panic!("{name}: {:?}, expected {want:?}", got.map(|_| ())),
        }
        let staged = self.model.staged.get(name);
        match (self.world.blocks(&at).await, self.model.blobs.get(name)) {
            (Ok(seen), blob) => {
                let seen_ids = |blocks: Option<Vec<blob::reply::BlockView>>| -> Vec<_> {
                    blocks.unwrap_or_default().into_iter().map(|b| (b.id, b.length)).collect()
                };
                let length = |bytes: &Vec<u8>| u64::try_from(bytes.len()).unwrap_or(0);
                let want: Vec<_> = staged.into_iter().flatten().collect();
                let want: Vec<_> =
                    want.iter().map(|(id, b)| (id.as_bytes().to_vec(), length(b))).collect();
                assert_eq!(seen_ids(seen.uncommitted), want, "{name}");
                let blocks = blob.map(|blob| blob.blocks.clone()).unwrap_or_default();
                let want: Vec<_> =
                    blocks.iter().map(|(id, b)| (id.as_bytes().to_vec(), length(b))).collect();
                assert_eq!(seen_ids(seen.committed), want, "{name}");
            }
            (Err(Error::Refused(Refusal::BlobNotFound)), None) if staged.is_none() => {}
            (got, _) => panic!("{name}: {got:?}"),
        }
    }

    async fn look_at_all(&mut self) {
        for name in NAMES {
            self.look(name).await;
        }
        let size = u32::try_from(1 + self.random.below(3)).unwrap_or(1);
        let committed: Vec<&String> = self.model.blobs.keys().collect();
        let flat = ListBlobs { max_results: size, ..list("photos") };
        assert_eq!(self.world.names(flat.clone()).await.iter().collect::<Vec<_>>(), committed);
        let mut all = committed.clone();
        all.extend(self.model.staged.keys());
        all.sort();
        all.dedup();
        let both = ListBlobs { include_uncommitted: true, ..flat };
        assert_eq!(self.world.names(both).await.iter().collect::<Vec<_>>(), all);
    }
}

async fn run(store: Store, seed: u64) {
    let options = CoreOptions {
        container_delete_delay: Duration::ZERO,
        layout: Layout { inline_bytes: 64, piece_bytes: 16 * 1024, pieces_per_commit: 2 },
        ..CoreOptions::default()
    };
    let world = World::with(store, options);
    must(world.create("photos").await);
    let random = Random(seed);
    let mut run = Run { world, model: Model::default(), random, held: Vec::new() };
    for _ in 0..STEPS {
        run.step().await;
    }
    run.look_at_all().await;
    while !run.held.is_empty() {
        run.finish_download().await;
    }
    if seed % 2 == 0 {
        for name in NAMES {
            let lease = run.model.blobs.get(name).filter(|blob| blob.lease == Lease::Held);
            let lease = lease.map(|_| HOLDER);
            run.delete(name, &format!("photos/{name}"), lease).await;
        }
    } else {
        must(run.world.delete_container("photos").await);
    }
    run.world.sweep().await;
    assert!(run.world.rows("photos").await.is_empty(), "rows are left");
    assert_eq!(run.world.live_extents().await, 0, "extents are left");
}

/// Runs every seed and names the one that fails.
async fn run_all(open: impl Fn(u64) -> Store) {
    let first = std::env::var("ZAFFRE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = first.map_or(0..SEEDS, |seed: u64| seed..seed + 1);
    println!("{} sequences of {STEPS} steps from seed {}", seeds.clone().count(), seeds.start);
    for seed in seeds {
        println!("seed {seed}");
        run(open(seed), seed).await;
    }
}

#[tokio::test]
async fn sequences_on_the_embedded_engine() {
    run_all(|_| must(Store::in_memory())).await;
}

#[tokio::test]
async fn sequences_on_the_strict_engine() {
    run_all(|seed| must(Store::strict(strict(seed)))).await;
}
