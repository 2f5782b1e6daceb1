//! The time of a snapshot: every commit up to it is in it, however long a commit takes.

use std::sync::mpsc;
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
