//! Random sequences of operations on a queue against a small model, on both engines, with the
//! clock turned and the background in between; and power loss at random points.
//!
//! Instants closer to `now` than a millisecond count as either side: commits are stamped a few
//! ticks after each other.

mod support;

use std::sync::Arc;
use std::time::Duration;
use support::{World, must, strict};
use zaffre_base::{Guid, Timestamp};
use zaffre_core::Error;
use zaffre_core::queue::reply::MessageView;
use zaffre_domain::Refusal;
use zaffre_domain::queue::{Lifetime, NEVER};
use zaffre_store::disk::{CrashDisk, Survival};
use zaffre_store::{Store, StoreOptions};
use zaffre_testkit::Random;

const SEEDS: u64 = 60;
const STEPS: usize = 200;
const CLOSE: u64 = 10_000;

#[derive(Clone, Debug)]
struct Known {
    view: MessageView,
    /// Receipts that were good once.
    stale: Vec<String>,
}

struct Run {
    world: World,
    random: Random,
    messages: Vec<Known>,
    done: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    Surely,
    Perhaps,
    Not,
}

fn reached(instant: Timestamp, now: Timestamp) -> Is {
    match instant.0 {
        at if at.abs_diff(now.0) < CLOSE => Is::Perhaps,
        at if at < now.0 => Is::Surely,
        _ => Is::Not,
    }
}

impl Known {
    fn expired(&self, now: Timestamp) -> Is {
        let at = self.view.message.expires;
        if at == NEVER { Is::Not } else { reached(at, now) }
    }

    fn ready(&self, now: Timestamp) -> Is {
        match (reached(self.view.message.visible, now), self.expired(now)) {
            (Is::Surely, Is::Not) => Is::Surely,
            (Is::Not, _) | (_, Is::Surely) => Is::Not,
            _ => Is::Perhaps,
        }
    }

    fn place(&self) -> (Timestamp, u64) {
        (self.view.message.visible, self.view.message.inserted.0)
    }
}

impl Run {
    fn now(&self) -> Timestamp {
        self.world.core.store().clock.now()
    }

    async fn step(&mut self) {
        match self.random.below(20) {
            0..=6 => self.put().await,
            7..=10 => self.receive().await,
            11 => self.peek().await,
            12..=13 => self.update().await,
            14..=16 => self.delete().await,
            17..=18 => {
                let ms = 1 + self.random.below(4_000);
                self.world.core.store().clock.advance(Duration::from_millis(ms));
            }
            _ if self.random.below(6) == 0 => {
                must(self.world.clear().await);
                self.messages.clear();
            }
            _ => drop(must(self.world.core.run_background_once().await)),
        }
        let now = self.now();
        self.messages.retain(|known| known.expired(now) != Is::Surely);
        self.count().await;
    }

    async fn put(&mut self) {
        let lifetime = match self.random.below(4) {
            0 => Lifetime::Forever,
            n => Lifetime::Seconds(n * 7),
        };
        let delay = self.random.below(9);
        let size = [0, 1, 1_000, 40_000, 65_536][self.random.index(5)];
        let text = "x".repeat(size);
        let result = self.world.put_message(&text, lifetime, delay).await;
        if matches!(lifetime, Lifetime::Seconds(seconds) if delay >= seconds) {
            let refused = matches!(result, Err(Error::Refused(Refusal::InvisibleForLife { .. })));
            assert!(refused, "{result:?}");
            return;
        }
        let mut view = must(result);
        view.text = text;
        self.messages.push(Known { view, stale: Vec::new() });
        self.done += 1;
    }

    async fn receive(&mut self) {
        let count = 1 + self.random.index(5);
        let hold = 1 + self.random.below(10);
        let now = self.now();
        let taken = must(self.world.receive(count, hold).await);
        self.check_selection(&taken, count, now);
        for view in taken {
            let found = self.messages.iter_mut().find(|known| known.view.id == view.id);
            let known = found.expect("checked");
            assert_eq!(view.text, known.view.text);
            assert_eq!(view.message.dequeues, known.view.message.dequeues + 1);
            assert_eq!(view.message.expires, known.view.message.expires);
            known.stale.push(known.view.receipt());
            assert!(!known.stale.contains(&view.receipt()), "every delivery has its own receipt");
            known.view = view;
            self.done += 1;
        }
    }

    async fn peek(&mut self) {
        let count = 1 + self.random.index(5);
        let now = self.now();
        let seen = must(self.world.peek(count).await);
        self.check_selection(&seen, count, now);
        for view in seen {
            assert!(self.messages.iter().any(|known| known.view == view), "{view:?}");
        }
    }

    /// What is handed out is ready, in order, and all there is.
    fn check_selection(&self, given: &[MessageView], count: usize, now: Timestamp) {
        assert!(given.len() <= count);
        let of = |id| self.messages.iter().find(|known| known.view.id == id);
        let places: Vec<_> = given
            .iter()
            .map(|view| {
                let known = of(view.id).unwrap_or_else(|| panic!("unknown {view:?}"));
                assert_ne!(known.ready(now), Is::Not, "handed out too early or too late");
                known.place()
            })
            .collect();
        assert!(places.is_sorted(), "in order of visibility");
        let given: Vec<Guid> = given.iter().map(|view| view.id).collect();
        let left = self.messages.iter().filter(|known| !given.contains(&known.view.id));
        for known in left.filter(|known| known.ready(now) == Is::Surely) {
            assert_eq!(given.len(), count, "{:?} was ready and not given", known.view);
            assert!(places.last() < Some(&known.place()), "a later one was given before");
        }
    }

    /// A message, a receipt for it, and what becomes of that.
    fn aim(&mut self) -> Option<(usize, String, Option<Refusal>)> {
        if self.messages.is_empty() {
            return None;
        }
        let index = self.random.index(self.messages.len());
        let other = self.random.index(self.messages.len());
        let known = &self.messages[index];
        let current = known.view.receipt();
        Some(match self.random.below(6) {
            0 => {
                (index, "?".to_owned(), Some(Refusal::InvalidPopReceipt { presented: "?".into() }))
            }
            1 if !known.stale.is_empty() => {
                let stale = known.stale[self.random.index(known.stale.len())].clone();
                (index, stale, Some(Refusal::MessageNotFound))
            }
            2 if other != index => {
                let foreign = self.messages[other].view.receipt();
                (index, foreign, Some(Refusal::PopReceiptMismatch))
            }
            _ => (index, current, None),
        })
    }

    async fn update(&mut self) {
        let Some((index, receipt, refusal)) = self.aim() else { return };
        let now = self.now();
        let known = self.messages[index].clone();
        let delay = self.random.below(8);
        let text = (self.random.below(2) == 0).then(|| "y".repeat(self.random.index(50_000)));
        let result = self.world.update(known.view.id, &receipt, delay, text.as_deref()).await;
        let end = now.plus(Duration::from_secs(delay));
        let beyond = reached(known.view.message.expires, end);
        match result {
            Ok(view) => {
                assert_eq!(refusal, None, "{receipt}");
                assert_ne!(beyond, Is::Surely);
                let known = &mut self.messages[index];
                known.stale.push(receipt);
                let text = text.unwrap_or_else(|| known.view.text.clone());
                let (before, after) = (known.view.message, view.message);
                assert_eq!(
                    (after.inserted, after.expires, after.dequeues),
                    (before.inserted, before.expires, before.dequeues)
                );
                known.view = MessageView { text, ..view };
                self.done += 1;
            }
            Err(Error::Refused(Refusal::InvisibleBeyondExpiry { .. })) => {
                assert_eq!(refusal, None);
                assert_ne!(beyond, Is::Not);
            }
            Err(Error::Refused(got)) => self.check_refusal(index, &got, refusal.as_ref(), now),
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn delete(&mut self) {
        let Some((index, receipt, refusal)) = self.aim() else { return };
        let now = self.now();
        match self.world.delete_message(self.messages[index].view.id, &receipt).await {
            Ok(()) => {
                assert_eq!(refusal, None, "{receipt}");
                self.messages.remove(index);
                self.done += 1;
            }
            Err(Error::Refused(got)) => self.check_refusal(index, &got, refusal.as_ref(), now),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn check_refusal(&self, index: usize, got: &Refusal, want: Option<&Refusal>, now: Timestamp) {
        let expired = self.messages[index].expired(now);
        let gone = expired != Is::Not && *got == Refusal::MessageNotFound;
        assert!(gone || Some(got) == want, "{got:?} instead of {want:?}");
    }

    async fn count(&mut self) {
        let now = self.now();
        let counted = must(self.world.message_count().await);
        let sure = self.messages.iter().filter(|known| known.expired(now) == Is::Not).count();
        let most = u64::try_from(self.messages.len()).unwrap_or(0);
        assert!(
            (u64::try_from(sure).unwrap_or(0)..=most).contains(&counted),
            "{counted} {sure} {most}"
        );
    }
}

async fn run(store: Store, seed: u64) -> usize {
    store.clock.freeze();
    let world = World::new(store);
    must(world.create_queue().await);
    let mut run = Run { world, random: Random(seed), messages: Vec::new(), done: 0 };
    for _ in 0..STEPS {
        run.step().await;
    }
    must(run.world.delete_queue().await);
    run.world.sweep().await;
    assert_eq!(run.world.queue_rows().await, 0, "rows are left");
    run.done
}

async fn run_all(open: impl Fn(u64) -> Store) {
    let seeds = zaffre_testkit::seeds(SEEDS);
    let count = seeds.end - seeds.start;
    let mut done = 0;
    for seed in seeds {
        println!("seed {seed}; replay with ZAFFRE_SEED={seed}");
        done += run(open(seed), seed).await;
    }
    println!("{done} puts, deliveries, updates and deletions agreed with the model");
    assert!(count < SEEDS || done > 5_000, "did too little: {done}");
}

#[tokio::test]
async fn sequences_on_the_embedded_engine() {
    run_all(|_| must(Store::in_memory())).await;
}

#[tokio::test]
async fn sequences_on_the_strict_engine() {
    run_all(|seed| must(Store::strict(strict(seed)))).await;
}

// Power loss

const CRASHES: u64 = 300;
const HOLD: u64 = 3_600;

#[derive(Default)]
struct Promised {
    /// Text and whether somebody holds it.
    messages: Vec<(MessageView, bool)>,
    /// What the operation under way may have done to these texts.
    perhaps_put: Option<String>,
    perhaps_touched: Vec<Guid>,
}

fn open(disk: &CrashDisk) -> Option<World> {
    Store::open(Arc::new(disk.clone()), &StoreOptions::default()).ok().map(World::new)
}

/// Works until the power goes; what was acknowledged is promised.
async fn work(disk: &CrashDisk, random: &mut Random) -> Option<Promised> {
    let world = open(disk)?;
    world.create_queue().await.ok()?;
    let mut promised = Promised::default();
    for serial in 0..60 {
        match random.below(4) {
            0 | 1 => {
                let text = format!("{serial} {}", "z".repeat(random.index(40_000)));
                match world.put_message(&text, Lifetime::Forever, 0).await {
                    Ok(view) => promised.messages.push((MessageView { text, ..view }, false)),
                    Err(_) => promised.perhaps_put = Some(text),
                }
            }
            2 => match world.receive(2, HOLD).await {
                Ok(views) => {
                    for view in views {
                        let id = view.id;
                        promised.messages.retain(|(known, _)| known.id != id);
                        promised.messages.push((view, true));
                    }
                }
                Err(_) => {
                    promised.perhaps_touched =
                        promised.messages.iter().map(|(view, _)| view.id).collect();
                }
            },
            _ if promised.messages.is_empty() => {}
            _ => {
                let (view, _) = &promised.messages[random.index(promised.messages.len())];
                let (id, receipt) = (view.id, view.receipt());
                match world.delete_message(id, &receipt).await {
                    Ok(()) => promised.messages.retain(|(known, _)| known.id != id),
                    Err(_) => promised.perhaps_touched = vec![id],
                }
            }
        }
        if promised.perhaps_put.is_some() || !promised.perhaps_touched.is_empty() {
            break;
        }
    }
    disk.power_off();
    Some(promised)
}

async fn come_back(disk: &CrashDisk, promised: &Promised, seed: u64) {
    let world = open(disk).unwrap_or_else(|| panic!("seed {seed}: does not open"));
    let mut found = Vec::new();
    // What was held stays held, though the holder's server went away.
    loop {
        let views = must(world.receive(32, HOLD).await);
        if views.is_empty() {
            break;
        }
        found.extend(views);
    }
    for view in &found {
        let known = promised.messages.iter().find(|(known, _)| known.id == view.id);
        match known {
            Some((_, held)) => assert!(!held, "seed {seed}: two holders of {}", view.id),
            None => assert_eq!(Some(&view.text), promised.perhaps_put.as_ref(), "seed {seed}"),
        }
    }
    for (known, held) in &promised.messages {
        let touched = promised.perhaps_touched.contains(&known.id);
        match found.iter().find(|view| view.id == known.id) {
            Some(view) => assert_eq!(view.text, known.text, "seed {seed}"),
            None => assert!(*held || touched, "seed {seed}: {} is lost", known.id),
        }
        if *held && !touched {
            must(world.delete_message(known.id, &known.receipt()).await);
        }
    }
    must(world.delete_queue().await);
    world.sweep().await;
    assert_eq!(world.queue_rows().await, 0, "seed {seed}: rows are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_goes_at_random_points() {
    let seeds = zaffre_testkit::seeds(CRASHES);
    let count = seeds.end - seeds.start;
    let mut kept = 0;
    for seed in seeds {
        println!("seed {seed}; replay with ZAFFRE_SEED={seed}");
        let mut random = Random(seed);
        let disk = CrashDisk::new();
        disk.power_off_at(20 + random.below(300));
        let survival = Survival::ALL[random.index(Survival::ALL.len())];
        if let Some(promised) = work(&disk, &mut random).await {
            kept += promised.messages.len();
            come_back(&disk.reboot(survival, seed), &promised, seed).await;
        }
    }
    println!("{kept} messages kept over {count} power losses");
    assert!(count < CRASHES || kept > 500, "did too little: {kept}");
}
