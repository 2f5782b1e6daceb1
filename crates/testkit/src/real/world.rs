//! Which server is up, and the one clock of all histories.
//!
//! Must never say that a server is gone before its process has ended.

use super::server::Ports;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest that anybody waits for a server to come up.
const UP: Duration = Duration::from_mins(1);
/// The longest from a broken connection to the end of the process that broke it.
const DYING: Duration = Duration::from_secs(5);

/// What clients know of their server.
#[derive(Debug)]
pub(crate) struct World {
    started: Instant,
    life: Mutex<Life>,
    changed: Condvar,
    done: AtomicU64,
}

#[derive(Debug, Default)]
struct Life {
    /// Counts the processes that have ended.
    generation: u64,
    ports: Option<Ports>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            life: Mutex::default(),
            changed: Condvar::new(),
            done: AtomicU64::new(0),
        }
    }
}

impl World {
    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nanoseconds since the world began.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// A server is up.
    pub(crate) fn is_up(&self, ports: Ports) {
        self.life().ports = Some(ports);
        self.changed.notify_all();
    }

    /// The server's process has ended.
    pub(crate) fn is_gone(&self) {
        let mut life = self.life();
        life.ports = None;
        life.generation += 1;
        drop(life);
        self.changed.notify_all();
    }

    /// The server that is up, and how many there were before; waits for one.
    pub(crate) fn server(&self) -> (u64, Ports) {
        let life = self.life();
        let waited = self.changed.wait_timeout_while(life, UP, |life| life.ports.is_none());
        let (life, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (life.generation, life.ports.expect("a server within a minute"))
    }

    /// When it is certain that the server of this generation does nothing more: now, if it has ended
    /// or is about to. `None` if it lives on.
    pub(crate) fn end_of(&self, generation: u64) -> Option<u64> {
        let life = self.life();
        let alive = |life: &mut Life| life.generation == generation;
        let waited = self.changed.wait_timeout_while(life, DYING, alive);
        let (life, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (life.generation != generation).then(|| self.now())
    }

    /// Counts one operation more.
    pub(crate) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Operations so far.
    pub(crate) fn counted(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}
