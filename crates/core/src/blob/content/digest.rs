//! The MD5 of a body, computed beside its way to the disk.
//!
//! Must never hold a thread that waits for a client, nor more of the body than a named limit.

use super::hashing::{Hashing, Lane};
use super::together::md5_of;
use crate::Error;
use bytes::Bytes;
use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use zaffre_base::checksum::Md5;
use zaffre_store::StoreError;

/// Bodies up to this size are hashed where they arrive: handing them over would cost more.
const HERE: u64 = 64 * 1024;

/// Bytes for which it is worth to wake a thread. What waits for a while is more likely to be hashed
/// together with others.
const BATCH: usize = 1024 * 1024;

/// Bytes of one body that may wait to be hashed. Hashing is slower than receiving; without room the
/// body would arrive, and be written, only as fast as it is hashed.
const WAITING: u32 = 2 * 1024 * 1024;

/// A running MD5.
pub(crate) struct Digest(Where);

enum Where {
    /// The first piece waits: if there is no other, it is hashed beside those of other bodies.
    Here {
        first: Bytes,
        md5: Md5,
    },
    Beside {
        queue: Arc<Queue>,
        sum: oneshot::Receiver<[u8; 16]>,
        hashing: Hashing,
    },
}

/// What waits to be hashed.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    /// For the bytes that may wait; closed once nobody will hash them.
    room: Arc<Semaphore>,
}

struct Waiting {
    pieces: VecDeque<(Bytes, OwnedSemaphorePermit)>,
    bytes: usize,
    /// Nobody has it who hashes.
    idle: Option<Md5>,
    /// Told when all is hashed, once there will be no more.
    to: Option<oneshot::Sender<[u8; 16]>>,
    ended: bool,
}

impl Digest {
    /// For a body of that length, if it is known.
    pub(crate) fn begin(hashing: &Hashing, length: Option<u64>) -> Self {
        if length.is_some_and(|length| length <= HERE) {
            return Self(Where::Here { first: Bytes::new(), md5: Md5::default() });
        }
        let (to, sum) = oneshot::channel();
        let waiting = Mutex::new(Waiting {
            pieces: VecDeque::new(),
            bytes: 0,
            idle: Some(Md5::default()),
            to: Some(to),
            ended: false,
        });
        let room = Arc::new(Semaphore::new(usize::try_from(WAITING).unwrap_or(usize::MAX)));
        let queue = Arc::new(Queue { waiting, room });
        Self(Where::Beside { queue, sum, hashing: hashing.clone() })
    }

    /// Adds bytes; waits when too many wait already.
    pub(crate) async fn update(&mut self, piece: &Bytes) {
        match &mut self.0 {
            Where::Here { first, md5 } if first.is_empty() && md5.is_empty() => {
                *first = piece.clone();
            }
            Where::Here { first, md5 } => {
                md5.update(&mem::take(first));
                md5.update(piece);
            }
            Where::Beside { queue, hashing, .. } => {
                let size = u32::try_from(piece.len()).unwrap_or(WAITING).min(WAITING);
                let room = Arc::clone(&queue.room);
                if room.available_permits() < usize::try_from(size).unwrap_or(usize::MAX) {
                    queue.hash(hashing, 0);
                }
                // Closed: the digest is lost, which is told at its end.
                let Ok(room) = room.acquire_many_owned(size).await else { return };
                queue.add(piece.clone(), room);
                queue.hash(hashing, BATCH);
            }
        }
    }

    /// There will be no more: what waits is hashed also while nobody looks.
    pub(crate) fn end(&mut self) {
        if let Where::Beside { queue, hashing, .. } = &self.0 {
            queue.lock().ended = true;
            queue.hash(hashing, 0);
        }
    }

    /// The digest, once everything is hashed.
    pub(crate) async fn finish(mut self) -> Result<[u8; 16], Error> {
        self.end();
        match self.0 {
            Where::Here { first, md5 } if md5.is_empty() => Ok(md5_of(first).await),
            Where::Here { md5, .. } => Ok(md5.finish()),
            Where::Beside { sum, .. } => Ok(sum.await.map_err(|_| StoreError::Closed)?),
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, piece: Bytes, room: OwnedSemaphorePermit) {
        let mut waiting = self.lock();
        waiting.bytes += piece.len();
        waiting.pieces.push_back((piece, room));
    }

    /// Has the body hashed if at least so many bytes wait and nobody is at it.
    fn hash(self: &Arc<Self>, hashing: &Hashing, least: usize) {
        let idle = {
            let mut waiting = self.lock();
            if waiting.bytes >= least { waiting.idle.take() } else { None }
        };
        if let Some(md5) = idle {
            hashing.add(Lane::new(Arc::clone(self), md5));
        }
    }

    /// Nobody will hash the rest: whoever waits for room or for the digest learns of it.
    pub(super) fn lose(&self) {
        self.room.close();
        let mut waiting = self.lock();
        waiting.to = None;
        waiting.pieces.clear();
    }

    /// The next bytes to hash. If there are none the digest of those before is taken, and told if
    /// there will be no more.
    pub(super) fn next(&self, md5: &mut Md5) -> Option<(Bytes, OwnedSemaphorePermit)> {
        let mut waiting = self.lock();
        if let Some((piece, room)) = waiting.pieces.pop_front() {
            waiting.bytes -= piece.len();
            return Some((piece, room));
        }
        let md5 = mem::take(md5);
        let ended = waiting.ended;
        match waiting.to.take_if(|_| ended) {
            // Whoever asked may have gone.
            Some(to) => drop(to.send(md5.finish())),
            None => waiting.idle = Some(md5),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_the_same_wherever_it_is_computed() {
        let hashing = Hashing::default();
        let body = Bytes::from((0..5_000_000_u32).map(|n| n.to_le_bytes()[1]).collect::<Vec<_>>());
        for length in [0, 1, 65_536, 65_537, 5_000_000] {
            let whole = body.slice(..length);
            let mut plain = Md5::default();
            plain.update(&whole);
            let plain = plain.finish();
            // One piece larger than everything that may wait, and many.
            for pieces in [length.max(1), 10_000] {
                for told in [u64::try_from(length).ok(), None] {
                    let mut digest = Digest::begin(&hashing, told);
                    for piece in whole.chunks(pieces) {
                        digest.update(&whole.slice_ref(piece)).await;
                    }
                    assert_eq!(digest.finish().await.ok(), Some(plain), "{length} {told:?}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_large_piece_behind_a_small_one_finds_room() {
        let body = Bytes::from(vec![7; 3 * 1024 * 1024]);
        let mut digest = Digest::begin(&Hashing::default(), None);
        digest.update(&body.slice(..1000)).await;
        digest.update(&body.slice(1000..)).await;
        let mut plain = Md5::default();
        plain.update(&body);
        assert_eq!(digest.finish().await.ok(), Some(plain.finish()));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn many_at_once_are_each_their_own() {
        let hashing = Hashing::default();
        let bodies: Vec<Bytes> = (0..16_usize)
            .map(|n| (0..70_000 + n * 10_009).map(|at| (at % (n + 200)).to_le_bytes()[0]).collect())
            .collect();
        let digests = bodies.iter().cloned().enumerate().map(|(n, body)| {
            let hashing = hashing.clone();
            tokio::spawn(async move {
                let mut digest = Digest::begin(&hashing, None);
                for piece in body.chunks(1000 * (n % 7) + 777) {
                    digest.update(&body.slice_ref(piece)).await;
                }
                digest.finish().await.ok()
            })
        });
        for (body, digest) in bodies.iter().zip(digests.collect::<Vec<_>>()) {
            let mut plain = Md5::default();
            plain.update(body);
            assert_eq!(digest.await.ok().flatten(), Some(plain.finish()), "{}", body.len());
        }
    }
}
