//! Many consumers of one queue, some of which die with messages in hand: every message is delivered
//! and deleted, none is ever in two hands, none is lost.

mod support;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use support::{World, must};
use zaffre_base::{Guid, Timestamp};
use zaffre_core::Error;
use zaffre_domain::Refusal;
use zaffre_domain::queue::Lifetime;
use zaffre_store::Store;
use zaffre_testkit::Random;

const CONSUMERS: u64 = 16;
const MESSAGES: u64 = 20_000;
const PRODUCERS: u64 = 16;
const HOLD: u64 = 30;

#[derive(Default)]
struct Watch {
    /// From when until when each message was in somebody's hands. Compared at the end: consumers
    /// may come to write it down in another order than they received.
    held: Mutex<HashMap<Guid, Vec<(Timestamp, Timestamp)>>>,
    deliveries: AtomicU64,
    deaths: AtomicU64,
    deleted: AtomicU64,
    late: AtomicU64,
}

async fn produce(world: World, share: u64) {
    for serial in 0..MESSAGES / PRODUCERS {
        must(world.put_message(&format!("{share} {serial}"), Lifetime::Forever, 0).await);
    }
}

/// Receives and deletes until everything is deleted; now and then forgets what it has.
async fn consume(world: World, watch: Arc<Watch>, seed: u64) {
    let mut random = Random(seed);
    while watch.deleted.load(Ordering::SeqCst) < MESSAGES {
        let views = must(world.receive(1 + random.index(32), HOLD).await);
        if views.is_empty() {
            // Whatever is left is in dead hands: time passes.
            world.core.store().clock.advance(Duration::from_secs(5));
            tokio::task::yield_now().await;
            continue;
        }
        for view in &views {
            let received = view.message.receipt.time();
            let mut held = watch.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.entry(view.id).or_default().push((received, view.message.visible));
            watch.deliveries.fetch_add(1, Ordering::SeqCst);
        }
        let dies_after =
            if random.below(10) == 0 { random.index(views.len()) } else { views.len() };
        for view in &views[..dies_after] {
            match world.delete_message(view.id, &view.receipt()).await {
                Ok(()) => drop(watch.deleted.fetch_add(1, Ordering::SeqCst)),
                // Its time was over and somebody else has it.
                Err(Error::Refused(Refusal::MessageNotFound)) => {
                    watch.late.fetch_add(1, Ordering::SeqCst);
                }
                Err(error) => panic!("{error:?}"),
            }
        }
        if dies_after < views.len() {
            watch.deaths.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn consumers_that_die_lose_nothing() {
    let seed = zaffre_testkit::seeds(1).start;
    println!("seed {seed}; replay with ZAFFRE_SEED={seed}");
    let world = World::new(must(Store::in_memory()));
    must(world.create_queue().await);
    let watch = Arc::new(Watch::default());
    let mut tasks = tokio::task::JoinSet::new();
    for share in 0..PRODUCERS {
        tasks.spawn(produce(world.clone(), share));
    }
    for consumer in 0..CONSUMERS {
        let seed = seed.wrapping_mul(CONSUMERS).wrapping_add(consumer);
        tasks.spawn(consume(world.clone(), Arc::clone(&watch), seed));
    }
    while let Some(ended) = tasks.join_next().await {
        must(ended);
    }
    let count = |of: &AtomicU64| of.load(Ordering::SeqCst);
    let (deliveries, deaths, late) =
        (count(&watch.deliveries), count(&watch.deaths), count(&watch.late));
    println!(
        "{MESSAGES} messages, {deliveries} deliveries, {deaths} deaths, {late} late deletions"
    );
    assert_eq!(count(&watch.deleted), MESSAGES, "each deleted once");
    assert_eq!(must(world.message_count().await), 0);
    assert!(deliveries > MESSAGES && deaths > 50, "did too little");
    let mut held = std::mem::take(&mut *watch.held.lock().unwrap_or_else(PoisonError::into_inner));
    assert_eq!(u64::try_from(held.len()).unwrap_or(0), MESSAGES, "each delivered");
    for (id, times) in &mut held {
        times.sort_unstable();
        let apart = times.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        assert!(apart, "{id} was in two hands: {times:?}");
    }
    must(world.delete_queue().await);
    world.sweep().await;
    assert_eq!(world.queue_rows().await, 0, "rows are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn puts_are_never_hidden_from_receivers_that_find_nothing() {
    let world = World::new(must(Store::in_memory()));
    must(world.create_queue().await);
    let stop = Arc::new(AtomicU64::new(0));
    let mut idle = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (world, stop) = (world.clone(), Arc::clone(&stop));
        idle.spawn(async move {
            let mut taken = 0;
            while stop.load(Ordering::SeqCst) == 0 {
                taken += must(world.receive(1, 3_600).await).len();
            }
            taken
        });
    }
    for serial in 0..3_000 {
        must(world.put_message(&serial.to_string(), Lifetime::Seconds(3_600), 0).await);
    }
    stop.store(1, Ordering::SeqCst);
    let mut taken = 0;
    while let Some(count) = idle.join_next().await {
        taken += must(count);
    }
    loop {
        let rest = must(world.receive(32, 3_600).await).len();
        taken += rest;
        if rest == 0 {
            break;
        }
    }
    assert_eq!(taken, 3_000);
}

#[tokio::test]
async fn many_expired_messages_are_passed_by_and_reclaimed() {
    let world = World::new(must(Store::in_memory()));
    must(world.create_queue().await);
    world.core.store().clock.freeze();
    for serial in 0..600 {
        let delay = if serial % 2 == 0 { 0 } else { 5 };
        must(world.put_message("old", Lifetime::Seconds(10), delay).await);
    }
    world.advance(20);
    // Nothing was committed since: what expired after its own delay is newer than every commit.
    assert_eq!(must(world.receive(32, 30).await).len(), 0);
    must(world.put_message("new", Lifetime::Forever, 0).await);
    assert_eq!(must(world.peek(32).await).len(), 1);
    let taken = must(world.receive(32, 30).await);
    assert_eq!(taken.iter().map(|view| view.text.as_str()).collect::<Vec<_>>(), ["new"]);
    assert_eq!(must(world.message_count().await), 1);
    world.sweep().await;
    // The one message: state, text, place; and the count.
    assert_eq!(world.queue_rows().await, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clearing_under_load_refuses_nobody() {
    let world = World::new(must(Store::in_memory()));
    must(world.create_queue().await);
    let mut tasks = tokio::task::JoinSet::new();
    for share in 0..4 {
        let world = world.clone();
        tasks.spawn(async move {
            for serial in 0..200 {
                must(world.put_message(&format!("{share} {serial}"), Lifetime::Forever, 0).await);
                must(world.receive(1, 30).await);
            }
        });
    }
    for _ in 0..50 {
        must(world.clear().await);
        tokio::task::yield_now().await;
    }
    while let Some(ended) = tasks.join_next().await {
        must(ended);
    }
    must(world.clear().await);
    assert_eq!(must(world.message_count().await), 0);
    assert_eq!(must(world.receive(32, 30).await).len(), 0);
    world.sweep().await;
    assert_eq!(world.queue_rows().await, 0, "rows are left");
}
