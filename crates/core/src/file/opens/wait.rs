//! Waiting for a file to change: woken once, by whatever may have been waited for.
//!
//! Must never hold the table's lock while it waits.

use std::time::Duration;
use tokio::sync::oneshot;

/// A promise to be woken when the file changes; try again then.
#[derive(Debug)]
pub struct Waiting {
    changed: oneshot::Receiver<()>,
    until: Duration,
}

/// The other end; dropping it wakes as well, so that nobody is ever forgotten.
pub(super) type Waker = oneshot::Sender<()>;

impl Waiting {
    /// A waiter, and the end that wakes it; it tries again at `until` in any case.
    pub(super) fn new(until: Duration) -> (Self, Waker) {
        let (waker, changed) = oneshot::channel();
        (Self { changed, until }, waker)
    }

    /// The instant, in monotonic time, at which it is worth trying again whatever happens.
    pub fn until(&self) -> Duration {
        self.until
    }

    /// Until something changed; without the limit in time.
    pub async fn changed(self) {
        // An error is a waker that was dropped, which is a change too.
        let _ = self.changed.await;
    }

    /// Until something changed or the time has come.
    pub async fn wait(self, now: Duration) {
        let limit = self.until.saturating_sub(now);
        // Either way the caller looks again.
        let _ = tokio::time::timeout(limit, self.changed()).await;
    }
}
