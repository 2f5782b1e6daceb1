//! Append blobs: every append whole, at the end, counted; nothing left behind.

mod support;

use std::sync::Arc;
use support::model::Random;
use support::{
    CONTEXT, World, acquire, body, if_match, list, must, path, pattern, refused, worlds,
};
use zaffre_base::Guid;
use zaffre_core::blob::op::{AppendBlock, CreateBlob, ExpectedChecksum, NewBlob, SealBlob};
use zaffre_core::blob::reply::{AppendReply, ListEntry, OfKind, Written};
use zaffre_core::blob::{self};
use zaffre_core::{CoreOptions, Error};
use zaffre_domain::blob::BlockSource::Latest;
use zaffre_domain::blob::append::AppendConditions;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::disk::{CrashDisk, Survival};
use zaffre_store::extents::ExtentOptions;
use zaffre_store::{Store, StoreOptions};

fn create(at: &str) -> CreateBlob {
    CreateBlob {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        new: NewBlob::Append,
        properties: HttpProperties::default(),
        metadata: Metadata::new(),
        tags: std::collections::BTreeMap::new(),
        lease: None,
        conditions: Conditions::default(),
        tier: None,
        protection: Protection::default(),
        context: CONTEXT,
    }
}

fn block(at: &str) -> AppendBlock {
    AppendBlock {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        length: None,
        expect: ExpectedChecksum::default(),
        append: AppendConditions::default(),
        lease: None,
        conditions: Conditions::default(),
        context: CONTEXT,
    }
}

async fn made(world: &World, at: &str) -> Written {
    must(blob::create_blob(&world.core, world.ok(create(at))).await)
}

async fn append(world: &World, op: AppendBlock, bytes: Vec<u8>) -> Result<AppendReply, Error> {
    blob::append_block(&world.core, world.ok(op), body(bytes)).await
}

async fn seal(world: &World, at: &str, position: Option<u64>) -> Result<Written, Error> {
    let append = AppendConditions { position, max_size: None };
    let op = SealBlob { at: path(at), append, lease: None, conditions: Conditions::default() };
    blob::seal_blob(&world.core, world.ok(op)).await
}

#[tokio::test]
async fn blocks_follow_each_other() {
    for world in worlds() {
        must(world.create("logs").await);
        made(&world, "logs/a").await;
        assert_eq!(must(world.get("logs/a").await), b"");
        let mut whole = Vec::new();
        let sizes = [1, 9_000, 4_096, 2_500_000, 7].into_iter().chain((0..140).map(|n| n + 1));
        for (count, size) in (1_u32..).zip(sizes) {
            let bytes = pattern(size, u8::try_from(count % 200).unwrap_or(0));
            let reply = must(append(&world, block("logs/a"), bytes.clone()).await);
            assert_eq!(reply.offset, u64::try_from(whole.len()).unwrap_or(0));
            assert_eq!(reply.blocks, count);
            whole.extend(bytes);
        }
        assert_eq!(must(world.get("logs/a").await), whole);
        for (first, length) in [(0, 1), (8_999, 5), (9_000, 5_000), (2_000_000, 600_000)] {
            let got = must(world.range("logs/a", first, first + length - 1).await);
            let from = usize::try_from(first).unwrap_or(0);
            let to = whole.len().min(from + usize::try_from(length).unwrap_or(0));
            assert_eq!(got, whole[from..to], "{first}");
        }
        let view = must(world.properties("logs/a").await);
        assert_eq!(view.of_kind, OfKind::Append { blocks: 145, sealed: false });
        let page = must(world.list(list("logs")).await);
        let [ListEntry::Blob(listed)] = page.entries.as_slice() else { panic!("one blob") };
        assert_eq!(listed.of_kind, view.of_kind);
        made(&world, "logs/a").await;
        assert_eq!(must(world.properties("logs/a").await).length, 0);
        must(world.delete("logs/a").await);
        world.sweep().await;
        assert!(world.rows("logs").await.is_empty(), "rows are left");
        assert_eq!(world.live_extents().await, 0, "extents are left");
    }
}

#[tokio::test]
async fn conditions_leases_and_seals() {
    for world in worlds() {
        must(world.create("logs").await);
        let missing = append(&world, block("logs/a"), vec![1]).await;
        assert_eq!(refused(missing), Refusal::BlobNotFound);
        let written = made(&world, "logs/a").await;
        let with = |position, max_size| AppendBlock {
            append: AppendConditions { position, max_size },
            ..block("logs/a")
        };
        must(append(&world, with(Some(0), Some(3)), vec![1; 3]).await);
        for (op, want) in [
            (with(Some(2), None), Refusal::AppendPositionConditionNotMet),
            (with(None, Some(3)), Refusal::MaxBlobSizeConditionNotMet),
            (
                AppendBlock { conditions: if_match(written), ..block("logs/a") },
                Refusal::ConditionNotMet,
            ),
            (
                AppendBlock { lease: Some(Guid(3)), ..block("logs/a") },
                Refusal::LeaseNotPresent(LeaseOn::Blob),
            ),
            (
                AppendBlock {
                    expect: ExpectedChecksum { md5: None, crc64: Some([1; 8]) },
                    ..block("logs/a")
                },
                Refusal::Crc64Mismatch { announced: [1; 8], computed: [0; 8] },
            ),
        ] {
            let got = refused(append(&world, op, vec![0; 20_000]).await);
            match (&got, &want) {
                (Refusal::Crc64Mismatch { .. }, Refusal::Crc64Mismatch { .. }) => {}
                _ => assert_eq!(got, want),
            }
        }
        must(world.lease("logs/a", acquire(None, 9)).await);
        let got = append(&world, block("logs/a"), vec![1]).await;
        assert_eq!(refused(got), Refusal::LeaseIdMissing(LeaseOn::Blob));
        let op = AppendBlock { lease: Some(Guid(9)), ..block("logs/a") };
        must(append(&world, op, vec![1]).await);
        assert_eq!(
            refused(seal(&world, "logs/a", None).await),
            Refusal::LeaseIdMissing(LeaseOn::Blob)
        );
        let break_now = zaffre_domain::lease::LeaseCommand::Break { period: Some(0) };
        must(world.lease("logs/a", break_now).await);
        assert_eq!(
            refused(seal(&world, "logs/a", Some(3)).await),
            Refusal::AppendPositionConditionNotMet
        );
        let sealed = must(seal(&world, "logs/a", Some(4)).await);
        assert!(must(seal(&world, "logs/a", None).await).stamp > sealed.stamp);
        assert_eq!(refused(append(&world, block("logs/a"), vec![1]).await), Refusal::BlobIsSealed);
        must(world.set_metadata("logs/a", "k", "v", Conditions::default()).await);
        let view = must(world.properties("logs/a").await);
        assert_eq!(view.of_kind, OfKind::Append { blocks: 2, sealed: true });
        made(&world, "logs/a").await;
        must(append(&world, block("logs/a"), vec![1]).await);
        must(world.delete_container("logs").await);
        assert_eq!(
            refused(append(&world, block("logs/a"), vec![1; 20_000]).await),
            Refusal::ContainerNotFound
        );
    }
}

#[tokio::test]
async fn a_blob_keeps_its_kind() {
    for world in worlds() {
        must(world.create("logs").await);
        made(&world, "logs/a").await;
        must(world.put("logs/b", "x").await);
        let wrong = Refusal::InvalidBlobType;
        assert_eq!(refused(world.put("logs/a", "x").await), wrong);
        assert_eq!(refused(world.put("logs/a", vec![1; 20_000]).await), wrong);
        assert_eq!(refused(world.stage("logs/a", "1", "x").await), wrong);
        assert_eq!(refused(world.commit("logs/a", &[(Latest, "1")]).await), wrong);
        assert_eq!(refused(world.commit("logs/a", &[]).await), wrong);
        assert_eq!(refused(world.blocks("logs/a").await), wrong);
        assert_eq!(refused(append(&world, block("logs/b"), vec![1]).await), wrong);
        assert_eq!(refused(append(&world, block("logs/b"), vec![1; 20_000]).await), wrong);
        assert_eq!(refused(seal(&world, "logs/b", None).await), wrong);
        let over = blob::create_blob(&world.core, world.ok(create("logs/b"))).await;
        assert_eq!(refused(over), wrong);
        must(world.delete("logs/b").await);
        made(&world, "logs/b").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_appends_are_each_whole_and_none_is_lost() {
    const WRITERS: u8 = 16;
    const EACH: u8 = 20;
    for world in worlds() {
        must(world.create("logs").await);
        made(&world, "logs/a").await;
        let tasks: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let world = world.clone();
                tokio::spawn(async move {
                    let mut done = Vec::new();
                    for n in 0..EACH {
                        let size = if n % 5 == 4 { 30_000 } else { 300 + usize::from(n) };
                        let bytes = pattern(size, writer);
                        let reply = must(append(&world, block("logs/a"), bytes.clone()).await);
                        done.push((reply.offset, reply.blocks, bytes));
                    }
                    done
                })
            })
            .collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(must(task.await));
        }
        all.sort();
        let whole = must(world.get("logs/a").await);
        let mut end = 0;
        for (count, (offset, blocks, bytes)) in (1_u32..).zip(&all) {
            assert_eq!((*offset, *blocks), (end, count), "no gap, no overlap, counted in order");
            let from = usize::try_from(end).unwrap_or(0);
            assert_eq!(&whole[from..from + bytes.len()], bytes.as_slice());
            end += u64::try_from(bytes.len()).unwrap_or(0);
        }
        assert_eq!(u64::try_from(whole.len()).unwrap_or(0), end);
        assert_eq!(all.len(), usize::from(WRITERS) * usize::from(EACH));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_50000th_block_is_the_last() {
    let world = World::new(must(zaffre_store::Store::in_memory()));
    must(world.create("logs").await);
    made(&world, "logs/a").await;
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move {
                for _ in 0..1_000 {
                    must(append(&world, block("logs/a"), vec![7]).await);
                }
            })
        })
        .collect();
    for task in tasks {
        must(task.await);
    }
    let full = refused(append(&world, block("logs/a"), vec![7]).await);
    assert_eq!(full, Refusal::AppendedBlockCountExceedsLimit);
    let view = must(world.properties("logs/a").await);
    assert_eq!(view.of_kind, OfKind::Append { blocks: 50_000, sealed: false });
    assert_eq!(must(world.get("logs/a").await), vec![7; 50_000]);
    must(world.delete("logs/a").await);
    world.sweep().await;
    assert!(world.rows("logs").await.is_empty(), "rows are left");
}

fn open(disk: &CrashDisk) -> Option<World> {
    let extents = ExtentOptions { segment_bytes: 256 * 1024, writers: 1, open_files: 8 };
    let options = StoreOptions { extents, ..StoreOptions::default() };
    let store = Store::open(Arc::new(disk.clone()), &options).ok()?;
    Some(World::with(store, CoreOptions::default()))
}

/// Appends until the power goes; gives what was acknowledged and what was under way.
async fn append_until_dark(disk: &CrashDisk, random: &mut Random) -> Option<(Vec<u8>, Vec<u8>)> {
    let world = open(disk)?;
    world.create("logs").await.ok()?;
    blob::create_blob(&world.core, world.ok(create("logs/a"))).await.ok()?;
    let mut whole = Vec::new();
    for n in 0..200_u8 {
        let bytes = pattern(random.pick(&[1, 100, 4_096, 9_000, 70_000]), n);
        if append(&world, block("logs/a"), bytes.clone()).await.is_err() {
            return Some((whole, bytes));
        }
        whole.extend_from_slice(&bytes);
    }
    disk.power_off();
    Some((whole, Vec::new()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_outlive_a_power_loss() {
    const SEEDS: u64 = 100;
    let seeds = zaffre_testkit::seeds(SEEDS);
    let count = seeds.end - seeds.start;
    let mut acknowledged = 0;
    for seed in seeds {
        let mut random = Random(seed);
        let disk = CrashDisk::new();
        disk.power_off_at(20 + u64::try_from(random.below(250)).unwrap_or(0));
        let survival = random.pick(&Survival::ALL);
        let Some((whole, pending)) = append_until_dark(&disk, &mut random).await else { continue };
        acknowledged += whole.len();
        let world = open(&disk.reboot(survival, seed)).unwrap_or_else(|| panic!("seed {seed}"));
        let found = must(world.get("logs/a").await);
        let more = [whole.as_slice(), &pending].concat();
        assert!(found == whole || found == more, "seed {seed}: {} bytes", found.len());
        // It goes on where it ended.
        let reply = must(append(&world, block("logs/a"), b"on".to_vec()).await);
        assert_eq!(reply.offset, u64::try_from(found.len()).unwrap_or(0), "seed {seed}");
    }
    println!("{acknowledged} bytes acknowledged, none lost");
    assert!(count < SEEDS || acknowledged > 1_000_000, "did too little: {acknowledged}");
}
