//! Many clients of one share at once: one winner, no half rename, no torn read, nothing left behind.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use support::files::Files;
use support::model::options;
use support::{World, must, pattern, read, strict};
use zaffre_core::Error;
use zaffre_core::file::op::Kind;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::Store;

async fn worlds() -> Vec<Files> {
    let mut all = Vec::new();
    for store in [Store::in_memory(), Store::strict(strict(5))] {
        let files = Files { world: World::with(must(store), options()) };
        must(files.make_share().await);
        all.push(files);
    }
    all
}

fn refusal<T>(result: &Result<T, Error>) -> Option<FileRefusal> {
    match result {
        Ok(_) => None,
        Err(Error::Refused(Refusal::File(refusal))) => Some(*refusal),
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_renames_wins() {
    for files in worlds().await {
        for n in 0..32 {
            must(files.make_file(&format!("f{n}"), n).await);
        }
        let tasks: Vec<_> = (0..32)
            .map(|n| {
                let files = files.clone();
                let from = format!("f{n}");
                tokio::spawn(async move { files.rename(&from, "target", Kind::File, false).await })
            })
            .collect();
        let mut winners = Vec::new();
        for (n, task) in (0..).zip(tasks) {
            match refusal(&must(task.await)) {
                None => winners.push(n),
                Some(refusal) => assert_eq!(refusal, FileRefusal::ResourceAlreadyExists),
            }
        }
        assert_eq!(winners.len(), 1);
        assert_eq!(must(files.file("target", None).await).length, winners[0]);
        assert_eq!(must(files.names("", None).await).len(), 32, "the losers keep their names");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_snapshot_shows_a_moving_directory_once() {
    for files in worlds().await {
        for name in ["a", "b", "a/d", "a/d/deep"] {
            must(files.make_directory(name).await);
        }
        must(files.make_file("a/d/deep/f", 7).await);
        let (stop, moves) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (client, ended, count) = (files.clone(), Arc::clone(&stop), Arc::clone(&moves));
        let task = tokio::spawn(async move {
            while !ended.load(Ordering::SeqCst) {
                let there = count.load(Ordering::SeqCst).is_multiple_of(2);
                let (from, to) = if there { ("a/d", "b/d") } else { ("b/d", "a/d") };
                must(client.rename(from, to, Kind::Directory, false).await);
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut taken = Vec::new();
        while taken.len() < 20 || moves.load(Ordering::SeqCst) < 20 {
            if taken.len() < 100 {
                taken.push(must(files.take_snapshot().await));
            }
            tokio::task::yield_now().await;
        }
        stop.store(true, Ordering::SeqCst);
        must(task.await);
        for at in &taken {
            let seen = ["a", "b"].map(|parent| format!("{parent}/d/deep/f"));
            let mut found = 0;
            for path in &seen {
                let result = files.file(path, Some(*at)).await;
                match refusal(&result) {
                    None => found += 1,
                    Some(refusal) => assert_eq!(refusal, FileRefusal::ParentNotFound),
                }
            }
            assert_eq!(found, 1, "half a rename at {at:?}");
        }
        must(files.delete_share().await);
        files.world.sweep().await;
        assert_eq!(files.share_rows().await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_read_mixes_two_writes() {
    const LENGTH: usize = 1_500_000;
    let length = 1_500_000;
    for files in worlds().await {
        must(files.make_file("f", length).await);
        let mut tasks = Vec::new();
        for n in 1..=4 {
            let files = files.clone();
            tasks.push(tokio::spawn(async move {
                for round in 0..4 {
                    let seed = n * 8 + round;
                    must(files.write("f", 0, &pattern(LENGTH, seed)).await);
                    if round == 2 {
                        must(files.make_file("f", length).await);
                    }
                    if round == 3 {
                        must(files.core().run_background_once().await);
                    }
                }
            }));
        }
        let reader = files.clone();
        let reads = tokio::spawn(async move {
            for _ in 0..20 {
                let bytes = must(read(must(reader.open("f", None).await)).await);
                let whole = match bytes[0] {
                    0 => bytes.iter().all(|byte| *byte == 0),
                    seed => bytes == pattern(LENGTH, seed),
                };
                assert!(whole, "a read mixed two writes");
            }
        });
        for task in tasks {
            must(task.await);
        }
        must(reads.await);
        must(files.delete_file("f").await);
        files.world.sweep().await;
        assert_eq!(files.world.live_extents().await, 0, "extents are left");
    }
}
