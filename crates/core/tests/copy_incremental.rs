//! Incremental copies: each snapshot of the source becomes one of the destination, whatever is done
//! to the source in between.

mod support;

use support::copies::options;
use support::model::Random;
use support::pages::Pages;
use support::{World, delete, get, must, pattern, refused, snapshot_of};
use zaffre_base::Timestamp;
use zaffre_core::blob::op::{DeleteBlob, DeleteSnapshots, GetPageRanges};
use zaffre_domain::Refusal;
use zaffre_domain::blob::copy::{CopyRefusal, CopyStatus};
use zaffre_store::Store;

const MIB: u64 = 1024 * 1024;

async fn world() -> World {
    let world = World::with(must(Store::in_memory()), options());
    must(world.create("photos").await);
    world
}

/// The snapshot that the last copy made.
async fn made(world: &World) -> Timestamp {
    world.sweep().await;
    let view = must(world.properties("photos/follower").await);
    assert_eq!(view.copy.map(|copy| copy.status), Some(CopyStatus::Success));
    view.incremental.and_then(|incremental| incremental.snapshot).expect("a snapshot")
}

async fn content(world: &World, at: Timestamp) -> Vec<u8> {
    let op = zaffre_core::blob::op::GetBlob {
        at: snapshot_of("photos/follower", at),
        ..get("photos/x")
    };
    must(world.get_with(op).await).0
}

#[tokio::test]
async fn the_rules() {
    let world = world().await;
    must(world.create_pages("photos/disk", 4 * MIB).await);
    must(world.write_pages("photos/disk", 0, pattern(1024, 1)).await);
    let first = must(world.snapshot("photos/disk").await);
    must(world.write_pages("photos/disk", MIB, pattern(1024, 2)).await);
    let second = must(world.snapshot("photos/disk").await);
    must(world.put("photos/block", "x").await);
    let block = must(world.snapshot("photos/block").await);
    let snapshot = |at| snapshot_of("photos/disk", at);

    let base = support::path("photos/disk");
    let only = Refusal::Copy(CopyRefusal::IncrementalCopySourceMustBeSnapshot);
    assert_eq!(refused(world.follow(base, "photos/follower", 1).await), only);
    let kind = Refusal::Copy(CopyRefusal::InvalidSourceBlobType);
    let from = snapshot_of("photos/block", block);
    assert_eq!(refused(world.follow(from, "photos/follower", 1).await), kind);
    let reply = must(world.follow(snapshot(second), "photos/follower", 2).await);
    assert_eq!(reply.status, CopyStatus::Pending);
    let pending = Refusal::Copy(CopyRefusal::PendingCopyOperation);
    assert_eq!(refused(world.delete("photos/follower").await), pending);
    let at = made(&world).await;
    assert_eq!(content(&world, at).await, must(world.get("photos/disk").await));
    for earlier in [first, second] {
        let answer = refused(world.follow(snapshot(earlier), "photos/follower", 3).await);
        assert_eq!(answer, Refusal::Copy(CopyRefusal::IncrementalCopyOfEarlierSnapshotNotAllowed));
    }
    must(world.create_pages("photos/else", 512).await);
    let other = must(world.snapshot("photos/else").await);
    let answer =
        refused(world.follow(snapshot_of("photos/else", other), "photos/follower", 3).await);
    assert_eq!(answer, Refusal::Copy(CopyRefusal::IncrementalCopyBlobMismatch));
    let third = must(world.snapshot("photos/disk").await);
    let answer = refused(world.follow(snapshot(third), "photos/else", 3).await);
    assert_eq!(answer, Refusal::Copy(CopyRefusal::IncrementalCopyBlobMismatch));

    let never = Refusal::Copy(CopyRefusal::OperationNotAllowedOnIncrementalCopyBlob);
    assert_eq!(refused(world.get("photos/follower").await), never);
    assert_eq!(refused(world.ranges("photos/follower").await), never);
    assert_eq!(refused(world.snapshot("photos/follower").await), never);
    assert_eq!(refused(world.write_pages("photos/follower", 0, vec![1; 512]).await), never);
    assert_eq!(refused(world.copy("photos/disk", "photos/follower", 4).await), never);
    let all = DeleteBlob { snapshots: DeleteSnapshots::Include, ..delete("photos/follower") };
    must(world.remove(all).await);
}

#[tokio::test]
async fn an_aborted_one_is_made_up_for_by_the_next() {
    let world = world().await;
    must(world.create_pages("photos/disk", 4 * MIB).await);
    must(world.write_pages("photos/disk", 0, pattern(2048, 1)).await);
    let first = must(world.snapshot("photos/disk").await);
    must(world.follow(snapshot_of("photos/disk", first), "photos/follower", 1).await);
    let kept = made(&world).await;
    let before = content(&world, kept).await;
    must(world.write_pages("photos/disk", MIB, pattern(2048, 2)).await);
    let second = must(world.snapshot("photos/disk").await);
    must(world.follow(snapshot_of("photos/disk", second), "photos/follower", 2).await);
    must(world.abort("photos/follower", 2).await);
    world.sweep().await;
    assert_eq!(must(world.properties("photos/follower").await).length, 0);
    assert_eq!(content(&world, kept).await, before);
    let third = must(world.snapshot("photos/disk").await);
    must(world.follow(snapshot_of("photos/disk", third), "photos/follower", 3).await);
    let at = made(&world).await;
    assert_eq!(content(&world, at).await, must(world.get("photos/disk").await));
    assert_eq!(content(&world, kept).await, before);
}

/// Random writes, snapshots that come and go, and copies of some of them.
#[tokio::test]
async fn every_snapshot_of_the_follower_equals_its_source() {
    let seeds = zaffre_testkit::seeds(12);
    let count = seeds.end - seeds.start;
    let mut copies = 0;
    for seed in seeds {
        println!("seed {seed}");
        let mut random = Random(seed);
        let world = world().await;
        must(world.create_pages("photos/disk", 3 * MIB).await);
        let mut model = Pages::new(3 * MIB);
        let mut kept: Vec<(Timestamp, Vec<u8>, Vec<std::ops::Range<u64>>)> = Vec::new();
        for round in 0..10_u8 {
            for _ in 0..6 {
                let Some(pages) = model.pick(&mut random, 200) else { continue };
                if random.below(4) == 0 {
                    must(world.clear_pages("photos/disk", pages.clone()).await);
                    model.clear(&pages);
                } else {
                    let length = usize::try_from(pages.end - pages.start).unwrap_or(0);
                    let bytes = pattern(length, round);
                    must(world.write_pages("photos/disk", pages.start, bytes.clone()).await);
                    model.write(pages.start, &bytes);
                }
            }
            if random.below(5) == 0 {
                // Written anew: nothing can be compared with what was copied before.
                must(world.create_pages("photos/disk", 3 * MIB).await);
                model = Pages::new(3 * MIB);
            }
            let at = must(world.snapshot("photos/disk").await);
            if random.below(3) == 0 {
                continue;
            }
            let from = snapshot_of("photos/disk", at);
            must(world.follow(from.clone(), "photos/follower", u128::from(round)).await);
            let made = made(&world).await;
            copies += 1;
            kept.push((made, model.bytes.clone(), model.ranges()));
            if random.below(3) == 0 {
                let op = DeleteBlob { at: from, ..delete("photos/disk") };
                must(world.remove(op).await);
                world.sweep().await;
            }
            for (at, bytes, ranges) in &kept {
                assert_eq!(&content(&world, *at).await, bytes, "seed {seed} round {round}");
                let op = GetPageRanges {
                    at: snapshot_of("photos/follower", *at),
                    ..support::pages::ranges("photos/x")
                };
                let found = must(world.ranges_with(op).await);
                let found: Vec<_> = found.into_iter().map(|(_, range)| range).collect();
                assert_eq!(&found, ranges, "seed {seed} round {round}");
            }
        }
        must(world.delete_container("photos").await);
        world.sweep().await;
        world.free_orphans().await;
        assert_eq!(world.live_extents().await, 0, "seed {seed}");
    }
    assert!(count < 12 || copies > 40, "did too little: {copies}");
}
