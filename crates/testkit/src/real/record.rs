//! One history: eight clients do what the seed says to four keys of one kind, and all is written
//! down.
//!
//! Must never write an operation down as not done because its answer did not come.

use super::Lost;
use super::http::Http;
use super::outcome::Recorded;
use super::world::World;
use crate::Random;
use crate::linear::{Entry, Model};
use std::sync::{Arc, Mutex, PoisonError};

/// Clients of one history.
pub(crate) const CLIENTS: u64 = 8;
/// Operations of one client.
pub(crate) const OPERATIONS: u64 = 50;
/// Keys of one history.
pub(crate) const KEYS: usize = 4;
/// The client that looks once more when all others are done.
const LAST: u64 = CLIENTS;
/// What is remembered of a key.
const REMEMBERED: usize = 6;

/// What clients have learnt of one key: ETags, receipts; the newest last.
pub(crate) type Known = Vec<(String, String)>;

/// A kind of resource, and how it is asked over the wire.
pub(crate) trait Subject: Sync {
    /// What it must be like.
    type Model: Model<Op: Send, Answer: Send> + 'static;
    /// Its name in reports.
    const NAME: &'static str;
    /// What one client needs beside HTTP.
    type Client: Default + Send;

    /// Makes it as the model starts.
    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String>;

    /// What to ask next; `value` was never used before.
    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op<Self>;

    /// Asks.
    fn perform(
        &self,
        client: &mut Self::Client,
        http: &mut Http,
        key: &str,
        op: &Op<Self>,
    ) -> Result<Answer<Self>, Lost>;

    /// What an answer teaches about the key.
    fn learn(op: &Op<Self>, answer: &Answer<Self>) -> Option<(String, String)>;

    /// The look at the end.
    fn last() -> Op<Self>;
}

/// What a subject is asked.
pub(crate) type Op<S> = <<S as Subject>::Model as Model>::Op;
/// What a subject answers.
pub(crate) type Answer<S> = <<S as Subject>::Model as Model>::Answer;

/// One of the things that were learnt: mostly the newest.
pub(crate) fn pick<'a>(random: &mut Random, known: &'a Known) -> Option<&'a (String, String)> {
    let index = match random.below(10) {
        0..7 => known.len().checked_sub(1)?,
        _ => random.index(known.len()),
    };
    known.get(index)
}

/// A key of a history.
struct Key<M: Model> {
    name: String,
    known: Mutex<Known>,
    entries: Mutex<Vec<Entry<M>>>,
}

/// A history under way.
pub(crate) struct Record<S: Subject> {
    subject: S,
    world: Arc<World>,
    seed: u64,
    keys: Vec<Key<S::Model>>,
    /// Clients that are done. They stay: whoever hangs up gives back what it holds.
    done: Mutex<Vec<S::Client>>,
}

impl<S: Subject> Record<S> {
    /// Makes the keys; `seed` decides all that is asked.
    pub(crate) fn prepare(subject: S, world: &Arc<World>, seed: u64) -> Result<Self, String> {
        let mut http = Http::new(world);
        let mut keys = Vec::new();
        for index in 0..KEYS {
            let name = format!("{}{index}", S::NAME.replace('-', ""));
            subject.prepare(&mut http, &name)?;
            keys.push(Key { name, known: Mutex::default(), entries: Mutex::default() });
        }
        Ok(Self { subject, world: Arc::clone(world), seed, keys, done: Mutex::default() })
    }

    /// Lets all clients do their work, and waits for them.
    pub(crate) fn run(&self) {
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                scope.spawn(move || self.client(client));
            }
        });
    }

    fn client(&self, client: u64) {
        let mut random = Random(self.seed.wrapping_mul(1_000).wrapping_add(client));
        let mut http = Http::new(&self.world);
        let mut own = S::Client::default();
        for number in 0..OPERATIONS {
            let key = &self.keys[random.index(KEYS)];
            let value = 2 + client * OPERATIONS + number;
            let known = key.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let op = self.subject.choose(&mut random, value, &known);
            self.ask(client, &mut own, &mut http, key, op);
            self.world.count();
        }
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(own);
    }

    /// Looks at every key once more.
    pub(crate) fn look(&self) {
        let mut http = Http::new(&self.world);
        let mut own = S::Client::default();
        for key in &self.keys {
            self.ask(LAST, &mut own, &mut http, key, S::last());
        }
    }

    fn ask(
        &self,
        client: u64,
        own: &mut S::Client,
        http: &mut Http,
        key: &Key<S::Model>,
        op: Op<S>,
    ) {
        let call = self.world.now();
        let (end, answer) = match self.subject.perform(own, http, &key.name, &op) {
            Ok(answer) => (Some(self.world.now()), Some(answer)),
            Err(Lost) => (self.world.end_of(http.generation), None),
        };
        if let Some(learnt) = answer.as_ref().and_then(|answer| S::learn(&op, answer)) {
            let mut known = key.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.push(learnt);
            if known.len() > REMEMBERED {
                known.remove(0);
            }
        }
        let entry = Entry { client, call, end, op, answer };
        key.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// What was recorded.
    pub(crate) fn finish(self) -> Recorded<S::Model> {
        let keys = self.keys.into_iter();
        Recorded {
            name: S::NAME,
            keys: keys
                .map(|key| {
                    let entries = key.entries.into_inner().unwrap_or_else(PoisonError::into_inner);
                    (key.name, entries)
                })
                .collect(),
        }
    }
}
