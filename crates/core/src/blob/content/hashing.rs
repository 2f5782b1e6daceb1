//! The threads that hash bodies, up to four of them in one go.
//!
//! Must never hold a thread that waits for a client, nor let a long body keep others waiting.

use super::digest::Queue;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use tokio::sync::OwnedSemaphorePermit;
use zaffre_base::checksum::Md5;
use zaffre_base::md5::{BLOCK, LANES, update_together};

/// Bytes of a body that are hashed before others get their turn.
const TURN: usize = 256 * 1024;

/// Bodies with bytes to be hashed. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Hashing(Arc<Mutex<Ready>>);

#[derive(Default)]
struct Ready {
    bodies: VecDeque<Lane>,
    threads: usize,
}

/// A body whose bytes are being hashed. Dropped before all of them are, the body's digest is lost.
pub(super) struct Lane {
    /// Gone once it has the digest again.
    queue: Option<Arc<Queue>>,
    md5: Md5,
    piece: Bytes,
    /// The room that the piece takes among those that wait.
    room: Option<OwnedSemaphorePermit>,
}

impl Lane {
    pub(super) fn new(queue: Arc<Queue>, md5: Md5) -> Self {
        Self { queue: Some(queue), md5, piece: Bytes::new(), room: None }
    }

    /// Leaves at least a block to hash, and none begun. If less than that waits it is hashed too, and
    /// the body's queue has the digest again.
    fn prepare(&mut self) -> bool {
        loop {
            if self.piece.is_empty() {
                self.room = None;
                let Some(queue) = &self.queue else { return false };
                let Some((piece, room)) = queue.next(&mut self.md5) else {
                    self.queue = None;
                    return false;
                };
                (self.piece, self.room) = (piece, Some(room));
            }
            let missing = self.md5.missing();
            if missing == 0 && self.piece.len() >= BLOCK {
                return true;
            }
            let few = if missing == 0 { self.piece.len() } else { missing };
            let few = self.piece.split_to(few.min(self.piece.len()));
            self.md5.update(&few);
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            queue.lose();
        }
    }
}

/// A thread that is counted among those that hash.
struct Worker {
    hashing: Hashing,
    counted: bool,
}

impl Hashing {
    /// Hashes a body as soon as there is a thread. A second one starts only when the first has more
    /// than it can hash at once.
    pub(super) fn add(&self, lane: Lane) {
        let most = available_parallelism().map_or(1, usize::from);
        let needed = {
            let mut ready = self.lock();
            ready.bodies.push_back(lane);
            let needed = ready.threads == 0 || (ready.bodies.len() > LANES && ready.threads < most);
            ready.threads += usize::from(needed);
            needed
        };
        if needed {
            // Without the lock: a runtime that ends drops the worker at once.
            let worker = Worker { hashing: self.clone(), counted: true };
            drop(tokio::task::spawn_blocking(move || worker.work()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ready> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// Hashes until no body waits.
    fn work(mut self) {
        let mut lanes = Vec::with_capacity(LANES);
        loop {
            {
                let mut ready = self.hashing.lock();
                ready.bodies.extend(lanes.drain(..));
                let count = ready.bodies.len().min(LANES);
                lanes.extend(ready.bodies.drain(..count));
                if lanes.is_empty() {
                    // With the lock still held: whoever adds a body now must see it.
                    ready.threads -= 1;
                    self.counted = false;
                    return;
                }
            }
            turn(&mut lanes);
        }
    }
}

/// It never ran, or did not come to its end. The next body gets a thread again; those that wait
/// for one fail, unless another has them.
impl Drop for Worker {
    fn drop(&mut self) {
        if !self.counted {
            return;
        }
        let lost = {
            let mut ready = self.hashing.lock();
            ready.threads -= 1;
            if ready.threads == 0 { mem::take(&mut ready.bodies) } else { VecDeque::new() }
        };
        drop(lost);
    }
}

/// Hashes the bodies together for a while. Those of which nothing is left leave.
fn turn(lanes: &mut Vec<Lane>) {
    let mut hashed = 0;
    while hashed < TURN {
        let before = lanes.len();
        lanes.retain_mut(Lane::prepare);
        // Whoever left makes room for another.
        if lanes.is_empty() || (hashed > 0 && lanes.len() < before) {
            return;
        }
        hashed += match &mut lanes[..] {
            [alone] => {
                let some = alone.piece.len().min(TURN) / BLOCK * BLOCK;
                alone.md5.update(&alone.piece[..some]);
                alone.piece.advance(some);
                some
            }
            several => {
                let mut bodies: Vec<(&mut Md5, &[u8])> =
                    several.iter_mut().map(|lane| (&mut lane.md5, &lane.piece[..])).collect();
                let some = update_together(&mut bodies);
                for lane in several {
                    lane.piece.advance(some);
                }
                some
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest::Digest;
    use super::*;
    use futures_util::FutureExt;
    use tokio::runtime::Builder;

    /// After a thread is lost the bodies it had fail, none waits for ever, and later ones are hashed.
    #[test]
    fn a_lost_thread_takes_nothing_with_it_but_its_bodies() {
        let hashing = Hashing::default();
        let piece = Bytes::from(vec![7; 1024 * 1024]);
        let begun = {
            let runtime = Builder::new_current_thread().build().expect("a runtime");
            let gone = runtime.handle().clone();
            runtime.shutdown_background();
            let _inside = gone.enter();
            let mut digest = Digest::begin(&hashing, None);
            digest.update(&piece).now_or_never().expect("there is room");
            digest
        };
        assert_eq!(hashing.lock().threads, 0);
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut begun = begun;
            for _ in 0..8 {
                begun.update(&piece).await;
            }
            assert!(begun.finish().await.is_err());
            let mut next = Digest::begin(&hashing, None);
            next.update(&piece).await;
            let mut plain = Md5::default();
            plain.update(&piece);
            assert_eq!(next.finish().await.ok(), Some(plain.finish()));
        });
    }
}
