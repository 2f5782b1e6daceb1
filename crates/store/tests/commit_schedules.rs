//! The commit queue under all schedules: every item is taken once, in its producer's order, or
//! handed back; the consumer never sleeps while something waits.
//!
//! Run with `--features shuttle`, which swaps the locks inside the store.

#![cfg(feature = "shuttle")]

use shuttle::sync::{Arc, Mutex};
use shuttle::{check_random_with_seed, thread};
use std::time::Duration;
use zaffre_store::meta::{CommitQueue, Refused};
use zaffre_testkit::schedules;

const PRODUCERS: u32 = 3;
const ITEMS: u32 = 4;

/// Takes batches until the queue is closed and empty, as the commit thread does.
fn consume(queue: &CommitQueue<(u32, u32)>, taken: &Mutex<Vec<(u32, u32)>>) {
    let next = || {
        if queue.is_empty() {
            queue.wait();
        }
        queue.gather(2, Duration::from_micros(1));
        queue.take(2)
    };
    while let Some(batch) = next() {
        assert!(!batch.is_empty() && batch.len() <= 2);
        taken.lock().expect("no panic").extend(batch);
    }
}

/// Pushes items until the queue refuses; returns how many it took in.
fn produce(queue: &CommitQueue<(u32, u32)>, producer: u32) -> u32 {
    let mut accepted = 0;
    for item in 0..ITEMS {
        loop {
            match queue.push((producer, item)) {
                Ok(()) => {
                    accepted += 1;
                    break;
                }
                Err(Refused::Full(back)) => {
                    assert_eq!(back, (producer, item), "handed back as it was");
                    thread::yield_now();
                }
                Err(Refused::Closed(_)) => return accepted,
            }
        }
    }
    accepted
}

fn run(close_early: bool) {
    let queue = Arc::new(CommitQueue::new(2));
    let taken = Arc::new(Mutex::new(Vec::new()));
    let consumer = {
        let (queue, taken) = (Arc::clone(&queue), Arc::clone(&taken));
        thread::spawn(move || consume(&queue, &taken))
    };
    let producers: Vec<_> = (0..PRODUCERS)
        .map(|producer| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || produce(&queue, producer))
        })
        .collect();
    if close_early {
        thread::yield_now();
        queue.close();
    }
    let accepted: Vec<u32> = producers.into_iter().map(|p| p.join().expect("no panic")).collect();
    queue.close();
    consumer.join().expect("the consumer ends");
    let taken = taken.lock().expect("no panic");
    for (producer, accepted) in (0..PRODUCERS).zip(accepted) {
        let items: Vec<u32> = taken.iter().filter(|(p, _)| *p == producer).map(|i| i.1).collect();
        assert_eq!(items, (0..accepted).collect::<Vec<_>>(), "all that were accepted, in order");
    }
}

#[test]
fn every_item_is_taken_once_and_in_order() {
    let check = |seed, count| check_random_with_seed(|| run(false), seed, count);
    schedules("the commit queue, all taken", check);
}

#[test]
fn closing_loses_nothing_that_was_accepted() {
    let check = |seed, count| check_random_with_seed(|| run(true), seed, count);
    schedules("the commit queue, closed early", check);
}
