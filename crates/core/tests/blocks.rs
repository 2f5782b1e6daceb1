//! Staged blocks and block lists.

mod support;

use support::{body, commit, list, must, pattern, refused, stage, worlds};
use zaffre_core::blob::op::{ExpectedChecksum, ListBlobs, PutBlock, PutBlockList};
use zaffre_core::blob::reply::BlockView;
use zaffre_core::blob::{put_block, put_block_list};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlockSource::{Committed, Latest, Uncommitted};

fn view(id: &str, length: u64) -> BlockView {
    BlockView { id: id.as_bytes().to_vec(), length }
}

#[tokio::test]
async fn blocks_become_a_blob() {
    for world in worlds() {
        must(world.create("photos").await);
        let parts = [pattern(100, 1), pattern(100_000, 2), pattern((2 << 20) + 7, 3)];
        for (id, part) in ["b1", "b2", "b3"].into_iter().zip(&parts) {
            must(world.stage("photos/a", id, part.clone()).await);
        }
        assert_eq!(refused(world.get("photos/a").await), Refusal::BlobNotFound);
        let shown = must(world.blocks("photos/a").await);
        assert_eq!(shown.committed_state, None);
        let lengths = [view("b1", 100), view("b2", 100_000), view("b3", (2 << 20) + 7)];
        assert_eq!(shown.uncommitted.as_deref(), Some(&lengths[..]));
        let order = [(Latest, "b3"), (Uncommitted, "b1"), (Latest, "b2"), (Uncommitted, "b1")];
        let written = must(world.commit("photos/a", &order).await);
        let whole = [&parts[2][..], &parts[0], &parts[1], &parts[0]].concat();
        assert_eq!(must(world.get("photos/a").await), whole);
        for (first, last) in [(0, 0), (2 << 20, (2 << 20) + 200), (whole.len() - 1, whole.len())] {
            let got = must(world.range("photos/a", first as u64, last as u64).await);
            assert_eq!(got, whole[first..(last + 1).min(whole.len())]);
        }
        let shown = must(world.blocks("photos/a").await);
        assert_eq!(shown.committed_state, Some((written, whole.len() as u64)));
        assert_eq!(shown.uncommitted, Some(Vec::new()));
        let ids: Vec<_> = shown.committed.unwrap_or_default().into_iter().map(|b| b.id).collect();
        assert_eq!(ids, [b"b3", b"b1", b"b2", b"b1"]);
    }
}

#[tokio::test]
async fn committed_blocks_are_used_again() {
    for world in worlds() {
        must(world.create("photos").await);
        let (old, new) = (pattern(50_000, 1), pattern(60_000, 2));
        must(world.stage("photos/a", "b1", old.clone()).await);
        must(world.stage("photos/a", "b2", "gone").await);
        must(world.commit("photos/a", &[(Latest, "b1"), (Latest, "b2")]).await);
        world.sweep().await;
        must(world.stage("photos/a", "b1", new.clone()).await);
        let both = [(Committed, "b1"), (Uncommitted, "b1")];
        assert_eq!(refused(world.commit("photos/a", &both).await), Refusal::InvalidBlockList);
        must(world.stage("photos/a", "b3", "x").await);
        must(world.commit("photos/a", &[(Committed, "b1"), (Latest, "b3")]).await);
        world.sweep().await;
        assert_eq!(must(world.get("photos/a").await), [&old[..], b"x"].concat());
        let lost = world.commit("photos/a", &[(Latest, "b2")]).await;
        assert_eq!(refused(lost), Refusal::InvalidBlockList, "b2 was dropped by the last list");
        let staged = world.commit("photos/a", &[(Uncommitted, "b1")]).await;
        assert_eq!(refused(staged), Refusal::InvalidBlockList, "and the other b1 with it");
        must(world.commit("photos/a", &[]).await);
        assert_eq!(must(world.get("photos/a").await), b"");
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0);
        assert_eq!(world.rows("photos").await.len(), 1, "the blob alone");
    }
}

#[tokio::test]
async fn staged_blocks_are_replaced_dropped_and_expire() {
    for world in worlds() {
        must(world.create("photos").await);
        must(world.stage("photos/a", "b1", pattern(20_000, 1)).await);
        must(world.stage("photos/a", "b1", pattern(30_000, 2)).await);
        let shown = must(world.blocks("photos/a").await);
        assert_eq!(shown.uncommitted, Some(vec![view("b1", 30_000)]));
        let other_length = world.stage("photos/a", "longer", "x").await;
        assert_eq!(refused(other_length), Refusal::InvalidBlobOrBlock);
        must(world.put("photos/a", "whole").await);
        let dropped = world.commit("photos/a", &[(Uncommitted, "b1")]).await;
        assert_eq!(refused(dropped), Refusal::InvalidBlockList, "Put Blob drops staged blocks");
        must(world.stage("photos/a", "longer", pattern(20_000, 3)).await);
        world.advance(7 * 24 * 3600 + 1);
        assert_eq!(must(world.blocks("photos/a").await).uncommitted, Some(Vec::new()));
        let expired = world.commit("photos/a", &[(Latest, "longer")]).await;
        assert_eq!(refused(expired), Refusal::InvalidBlockList);
        must(world.stage("photos/a", "b1", pattern(20_000, 4)).await);
        world.advance(7 * 24 * 3600 + 1);
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0);
        assert_eq!(world.rows("photos").await.len(), 2, "the blob and its bytes");
    }
}

#[tokio::test]
async fn uncommitted_blobs_are_seen_only_where_asked_for() {
    for world in worlds() {
        must(world.create("photos").await);
        for name in ["a", "c/1", "e"] {
            must(world.stage(&format!("photos/{name}"), "b1", "x").await);
        }
        for name in ["b", "c/2", "e"] {
            must(world.put(&format!("photos/{name}"), "x").await);
        }
        must(world.stage("photos/e", "b1", "x").await);
        for size in [1, 2, 5_000] {
            let plain = ListBlobs { max_results: size, ..list("photos") };
            assert_eq!(world.names(plain.clone()).await, ["b", "c/2", "e"]);
            let all = ListBlobs { include_uncommitted: true, ..plain };
            assert_eq!(world.names(all.clone()).await, ["a", "b", "c/1", "c/2", "e"]);
            let tree = ListBlobs { delimiter: Some("/".to_owned()), ..all };
            assert_eq!(world.names(tree).await, ["a", "b", "[c/]", "e"]);
        }
        must(world.delete("photos/a").await);
        assert_eq!(refused(world.blocks("photos/a").await), Refusal::BlobNotFound);
    }
}

#[tokio::test]
async fn block_checksums() {
    for world in worlds() {
        must(world.create("photos").await);
        let expect = ExpectedChecksum { md5: Some([0; 16]), crc64: None };
        let op = PutBlock { expect, ..stage("photos/a", "b1") };
        let wrong = put_block(&world.core, world.ok(op), body(pattern(1 << 20, 1))).await;
        assert!(matches!(refused(wrong), Refusal::Md5Mismatch { .. }));
        let reply =
            must(put_block(&world.core, world.ok(stage("photos/a", "b1")), body("x")).await);
        assert_eq!(reply.md5, None, "only computed when announced");
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0);
    }
}

async fn many_blocks(world: &support::World, count: usize) {
    must(world.create("photos").await);
    let ids: Vec<String> = (0..count).map(|n| format!("{n:06}")).collect();
    // Several at a time, as a client with parallel uploads does.
    for chunk in ids.chunks(64) {
        let stage = |id: &String| {
            let (world, id) = (world.clone(), id.clone());
            tokio::spawn(async move { world.stage("photos/a", &id, id.clone()).await })
        };
        let tasks: Vec<_> = chunk.iter().map(stage).collect();
        for task in tasks {
            must(must(task.await));
        }
    }
    let entries: Vec<_> = ids.iter().map(|id| (Latest, id.as_str())).collect();
    must(world.commit("photos/a", &entries).await);
    let whole = ids.concat();
    assert_eq!(must(world.get("photos/a").await), whole.as_bytes());
    let middle = whole.len() / 2 + 3;
    let got = must(world.range("photos/a", middle as u64, middle as u64 + 20).await);
    assert_eq!(got, whole.as_bytes()[middle..=middle + 20]);
    let shown = must(world.blocks("photos/a").await);
    assert_eq!(shown.committed.map(|blocks| blocks.len()), Some(count));
    // Half of them again, from the committed list, and then nothing.
    let half: Vec<_> = ids.iter().step_by(2).map(|id| (Committed, id.as_str())).collect();
    must(world.commit("photos/a", &half).await);
    world.sweep().await;
    let kept: String = ids.iter().step_by(2).map(String::as_str).collect();
    assert_eq!(must(world.get("photos/a").await), kept.as_bytes());
    must(world.delete("photos/a").await);
    world.sweep().await;
    assert!(world.rows("photos").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_fifty_thousand_blocks() {
    many_blocks(&worlds().remove(0), 50_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_on_the_strict_engine() {
    many_blocks(&worlds().remove(1), 3_000).await;
}

#[tokio::test]
async fn a_list_that_is_too_long() {
    for world in worlds() {
        must(world.create("photos").await);
        let entries = vec![(Latest, "b1"); 50_001];
        let op: PutBlockList = commit("photos/a", &entries);
        let refusal = refused(put_block_list(&world.core, world.ok(op)).await);
        assert_eq!(refusal, Refusal::BlockListTooLong);
    }
}
