//! A disk that makes the engine's threads panic: callers are told, nobody waits for ever, and the
//! store can still be closed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zaffre_store::disk::{Disk, File, MemDisk, OpenMode};
use zaffre_store::{Placement, Store, StoreError, StoreOptions, TransactError, Tx};

/// Syncs of files whose names start so panic while it is armed.
#[derive(Debug)]
struct PanicDisk {
    inner: Arc<MemDisk>,
    prefix: &'static str,
    armed: Arc<AtomicBool>,
}

impl Disk for PanicDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let inner = self.inner.open(name, mode)?;
        let armed = name.starts_with(self.prefix).then(|| Arc::clone(&self.armed));
        Ok(Arc::new(PanicFile { inner, armed }))
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
struct PanicFile {
    inner: Arc<dyn File>,
    armed: Option<Arc<AtomicBool>>,
}

impl PanicFile {
    fn trip(&self) {
        let armed = self.armed.as_ref().is_some_and(|armed| armed.load(Ordering::SeqCst));
        assert!(!armed, "injected panic");
    }
}

impl File for PanicFile {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, out)
    }
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.trip();
        self.inner.write_at(offset, data)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.trip();
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
        self.trip();
        self.inner.sync()
    }
}

async fn put(store: &Store, number: u8) -> Result<(), StoreError> {
    let body = move |tx: &mut Tx<'_>| Ok(tx.put(&[number], &[number; 2_000])?);
    let place = Placement::new(&b"p"[..]);
    let put = store.meta.transact(&place, body);
    let put = tokio::time::timeout(Duration::from_secs(10), put).await.expect("nobody hangs");
    put.map_err(|error| match error {
        TransactError::Store(error) => error,
        TransactError::Body(()) => panic!("the body refuses nothing"),
    })
}

/// Works, arms the disk, works on until that fails, closes, and finds what was acknowledged.
fn panic_in(prefix: &'static str) {
    let below = Arc::new(MemDisk::new());
    let armed = Arc::new(AtomicBool::new(false));
    let disk = PanicDisk { inner: Arc::clone(&below), prefix, armed: Arc::clone(&armed) };
    let options = StoreOptions { memory_bytes: 6 * 1024, ..StoreOptions::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = Store::open(Arc::new(disk), &options).expect("opens");
        let mut acknowledged = Vec::new();
        for number in 0..10 {
            put(&store, number).await.expect("works");
            acknowledged.push(number);
        }
        armed.store(true, Ordering::SeqCst);
        let mut failed = 0;
        for number in 10..60 {
            match put(&store, number).await {
                Ok(()) => acknowledged.push(number),
                Err(_) => failed += 1,
            }
        }
        assert!(failed > 10, "the panic was not met: {failed}");
        let (closed, finished) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            drop(store);
            closed.send(())
        });
        finished.recv_timeout(Duration::from_secs(10)).expect("closing does not hang");
        armed.store(false, Ordering::SeqCst);
        let store = Store::open(below, &options).expect("opens again");
        let rows = store.meta.snapshot(&Placement::new(&b"p"[..])).await.expect("a snapshot");
        for number in acknowledged {
            assert!(rows.get(&[number]).expect("readable").is_some(), "row {number} is gone");
        }
    });
}

#[test]
fn a_panic_of_the_commit_thread_is_an_error_for_all_callers() {
    panic_in("journal");
}

#[test]
fn a_panic_of_the_checkpoint_thread_is_an_error_for_all_callers() {
    panic_in("meta");
}
