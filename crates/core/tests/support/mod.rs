//! A service on each engine, with a client that signs its requests for real.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

pub mod copies;
pub mod files;
pub mod files_model;
pub mod model;
pub mod pages;
pub mod queue;
pub mod table;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use zaffre_auth::{
    Accounts, Authorized, Claim, Guarded, RequestFacts, Service, authenticate, authorize, sign,
};
use zaffre_base::{AccountName, ApiVersion, BlobName, ContainerName, Guid, Timestamp};
use zaffre_core::blob::op::{
    BlobPath, ContainerPath, Context, CreateContainer, DeleteBlob, DeleteContainer,
    DeleteSnapshots, ExpectedChecksum, GetBlob, GetBlobProperties, GetBlockList, GetContainer,
    IncludeHistory, LeaseBlob, LeaseContainer, ListBlobs, ListContainers, Moment, MomentId,
    PutBlob, PutBlock, PutBlockList, SetBlobMetadata, SnapshotBlob, UndeleteBlob,
};
use zaffre_core::blob::reply::{
    BlobPage, BlobView, BlockListReply, DeleteReply, LeaseOutcome, ListEntry, SnapshotReply,
    Written,
};
use zaffre_core::blob::{self, ByteStream, StreamError};
use zaffre_core::settings::AccountSettings;
use zaffre_core::{Core, CoreOptions, Error};
use zaffre_domain::Refusal;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::TierConditions;
use zaffre_domain::blob::{BlockListEntry, BlockSource, HttpProperties, Metadata, PublicAccess};
use zaffre_domain::conditions::{Conditions, TagCondition};
use zaffre_domain::lease::LeaseCommand;
use zaffre_store::disk::Disk;
use zaffre_store::extents::Upkeep;
use zaffre_store::meta::StrictOptions;
use zaffre_store::{OpenError, Placement, Store, StoreOptions};

pub const CONTEXT: Context = Context { version: ApiVersion::new(2024, 8, 4) };
pub const ACCOUNT: &str = "devstoreaccount1";

pub fn must<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("unexpected: {error:?}"))
}

/// Opens a store that was open a moment ago: tasks that were under way may hold it a little longer.
pub async fn open_again(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Store {
    const PATIENCE: Duration = Duration::from_secs(30);
    const PAUSE: Duration = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        match Store::open(Arc::clone(disk), options) {
            Err(OpenError::Locked) if waited < PATIENCE => {
                tokio::time::sleep(PAUSE).await;
                waited += PAUSE;
            }
            opened => return must(opened),
        }
    }
}

pub fn refused<T: Debug>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// A body in pieces of an awkward size.
pub fn body(bytes: impl Into<Bytes>) -> ByteStream {
    let mut rest: Bytes = bytes.into();
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        chunks.push(Ok(rest.split_to(rest.len().min(70_001))));
    }
    Box::pin(stream::iter(chunks))
}

/// A body that breaks after some bytes.
pub fn broken(bytes: impl Into<Bytes>) -> ByteStream {
    Box::pin(stream::iter([Ok(bytes.into()), Err(StreamError::Broken)]))
}

/// Bytes that differ from one offset to another and from one seed, their first byte, to another.
pub fn pattern(length: usize, seed: u8) -> Vec<u8> {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    let table = TABLE
        .get_or_init(|| (0..=252_u8).flat_map(|row| (0..=250_u8).map(move |i| i ^ row)).collect());
    let mut bytes = Vec::with_capacity(length + table.len());
    bytes.push(seed);
    bytes.extend_from_slice(&table[usize::from(seed) * 247..]);
    while bytes.len() < length {
        bytes.extend_from_slice(table);
    }
    bytes.truncate(length);
    bytes
}

pub async fn read(mut stream: ByteStream) -> Result<Vec<u8>, StreamError> {
    let mut all = Vec::new();
    while let Some(bytes) = stream.next().await {
        all.extend_from_slice(&bytes?);
    }
    Ok(all)
}

#[derive(Clone)]
pub struct World {
    pub core: Core,
    owner: std::sync::Arc<Claim>,
    creator: std::sync::Arc<Claim>,
    facts: RequestFacts<'static>,
}

/// Both engines.
pub fn worlds() -> Vec<World> {
    vec![World::new(must(Store::in_memory())), World::new(must(Store::strict(strict(1))))]
}

pub fn strict(seed: u64) -> StrictOptions {
    StrictOptions { seed, ..StrictOptions::default() }
}

impl World {
    pub fn new(store: Store) -> Self {
        Self::with(store, CoreOptions::default())
    }

    pub fn with(store: Store, options: CoreOptions) -> Self {
        let accounts = Accounts::development();
        let name: &'static AccountName = Box::leak(Box::new(must(AccountName::parse(ACCOUNT))));
        let key = accounts.get(name).and_then(sign::primary_key).expect("the account has a key");
        let wall = store.clock.wall();
        let date: &'static str = Box::leak(wall.rfc1123().to_string().into_boxed_str());
        let plain = vec![("x-ms-date", date), ("x-ms-version", "2024-08-04")];
        let facts = facts(name, plain.clone(), Vec::new());
        let header: &'static str = Box::leak(must(sign::shared_key(&facts, key)).into_boxed_str());
        let signed = [plain, vec![("authorization", header)]].concat();
        let signed = self::facts(name, signed, Vec::new());
        let owner = must(authenticate(&signed, &accounts, wall, wall));
        let expiry = wall.plus(Duration::from_hours(24)).iso7().to_string();
        let expiry = format!("{}Z", &expiry[..19]);
        let token = must(sign::account_sas(
            name,
            key,
            &[("sv", "2024-08-04"), ("ss", "b"), ("srt", "o"), ("sp", "c"), ("se", &expiry)],
        ));
        let with_token = self::facts(name, Vec::new(), token);
        let creator = must(authenticate(&with_token, &accounts, wall, wall));
        Self {
            core: Core::new(store, options),
            owner: owner.into(),
            creator: creator.into(),
            facts: signed,
        }
    }

    pub fn ok<Op: Guarded>(&self, op: Op) -> Authorized<Op> {
        let now = self.core.store().clock.now();
        must(authorize(&self.owner, op, None, &self.facts, now)).0
    }

    /// Somebody who may create but not overwrite.
    pub fn create_only<Op: Guarded>(&self, op: Op) -> Authorized<Op> {
        let now = self.core.store().clock.now();
        must(authorize(&self.creator, op, None, &self.facts, now)).0
    }

    pub fn advance(&self, seconds: u64) {
        self.core.store().clock.advance(Duration::from_secs(seconds));
    }

    // Containers

    pub async fn create(&self, name: &str) -> Result<Written, Error> {
        let op = CreateContainer {
            scopes: zaffre_domain::blob::encryption::ScopePolicy::default(),
            at: container(name),
            metadata: Metadata::new(),
            access: PublicAccess::Private,
        };
        blob::create_container(&self.core, self.ok(op)).await
    }

    pub async fn delete_container(&self, name: &str) -> Result<(), Error> {
        let op =
            DeleteContainer { at: container(name), lease: None, conditions: Conditions::default() };
        blob::delete_container(&self.core, self.ok(op)).await
    }

    pub async fn container_exists(&self, name: &str) -> bool {
        let op = GetContainer { at: container(name), lease: None };
        match blob::get_container(&self.core, self.ok(op)).await {
            Ok(_) => true,
            Err(Error::Refused(Refusal::ContainerNotFound)) => false,
            Err(error) => panic!("{error:?}"),
        }
    }

    pub async fn lease_container(
        &self,
        name: &str,
        command: LeaseCommand,
    ) -> Result<LeaseOutcome, Error> {
        let conditions = Conditions::default();
        let op = LeaseContainer { at: container(name), command, conditions, context: CONTEXT };
        blob::lease_container(&self.core, self.ok(op)).await
    }

    pub async fn containers(&self, prefix: &str, size: u32) -> Vec<String> {
        let mut names = Vec::new();
        let mut marker = None;
        loop {
            let op = ListContainers {
                account: must(AccountName::parse(ACCOUNT)),
                prefix: prefix.to_owned(),
                marker,
                max_results: size,
                include_metadata: false,
                include_system: false,
                include_deleted: false,
            };
            let page = must(blob::list_containers(&self.core, self.ok(op)).await);
            names.extend(page.containers.into_iter().map(|c| c.name.to_string()));
            marker = page.next;
            if marker.is_none() {
                return names;
            }
        }
    }

    // Blobs

    pub async fn put(&self, at: &str, bytes: impl Into<Bytes>) -> Result<Written, Error> {
        self.put_with(put(at), bytes).await
    }

    pub async fn put_with(&self, op: PutBlob, bytes: impl Into<Bytes>) -> Result<Written, Error> {
        Ok(blob::put_blob(&self.core, self.ok(op), body(bytes)).await?.written)
    }

    pub async fn get(&self, at: &str) -> Result<Vec<u8>, Error> {
        self.get_with(get(at)).await.map(|(bytes, _)| bytes)
    }

    pub async fn get_with(&self, op: GetBlob) -> Result<(Vec<u8>, BlobView), Error> {
        let reply = blob::get_blob(&self.core, self.ok(op)).await?;
        let bytes = must(read(reply.body).await);
        assert_eq!(u64::try_from(bytes.len()).ok(), Some(reply.length));
        Ok((bytes, reply.blob))
    }

    pub async fn range(&self, at: &str, first: u64, last: u64) -> Result<Vec<u8>, Error> {
        self.get_with(GetBlob { range: Some((first, Some(last))), ..get(at) }).await.map(|r| r.0)
    }

    pub async fn properties(&self, at: &str) -> Result<BlobView, Error> {
        let op = GetBlobProperties {
            encryption: zaffre_core::blob::op::Encryption::default(),
            at: path(at),
            lease: None,
            conditions: Conditions::default(),
            context: CONTEXT,
        };
        blob::get_blob_properties(&self.core, self.ok(op)).await
    }

    pub async fn set_metadata(
        &self,
        at: &str,
        name: &str,
        value: &str,
        conditions: Conditions,
    ) -> Result<Written, Error> {
        let metadata = Metadata::from([(name.to_owned(), value.to_owned())]);
        let op = SetBlobMetadata {
            encryption: zaffre_core::blob::op::Encryption::default(),
            at: path(at),
            metadata,
            lease: None,
            conditions,
        };
        blob::set_blob_metadata(&self.core, self.ok(op)).await
    }

    pub async fn delete(&self, at: &str) -> Result<(), Error> {
        self.delete_with(at, None, Conditions::default()).await
    }

    pub async fn delete_with(
        &self,
        at: &str,
        lease: Option<Guid>,
        conditions: Conditions,
    ) -> Result<(), Error> {
        let op = DeleteBlob { lease, conditions, ..delete(at) };
        blob::delete_blob(&self.core, self.ok(op)).await.map(|_| ())
    }

    pub async fn snapshot(&self, at: &str) -> Result<Timestamp, Error> {
        self.snapshot_with(snapshot(at)).await.map(|reply| reply.snapshot)
    }

    pub async fn snapshot_with(&self, op: SnapshotBlob) -> Result<SnapshotReply, Error> {
        blob::snapshot_blob(&self.core, self.ok(op)).await
    }

    pub async fn undelete(&self, at: &str) -> Result<(), Error> {
        let op = UndeleteBlob { at: path(at) };
        blob::undelete_blob(&self.core, self.ok(op)).await
    }

    pub async fn remove(&self, op: DeleteBlob) -> Result<DeleteReply, Error> {
        blob::delete_blob(&self.core, self.ok(op)).await
    }

    /// From now on, these settings.
    pub fn settle_on(&self, settings: AccountSettings) {
        self.core.set_settings(&must(AccountName::parse(ACCOUNT)), settings);
    }

    pub async fn lease(&self, at: &str, command: LeaseCommand) -> Result<LeaseOutcome, Error> {
        let conditions = Conditions::default();
        let op = LeaseBlob { at: path(at), command, conditions, context: CONTEXT };
        blob::lease_blob(&self.core, self.ok(op)).await
    }

    pub async fn stage(&self, at: &str, id: &str, bytes: impl Into<Bytes>) -> Result<(), Error> {
        let op = stage(at, id);
        blob::put_block(&self.core, self.ok(op), body(bytes)).await.map(|_| ())
    }

    pub async fn commit(&self, at: &str, list: &[(BlockSource, &str)]) -> Result<Written, Error> {
        blob::put_block_list(&self.core, self.ok(commit(at, list))).await
    }

    pub async fn blocks(&self, at: &str) -> Result<BlockListReply, Error> {
        let op = GetBlockList {
            at: path(at),
            committed: true,
            uncommitted: true,
            lease: None,
            conditions: Conditions::default(),
        };
        blob::get_block_list(&self.core, self.ok(op)).await
    }

    pub async fn list(&self, op: ListBlobs) -> Result<BlobPage, Error> {
        blob::list_blobs(&self.core, self.ok(op)).await
    }

    /// All pages of a listing, prefixes with their name alone.
    pub async fn names(&self, op: ListBlobs) -> Vec<String> {
        let mut names = Vec::new();
        let mut marker = None;
        loop {
            let page = must(self.list(ListBlobs { marker, ..op.clone() }).await);
            assert!(page.entries.len() <= usize::try_from(op.max_results).unwrap_or(0));
            names.extend(page.entries.into_iter().map(|entry| match entry {
                ListEntry::Blob(blob) => blob.name.to_string(),
                ListEntry::Prefix(prefix) => format!("[{prefix}]"),
            }));
            marker = page.next;
            if marker.is_none() {
                return names;
            }
        }
    }

    // What is left in the store

    /// Sweeps until nothing is blocked.
    pub async fn sweep(&self) {
        for _ in 0..100 {
            if must(self.core.run_background_once().await).blocked == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the background does not come to an end");
    }

    /// Frees extents that no row names.
    pub async fn free_orphans(&self) {
        let store = self.core.store();
        must(store.extents.recover_unsealed().await);
        must(store.extents.count_segments(usize::MAX).await);
        let (extents, meta) = (store.extents.clone(), store.meta.clone());
        let mut upkeep = Upkeep::new(extents, meta, store.pins.clone());
        while !must(upkeep.scan_orphans(10_000).await).finished {}
        must(upkeep.free().await);
    }

    /// The rows inside a container, all incarnations.
    pub async fn rows(&self, container: &str) -> Vec<Vec<u8>> {
        let name = format!("c/{ACCOUNT}/{container}").into_bytes();
        let snapshot = must(self.core.store().meta.snapshot(&Placement::new(name)).await);
        must(snapshot.scan(&[], None, 1_000_000)).into_iter().map(|row| row.key).collect()
    }

    /// Extents that were not released.
    pub async fn live_extents(&self) -> u64 {
        let extents = &self.core.store().extents;
        extents.settle().await;
        let records = |s: zaffre_store::extents::SegmentStatus| s.live.map_or(0, |l| l.records);
        extents.segments().into_iter().map(records).sum()
    }
}

fn facts(
    account: &'static AccountName,
    headers: Vec<(&'static str, &'static str)>,
    query: Vec<(String, String)>,
) -> RequestFacts<'static> {
    RequestFacts {
        service: Service::Blob,
        method: "GET",
        raw_path: "/devstoreaccount1/",
        raw_query: "",
        query: Box::leak(query.into_boxed_slice()),
        headers: Box::leak(headers.into_boxed_slice()),
        account,
        container: None,
        object: None,
        path_style: true,
        secondary: false,
        peer: [127, 0, 0, 1].into(),
        secure: true,
        version: CONTEXT.version,
    }
}

pub fn container(name: &str) -> ContainerPath {
    ContainerPath {
        account: must(AccountName::parse(ACCOUNT)),
        container: must(ContainerName::parse(name)),
    }
}

/// `container/blob`
pub fn path(at: &str) -> BlobPath {
    let (container, blob) = at.split_once('/').expect("container/blob");
    BlobPath {
        account: must(AccountName::parse(ACCOUNT)),
        container: must(ContainerName::parse(container)),
        blob: must(BlobName::parse(blob)),
        moment: Moment::Current,
    }
}

pub fn put(at: &str) -> PutBlob {
    PutBlob {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        length: None,
        properties: HttpProperties::default(),
        metadata: Metadata::new(),
        tags: Tags::new(),
        expect: ExpectedChecksum::default(),
        lease: None,
        conditions: Conditions::default(),
        tier: None,
        protection: Protection::default(),
        context: CONTEXT,
    }
}

pub fn get(at: &str) -> GetBlob {
    GetBlob {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        range: None,
        range_checksum: None,
        lease: None,
        conditions: Conditions::default(),
        context: CONTEXT,
    }
}

pub fn stage(at: &str, id: &str) -> PutBlock {
    PutBlock {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        block_id: id.as_bytes().to_vec(),
        length: None,
        expect: ExpectedChecksum::default(),
        lease: None,
        context: CONTEXT,
    }
}

pub fn commit(at: &str, list: &[(BlockSource, &str)]) -> PutBlockList {
    let entry = |(source, id): &(BlockSource, &str)| BlockListEntry {
        source: *source,
        id: id.as_bytes().to_vec(),
    };
    PutBlockList {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        blocks: list.iter().map(entry).collect(),
        properties: HttpProperties::default(),
        metadata: Metadata::new(),
        tags: Tags::new(),
        lease: None,
        conditions: Conditions::default(),
        tier: None,
        protection: Protection::default(),
        context: CONTEXT,
    }
}

pub fn snapshot(at: &str) -> SnapshotBlob {
    let (metadata, conditions) = (Metadata::new(), Conditions::default());
    SnapshotBlob {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        metadata,
        lease: None,
        conditions,
    }
}

fn id(at: Timestamp) -> MomentId {
    MomentId { at, text: at.iso7().to_string() }
}

pub fn snapshot_of(blob: &str, at: Timestamp) -> BlobPath {
    BlobPath { moment: Moment::Snapshot(id(at)), ..path(blob) }
}

pub fn version_of(blob: &str, at: Timestamp) -> BlobPath {
    BlobPath { moment: Moment::Version(id(at)), ..path(blob) }
}

pub fn delete(at: &str) -> DeleteBlob {
    DeleteBlob {
        at: path(at),
        snapshots: DeleteSnapshots::Refuse,
        permanent: false,
        lease: None,
        conditions: Conditions::default(),
        tier_conditions: TierConditions::default(),
    }
}

pub fn list(name: &str) -> ListBlobs {
    ListBlobs {
        at: container(name),
        prefix: String::new(),
        delimiter: None,
        marker: None,
        start_from: None,
        max_results: 5_000,
        include_metadata: false,
        include_tags: false,
        include_uncommitted: false,
        history: IncludeHistory::default(),
    }
}

pub fn if_absent() -> Conditions {
    Conditions { if_none_match: Some(TagCondition::Any), ..Conditions::default() }
}

pub fn if_match(written: Written) -> Conditions {
    let tags = TagCondition::Tags(vec![Some(written.etag())]);
    Conditions { if_match: Some(tags), ..Conditions::default() }
}

pub fn acquire(seconds: Option<u64>, id: u128) -> LeaseCommand {
    LeaseCommand::Acquire { seconds, proposed: Some(Guid(id)), fallback: Guid(0) }
}
