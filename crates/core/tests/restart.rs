//! What a restart keeps, and what it cleans up.

mod support;

use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::time::Duration;
use support::{World, acquire, body, get, must, open_again, pattern, put, refused};
use zaffre_base::Guid;
use zaffre_core::blob::op::PutBlob;
use zaffre_core::blob::{get_blob, put_blob};
use zaffre_core::{CoreOptions, Layout};
use zaffre_domain::blob::BlockSource::Latest;
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::disk::{Disk, MemDisk};
use zaffre_store::{Clock, Store, StoreOptions};

/// Small pieces, so that rows are written ahead of the deciding transaction.
fn options() -> CoreOptions {
    CoreOptions {
        container_delete_delay: Duration::ZERO,
        layout: Layout { inline_bytes: 64, piece_bytes: 4096, pieces_per_commit: 4 },
        ..CoreOptions::default()
    }
}

async fn open(disk: &Arc<dyn Disk>, clock: &Clock) -> World {
    let store = StoreOptions { clock: Some(clock.clone()), ..StoreOptions::default() };
    World::with(open_again(disk, &store).await, options())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_acknowledged_is_kept() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let clock = Clock::default();
    let bytes = pattern(100_000, 1);
    let (first, block) = {
        let world = open(&disk, &clock).await;
        must(world.create("photos").await);
        let first = must(world.put("photos/a", bytes.clone()).await);
        must(world.lease("photos/a", acquire(Some(60), 7)).await);
        must(world.lease_container("photos", acquire(None, 8)).await);
        let block = pattern(30_000, 2);
        must(world.stage("photos/b", "b1", block.clone()).await);
        (first, block)
    };
    let world = open(&disk, &clock).await;
    assert_eq!(must(world.get("photos/a").await), bytes);
    assert_eq!(must(world.properties("photos/a").await).written, first);
    let missing = Refusal::LeaseIdMissing(LeaseOn::Blob);
    assert_eq!(refused(world.put("photos/a", "x").await), missing);
    let missing = Refusal::LeaseIdMissing(LeaseOn::Container);
    assert_eq!(refused(world.delete_container("photos").await), missing);
    must(world.commit("photos/b", &[(Latest, "b1")]).await);
    assert_eq!(must(world.get("photos/b").await), block);
    clock.advance(Duration::from_secs(61));
    let op = PutBlob { lease: Some(Guid(7)), ..put("photos/a") };
    assert_eq!(refused(world.put_with(op, "x").await), Refusal::LeaseLost(LeaseOn::Blob));
    must(world.put("photos/a", "x").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn intents_are_worked_off_after_a_restart() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let clock = Clock::default();
    {
        let world = open(&disk, &clock).await;
        must(world.create("photos").await);
        must(world.create("doomed").await);
        must(world.put("photos/a", pattern(100_000, 1)).await);
        must(world.put("photos/a", pattern(100_000, 2)).await);
        must(world.put("doomed/a", pattern(100_000, 3)).await);
        must(world.delete_container("doomed").await);
        // An upload that never ends: its first rows are there, covered by an intent.
        let begun = body(pattern(60_000, 4)).chain(stream::pending());
        let upload = put_blob(&world.core, world.ok(put("photos/b")), Box::pin(begun));
        assert!(tokio::time::timeout(Duration::from_millis(300), upload).await.is_err());
    }
    let world = open(&disk, &clock).await;
    world.sweep().await;
    assert!(world.rows("doomed").await.is_empty());
    let rows = world.rows("photos").await.len();
    assert_eq!(rows, 1 + 100_000_usize.div_ceil(4096), "one blob and its extents");
    assert_eq!(must(world.get("photos/a").await), pattern(100_000, 2));
    assert_eq!(refused(world.get("photos/b").await), Refusal::BlobNotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_background_frees_by_itself() {
    let world = World::with(must(Store::in_memory()), options());
    let background = world.core.spawn_background();
    must(world.create("photos").await);
    must(world.put("photos/a", pattern(100_000, 1)).await);
    let reply = must(get_blob(&world.core, world.ok(get("photos/a"))).await);
    must(world.delete("photos/a").await);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_ne!(world.live_extents().await, 0, "somebody still reads");
    assert_eq!(must(support::read(reply.body).await), pattern(100_000, 1));
    for _ in 0..100 {
        if world.live_extents().await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(world.live_extents().await, 0);
    assert!(world.rows("photos").await.is_empty());
    background.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_uploads_write_ahead_and_leave_nothing_when_refused() {
    for world in [Store::in_memory(), Store::strict(support::strict(9))] {
        let world = World::with(must(world), options());
        must(world.create("photos").await);
        let bytes = pattern(200_000, 1);
        must(world.put("photos/a", bytes.clone()).await);
        assert_eq!(must(world.get("photos/a").await), bytes);
        let rows = world.rows("photos").await.len();
        assert_eq!(rows, 1 + 200_000_usize.div_ceil(4096), "no intent is left");
        let op = PutBlob { length: Some(1), ..put("photos/a") };
        assert_eq!(refused(world.put_with(op, bytes.clone()).await), Refusal::IncompleteBody);
        assert_eq!(world.rows("photos").await.len(), rows, "taken back at once");
        must(world.delete("photos/a").await);
        world.sweep().await;
        assert!(world.rows("photos").await.is_empty());
        assert_eq!(world.live_extents().await, 0);
    }
}
