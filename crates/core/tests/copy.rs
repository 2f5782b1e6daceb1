//! Copies: whole, of every kind, independent of their source, and nothing left behind, however they
//! end.

mod support;

use std::sync::Arc;
use std::time::Duration;
use support::copies::{copy, options};
use support::{
    World, acquire, body, delete, must, open_again, path, pattern, put, refused, snapshot_of,
    strict,
};
use zaffre_base::Guid;
use zaffre_core::blob::copy::{CopyBlob, When};
use zaffre_core::blob::op::{
    AppendBlock, CreateBlob, DeleteSnapshots, ExpectedChecksum, NewBlob, PutBlob, SealBlob,
};
use zaffre_core::blob::reply::OfKind;
use zaffre_core::blob::{self};
use zaffre_core::{CopyOptions, CoreOptions};
use zaffre_domain::blob::BlockSource::Latest;
use zaffre_domain::blob::append::AppendConditions;
use zaffre_domain::blob::copy::{CopyRefusal, CopyStatus};
use zaffre_domain::blob::tier::AccessTier;
use zaffre_domain::conditions::Conditions;
use zaffre_domain::lease::LeaseCommand;
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::disk::{Disk, MemDisk};
use zaffre_store::{Clock, Store, StoreOptions};

fn at_once() -> CoreOptions {
    let copies = CopyOptions { at_once_bytes: u64::MAX, ..options().copies };
    CoreOptions { copies, ..options() }
}

/// Both engines, both ways of copying.
fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    for options in [options(), at_once()] {
        worlds.push(World::with(must(Store::in_memory()), options.clone()));
        worlds.push(World::with(must(Store::strict(strict(1))), options));
    }
    worlds
}

async fn world() -> World {
    let world = World::with(must(Store::in_memory()), options());
    must(world.create("photos").await);
    world
}

async fn append_blob(world: &World, at: &str, blocks: u8) -> Vec<u8> {
    let op = CreateBlob { new: NewBlob::Append, ..support::pages::create(at, 0) };
    must(blob::create_blob(&world.core, world.ok(op)).await);
    let mut all = Vec::new();
    for number in 0..blocks {
        let bytes = pattern(700 + 37 * usize::from(number), number);
        let op = AppendBlock {
            encryption: zaffre_core::blob::op::Encryption::default(),
            at: path(at),
            length: None,
            expect: ExpectedChecksum::default(),
            append: AppendConditions::default(),
            lease: None,
            conditions: Conditions::default(),
            context: support::CONTEXT,
        };
        must(blob::append_block(&world.core, world.ok(op), body(bytes.clone())).await);
        all.extend(bytes);
    }
    all
}

async fn status(world: &World, at: &str) -> Option<CopyStatus> {
    must(world.properties(at).await).copy.map(|copy| copy.status)
}

#[tokio::test]
async fn block_blobs_keep_their_bytes_and_their_blocks() {
    for world in worlds() {
        must(world.create("photos").await);
        must(world.create("other").await);
        for (number, length) in [(0, 0), (1, 50), (2, 64), (3, 65), (4, 4096), (5, 50_000)] {
            let (from, to) = (format!("photos/s{number}"), format!("other/d{number}"));
            let bytes = pattern(length, 7);
            must(world.put(&from, bytes.clone()).await);
            must(world.copy(&from, &to, number).await);
            world.sweep().await;
            assert_eq!(status(&world, &to).await, Some(CopyStatus::Success), "{length}");
            must(world.delete(&from).await);
            world.sweep().await;
            assert_eq!(must(world.get(&to).await), bytes, "{length}");
        }
        let sizes = [10, 64, 65, 30_000, 4096, 1, 12_345];
        let mut list = Vec::new();
        let mut all = Vec::new();
        let names: Vec<String> = (0..sizes.len()).map(|n| format!("b{n}")).collect();
        for (name, size) in names.iter().zip(sizes) {
            let bytes = pattern(size, 3);
            must(world.stage("photos/list", name, bytes.clone()).await);
            list.push((Latest, name.as_str()));
            all.extend(bytes);
        }
        must(world.commit("photos/list", &list).await);
        must(world.copy("photos/list", "other/list", 9).await);
        world.sweep().await;
        let blocks = must(world.blocks("photos/list").await).committed;
        assert_eq!(must(world.blocks("other/list").await).committed, blocks);
        must(world.delete("photos/list").await);
        world.sweep().await;
        assert_eq!(must(world.get("other/list").await), all);
        // Blocks of a copy are the copy's own.
        must(world.commit("other/list", &[(Latest, "b3")]).await);
        world.sweep().await;
        assert_eq!(must(world.get("other/list").await), pattern(30_000, 3));
        leaves_nothing(&world, &["photos", "other"]).await;
    }
}

#[tokio::test]
async fn append_blobs_can_be_appended_to() {
    for world in worlds() {
        must(world.create("photos").await);
        let mut all = append_blob(&world, "photos/log", 70).await;
        must(world.copy("photos/log", "photos/copy", 1).await);
        world.sweep().await;
        must(world.delete("photos/log").await);
        world.sweep().await;
        let view = must(world.properties("photos/copy").await);
        assert_eq!(view.of_kind, OfKind::Append { blocks: 70, sealed: false });
        assert_eq!(must(world.get("photos/copy").await), all);
        let op = AppendBlock {
            encryption: zaffre_core::blob::op::Encryption::default(),
            at: path("photos/copy"),
            length: None,
            expect: ExpectedChecksum::default(),
            append: AppendConditions::default(),
            lease: None,
            conditions: Conditions::default(),
            context: support::CONTEXT,
        };
        must(blob::append_block(&world.core, world.ok(op), body(&b"more"[..])).await);
        all.extend(b"more");
        assert_eq!(must(world.get("photos/copy").await), all);
        assert_eq!(status(&world, "photos/copy").await, None, "a write forgets the copy");
        let append = AppendConditions::default();
        let conditions = Conditions::default();
        let op = SealBlob { at: path("photos/copy"), append, lease: None, conditions };
        must(blob::seal_blob(&world.core, world.ok(op)).await);
        must(world.copy("photos/copy", "photos/sealed", 2).await);
        world.sweep().await;
        let view = must(world.properties("photos/sealed").await);
        assert_eq!(view.of_kind, OfKind::Append { blocks: 71, sealed: true });
        leaves_nothing(&world, &["photos"]).await;
    }
}

#[tokio::test]
async fn page_blobs_keep_their_pages() {
    const MIB: u64 = 1024 * 1024;
    for world in worlds() {
        must(world.create("photos").await);
        must(world.create_pages("photos/disk", 8 * MIB).await);
        for (offset, length) in [(0, 512), (1024, 4096), (MIB - 512, 1024), (5 * MIB, 70_144)] {
            must(world.write_pages("photos/disk", offset, pattern(length, 5)).await);
        }
        must(world.clear_pages("photos/disk", 2048..3072).await);
        let (ranges, bytes) =
            (must(world.ranges("photos/disk").await), must(world.get("photos/disk").await));
        must(world.copy("photos/disk", "photos/copy", 1).await);
        if status(&world, "photos/copy").await == Some(CopyStatus::Pending) {
            let view = must(world.properties("photos/copy").await);
            assert_eq!(view.length, 8 * MIB, "of full size from the start");
            assert!(must(world.ranges("photos/copy").await).is_empty());
        }
        world.sweep().await;
        assert_eq!(must(world.ranges("photos/copy").await), ranges);
        must(world.write_pages("photos/disk", 0, pattern(512, 9)).await);
        must(world.delete("photos/disk").await);
        world.sweep().await;
        assert_eq!(must(world.get("photos/copy").await), bytes);
        must(world.write_pages("photos/copy", 7 * MIB, pattern(512, 1)).await);
        assert_eq!(must(world.ranges("photos/copy").await).len(), ranges.len() + 1);
        leaves_nothing(&world, &["photos"]).await;
    }
}

/// Deletes everything; no row and no extent is left.
async fn leaves_nothing(world: &World, containers: &[&str]) {
    for container in containers {
        must(world.delete_container(container).await);
    }
    world.sweep().await;
    for container in containers {
        assert!(world.rows(container).await.is_empty(), "{container}: rows are left");
    }
    world.free_orphans().await;
    assert_eq!(world.live_extents().await, 0, "extents are left");
}

#[tokio::test]
async fn nobody_else_changes_what_is_being_copied_to() {
    let world = world().await;
    must(world.put("photos/s", pattern(50_000, 1)).await);
    must(world.put("photos/d", "before").await);
    let reply = must(world.copy("photos/s", "photos/d", 1).await);
    assert_eq!(reply.status, CopyStatus::Pending);
    let view = must(world.properties("photos/d").await);
    assert_eq!((view.length, view.written), (0, reply.written));
    let pending = Refusal::Copy(CopyRefusal::PendingCopyOperation);
    assert_eq!(refused(world.put("photos/d", "x").await), pending);
    assert_eq!(refused(world.stage("photos/d", "b1", "x").await), pending);
    assert_eq!(refused(world.commit("photos/d", &[]).await), pending);
    assert_eq!(refused(world.snapshot("photos/d").await), pending);
    assert_eq!(refused(world.delete("photos/d").await), pending);
    assert_eq!(refused(world.lease("photos/d", acquire(None, 7)).await), pending);
    assert_eq!(refused(world.copy("photos/s", "photos/d", 2).await), pending);
    assert_eq!(refused(world.copy("photos/d", "photos/e", 2).await), pending, "nor reads it");
    assert_eq!(must(world.get("photos/d").await), b"");
    world.sweep().await;
    let done = must(world.properties("photos/d").await);
    assert_ne!(done.written, reply.written, "the end changes the ETag too");
    assert_eq!(done.copy.map(|copy| (copy.status, copy.done)), Some((CopyStatus::Success, 50_000)));
    assert_eq!(must(world.get("photos/d").await), pattern(50_000, 1));
    must(world.put("photos/d", "x").await);
    assert_eq!(status(&world, "photos/d").await, None);
}

#[tokio::test]
async fn an_aborted_copy_leaves_a_blob_without_bytes() {
    let world = world().await;
    must(world.put("photos/s", pattern(50_000, 1)).await);
    must(world.create_pages("photos/p", 1024 * 1024).await);
    must(world.write_pages("photos/p", 0, pattern(20_480, 1)).await);
    append_blob(&world, "photos/a", 3).await;
    let before = world.live_extents().await;
    for source in ["s", "p", "a"] {
        let (from, to) = (format!("photos/{source}"), format!("photos/to-{source}"));
        let op =
            CopyBlob { metadata: [("kept".to_owned(), "yes".to_owned())].into(), ..copy(&to, 5) };
        must(world.copy_with(path(&from), op).await);
        assert_eq!(refused(world.abort(&to, 6).await), Refusal::Copy(CopyRefusal::CopyIdMismatch));
        must(world.abort(&to, 5).await);
        assert_eq!(
            refused(world.abort(&to, 5).await),
            Refusal::Copy(CopyRefusal::NoPendingCopyOperation)
        );
        let view = must(world.properties(&to).await);
        assert_eq!((view.length, view.metadata.len()), (0, 1), "{source}");
        let ended = view.copy.expect("it says so");
        assert_eq!(ended.status, CopyStatus::Aborted);
        assert!(ended.completed.is_some() && ended.description.is_none());
        world.sweep().await;
        assert_eq!(status(&world, &to).await, Some(CopyStatus::Aborted), "{source}");
        must(world.copy(&from, &to, 7).await);
        world.sweep().await;
        assert_eq!(status(&world, &to).await, Some(CopyStatus::Success), "{source}");
        must(world.delete(&to).await);
    }
    world.sweep().await;
    assert_eq!(
        refused(world.abort("photos/s", 1).await),
        Refusal::Copy(CopyRefusal::NoPendingCopyOperation)
    );
    assert_eq!(refused(world.abort("photos/none", 1).await), Refusal::BlobNotFound);
    assert_eq!(world.live_extents().await, before, "nothing of the aborted copies is left");
}

#[tokio::test]
async fn a_source_that_changes_fails_the_copy() {
    let world = world().await;
    for (number, change) in ["written", "deleted", "container"].into_iter().enumerate() {
        let container = format!("from{number}");
        must(world.create(&container).await);
        let (from, to) = (format!("{container}/s"), format!("photos/d{number}"));
        must(world.put(&from, pattern(50_000, 1)).await);
        must(world.copy(&from, &to, 1).await);
        match change {
            "written" => drop(must(world.put(&from, "changed").await)),
            "deleted" => must(world.delete(&from).await),
            _ => must(world.delete_container(&container).await),
        }
        world.sweep().await;
        let view = must(world.properties(&to).await);
        let copy = view.copy.expect("it says so");
        assert_eq!((view.length, copy.status), (0, CopyStatus::Failed), "{change}");
        let want = if change == "written" { "412 ConditionNotMet" } else { "404 BlobNotFound" };
        let said = copy.description.unwrap_or_default();
        assert!(said.starts_with(want), "{change}: {said}");
    }
}

#[tokio::test]
async fn a_copy_that_takes_two_weeks_is_given_up() {
    let world = world().await;
    must(world.put("photos/s", pattern(50_000, 1)).await);
    must(world.copy("photos/s", "photos/d", 1).await);
    world.advance(14 * 24 * 3600);
    world.sweep().await;
    let copy = must(world.properties("photos/d").await).copy.expect("it says so");
    assert_eq!(copy.status, CopyStatus::Failed);
    assert!(copy.description.is_some_and(|text| text.starts_with("500 OperationCancelled")));
}

#[tokio::test]
async fn leases_of_the_destination() {
    let world = world().await;
    must(world.put("photos/s", pattern(50_000, 1)).await);
    must(world.put("photos/d", "x").await);
    must(world.lease("photos/d", acquire(Some(30), 7)).await);
    let with = |lease: Option<u128>| CopyBlob { lease: lease.map(Guid), ..copy("photos/d", 1) };
    let from = || path("photos/s");
    let missing = Refusal::LeaseIdMissing(LeaseOn::Blob);
    assert_eq!(refused(world.copy_with(from(), with(None)).await), missing);
    let mismatch = Refusal::LeaseIdMismatch(LeaseOn::Blob);
    assert_eq!(refused(world.copy_with(from(), with(Some(8))).await), mismatch);
    let finite = Refusal::Copy(CopyRefusal::InfiniteLeaseDurationRequired);
    assert_eq!(refused(world.copy_with(from(), with(Some(7))).await), finite);
    let now = CopyBlob { when: When::Now(ExpectedChecksum::default()), ..with(Some(7)) };
    must(world.copy_with(from(), now).await);
    must(world.lease("photos/d", LeaseCommand::Break { period: Some(0) }).await);
    must(world.lease("photos/d", acquire(None, 9)).await);
    must(world.copy_with(from(), with(Some(9))).await);
    assert_eq!(refused(world.abort("photos/d", 1).await), missing);
    world.sweep().await;
    assert_eq!(refused(world.put("photos/d", "x").await), missing, "the lease is kept");
    let op = PutBlob { lease: Some(Guid(9)), ..put("photos/d") };
    must(world.put_with(op, "x").await);
}

#[tokio::test]
async fn snapshots_can_be_copied_and_promoted() {
    let world = world().await;
    must(world.put("photos/a", pattern(30_000, 1)).await);
    let first = must(world.snapshot("photos/a").await);
    must(world.put("photos/a", pattern(20_000, 2)).await);
    must(world.copy_with(snapshot_of("photos/a", first), copy("photos/b", 1)).await);
    must(world.copy_with(snapshot_of("photos/a", first), copy("photos/a", 2)).await);
    world.sweep().await;
    for at in ["photos/a", "photos/b"] {
        assert_eq!(must(world.get(at).await), pattern(30_000, 1), "{at}");
    }
    let mut all = delete("photos/a");
    all.snapshots = DeleteSnapshots::Include;
    must(world.remove(all).await);
    must(world.delete("photos/b").await);
    world.sweep().await;
    assert_eq!(world.live_extents().await, 0);
}

#[tokio::test]
async fn a_copy_onto_itself_changes_all_but_the_bytes() {
    for world in worlds() {
        must(world.create("photos").await);
        must(world.put("photos/a", pattern(30_000, 1)).await);
        must(world.stage("photos/a", "b1", pattern(9_000, 2)).await);
        let op = CopyBlob { tier: Some(AccessTier::Cool), ..copy("photos/a", 1) };
        let reply = must(world.copy_with(path("photos/a"), op).await);
        assert_eq!(reply.status, CopyStatus::Success);
        world.sweep().await;
        let view = must(world.properties("photos/a").await);
        assert_eq!(view.tier.set.map(|(tier, _)| tier), Some(AccessTier::Cool));
        assert_eq!(must(world.get("photos/a").await), pattern(30_000, 1));
        assert_eq!(must(world.blocks("photos/a").await).uncommitted.map(|b| b.len()), Some(0));
        leaves_nothing(&world, &["photos"]).await;
    }
}

#[tokio::test]
async fn what_is_wanted_now_is_checked_first() {
    let world = world().await;
    must(world.put("photos/s", pattern(50_000, 1)).await);
    must(world.put("photos/d", "before").await);
    let wrong = ExpectedChecksum { md5: Some([7; 16]), crc64: None };
    let op = CopyBlob { when: When::Now(wrong), ..copy("photos/d", 1) };
    let answer = refused(world.copy_with(path("photos/s"), op).await);
    assert!(matches!(answer, Refusal::Md5Mismatch { .. }), "{answer:?}");
    assert_eq!(must(world.get("photos/d").await), b"before");
    must(world.create_pages("photos/p", 512).await);
    let now = When::Now(ExpectedChecksum::default());
    let op = CopyBlob { when: now, ..copy("photos/new", 1) };
    let answer = refused(world.copy_with(path("photos/p"), op.clone()).await);
    assert_eq!(answer, Refusal::Copy(CopyRefusal::InvalidSourceBlobType));
    let reply = must(world.copy_with(path("photos/s"), op).await);
    assert!(reply.status == CopyStatus::Success && reply.crc64.is_some());
    assert_eq!(must(world.get("photos/new").await), pattern(50_000, 1));
    world.sweep().await;
    must(world.delete("photos/s").await);
    must(world.delete("photos/new").await);
    world.sweep().await;
    assert_eq!(world.live_extents().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_goes_on_after_a_restart() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let clock = Clock::default();
    let open = async |rate| {
        let store = StoreOptions { clock: Some(clock.clone()), ..StoreOptions::default() };
        let copies = CopyOptions { bytes_per_second: rate, ..options().copies };
        let options = CoreOptions { copies, ..options() };
        World::with(open_again(&disk, &store).await, options)
    };
    let bytes = pattern(400_000, 1);
    let names: Vec<String> = (0..8).map(|n| format!("b{n}")).collect();
    let progress = {
        let world = open(Some(100_000)).await;
        must(world.create("photos").await);
        must(world.put("photos/one", bytes.clone()).await);
        for (number, name) in names.iter().enumerate() {
            must(
                world.stage("photos/list", name, bytes[number * 50_000..][..50_000].to_vec()).await,
            );
        }
        let list: Vec<_> = names.iter().map(|name| (Latest, name.as_str())).collect();
        must(world.commit("photos/list", &list).await);
        let background = world.core.spawn_background();
        must(world.copy("photos/one", "photos/d-one", 1).await);
        must(world.copy("photos/list", "photos/d-list", 2).await);
        let mut progress = [0; 2];
        while progress.iter().any(|done| *done < 20_000) {
            tokio::time::sleep(Duration::from_millis(5)).await;
            for (at, done) in ["photos/d-one", "photos/d-list"].iter().zip(&mut progress) {
                let copy = must(world.properties(at).await).copy.expect("under way");
                assert_eq!(copy.status, CopyStatus::Pending);
                assert!(copy.done >= *done && copy.done < 400_000, "{}", copy.done);
                *done = copy.done;
            }
        }
        background.stop().await;
        progress
    };
    let world = open(None).await;
    for (at, done) in ["photos/d-one", "photos/d-list"].iter().zip(progress) {
        let copy = must(world.properties(at).await).copy.expect("under way");
        assert!(copy.status == CopyStatus::Pending && copy.done >= done, "{at}");
    }
    world.sweep().await;
    for (at, done) in ["photos/d-one", "photos/d-list"].iter().zip(progress) {
        assert_eq!(status(&world, at).await, Some(CopyStatus::Success), "{at} from {done}");
        assert_eq!(must(world.get(at).await), bytes, "{at}");
    }
    let blocks = must(world.blocks("photos/list").await).committed;
    assert_eq!(must(world.blocks("photos/d-list").await).committed, blocks);
    leaves_nothing(&world, &["photos"]).await;
}
