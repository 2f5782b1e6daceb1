//! What receiving costs in queues of very different sizes and states, inside this process: the clock
//! can be turned, and nothing is reclaimed meanwhile.
//!
//! Must never run the background: what has expired must still be there.

use crate::queue::Plan;
use crate::report::{self, Result, Samples};
use crate::request::{Owner, Signer};
use crate::servers::Places;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use zaffre_base::{AccountName, QueueName};
use zaffre_core::queue::op::{CreateQueue, GetMessages, PutMessage, QueuePath};
use zaffre_core::queue::{create_queue, get_messages, put_message};
use zaffre_core::{Core, CoreOptions};
use zaffre_domain::queue::Lifetime;
use zaffre_store::disk::RealDisk;
use zaffre_store::{Store, StoreOptions};

const SMALL: u32 = 100;
/// Receptions that are timed, of messages that are put for it.
const TIMED: u32 = 400;
/// How many put at once.
const WRITERS: u32 = 64;
const DAY: u64 = 24 * 3600;
/// How much dearer the large queue may be.
const MOST: f64 = 1.3;
const ROUNDS: usize = 5;

/// What the messages that are not received are doing there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waiting,
    Invisible,
    Expired,
}

pub(crate) async fn measure(places: &Places, plan: Plan) -> Result<()> {
    for state in [State::Waiting, State::Invisible, State::Expired] {
        let small = Bench::open(&places.data.join("small"), state, SMALL).await?;
        let large = Bench::open(&places.data.join("large"), state, plan.messages).await?;
        let first = large.first().await?;
        small.first().await?;
        let mut ratios = Samples::default();
        let (mut slow, mut fast) = (Samples::default(), Samples::default());
        for _ in 0..ROUNDS {
            let (few, many) = (small.time().await?, large.time().await?);
            fast.push(few);
            slow.push(many);
            ratios.push(many / few);
        }
        let count = plan.messages;
        let name = format!("{state:?}").to_lowercase();
        report::figure(&format!("get beside {SMALL} {name} messages"), "µs", &fast);
        report::figure(&format!("get beside {count} {name} messages"), "µs", &slow);
        let once = [first].into_iter().collect();
        report::figure(&format!("the first get beside {count} {name} messages"), "µs", &once);
        let what = format!("get beside {count} {name} messages, to beside {SMALL}");
        report::limit(&what, "", ratios.median(), MOST);
        drop((small, large));
        std::fs::remove_dir_all(places.data.join("small"))?;
        std::fs::remove_dir_all(places.data.join("large"))?;
    }
    Ok(())
}

/// A store with one queue.
#[derive(Clone)]
struct Bench {
    core: Core,
    owner: Arc<Owner>,
    at: QueuePath,
}

impl Bench {
    async fn open(folder: &Path, state: State, messages: u32) -> Result<Self> {
        let store = Store::open(Arc::new(RealDisk::create(folder)?), &StoreOptions::default())?;
        let owner = Arc::new(Signer::new()?.owner(store.clock.wall())?);
        let account = AccountName::parse("devstoreaccount1").map_err(|e| format!("{e:?}"))?;
        let queue = QueueName::parse("sizes").map_err(|e| format!("{e:?}"))?;
        let core = Core::new(store, CoreOptions::default());
        let bench = Self { core, owner, at: QueuePath { account, queue } };
        let op = CreateQueue { at: bench.at.clone(), metadata: std::collections::BTreeMap::new() };
        create_queue(&bench.core, bench.owner.permit(op)?).await?;
        let (seconds, delay) = match state {
            State::Waiting => (7 * DAY, 0),
            State::Invisible => (7 * DAY, DAY),
            State::Expired => (3600, 0),
        };
        bench.put(messages, seconds, delay).await?;
        if state == State::Expired {
            bench.core.store().clock.advance(Duration::from_hours(2));
        }
        Ok(bench)
    }

    async fn put(&self, messages: u32, seconds: u64, delay: u64) -> Result<()> {
        let left = Arc::new(AtomicU32::new(messages));
        let mut tasks = JoinSet::new();
        for _ in 0..WRITERS.min(messages) {
            let (bench, left) = (self.clone(), Arc::clone(&left));
            tasks.spawn(async move {
                let next = || {
                    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                };
                while next().is_ok() {
                    bench.put_one(seconds, delay).await?;
                }
                Result::Ok(())
            });
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        Ok(())
    }

    async fn put_one(&self, seconds: u64, delay: u64) -> Result<()> {
        let op = PutMessage {
            at: self.at.clone(),
            text: "x".repeat(100),
            lifetime: Lifetime::Seconds(seconds),
            delay: Duration::from_secs(delay),
        };
        put_message(&self.core, self.owner.permit(op)?).await?;
        Ok(())
    }

    async fn get_one(&self) -> Result<f64> {
        let op = GetMessages { at: self.at.clone(), count: 1, hold: Duration::from_secs(DAY) };
        let op = self.owner.permit(op)?;
        let begun = Instant::now();
        let taken = get_messages(&self.core, op).await?;
        let spent = begun.elapsed().as_secs_f64() * 1e6;
        if taken.len() == 1 { Ok(spent) } else { Err("there was no message".into()) }
    }

    /// Microseconds of the very first reception, which must find its way.
    async fn first(&self) -> Result<f64> {
        self.put_one(7 * DAY, 0).await?;
        self.get_one().await
    }

    /// Microseconds of a reception, the middle one of many.
    async fn time(&self) -> Result<f64> {
        self.put(TIMED, 7 * DAY, 0).await?;
        let mut times = Samples::default();
        for _ in 0..TIMED {
            times.push(self.get_one().await?);
        }
        Ok(times.median())
    }
}
