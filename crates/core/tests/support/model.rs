//! A small executable model of one container, and a client that compares it with the service.

use super::{World, acquire, commit, get, if_absent, if_match, list, must, pattern, put, stage};
use std::collections::BTreeMap;
use std::time::Duration;
use zaffre_base::{Guid, Stamp, Timestamp};
use zaffre_core::blob::op::{
    BlobPath, DeleteBlob, DeleteSnapshots, GetBlob, IncludeHistory, ListBlobs, PutBlob, PutBlock,
    PutBlockList, SnapshotBlob,
};
use zaffre_core::blob::reply::{BlobView, BlockView, ListEntry, MomentView, Written};
use zaffre_core::blob::{self, ByteStream};
use zaffre_core::settings::AccountSettings;
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
    /// When it was written, for the order of versions.
    tick: u64,
}

/// What a row of history is; in the order of those of one moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Snapshot,
    Version,
    Base,
}

#[derive(Clone, Debug)]
struct Past {
    bytes: Vec<u8>,
    metadata: Option<String>,
    deleted: bool,
}

/// Which histories are kept.
#[derive(Clone, Copy, Default)]
pub struct Rules {
    pub versions: bool,
    pub deleted: bool,
}

impl Rules {
    /// Each seed has its own.
    pub fn of(seed: u64) -> Self {
        Self { versions: seed % 4 == 1 || seed % 4 == 2, deleted: seed % 4 >= 2 }
    }

    pub fn settings(self) -> AccountSettings {
        AccountSettings {
            versioning: self.versions,
            blob_retention_days: self.deleted.then_some(2),
            ..AccountSettings::default()
        }
    }
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
    pub rules: Rules,
    blobs: BTreeMap<String, Blob>,
    staged: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    past: BTreeMap<String, BTreeMap<(u64, Kind), Past>>,
    /// The blocks of deleted blobs that are kept.
    buried: BTreeMap<String, Vec<(String, Vec<u8>)>>,
    tick: u64,
}

/// After everything else of a name.
const BASE: (u64, Kind) = (u64::MAX, Kind::Base);

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
                past: self.past.get(*name).into_iter().flatten().map(SeenPast::of).collect(),
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

    fn keep(&mut self, name: &str, at: (u64, Kind), blob: &Blob, deleted: bool) {
        let past = Past { bytes: blob.bytes.clone(), metadata: blob.metadata.clone(), deleted };
        self.past.entry(name.to_owned()).or_default().insert(at, past);
    }

    /// The current state makes room for another.
    fn supersede(&mut self, name: &str) {
        self.tick += 1;
        if let Some(blob) = self.blobs.get(name).cloned() {
            if self.rules.versions {
                self.keep(name, (blob.tick, Kind::Version), &blob, false);
            } else if self.rules.deleted {
                self.keep(name, (self.tick, Kind::Snapshot), &blob, true);
            }
        } else {
            self.make_room(name);
        }
    }

    /// A deleted blob makes room for another.
    fn make_room(&mut self, name: &str) {
        let tick = self.tick;
        if let Some(past) = self.past.get_mut(name)
            && let Some(base) = past.remove(&BASE)
        {
            past.insert((tick, Kind::Snapshot), base);
        }
    }

    fn snapshot(&mut self, name: &str, lease: Option<u128>) -> Expected {
        self.blobs.get(name).ok_or(Refusal::BlobNotFound)?;
        if lease.is_some() {
            self.lease(name, lease)?;
        }
        self.tick += 1;
        let blob = self.blobs[name].clone();
        self.keep(name, (self.tick, Kind::Snapshot), &blob, false);
        if self.rules.versions {
            self.keep(name, (blob.tick, Kind::Version), &blob, false);
            let tick = self.tick;
            self.blobs.entry(name.to_owned()).and_modify(|blob| blob.tick = tick);
        }
        Ok(())
    }

    fn undelete(&mut self, name: &str) -> Expected {
        let is_there = self.blobs.contains_key(name);
        let past = self.past.entry(name.to_owned()).or_default();
        if !is_there && past.is_empty() {
            return Err(Refusal::BlobNotFound);
        }
        past.iter_mut().filter(|(at, _)| **at != BASE).for_each(|(_, past)| past.deleted = false);
        if let (false, Some(base)) = (is_there, past.remove(&BASE)) {
            let Past { bytes, metadata, .. } = base;
            let blocks = self.buried.remove(name).unwrap_or_default();
            let blob = Blob { bytes, blocks, metadata, ..Blob::default() };
            self.blobs.insert(name.to_owned(), blob);
        }
        Ok(())
    }

    /// Deletes the moment that is the `index`th of its blob and not deleted.
    fn delete_moment(&mut self, name: &str, index: usize) -> Expected {
        let deleted = self.rules.deleted;
        let past = self.past.entry(name.to_owned()).or_default();
        let live: Vec<_> = past.iter().filter(|(_, p)| !p.deleted).map(|(at, _)| *at).collect();
        let at = live.get(index).ok_or(Refusal::BlobNotFound)?;
        if deleted {
            past.entry(*at).and_modify(|past| past.deleted = true);
        } else {
            past.remove(at);
        }
        Ok(())
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
        let blob = self.blobs.get(name).ok_or(Refusal::BlobNotFound)?;
        match (blob.lease, condition) {
            (Lease::Held, _) => return Err(Refusal::LeaseIdMissing(LeaseOn::Blob)),
            (_, Condition::Stale) => return Err(Refusal::ConditionNotMet),
            _ => {}
        }
        if self.rules.versions {
            self.supersede(name);
        }
        let tick = self.tick;
        let blob = self.blobs.get_mut(name).ok_or(Refusal::BlobNotFound)?;
        blob.tick = tick;
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
        self.supersede(name);
        self.staged.remove(name);
        let blob = self.blobs.entry(name.to_owned()).or_default();
        (blob.bytes, blob.blocks, blob.metadata) = (bytes, blocks, None);
        blob.tick = self.tick;
        Self::after_write(blob);
    }

    fn stage(&mut self, name: &str, id: &str, lease: Option<u128>, bytes: Vec<u8>) -> Expected {
        self.lease(name, lease)?;
        let staged = self.staged.entry(name.to_owned()).or_default();
        if staged.keys().any(|other| other.len() != id.len()) {
            return Err(Refusal::InvalidBlobOrBlock);
        }
        staged.insert(id.to_owned(), bytes);
        self.tick += 1;
        if !self.blobs.contains_key(name) {
            self.make_room(name);
        }
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

    fn delete(&mut self, name: &str, lease: Option<u128>, snapshots: DeleteSnapshots) -> Expected {
        if !self.blobs.contains_key(name) && !self.staged.contains_key(name) {
            return Err(Refusal::BlobNotFound);
        }
        self.lease(name, lease)?;
        let Some(blob) = self.blobs.get(name).cloned() else {
            self.staged.remove(name);
            return Ok(());
        };
        let past = self.past.entry(name.to_owned()).or_default();
        let is_live = |at: &(u64, Kind), past: &Past| at.1 == Kind::Snapshot && !past.deleted;
        match snapshots {
            DeleteSnapshots::Refuse if past.iter().any(|(at, past)| is_live(at, past)) => {
                return Err(Refusal::SnapshotsPresent);
            }
            DeleteSnapshots::Refuse => {}
            DeleteSnapshots::Include | DeleteSnapshots::Only if self.rules.deleted => {
                let live = past.iter_mut().filter(|(at, past)| is_live(at, past));
                live.for_each(|(_, past)| past.deleted = true);
            }
            DeleteSnapshots::Include | DeleteSnapshots::Only => {
                past.retain(|at, past| !is_live(at, past));
            }
        }
        if snapshots == DeleteSnapshots::Only {
            return Ok(());
        }
        if self.rules.versions {
            self.keep(name, (blob.tick, Kind::Version), &blob, false);
        } else if self.rules.deleted {
            self.keep(name, BASE, &blob, true);
            self.buried.insert(name.to_owned(), blob.blocks);
        }
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
    past: Vec<SeenPast>,
}

/// What can be seen of a moment of a blob; the bytes of a deleted one cannot.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SeenPast {
    kind: Kind,
    deleted: bool,
    length: usize,
    metadata: Option<String>,
    bytes: Option<Vec<u8>>,
}

impl SeenPast {
    fn of((at, past): (&(u64, Kind), &Past)) -> Self {
        Self {
            kind: at.1,
            deleted: past.deleted,
            length: past.bytes.len(),
            metadata: past.metadata.clone(),
            bytes: (!past.deleted).then(|| past.bytes.clone()),
        }
    }
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
        let rules = Rules::of(seed);
        world.settle_on(rules.settings());
        let model = Model { rules, ..Model::default() };
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
            blob.written = Some(Written::at(written.stamp));
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
        match self.random.below(20) {
            0 | 1 => self.put(name, &at, lease, condition).await,
            2..=4 => self.stage(name, &at, lease).await,
            5 | 6 => self.commit(name, &at, lease, condition).await,
            7 => {
                use DeleteSnapshots::{Include, Only, Refuse};
                let snapshots = self.random.pick(&[Refuse, Refuse, Include, Only]);
                self.delete(name, &at, lease, snapshots).await
            }
            13 | 14 => self.snapshot(name, &at, lease).await,
            15 | 16 => self.delete_moment(name, &at).await,
            17 => self.undelete(name, &at).await,
            18 => self.hold_moment(name, &at).await,
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

    async fn delete(
        &mut self,
        name: &str,
        at: &str,
        lease: Option<u128>,
        snapshots: DeleteSnapshots,
    ) -> Result<(), Stopped> {
        let op = DeleteBlob { lease: lease.map(Guid), snapshots, ..super::delete(at) };
        let got = blob::delete_blob(&self.world.core, self.world.ok(op)).await;
        let mut next = self.model.clone();
        let want = next.delete(name, lease, snapshots);
        self.settle(got, want, next).map(|_| ())
    }

    /// Deletes every blob there is, with its history, and lets everything that is kept end.
    pub async fn delete_all(&mut self) -> Result<(), Stopped> {
        for name in NAMES {
            let held = self.model.blobs.get(name).is_some_and(|blob| blob.lease == Lease::Held);
            let (at, lease) = (format!("photos/{name}"), held.then_some(HOLDER));
            self.delete(name, &at, lease, DeleteSnapshots::Include).await?;
            while let Some(moment) = self.moments(name).await?.into_iter().find(|m| !m.1) {
                self.delete_one(name, &at, Some(moment.0), 0).await?;
            }
        }
        self.world.advance(3 * 24 * 60 * 60);
        self.model.past.clear();
        self.model.staged.clear();
        Ok(())
    }

    async fn snapshot(&mut self, name: &str, at: &str, lease: Option<u128>) -> Result<(), Stopped> {
        let op = SnapshotBlob { lease: lease.map(Guid), ..super::snapshot(at) };
        let got = self.world.snapshot_with(op).await;
        let mut next = self.model.clone();
        let want = next.snapshot(name, lease);
        self.settle(got, want, next).map(|_| ())
    }

    async fn undelete(&mut self, name: &str, at: &str) -> Result<(), Stopped> {
        let got = self.world.undelete(at).await;
        let mut next = self.model.clone();
        let want = next.undelete(name);
        let brought_back = self.settle(got, want, next)?.is_some();
        if brought_back && self.model.blobs.get(name).is_some_and(|b| b.written.is_none()) {
            let (_, written) = self.see(name).await?;
            self.written(name, written);
        }
        Ok(())
    }

    async fn delete_moment(&mut self, name: &str, at: &str) -> Result<(), Stopped> {
        let live: Vec<_> =
            self.moments(name).await?.into_iter().filter(|(_, deleted)| !deleted).collect();
        let index = self.random.below(live.len().max(1));
        let moment = live.get(index).map(|(path, _)| path.clone());
        self.delete_one(name, at, moment, index).await
    }

    async fn delete_one(
        &mut self,
        name: &str,
        at: &str,
        moment: Option<BlobPath>,
        index: usize,
    ) -> Result<(), Stopped> {
        let missing = super::snapshot_of(at, Timestamp(1));
        let op = DeleteBlob { at: moment.unwrap_or(missing), ..super::delete(at) };
        let got = blob::delete_blob(&self.world.core, self.world.ok(op)).await;
        let mut next = self.model.clone();
        let want = next.delete_moment(name, index);
        self.settle(got, want, next).map(|_| ())
    }

    /// Begins to download a snapshot or a version.
    async fn hold_moment(&mut self, name: &str, at: &str) -> Result<(), Stopped> {
        let moments = self.moments(name).await?;
        let index = self.random.below(moments.len().max(1));
        let Some((path, false)) = moments.get(index).filter(|_| self.held.len() < 3).cloned()
        else {
            return Ok(());
        };
        let op = GetBlob { at: path, ..get(at) };
        let past = self.model.past[name].values().nth(index).map(|past| past.bytes.clone());
        match blob::get_blob(&self.world.core, self.world.ok(op)).await {
            Ok(reply) => self.held.push((reply.body, past.expect("listed"))),
            Err(Error::Store(_)) => return Err(Stopped),
            Err(other) => panic!("{name}: {other:?}"),
        }
        Ok(())
    }

    /// The moments of a blob in their order, and whether each is deleted.
    async fn moments(&self, name: &str) -> Result<Vec<(BlobPath, bool)>, Stopped> {
        let at = format!("photos/{name}");
        let listed = self.list_past(name).await?;
        Ok(listed
            .into_iter()
            .map(|view| {
                let path = match view.moment {
                    MomentView::Version { at: time, .. } => super::version_of(&at, time),
                    MomentView::Snapshot { at: time, .. } => super::snapshot_of(&at, time),
                    _ => super::path(&at),
                };
                (path, view.moment.deleted().is_some())
            })
            .collect())
    }

    async fn list_past(&self, name: &str) -> Result<Vec<BlobView>, Stopped> {
        let history = IncludeHistory {
            snapshots: true,
            versions: true,
            deleted: true,
            deleted_with_versions: false,
        };
        let (mut all, mut marker) = (Vec::new(), None);
        loop {
            let op = ListBlobs {
                prefix: name.to_owned(),
                history,
                include_metadata: true,
                max_results: 7,
                marker,
                ..list("photos")
            };
            let page = self.world.list(op).await.map_err(|_| Stopped)?;
            all.extend(page.entries.into_iter().filter_map(|entry| match entry {
                ListEntry::Blob(view) => Some(*view),
                ListEntry::Prefix(_) => None,
            }));
            marker = page.next;
            if marker.is_none() {
                all.retain(|view| view.name.as_str() == name && !view.moment.is_current());
                return Ok(all);
            }
        }
    }

    async fn see_past(&self, name: &str) -> Result<Vec<SeenPast>, Stopped> {
        let mut all = Vec::new();
        let moments = self.moments(name).await?;
        for (view, (at, deleted)) in self.list_past(name).await?.into_iter().zip(moments) {
            let kind = match view.moment {
                MomentView::Snapshot { .. } => Kind::Snapshot,
                MomentView::Version { .. } => Kind::Version,
                _ => Kind::Base,
            };
            let mut bytes = None;
            if !deleted {
                let op = GetBlob { at, ..get(&format!("photos/{name}")) };
                bytes = Some(self.world.get_with(op).await.map_err(|_| Stopped)?.0);
            }
            let length = usize::try_from(view.length).unwrap_or(usize::MAX);
            let metadata = view.metadata.get("key").cloned();
            all.push(SeenPast { kind, deleted, length, metadata, bytes });
        }
        Ok(all)
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
        seen.past = self.see_past(name).await?;
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
