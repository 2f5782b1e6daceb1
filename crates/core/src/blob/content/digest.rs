//! The MD5 of a body, computed beside its way to the disk.
//!
//! Must never hold a thread that waits for a client, nor more of the body than a named limit.

use crate::Error;
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use zaffre_base::checksum::Md5;
use zaffre_store::StoreError;

/// Bodies up to this size are hashed where they arrive: handing them over would cost more.
const HERE: u64 = 64 * 1024;

/// Bytes of one body that may wait to be hashed. Hashing is slower than receiving; without room the
/// body would arrive, and be written, only as fast as it is hashed.
const WAITING: u32 = 2 * 1024 * 1024;

/// A running MD5.
pub(crate) struct Digest(Where);

enum Where {
    Here(Md5),
    Beside(Beside),
}

struct Beside {
    room: Arc<Semaphore>,
    pieces: mpsc::UnboundedSender<(Bytes, OwnedSemaphorePermit)>,
    sum: JoinHandle<[u8; 16]>,
}

impl Digest {
    /// For a body of that length, if it is known.
    pub(crate) fn begin(length: Option<u64>) -> Self {
        if length.is_some_and(|length| length <= HERE) {
            return Self(Where::Here(Md5::default()));
        }
        let (pieces, mut arriving) = mpsc::unbounded_channel::<(Bytes, OwnedSemaphorePermit)>();
        let sum = tokio::spawn(async move {
            let mut md5 = Md5::default();
            while let Some((piece, room)) = arriving.recv().await {
                md5.update(&piece);
                drop(room);
            }
            md5.finish()
        });
        let room = Arc::new(Semaphore::new(usize::try_from(WAITING).unwrap_or(usize::MAX)));
        Self(Where::Beside(Beside { room, pieces, sum }))
    }

    /// Adds bytes; waits when too many wait already.
    pub(crate) async fn update(&mut self, piece: &Bytes) {
        match &mut self.0 {
            Where::Here(md5) => md5.update(piece),
            Where::Beside(Beside { room, pieces, .. }) => {
                let size = u32::try_from(piece.len()).unwrap_or(WAITING).min(WAITING);
                let room = Arc::clone(room).acquire_many_owned(size).await;
                let room = room.expect("nobody closes it");
                // Who hashes ends with the last piece; if it broke, `finish` says so.
                let _ = pieces.send((piece.clone(), room));
            }
        }
    }

    /// The digest, once everything is hashed.
    pub(crate) async fn finish(self) -> Result<[u8; 16], Error> {
        match self.0 {
            Where::Here(md5) => Ok(md5.finish()),
            Where::Beside(Beside { pieces, sum, .. }) => {
                drop(pieces);
                Ok(sum.await.map_err(|_| StoreError::Closed)?)
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
}
