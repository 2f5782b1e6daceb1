//! One round: a server on a directory of its own, a history of every kind at once, and what is done
//! to the server meanwhile.
//!
//! Must never turn the clock in a round with kills: a time that nothing was committed at is
//! forgotten with the process.

use super::http::{Http, Service};
use super::outcome::{ByName, Counts, Happened};
use super::record::{CLIENTS, OPERATIONS, Record, Subject};
use super::server::{Directory, Server};
use super::world::World;
use crate::Random;
use crate::linear::Event;
use crate::subjects;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Kills while clients work; one more follows when they are done.
const KILLS: u64 = 2;
/// Pauses of a round.
const PAUSES: u64 = 3;
/// How often the clock is turned.
const TURNS: u64 = 16;
/// By how much, in milliseconds, one after the other: to shortly before the time that a client asks
/// for, and past it. No sum of a few of these is such a time.
const TURN: [u64; 4] = [14_900, 300, 9_900, 300];

/// What is done to the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It is killed, started again, and paused.
    Kills,
    /// Its clock stands and is turned; it is paused.
    Clock,
}

impl Kind {
    /// Rounds take turns.
    pub(crate) fn of(seed: u64) -> Self {
        if seed.is_multiple_of(2) { Self::Clock } else { Self::Kills }
    }
}

/// What a round came to.
#[derive(Default, Debug)]
pub(crate) struct Round {
    pub(crate) counts: ByName,
    pub(crate) kills: u64,
    pub(crate) pauses: u64,
    pub(crate) turns: u64,
    pub(crate) said: Vec<String>,
    /// How long it took, and how much of that to check.
    pub(crate) seconds: (f64, f64),
}

/// A history under way, of whatever kind.
trait Part: Sync {
    fn run(&self);
    fn look(&self);
    fn check(self: Box<Self>, happened: &[Happened], seed: u64, round: &mut Round);
}

impl<S: Subject> Part for Record<S> {
    fn run(&self) {
        self.run();
    }

    fn look(&self) {
        self.look();
    }

    fn check(self: Box<Self>, happened: &[Happened], seed: u64, round: &mut Round) {
        let counts: Counts = self.finish().check(happened, seed, &mut round.said);
        round.counts.entry(S::NAME).or_default().add(counts);
    }
}

/// Every kind of history, or the one that is named.
fn parts(
    world: &Arc<World>,
    seed: u64,
    timed: bool,
    only: Option<&str>,
) -> Result<Vec<Box<dyn Part>>, String> {
    let mut parts: Vec<Box<dyn Part>> = Vec::new();
    let mut next = seed.wrapping_mul(100);
    macro_rules! add {
        ($subject:expr) => {{
            next += 1;
            if only.is_none_or(|only| only == name_of(&$subject)) {
                parts.push(Box::new(Record::prepare($subject, world, next)?));
            }
        }};
    }
    add!(subjects::Blob);
    add!(subjects::BlobLease { timed });
    add!(subjects::Container { timed });
    add!(subjects::AppendBlob);
    add!(subjects::QueueMessages { timed });
    add!(subjects::Entity);
    add!(subjects::Batch);
    add!(subjects::ShareMode);
    add!(subjects::RangeLock);
    Ok(parts)
}

fn name_of<S: Subject>(_: &S) -> &'static str {
    S::NAME
}

/// Does a round.
pub(crate) fn run(seed: u64, only: Option<&str>) -> Result<Round, String> {
    let kind = Kind::of(seed);
    let begun = Instant::now();
    let world = Arc::new(World::default());
    let directory = Directory::new(&seed.to_string())?;
    let server = Server::start(&directory.0)?;
    world.is_up(server.ports);
    let mut hand = Hand { world: &world, directory: &directory, server, happened: Vec::new() };
    if kind == Kind::Clock {
        hand.turn("{\"action\":\"freeze\"}")?;
    }
    let parts = parts(&world, seed, kind == Kind::Clock, only)?;
    if parts.is_empty() {
        return Err(format!("no such kind of history: {}", only.unwrap_or_default()));
    }
    let mut round = Round::default();
    let left = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let running: Vec<_> = parts.iter().map(|part| scope.spawn(|| part.run())).collect();
        let waiting = scope.spawn(|| {
            let ended = running.into_iter().map(|part| part.join().is_ok());
            let good = ended.fold(true, |all, good| all & good);
            left.store(false, Ordering::Relaxed);
            good
        });
        let planned = CLIENTS * OPERATIONS * u64::try_from(parts.len()).unwrap_or(1);
        for (at, act) in plan(seed, kind, planned) {
            while world.counted() < at && left.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            hand.act(act, &mut round)?;
        }
        if waiting.join().is_ok_and(|good| good) {
            Ok(())
        } else {
            Err("a client panicked".to_owned())
        }
    })?;
    if kind == Kind::Kills {
        hand.act(Act::Kill, &mut round)?;
    }
    for part in &parts {
        part.look();
    }
    let happened = hand.happened;
    let asked = begun.elapsed();
    for part in parts {
        part.check(&happened, seed, &mut round);
    }
    let all = begun.elapsed();
    round.seconds = (all.as_secs_f64(), all.saturating_sub(asked).as_secs_f64());
    Ok(round)
}

/// One thing that is done to the server.
#[derive(Clone, Copy, Debug)]
enum Act {
    Kill,
    Pause(u64),
    Turn(u64),
}

/// When, in operations done, what is done.
fn plan(seed: u64, kind: Kind, planned: u64) -> Vec<(u64, Act)> {
    let mut random = Random(seed);
    let mut acts: Vec<Act> = (0..PAUSES).map(|_| Act::Pause(10 + random.below(50))).collect();
    match kind {
        Kind::Kills => acts.extend((0..KILLS).map(|_| Act::Kill)),
        Kind::Clock => acts.extend((0..TURNS).map(|_| Act::Turn(0))),
    }
    let mut plan: Vec<_> = acts.into_iter().map(|act| (random.below(planned), act)).collect();
    plan.sort_by_key(|(at, _)| *at);
    let mut turns = TURN.iter().cycle();
    for (_, act) in &mut plan {
        if let Act::Turn(by) = act {
            *by = turns.next().copied().unwrap_or_default();
        }
    }
    plan
}

/// What has the server in its hands.
struct Hand<'a> {
    world: &'a Arc<World>,
    directory: &'a Directory,
    server: Server,
    happened: Vec<Happened>,
}

impl Hand<'_> {
    fn act(&mut self, act: Act, round: &mut Round) -> Result<(), String> {
        let call = self.world.now();
        match act {
            Act::Kill => {
                self.server.kill()?;
                self.world.is_gone();
                self.server = Server::start(&self.directory.0)?;
                let end = self.world.now();
                self.happened.push(Happened { call, end, event: Event::Restarted });
                self.world.is_up(self.server.ports);
                round.kills += 1;
            }
            Act::Pause(ms) => {
                self.server.pause(Duration::from_millis(ms))?;
                round.pauses += 1;
            }
            Act::Turn(ms) => {
                self.turn(&format!("{{\"action\":\"advance\",\"by\":\"{ms}ms\"}}"))?;
                let end = self.world.now();
                self.happened.push(Happened { call, end, event: Event::Advanced(ms) });
                round.turns += 1;
            }
        }
        Ok(())
    }

    fn turn(&self, asked: &str) -> Result<(), String> {
        let mut http = Http::new(self.world);
        let turned = http.ask(Service::Console, "POST", "/test/clock", &[], asked.as_bytes());
        match turned {
            Ok(reply) if reply.status == 200 => Ok(()),
            other => Err(format!("the clock cannot be turned: {other:?}")),
        }
    }
}
