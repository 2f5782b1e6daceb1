//! Many clients at once: one winner, no lost update, no torn read, nothing left behind.

mod support;

use futures_util::{StreamExt, stream};
use std::time::Duration;
use support::{
    World, acquire, body, get, if_absent, if_match, must, pattern, put, refused, strict,
};
use zaffre_core::blob::op::PutBlob;
use zaffre_core::blob::{get_blob, put_blob};
use zaffre_core::{CoreOptions, Error, Layout};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlockSource::Latest;
use zaffre_store::Store;

fn worlds() -> Vec<World> {
    let options = CoreOptions { container_delete_delay: Duration::ZERO, ..CoreOptions::default() };
    let stores = [Store::in_memory(), Store::strict(strict(5))];
    stores.into_iter().map(|store| World::with(must(store), options.clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_creators_wins() {
    for world in worlds() {
        must(world.create("photos").await);
        for (round, size) in [10, 20_000, 1_500_000].into_iter().enumerate() {
            let at = format!("photos/{round}");
            let tasks: Vec<_> = (0..64)
                .map(|n| {
                    let (world, at) = (world.clone(), at.clone());
                    tokio::spawn(async move {
                        let op = PutBlob { conditions: if_absent(), ..put(&at) };
                        world.put_with(op, pattern(size, n)).await
                    })
                })
                .collect();
            let mut winners = Vec::new();
            for (n, task) in (0..).zip(tasks) {
                match must(task.await) {
                    Ok(_) => winners.push(n),
                    Err(Error::Refused(Refusal::BlobAlreadyExists)) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            assert_eq!(winners.len(), 1);
            assert_eq!(must(world.get(&at).await), pattern(size, winners[0]));
        }
        world.sweep().await;
        assert_eq!(world.live_extents().await, 1 + 2, "the losers' extents are gone");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost() {
    for world in worlds() {
        must(world.create("photos").await);
        must(world.put("photos/n", "0").await);
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let world = world.clone();
                tokio::spawn(async move {
                    let mut done = 0;
                    while done < 10 {
                        let (bytes, seen) = must(world.get_with(get("photos/n")).await);
                        let n: u64 = must(must(String::from_utf8(bytes)).parse());
                        let op = PutBlob { conditions: if_match(seen.written), ..put("photos/n") };
                        match world.put_with(op, (n + 1).to_string()).await {
                            Ok(_) => done += 1,
                            Err(Error::Refused(Refusal::ConditionNotMet)) => {}
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            must(task.await);
        }
        assert_eq!(must(world.get("photos/n").await), b"80");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_see_one_version() {
    for world in worlds() {
        must(world.create("photos").await);
        let size = 2_500_000;
        must(world.put("photos/a", pattern(size, 0)).await);
        let background = world.core.spawn_background();
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let world = world.clone();
                tokio::spawn(async move {
                    for _ in 0..12 {
                        let mut reply =
                            must(get_blob(&world.core, world.ok(get("photos/a"))).await);
                        let mut bytes = Vec::new();
                        while let Some(chunk) = reply.body.next().await {
                            bytes.extend_from_slice(&must(chunk));
                            tokio::time::sleep(Duration::from_millis(3)).await;
                        }
                        assert_eq!(bytes, pattern(size, bytes[0]), "torn");
                    }
                })
            })
            .collect();
        for seed in 1..40 {
            must(world.put("photos/a", pattern(size, seed)).await);
            if seed % 7 == 0 {
                must(world.stage("photos/a", "b1", pattern(1_000_000, seed)).await);
                let rest = pattern(size, seed).split_off(1_000_000);
                must(world.stage("photos/a", "b2", rest).await);
                must(world.commit("photos/a", &[(Latest, "b1"), (Latest, "b2")]).await);
            }
        }
        for reader in readers {
            must(reader.await);
        }
        drop(background);
        must(world.delete("photos/a").await);
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0);
        assert!(world.rows("photos").await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_download_outlives_its_blob_and_its_container() {
    for world in worlds() {
        must(world.create("photos").await);
        let (one, two) = (pattern(2_000_000, 1), pattern(2_000_000, 2));
        must(world.put("photos/a", one.clone()).await);
        must(world.stage("photos/b", "b1", two.clone()).await);
        must(world.commit("photos/b", &[(Latest, "b1"), (Latest, "b1")]).await);
        must(world.put("photos/c", one.clone()).await);
        let a = must(get_blob(&world.core, world.ok(get("photos/a"))).await);
        let b = must(get_blob(&world.core, world.ok(get("photos/b"))).await);
        let c = must(get_blob(&world.core, world.ok(get("photos/c"))).await);
        must(world.put("photos/a", "new").await);
        must(world.commit("photos/b", &[]).await);
        assert!(must(world.core.run_background_once().await).blocked > 0);
        must(world.delete_container("photos").await);
        assert!(must(world.core.run_background_once().await).blocked > 0);
        assert_eq!(must(support::read(a.body).await), one);
        assert_eq!(must(support::read(b.body).await), [two.clone(), two].concat());
        assert!(must(world.core.run_background_once().await).blocked > 0);
        assert_eq!(must(support::read(c.body).await), one);
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0);
        assert!(world.rows("photos").await.is_empty());
    }
}

#[tokio::test]
async fn a_download_outlives_lists_that_first_keep_and_then_drop_its_block() {
    for world in worlds() {
        must(world.create("photos").await);
        let bytes = pattern(2_000_000, 1);
        must(world.stage("photos/a", "b1", bytes.clone()).await);
        must(world.commit("photos/a", &[(Latest, "b1")]).await);
        world.sweep().await;
        let reply = must(get_blob(&world.core, world.ok(get("photos/a"))).await);
        must(world.stage("photos/a", "b2", "x").await);
        must(world.commit("photos/a", &[(Latest, "b1"), (Latest, "b2")]).await);
        must(world.commit("photos/a", &[(Latest, "b2")]).await);
        for _ in 0..3 {
            assert_eq!(must(world.core.run_background_once().await).blocked, 1);
        }
        assert_eq!(must(support::read(reply.body).await), bytes);
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0);
        assert_eq!(must(world.get("photos/a").await), b"x");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_client_gets_the_lease() {
    for world in worlds() {
        must(world.create("photos").await);
        must(world.put("photos/a", "x").await);
        let tasks: Vec<_> = (1..=32)
            .map(|id| {
                let world = world.clone();
                tokio::spawn(async move { world.lease("photos/a", acquire(Some(15), id)).await })
            })
            .collect();
        let mut holders = 0;
        for task in tasks {
            match must(task.await) {
                Ok(_) => holders += 1,
                Err(Error::Refused(Refusal::LeaseAlreadyPresent)) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(holders, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn committing_while_others_stage() {
    for world in worlds() {
        must(world.create("photos").await);
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let noise = {
            let (world, stop) = (world.clone(), stop.clone());
            tokio::spawn(async move {
                let mut n = 0_u32;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    n += 1;
                    must(world.stage("photos/a", &format!("n{:05}", n % 500), "noise").await);
                }
            })
        };
        for round in 0..20_u8 {
            must(world.stage("photos/a", "r00000", pattern(9_000, round)).await);
            must(world.commit("photos/a", &[(Latest, "r00000")]).await);
            assert_eq!(must(world.get("photos/a").await), pattern(9_000, round));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        must(noise.await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn committing_while_others_replace_the_block() {
    for world in worlds() {
        must(world.create("photos").await);
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stagers: Vec<_> = (0..3_u8)
            .map(|n| {
                let (world, stop) = (world.clone(), stop.clone());
                tokio::spawn(async move {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        must(world.stage("photos/a", "b1", pattern(20_000, n)).await);
                    }
                })
            })
            .collect();
        let mut commits = 0;
        while commits < 80 {
            match world.commit("photos/a", &[(Latest, "b1"), (Latest, "b1")]).await {
                Ok(_) => commits += 1,
                Err(Error::Refused(Refusal::InvalidBlockList) | Error::Store(_)) => continue,
                Err(error) => panic!("{error:?}"),
            }
            must(world.core.run_background_once().await);
            let bytes = must(world.get("photos/a").await);
            let one = pattern(20_000, bytes[0]);
            assert_eq!(bytes, [one.clone(), one].concat());
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for stager in stagers {
            must(stager.await);
        }
        must(world.delete("photos/a").await);
        world.sweep().await;
        assert!(world.rows("photos").await.is_empty());
        assert_eq!(world.live_extents().await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn uploads_with_rows_ahead_race_with_the_background() {
    for store in [Store::in_memory(), Store::strict(strict(6))] {
        let layout = Layout { inline_bytes: 64, piece_bytes: 4096, pieces_per_commit: 1 };
        let options = CoreOptions { layout, ..CoreOptions::default() };
        let world = World::with(must(store), options);
        must(world.create("photos").await);
        let writers: Vec<_> = (0..4_u8)
            .map(|n| {
                let world = world.clone();
                tokio::spawn(async move {
                    let at = format!("photos/{n}");
                    for round in 0..25 {
                        let bytes = pattern(15_000, n * 25 + round);
                        must(world.put(&at, bytes.clone()).await);
                        assert_eq!(must(world.get(&at).await), bytes);
                    }
                })
            })
            .collect();
        let sweeper = {
            let world = world.clone();
            tokio::spawn(async move {
                loop {
                    must(world.core.run_background_once().await);
                }
            })
        };
        for writer in writers {
            must(writer.await);
        }
        sweeper.abort();
        world.sweep().await;
        for n in 0..4_u8 {
            assert_eq!(must(world.get(&format!("photos/{n}")).await), pattern(15_000, n * 25 + 24));
        }
        assert_eq!(world.live_extents().await, 4 * 4);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writes_race_with_the_containers_deletion() {
    for world in worlds() {
        for round in 0..10_u8 {
            must(world.create("photos").await);
            let tasks: Vec<_> = (0..16_u8)
                .map(|n| {
                    let world = world.clone();
                    tokio::spawn(async move {
                        let size = if n % 2 == 0 { 10 } else { 1_200_000 };
                        world.put(&format!("photos/{n}"), pattern(size, n)).await
                    })
                })
                .collect();
            tokio::time::sleep(Duration::from_millis(u64::from(round))).await;
            must(world.delete_container("photos").await);
            for task in tasks {
                match must(task.await) {
                    Ok(_) | Err(Error::Refused(Refusal::ContainerNotFound)) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            assert_eq!(refused(world.get("photos/0").await), Refusal::ContainerNotFound);
            world.sweep().await;
        }
        assert!(world.rows("photos").await.is_empty());
        assert_eq!(world.live_extents().await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_upload_that_ends_after_the_deletion_is_refused() {
    for world in worlds() {
        must(world.create("photos").await);
        let (send, receive) = tokio::sync::oneshot::channel::<()>();
        let late = stream::once(async move {
            must(receive.await);
            Ok(pattern(1_500_000, 2).into())
        });
        let bytes = body(pattern(1_500_000, 1)).chain(late);
        let upload = {
            let world = world.clone();
            tokio::spawn(async move {
                put_blob(&world.core, world.ok(put("photos/a")), Box::pin(bytes)).await
            })
        };
        tokio::time::sleep(Duration::from_millis(50)).await;
        must(world.delete_container("photos").await);
        must(world.create("photos").await);
        let blocked = must(world.core.run_background_once().await).blocked;
        assert_eq!(blocked, 1, "the upload holds the guard of the deleted container");
        must(send.send(()));
        assert_eq!(refused(must(upload.await).map(|_| ())), Refusal::ContainerNotFound);
        assert_eq!(refused(world.get("photos/a").await), Refusal::BlobNotFound);
        world.sweep().await;
        assert!(world.rows("photos").await.is_empty());
        assert_eq!(world.live_extents().await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_client_that_goes_away_leaves_nothing() {
    for world in worlds() {
        must(world.create("photos").await);
        for wait in [0, 1, 3, 9, 20] {
            let upload = put_blob(
                &world.core,
                world.ok(put("photos/a")),
                Box::pin(body(pattern(20 << 20, 1)).then(|chunk| async {
                    tokio::task::yield_now().await;
                    chunk
                })),
            );
            let cut = tokio::time::timeout(Duration::from_millis(wait), upload).await;
            if cut.is_ok() {
                must(world.delete("photos/a").await);
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0);
        assert!(world.rows("photos").await.is_empty());
    }
}
