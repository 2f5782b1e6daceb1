//! The time of a snapshot: every commit up to it is in it, however long a commit takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use zaffre_store::{Placement, Store, TransactError, Tx};

type Nothing = std::convert::Infallible;

/// A reader found a lease expired by the clock, while a write of its holder that was stamped before
/// the end was still on its way to the disk and came to light after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_never_goes_ahead_of_a_commit_under_way() {
    let store = Store::in_memory().expect("a store");
    store.clock.freeze();
    let at = Placement::new(&b"p"[..]);
    let (entered, enters) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let (meta, place) = (store.meta.clone(), at.clone());
    let mut runs = 0;
    let gone = std::sync::Mutex::new(gone);
    let committing = tokio::spawn(async move {
        let body = move |tx: &mut Tx<'_>| {
            runs += 1;
            // The first run is the rehearsal, the second is on the commit thread.
            if runs == 2 {
                entered.send(tx.stamp()).expect("the test listens");
                gone.lock().expect("no panic").recv().expect("the test goes on");
            }
            tx.put(b"k", b"v")?;
            Ok::<_, zaffre_store::Abort<Nothing>>(())
        };
        let done: Result<(), TransactError<Nothing>> = meta.transact(&place, body).await;
        done.expect("committed");
    });
    let stamp = enters.recv_timeout(Duration::from_secs(30)).expect("the body runs twice");
    store.clock.advance(Duration::from_hours(1));
    let during = store.meta.snapshot(&at).await.expect("a snapshot");
    assert!(during.now() <= stamp.time(), "{:?} is after {stamp:?}", during.now());
    let settling = tokio::spawn({
        let meta = store.meta.clone();
        async move { meta.settle().await }
    });
    go.send(()).expect("the body waits");
    settling.await.expect("no panic").expect("settled");
    committing.await.expect("no panic");
    let after = store.meta.snapshot(&at).await.expect("a snapshot");
    assert_eq!(after.now(), store.clock.now(), "nothing is under way any more");
    assert!(after.get(b"k").expect("readable").is_some());
}

/// Notes whether a commit could be seen when its body was let go.
struct Held {
    meta: zaffre_store::meta::Meta,
    stamp: Arc<AtomicU64>,
    seen: mpsc::Sender<bool>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let stamp = self.stamp.load(Ordering::SeqCst);
        let _ = self.seen.send(self.meta.last_stamp().0 >= stamp);
    }
}

/// What a body holds on to was let go when it had run and was not durable yet: a file that REST was
/// writing could be opened by SMB without sharing, and then changed.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_body_holds_is_let_go_when_its_commit_is_seen() {
    let store = Store::in_memory().expect("a store");
    let (seen, noted) = mpsc::channel();
    let stamp = Arc::new(AtomicU64::new(0));
    let held = Held { meta: store.meta.clone(), stamp: Arc::clone(&stamp), seen };
    let body = move |tx: &mut Tx<'_>| {
        held.stamp.store(tx.stamp().0, Ordering::SeqCst);
        tx.put(b"k", b"v")?;
        Ok::<_, zaffre_store::Abort<Nothing>>(())
    };
    let at = Placement::new(&b"p"[..]);
    let done: Result<(), TransactError<Nothing>> = store.meta.transact(&at, body).await;
    done.expect("committed");
    assert!(noted.recv().expect("let go"), "let go before anybody could see the commit");
}
