//! The open table: who has which file open, with what shared, locked, cached and marked.
//!
//! One table decides for both protocols: a REST operation is an open that lasts as long as the
//! operation ([`Opens::enter`]), an SMB handle one that lasts until it is closed ([`Opens::open`]).
//! Must never know a row or a message, and never wait while it is locked.

mod caching;
mod handles;
mod locking;
mod node;
mod open;
mod rest;
mod state;
mod streams;
mod sync;
mod touching;
mod types;
mod wait;

pub use handles::Removal;
pub use locking::{LockRefused, LockWait, Locking, UnlockRefused};
pub use open::Attempt;
pub use rest::Guard;
pub use touching::Touching;
pub use types::{
    Closed, Event, FileKey, HANDLES, HANDLES_PER_FILE, HandleId, HandleInfo, LOCK_WAITS_PER_HANDLE,
    LeaseId, Listener, OpenRequest, Opened, Owner, Place, Refused, Under, WAITERS_PER_FILE, Wanted,
};
pub use wait::Waiting;

use state::State;
use std::sync::Arc;
use std::time::Duration;
use sync::{Mutex, MutexGuard, PoisonError};
use zaffre_store::Clock;

/// The open table of all shares. Clones share it.
#[derive(Clone, Debug)]
pub struct Opens(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    clock: Clock,
}

impl Opens {
    /// An empty table. Handles are numbered from the clock on, so that those of an earlier run are
    /// never taken for these.
    pub fn new(clock: Clock) -> Self {
        let first = clock.now().0;
        Self(Arc::new(Inner { state: Mutex::new(State::new(first)), clock }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time in which the table's deadlines are: it never stands, whatever a test does to the
    /// service's clock.
    pub fn monotonic(&self) -> Duration {
        self.0.clock.monotonic()
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests;
