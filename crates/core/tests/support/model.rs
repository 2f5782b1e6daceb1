//! A small executable model of one container, and a client that compares it with the service.

use super::{World, acquire, commit, get, if_absent, if_match, list, must, pattern, put, stage};
use std::collections::BTreeMap;
use std::time::Duration;
use zaffre_base::{Guid, Stamp};
use zaffre_core::blob::op::{DeleteBlob, ListBlobs, PutBlob, PutBlock, PutBlockList};
use zaffre_core::blob::reply::{BlockView, Written};
use zaffre_core::blob::{self, ByteStream};
use zaffre_core::{CoreOptions, Error, Layout};
use zaffre_domain::blob::BlockSource::{self, Committed, Latest, Uncommitted};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::lease::LeaseCommand;
use zaffre_domain::{LeaseOn, Refusal};

pub const NAMES: [&str; 5] = ["a", "a/1", "a/2", "b", "é"];
const IDS: [&str; 5] = ["b1", "b2", "b3", "b4", "longer"];
const SIZES: [usize; 7] = [0, 1, 64, 65, 5_000, 16_384, 70_000];
const HOLDER: u128 = 7;

/// Small pieces, so that small data takes every path.
pub fn options() -> CoreOptions {
    CoreOptions {
        container_delete_delay: Duration::ZERO,
        layout: Layout { inline_bytes: 64, piece_bytes: 16 * 1024, pieces_per_commit: 2 },
        ..CoreOptions::default()
    }
}

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(bound).unwrap_or(1)).unwrap_or(0)
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
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
#[derive(Clone, Default)]
pub struct Model {
    blobs: BTreeMap<String, Blob>,
    staged: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
}

type Expected = Result<(), Refusal>;

impl Model {
    /// What can be seen of every blob.
    pub fn view(&self) -> Seen {
        let see = |name: &&str| {
            let blob = self.blobs.get(*name);
            let staged = self.staged.get(*name).into_iter().flatten();
            let blocks = blob.map(|blob| blob.blocks.clone()).unwrap_or_default();
            SeenBlob {
                bytes: blob.map(|blob| blob.bytes.clone()),
                metadata: blob.and_then(|blob| blob.metadata.clone()),
                leased: blob.is_some_and(|blob| blob.lease == Lease::Held),
                committed: blocks.iter().map(|(id, bytes)| (id.clone(), bytes.len())).collect(),
                staged: staged.map(|(id, bytes)| (id.clone(), bytes.len())).collect(),
            }
        };
        NAMES.iter().map(|name| ((*name).to_owned(), see(name))).collect()
    }

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

    fn put(
        &mut self,
        name: &str,
        bytes: Vec<u8>,
        lease: Option<u128>,
        condition: Condition,
    ) -> Expected {
        self.may_replace(name, lease, condition)?;
        self.replace(name, bytes, Vec::new());
        Ok(())
    }

    fn set_metadata(&mut self, name: &str, value: &str, condition: Condition) -> Expected {
        let blob = self.blobs.get_mut(name).ok_or(Refusal::BlobNotFound)?;
        match (blob.lease, condition) {
            (Lease::Held, _) => return Err(Refusal::LeaseIdMissing(LeaseOn::Blob)),
            (_, Condition::Stale) => return Err(Refusal::ConditionNotMet),
            _ => {}
        }
        blob.metadata = Some(value.to_owned());
        Self::after_write(blob);
        Ok(())
    }

    fn change_lease(&mut self, name: &str, command: LeaseCommand) -> Expected {
        let blob = self.blobs.get_mut(name).ok_or(Refusal::BlobNotFound)?;
        blob.lease = match (command, blob.lease) {
            (LeaseCommand::Acquire { .. }, _) => Lease::Held,
            (LeaseCommand::Release { .. }, Lease::Free) => {
                return Err(Refusal::LeaseIdMismatchWithLeaseOperation(LeaseOn::Blob));
            }
            (LeaseCommand::Release { .. }, _) => Lease::Free,
            (_, Lease::Free) => {
                return Err(Refusal::LeaseNotPresentWithLeaseOperation(LeaseOn::Blob));
            }
            _ => Lease::Broken,
        };
        Ok(())
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

/// What can be seen of a blob. Blocks by id and length.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SeenBlob {
    bytes: Option<Vec<u8>>,
    metadata: Option<String>,
    leased: bool,
    committed: Vec<(String, usize)>,
    staged: Vec<(String, usize)>,
}

/// What can be seen of every blob.
pub type Seen = BTreeMap<String, SeenBlob>;

/// The store failed under an operation.
#[derive(Debug)]
pub struct Stopped;

/// A client that does random things and knows what should come of them.
pub struct Run {
    pub world: World,
    pub model: Model,
    pub random: Random,
    /// Downloads that were begun and what they must bring.
    pub held: Vec<(ByteStream, Vec<u8>)>,
    /// What the model would be if the operation under which the store failed did happen.
    pub perhaps: Option<Model>,
}

impl Run {
    pub fn new(world: World, seed: u64) -> Self {
        let model = Model::default();
        Self { world, model, random: Random(seed), held: Vec::new(), perhaps: None }
    }

    /// Compares an outcome with what the model said, and goes on with the model that follows.
    #[track_caller]
    fn settle<T>(
        &mut self,
        got: Result<T, Error>,
        want: Expected,
        next: Model,
    ) -> Result<Option<T>, Stopped> {
        match (got, want) {
            (Ok(value), Ok(())) => {
                self.model = next;
                Ok(Some(value))
            }
            (Err(Error::Refused(got)), Err(want)) if got == want => Ok(None),
            (Err(Error::Store(_)), want) => {
                self.perhaps = want.is_ok().then_some(next);
                Err(Stopped)
            }
            (Ok(_), Err(want)) => panic!("succeeded, expected {want:?}"),
            (Err(got), want) => panic!("{got:?}, expected {want:?}"),
        }
    }

    fn written(&mut self, name: &str, written: Option<Written>) {
        if let (Some(written), Some(blob)) = (written, self.model.blobs.get_mut(name)) {
            blob.written = Some(written);
        }
    }

    fn conditions(&self, name: &str, condition: Condition) -> Conditions {
        let current = self.model.blobs.get(name).and_then(|blob| blob.written);
        match condition {
            Condition::None => Conditions::default(),
            Condition::Absent => if_absent(),
            Condition::Current => if_match(current.unwrap_or(Written::at(Stamp(1)))),
            Condition::Stale => if_match(Written::at(Stamp(1))),
        }
    }

    /// Does one thing.
    pub async fn step(&mut self) -> Result<(), Stopped> {
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
            10 => self.hold(name, &at).await,
            11 => self.finish_download().await,
            12 => self.world.core.run_background_once().await.map(|_| ()).map_err(|_| Stopped),
            _ => self.look(name).await,
        }
    }

    async fn put(
        &mut self,
        name: &str,
        at: &str,
        lease: Option<u128>,
        condition: Condition,
    ) -> Result<(), Stopped> {
        let bytes = self.random.bytes();
        let conditions = self.conditions(name, condition);
        let op = PutBlob { lease: lease.map(Guid), conditions, ..put(at) };
        let got = self.world.put_with(op, bytes.clone()).await;
        let mut next = self.model.clone();
        let want = next.put(name, bytes, lease, condition);
        let written = self.settle(got, want, next)?;
        self.written(name, written);
        Ok(())
    }

    async fn stage(&mut self, name: &str, at: &str, lease: Option<u128>) -> Result<(), Stopped> {
        let bytes = self.random.bytes();
        let id = self.random.pick(&IDS);
        let op = PutBlock { lease: lease.map(Guid), ..stage(at, id) };
        let body = super::body(bytes.clone());
        let got = blob::put_block(&self.world.core, self.world.ok(op), body).await;
        let mut next = self.model.clone();
        let want = next.stage(name, id, lease, bytes);
        self.settle(got, want, next).map(|_| ())
    }

    async fn commit(
        &mut self,
        name: &str,
        at: &str,
        lease: Option<u128>,
        condition: Condition,
    ) -> Result<(), Stopped> {
        let count = self.random.below(5);
        let kinds = [Latest, Latest, Latest, Committed, Uncommitted];
        let entries: Vec<_> =
            (0..count).map(|_| (self.random.pick(&kinds), self.random.pick(&IDS))).collect();
        let conditions = self.conditions(name, condition);
        let op = PutBlockList { lease: lease.map(Guid), conditions, ..commit(at, &entries) };
        let got = blob::put_block_list(&self.world.core, self.world.ok(op)).await;
        let mut next = self.model.clone();
        let want = next.commit(name, &entries, lease, condition);
        let written = self.settle(got, want, next)?;
        self.written(name, written);
        Ok(())
    }

    async fn delete(&mut self, name: &str, at: &str, lease: Option<u128>) -> Result<(), Stopped> {
        let op = DeleteBlob { lease: lease.map(Guid), ..super::delete(at) };
        let got = blob::delete_blob(&self.world.core, self.world.ok(op)).await;
        let mut next = self.model.clone();
        let want = next.delete(name, lease);
        self.settle(got, want, next).map(|_| ())
    }

    /// Deletes every blob there is.
    pub async fn delete_all(&mut self) -> Result<(), Stopped> {
        for name in NAMES {
            let held = self.model.blobs.get(name).is_some_and(|blob| blob.lease == Lease::Held);
            self.delete(name, &format!("photos/{name}"), held.then_some(HOLDER)).await?;
        }
        Ok(())
    }

    async fn set_metadata(
        &mut self,
        name: &str,
        at: &str,
        condition: Condition,
    ) -> Result<(), Stopped> {
        let condition = if condition == Condition::Absent { Condition::None } else { condition };
        let value = self.random.below(100).to_string();
        let conditions = self.conditions(name, condition);
        let got = self.world.set_metadata(at, "key", &value, conditions).await;
        let mut next = self.model.clone();
        let want = next.set_metadata(name, &value, condition);
        let written = self.settle(got, want, next)?;
        self.written(name, written);
        Ok(())
    }

    async fn lease(&mut self, name: &str, at: &str) -> Result<(), Stopped> {
        let release = LeaseCommand::Release { id: Guid(HOLDER) };
        let commands = [acquire(None, HOLDER), release, LeaseCommand::Break { period: None }];
        let command = self.random.pick(&commands);
        let got = self.world.lease(at, command).await;
        let mut next = self.model.clone();
        let want = next.change_lease(name, command);
        self.settle(got, want, next).map(|_| ())
    }

    async fn hold(&mut self, name: &str, at: &str) -> Result<(), Stopped> {
        if self.held.len() >= 3 {
            return Ok(());
        }
        match blob::get_blob(&self.world.core, self.world.ok(get(at))).await {
            Ok(reply) => self.held.push((reply.body, self.model.blobs[name].bytes.clone())),
            Err(Error::Refused(_)) => {}
            Err(Error::Store(_)) => return Err(Stopped),
        }
        Ok(())
    }

    pub async fn finish_download(&mut self) -> Result<(), Stopped> {
        if let Some((stream, want)) = self.held.pop() {
            let bytes = super::read(stream).await.map_err(|_| Stopped)?;
            assert_eq!(bytes, want, "a download changed");
        }
        Ok(())
    }

    /// What can be seen of one blob, by all ways there are to look.
    async fn see(&self, name: &str) -> Result<(SeenBlob, Option<Written>), Stopped> {
        let at = format!("photos/{name}");
        let mut seen = SeenBlob::default();
        let mut written = None;
        match self.world.get_with(get(&at)).await {
            Ok((bytes, view)) => {
                written = Some(view.written);
                seen.metadata = view.metadata.get("key").cloned();
                seen.leased = view.lease.is_locked();
                seen.bytes = Some(bytes);
            }
            Err(Error::Refused(Refusal::BlobNotFound)) => {}
            Err(Error::Store(_)) => return Err(Stopped),
            Err(other) => panic!("{name}: {other:?}"),
        }
        match self.world.blocks(&at).await {
            Ok(reply) => {
                (seen.committed, seen.staged) = (ids(reply.committed), ids(reply.uncommitted));
            }
            Err(Error::Refused(Refusal::BlobNotFound)) => {}
            Err(Error::Store(_)) => return Err(Stopped),
            Err(other) => panic!("{name}: {other:?}"),
        }
        Ok((seen, written))
    }

    /// What can be seen of every blob.
    pub async fn see_all(&self) -> Result<Seen, Stopped> {
        let mut all = Seen::new();
        for name in NAMES {
            all.insert(name.to_owned(), self.see(name).await?.0);
        }
        Ok(all)
    }

    /// After the store failed: takes the model that fits what is there, with or without the last
    /// operation. Anything else is an error.
    pub async fn recover(&mut self) {
        let seen = must(self.see_all().await);
        if let Some(perhaps) = self.perhaps.take()
            && perhaps.view() == seen
        {
            self.model = perhaps;
        }
        assert_eq!(seen, self.model.view(), "neither with nor without the last operation");
        for name in NAMES {
            let (_, written) = must(self.see(name).await);
            self.written(name, written);
        }
    }

    /// Compares one blob with the model.
    async fn look(&mut self, name: &str) -> Result<(), Stopped> {
        let (seen, written) = self.see(name).await?;
        assert_eq!(Some(&seen), self.model.view().get(name), "{name}");
        assert_eq!(written, self.model.blobs.get(name).and_then(|blob| blob.written), "{name}");
        let bytes = seen.bytes.unwrap_or_default();
        let middle = bytes.len() / 2;
        if middle > 0 {
            let first = u64::try_from(middle).unwrap_or(0);
            let range = self.world.range(&format!("photos/{name}"), first, first + 9_999).await;
            let end = bytes.len().min(middle + 10_000);
            assert_eq!(range.map_err(|_| Stopped)?, bytes[middle..end], "{name}");
        }
        Ok(())
    }

    /// Compares everything, listings included, with the model.
    pub async fn look_at_all(&mut self) {
        for name in NAMES {
            must(self.look(name).await);
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

fn ids(blocks: Option<Vec<BlockView>>) -> Vec<(String, usize)> {
    let view = |block: BlockView| {
        let id = String::from_utf8(block.id).unwrap_or_default();
        (id, usize::try_from(block.length).unwrap_or(usize::MAX))
    };
    blocks.unwrap_or_default().into_iter().map(view).collect()
}
