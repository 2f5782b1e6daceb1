//! MD5s of small bodies, hashed together with others that came to the same thread at the same time.
//!
//! Must never wait for another body: whoever finds nobody beside it hashes alone.

use bytes::Bytes;
use std::cell::RefCell;
use std::mem;
use std::sync::{Arc, OnceLock};
use tokio::task::yield_now;
use zaffre_base::checksum::Md5;
use zaffre_base::md5::{BLOCK, LANES, update_together};

/// Bodies shorter than this are hashed at once: looking for others takes as long.
const WORTH: usize = 1024;

/// A body and, once somebody has hashed it, its MD5.
struct Small {
    body: Bytes,
    sum: OnceLock<[u8; 16]>,
}

thread_local! {
    /// Bodies that wait for the other tasks of this thread to bring theirs: less than fill the lanes.
    static WAITING: RefCell<Vec<Arc<Small>>> = const { RefCell::new(Vec::new()) };
}

/// The MD5 of a body. Other tasks get their turn before it is computed, and may bring bodies too.
pub(super) async fn md5_of(body: Bytes) -> [u8; 16] {
    if body.len() < WORTH {
        return alone(&body);
    }
    let small = Arc::new(Small { body, sum: OnceLock::new() });
    let full = WAITING.with_borrow_mut(|waiting| {
        waiting.push(Arc::clone(&small));
        waiting.len() == LANES
    });
    if !full {
        yield_now().await;
    }
    if small.sum.get().is_none() {
        hash_waiting();
    }
    // It waits with another thread if the task was moved meanwhile.
    *small.sum.get_or_init(|| alone(&small.body))
}

fn alone(body: &[u8]) -> [u8; 16] {
    let mut md5 = Md5::default();
    md5.update(body);
    md5.finish()
}

/// Hashes all that wait with this thread.
fn hash_waiting() {
    let mut waiting = WAITING.with_borrow_mut(mem::take);
    let open: Vec<&Arc<Small>> = waiting.iter().filter(|small| small.sum.get().is_none()).collect();
    hash(&open);
    // Its room is kept for those to come.
    waiting.clear();
    WAITING.with_borrow_mut(|empty| mem::swap(empty, &mut waiting));
}

/// Hashes up to as many as there are lanes.
fn hash(smalls: &[&Arc<Small>]) {
    let mut sums: [Md5; LANES] = Default::default();
    let mut rests: Vec<&[u8]> = smalls.iter().map(|small| &small.body[..]).collect();
    loop {
        let lanes = sums.iter_mut().zip(&rests).filter(|(_, rest)| rest.len() >= BLOCK);
        let mut lanes: Vec<(&mut Md5, &[u8])> = lanes.map(|(md5, rest)| (md5, *rest)).collect();
        if lanes.len() < 2 {
            break;
        }
        let hashed = update_together(&mut lanes);
        for rest in rests.iter_mut().filter(|rest| rest.len() >= BLOCK) {
            *rest = &rest[hashed..];
        }
    }
    for ((small, mut md5), rest) in smalls.iter().zip(sums).zip(rests) {
        md5.update(rest);
        // Whoever was quicker has the same.
        let _ = small.sum.set(md5.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn body(length: usize) -> Bytes {
        (0..length).map(|at| (at % 251).to_le_bytes()[0]).collect()
    }

    #[tokio::test]
    async fn one_has_nobody_to_wait_for() {
        for length in [0, 1, 1023, 1024, 4096, 65_536] {
            assert_eq!(md5_of(body(length)).await, alone(&body(length)), "{length}");
        }
    }

    #[test]
    fn bodies_of_all_lengths_are_hashed_together() {
        let cases: [&[usize]; 6] =
            [&[], &[1024], &[4096; 4], &[0, 63, 64, 65], &[1024, 65_536, 1025], &[100, 200]];
        for lengths in cases {
            let smalls: Vec<Arc<Small>> = lengths
                .iter()
                .map(|length| Arc::new(Small { body: body(*length), sum: OnceLock::new() }))
                .collect();
            hash(&smalls.iter().collect::<Vec<_>>());
            for small in smalls {
                assert_eq!(small.sum.get(), Some(&alone(&small.body)), "{lengths:?}");
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
    async fn many_tasks_get_each_their_own() {
        let tasks: Vec<_> = (0..200_usize)
            .map(|n| tokio::spawn(async move { (n, md5_of(body(1000 + 37 * n)).await) }))
            .collect();
        for task in tasks {
            let (n, sum) = task.await.expect("no panic");
            assert_eq!(sum, alone(&body(1000 + 37 * n)), "{n}");
        }
    }

    #[tokio::test]
    async fn a_task_that_is_given_up_leaves_the_others_alone() {
        let mut given_up = Box::pin(md5_of(body(5000)));
        assert_eq!((&mut given_up).now_or_never(), None);
        drop(given_up);
        assert_eq!(md5_of(body(4096)).await, alone(&body(4096)));
        assert_eq!(WAITING.with_borrow(Vec::len), 0);
    }
}
