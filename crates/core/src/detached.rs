//! Work that is done to its end, whoever waits for it or not.
//!
//! Must never stop half-way because a client went away: what depends on the outcome is part of it.

use crate::Error;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use zaffre_store::StoreError;

/// Runs `work` and waits for it; dropping the wait does not stop the work.
pub(crate) fn detached<T, F>(work: F) -> Detached<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    Detached(Some(Box::pin(work)))
}

type Work<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// Work that goes on as a task of its own if its waiter goes away. Nearly all waiters stay, and
/// making a task for each would cost them several wake-ups.
pub(crate) struct Detached<T: Send + 'static>(Option<Work<T>>);

impl<T: Send + 'static> Future for Detached<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Taken out, so that work that panics is never resumed.
        let Some(mut work) = self.0.take() else {
            return Poll::Ready(Err(Error::Store(StoreError::Closed)));
        };
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Detached<T> {
    fn drop(&mut self) {
        // Outside of a runtime nothing can go on; the next start finds what is left.
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::sync::{Notify, oneshot};
    use tokio::time::timeout;

    #[tokio::test]
    async fn the_waiter_gets_the_outcome() {
        let done = detached(async {
            tokio::task::yield_now().await;
            Ok(5)
        });
        assert_eq!(done.await.ok(), Some(5));
    }

    #[tokio::test]
    async fn work_goes_on_when_its_waiter_goes_away() {
        let (start, (done, mut outcome)) = (Arc::new(Notify::new()), oneshot::channel());
        let started = Arc::clone(&start);
        let mut work = Box::pin(detached(async move {
            started.notified().await;
            let _ = done.send("done");
            Ok(())
        }));
        assert!(timeout(Duration::ZERO, &mut work).await.is_err(), "it waits");
        drop(work);
        assert!(outcome.try_recv().is_err(), "not yet");
        start.notify_one();
        assert_eq!(outcome.await, Ok("done"));
    }

    #[tokio::test]
    async fn work_that_panicked_is_not_resumed() {
        let waiter = tokio::spawn(detached(async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "a test's panic");
            Ok(())
        }));
        assert!(waiter.await.is_err_and(|error| error.is_panic()));
    }
}
