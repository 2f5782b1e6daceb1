//! The runtime ends while a commit is under way: what the commit names must stay readable.

mod support;

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use support::{World, must, pattern};
use zaffre_core::{CoreOptions, Layout};
use zaffre_store::disk::{Disk, File, MemDisk, OpenMode};
use zaffre_store::{Store, StoreOptions};

/// Syncs of the journal wait while it is shut.
#[derive(Debug, Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    shut: bool,
    waiting: usize,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, shut: bool) {
        self.state().shut = shut;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state();
        state.waiting += 1;
        self.changed.notify_all();
        state = must(self.changed.wait_while(state, |state| state.shut));
        state.waiting -= 1;
    }

    fn wait_for_a_commit(&self) {
        let waited =
            self.changed.wait_timeout_while(self.state(), Duration::from_secs(20), |state| {
                state.waiting == 0
            });
        assert!(!must(waited).1.timed_out(), "no commit came");
    }
}

#[derive(Debug)]
struct GatedDisk {
    inner: MemDisk,
    gate: Arc<Gate>,
}

impl Disk for GatedDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let inner = self.inner.open(name, mode)?;
        let gate = name.starts_with("journal").then(|| Arc::clone(&self.gate));
        Ok(Arc::new(GatedFile { inner, gate }))
    }
    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.inner.create_dir(name)
    }
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.inner.list(dir)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }
    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock()
    }
}

#[derive(Debug)]
struct GatedFile {
    inner: Arc<dyn File>,
    gate: Option<Arc<Gate>>,
}

impl File for GatedFile {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, out)
    }
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.inner.write_at(offset, data)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.inner.allocate(offset, len)
    }
    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.inner.punch(offset, len)
    }
    fn allocated(&self) -> io::Result<u64> {
        self.inner.allocated()
    }
    fn sync(&self) -> io::Result<()> {
        if let Some(gate) = &self.gate {
            gate.pass();
        }
        self.inner.sync()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    must(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build())
}

/// Ends the runtime under a replacing upload of `size` bytes as soon as one of its commits waits
/// for the disk, and then lets that commit through.
fn end_under_an_upload(size: usize) {
    let gate = Arc::new(Gate::default());
    let disk = GatedDisk { inner: MemDisk::new(), gate: Arc::clone(&gate) };
    let store = must(Store::open(Arc::new(disk), &StoreOptions::default()));
    // Small pieces: the larger upload writes rows ahead of the deciding transaction.
    let layout = Layout { inline_bytes: 64, piece_bytes: 4096, pieces_per_commit: 4 };
    let world = World::with(store, CoreOptions { layout, ..CoreOptions::default() });
    let lasting = runtime();
    let (old, new) = (pattern(size, 1), pattern(size, 2));
    must(lasting.block_on(world.create("photos")));
    must(lasting.block_on(world.put("photos/a", old.clone())));

    let ending = runtime();
    gate.set(true);
    let (uploading, body) = (world.clone(), new.clone());
    ending.spawn(async move { uploading.put("photos/a", body).await });
    gate.wait_for_a_commit();
    drop(ending);
    lasting.block_on(world.core.store().extents.settle());
    gate.set(false);

    lasting.block_on(async {
        must(world.put("photos/later", "x").await);
        let got = must(world.get("photos/a").await);
        assert!(got == old || got == new, "neither the old nor the new blob");
        world.sweep().await;
        must(world.get("photos/a").await);
        must(world.delete("photos/a").await);
        world.sweep().await;
        world.free_orphans().await;
        assert_eq!(world.live_extents().await, 0, "what nobody names is freed");
    });
}

#[test]
fn a_commit_that_outlives_the_runtime_names_bytes_that_are_there() {
    for size in [4_000, 60_000] {
        end_under_an_upload(size);
    }
}
