//! Data directories of every format version, opened for ever.
//!
//! `fixtures/format-N` was closed cleanly, `fixtures/format-N-killed` was copied while in use: its
//! last commits are only in the journal. Those of a new version are written by running the test
//! `writes_fixtures` with ZAFFRE_WRITE_FIXTURE set; old ones are never changed.

use bytes::Bytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zaffre_store::check::check;
use zaffre_store::directory::FORMAT_VERSION;
use zaffre_store::disk::RealDisk;
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::extents::{ExtentOptions, Owner};
use zaffre_store::{Abort, Placement, Store, StoreOptions};

const OBJECTS: u8 = 20;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn options() -> StoreOptions {
    let extents = ExtentOptions { segment_bytes: 64 * 1024, writers: 1, open_files: 8 };
    StoreOptions { extents, ..StoreOptions::default() }
}

fn place() -> Placement {
    Placement::new(&b"fixture"[..])
}

fn body(number: u8) -> Bytes {
    (0..3_000_u32 + u32::from(number)).map(|i| i.to_le_bytes()[0] ^ number).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("known").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// Each object is a row that names one extent, and a small row beside it.
async fn fill(store: &Store) {
    for number in 0..OBJECTS {
        let owner = Owner { placement: place(), key: vec![b'x', number] };
        let open = store.extents.begin_write();
        let extent = store.extents.write(&owner, body(number)).await.expect("written");
        let runs = runs::encode(&[Run { at: 0, length: extent.length, extent, skip: 0 }]);
        let at = place();
        let commit = store.meta.transact(&at, move |tx| {
            tx.put(&[b'x', number], &runs)?;
            tx.put(&[b'o', number], &[number; 40])?;
            Ok::<_, Abort<()>>(())
        });
        commit.await.expect("committed");
        drop(open);
    }
}

async fn verify(store: &Store) {
    let snapshot = store.meta.snapshot(&place()).await.expect("snapshot");
    for number in 0..OBJECTS {
        let row = snapshot.get(&[b'o', number]).expect("sound");
        assert_eq!(row.as_deref(), Some(&[number; 40][..]));
        let runs = snapshot.get(&[b'x', number]).expect("sound").expect("there");
        let run = runs::decode(&runs).expect("runs")[0];
        let bytes = store.extents.read(&run.extent, 0..run.length).await.expect("sound");
        assert_eq!(bytes, body(number));
    }
}

#[tokio::test]
async fn every_version_opens() {
    for version in 1..=FORMAT_VERSION {
        for name in [format!("format-{version}"), format!("format-{version}-killed")] {
            let scratch = tempfile::tempdir().expect("a folder");
            copy(&fixtures().join(&name), scratch.path());
            let disk = Arc::new(RealDisk::existing(scratch.path()).expect("there"));
            let store = Store::open(disk, &options()).unwrap_or_else(|e| panic!("{name}: {e}"));
            verify(&store).await;
            drop(store);
            let disk = Arc::new(RealDisk::existing(scratch.path()).expect("there"));
            let holds_runs = |_: &Placement, key: &[u8]| key.first() == Some(&b'x');
            let report = check(disk, holds_runs, |_| {}).await.expect("checked");
            assert!(report.is_clean(), "{name}: {:?}", report.problems);
            assert_eq!(report.extents.runs, u64::from(OBJECTS), "{name}");
        }
    }
}

#[tokio::test]
async fn writes_fixtures() {
    if std::env::var_os("ZAFFRE_WRITE_FIXTURE").is_none() {
        return;
    }
    let closed = fixtures().join(format!("format-{FORMAT_VERSION}"));
    let killed = fixtures().join(format!("format-{FORMAT_VERSION}-killed"));
    let disk = Arc::new(RealDisk::create(&closed).expect("created"));
    let store = Store::open(disk, &options()).expect("opened");
    fill(&store).await;
    copy(&closed, &killed);
    drop(store);
}
