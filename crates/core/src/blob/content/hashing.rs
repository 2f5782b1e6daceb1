//! The threads that hash bodies, up to four of them in one go.
//!
//! Must never hold a thread that waits for a client, nor let a long body keep others waiting.

use super::digest::Queue;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
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

/// A body whose bytes are being hashed.
pub(super) struct Lane {
    queue: Arc<Queue>,
    md5: Md5,
    piece: Bytes,
    /// The room that the piece takes among those that wait.
    room: Option<OwnedSemaphorePermit>,
}

impl Lane {
    pub(super) fn new(queue: Arc<Queue>, md5: Md5) -> Self {
        Self { queue, md5, piece: Bytes::new(), room: None }
    }

    /// Leaves at least a block to hash, and none begun. If less than that waits it is hashed too, and
    /// the body's queue has the digest again.
    fn prepare(&mut self) -> bool {
        loop {
            if self.piece.is_empty() {
                self.room = None;
                let Some((piece, room)) = self.queue.next(&mut self.md5) else { return false };
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

impl Hashing {
    /// Hashes a body as soon as there is a thread. A second one starts only when the first has more
    /// than it can hash at once.
    pub(super) fn add(&self, lane: Lane) {
        let mut ready = self.lock();
        ready.bodies.push_back(lane);
        let most = available_parallelism().map_or(1, usize::from);
        if ready.threads == 0 || (ready.bodies.len() > LANES && ready.threads < most) {
            ready.threads += 1;
            let hashing = self.clone();
            drop(tokio::task::spawn_blocking(move || hashing.work()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ready> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hashes until no body waits.
    fn work(&self) {
        let mut lanes = Vec::with_capacity(LANES);
        loop {
            {
                let mut ready = self.lock();
                ready.bodies.extend(lanes.drain(..));
                let count = ready.bodies.len().min(LANES);
                lanes.extend(ready.bodies.drain(..count));
                if lanes.is_empty() {
                    ready.threads -= 1;
                    return;
                }
            }
            turn(&mut lanes);
        }
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
