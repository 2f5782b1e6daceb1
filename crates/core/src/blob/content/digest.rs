//! The MD5 of a body, computed beside its way to the disk.
//!
//! Must never hold a thread that waits for a client, nor more of the body than a named limit.

use crate::Error;
use bytes::Bytes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use zaffre_base::checksum::Md5;
use zaffre_store::StoreError;

/// Bodies up to this size are hashed where they arrive: handing them over would cost more.
const HERE: u64 = 64 * 1024;

/// Bytes for which it is worth to wake a thread.
const BATCH: usize = 128 * 1024;

/// Bytes of one body that may wait to be hashed. Hashing is slower than receiving; without room the
/// body would arrive, and be written, only as fast as it is hashed.
const WAITING: u32 = 2 * 1024 * 1024;

/// A running MD5.
pub(crate) struct Digest(Where);

enum Where {
    Here(Md5),
    Beside { room: Arc<Semaphore>, queue: Arc<Queue>, sum: oneshot::Receiver<[u8; 16]> },
}

/// What waits to be hashed.
struct Queue(Mutex<Waiting>);

struct Waiting {
    pieces: Vec<(Bytes, OwnedSemaphorePermit)>,
    bytes: usize,
    /// Nobody has it who hashes.
    idle: Option<Md5>,
    /// Told when all is hashed, once there will be no more.
    to: Option<oneshot::Sender<[u8; 16]>>,
    ended: bool,
}

impl Digest {
    /// For a body of that length, if it is known.
    pub(crate) fn begin(length: Option<u64>) -> Self {
        if length.is_some_and(|length| length <= HERE) {
            return Self(Where::Here(Md5::default()));
        }
        let (to, sum) = oneshot::channel();
        let queue = Queue(Mutex::new(Waiting {
            pieces: Vec::new(),
            bytes: 0,
            idle: Some(Md5::default()),
            to: Some(to),
            ended: false,
        }));
        let room = Arc::new(Semaphore::new(usize::try_from(WAITING).unwrap_or(usize::MAX)));
        Self(Where::Beside { room, queue: Arc::new(queue), sum })
    }

    /// Adds bytes; waits when too many wait already.
    pub(crate) async fn update(&mut self, piece: &Bytes) {
        match &mut self.0 {
            Where::Here(md5) => md5.update(piece),
            Where::Beside { room, queue, .. } => {
                let size = u32::try_from(piece.len()).unwrap_or(WAITING).min(WAITING);
                if room.available_permits() < usize::try_from(size).unwrap_or(usize::MAX) {
                    queue.hash(0);
                }
                let room = Arc::clone(room).acquire_many_owned(size).await;
                let room = room.expect("nobody closes it");
                queue.add(piece.clone(), room);
                queue.hash(BATCH);
            }
        }
    }

    /// There will be no more: what waits is hashed also while nobody looks.
    pub(crate) fn end(&mut self) {
        if let Where::Beside { queue, .. } = &self.0 {
            queue.lock().ended = true;
            queue.hash(0);
        }
    }

    /// The digest, once everything is hashed.
    pub(crate) async fn finish(mut self) -> Result<[u8; 16], Error> {
        self.end();
        match self.0 {
            Where::Here(md5) => Ok(md5.finish()),
            Where::Beside { sum, .. } => Ok(sum.await.map_err(|_| StoreError::Closed)?),
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, piece: Bytes, room: OwnedSemaphorePermit) {
        let mut waiting = self.lock();
        waiting.bytes += piece.len();
        waiting.pieces.push((piece, room));
    }

    /// Wakes a thread if at least so many bytes wait and none is at work.
    fn hash(self: &Arc<Self>, least: usize) {
        let mut waiting = self.lock();
        if waiting.bytes >= least
            && let Some(md5) = waiting.idle.take()
        {
            let queue = Arc::clone(self);
            drop(tokio::task::spawn_blocking(move || queue.work(md5)));
        }
    }

    /// Hashes until nothing waits.
    fn work(&self, mut md5: Md5) {
        loop {
            let pieces = {
                let mut waiting = self.lock();
                if waiting.pieces.is_empty() {
                    let ended = waiting.ended;
                    match waiting.to.take_if(|_| ended) {
                        // Whoever asked may have gone.
                        Some(to) => drop(to.send(md5.finish())),
                        None => waiting.idle = Some(md5),
                    }
                    return;
                }
                waiting.bytes = 0;
                std::mem::take(&mut waiting.pieces)
            };
            for (piece, room) in pieces {
                md5.update(&piece);
                drop(room);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_the_same_wherever_it_is_computed() {
        let body = Bytes::from((0..5_000_000_u32).map(|n| n.to_le_bytes()[1]).collect::<Vec<_>>());
        for length in [0, 1, 65_536, 65_537, 5_000_000] {
            let whole = body.slice(..length);
            let mut plain = Md5::default();
            plain.update(&whole);
            let plain = plain.finish();
            // One piece larger than everything that may wait, and many.
            for pieces in [length.max(1), 10_000] {
                for told in [u64::try_from(length).ok(), None] {
                    let mut digest = Digest::begin(told);
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
        let mut digest = Digest::begin(None);
        digest.update(&body.slice(..1000)).await;
        digest.update(&body.slice(1000..)).await;
        let mut plain = Md5::default();
        plain.update(&body);
        assert_eq!(digest.finish().await.ok(), Some(plain.finish()));
    }
}
