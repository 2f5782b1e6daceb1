//! Waiting for a file to change: woken once, by whatever may have been waited for.
//!
//! Must never hold the table's lock while it waits.

use super::open::Attempt;
use super::{Opens, Refused};
use std::time::Duration;
use tokio::sync::oneshot;

/// A promise to be woken when the file changes; try again then.
#[derive(Debug)]
pub struct Waiting {
    changed: oneshot::Receiver<()>,
    until: Duration,
    late: Refused,
}

/// The other end; dropping it wakes as well, so that nobody is ever forgotten.
pub(super) type Waker = oneshot::Sender<()>;

impl Waiting {
    /// A waiter, and the end that wakes it; it tries again at `until` in any case.
    pub(super) fn new(until: Duration) -> (Self, Waker) {
        let (waker, changed) = oneshot::channel();
        (Self { changed, until, late: Refused::FlushDelay }, waker)
    }

    /// The same with another refusal for who has waited for too long than that a client is slow.
    pub(super) fn or_else(self, late: Refused) -> Self {
        Self { late, ..self }
    }

    /// What whoever has no more time is told.
    pub(super) fn late(&self) -> Refused {
        self.late
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

impl Opens {
    /// Tries, with the monotonic time of each try, until it is done or refused, and for `patience` at
    /// most. Dropping the wait leaves nothing behind.
    pub(super) async fn patiently<T>(
        &self,
        patience: Duration,
        attempt: impl Fn(Duration) -> Result<Attempt<T>, Refused>,
    ) -> Result<T, Refused> {
        let deadline = self.monotonic() + patience;
        loop {
            let now = self.monotonic();
            match attempt(now)? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Wait(waiting) if now >= deadline => return Err(waiting.late()),
                Attempt::Wait(waiting) => {
                    let limit = deadline.saturating_sub(now);
                    // Whichever comes first, the next round looks again.
                    let _ = tokio::time::timeout(limit, waiting.wait(now)).await;
                }
            }
        }
    }
}
