//! The command `histories`: records and checks as many as are asked for, or checks one again.
//!
//! Must never end well after doing less than was asked.

use crate::linear::{Model, Verdict, check, explain, read};
use crate::models::append::Appended;
use crate::models::batch::Partition;
use crate::models::blob::Cell;
use crate::models::container_lease::LeasedContainer;
use crate::models::lease::LeasedBlob;
use crate::models::queue::Queue;
use crate::models::range_lock::LockedFile;
use crate::models::share_mode::SharedFile;
use crate::planted;
use crate::real::outcome::{ByName, Counts, WORK};
use crate::real::record::{CLIENTS, KEYS, OPERATIONS};
use crate::real::round;
use std::time::Instant;

const USAGE: &str = "\
histories [--count N] [--seed N] [--only KIND]   record and check histories of the real binary
histories check FILE                             check one that was kept
histories planted [--count N] [--seed N]         plant mistakes, all or N of them, and look for them
The binary is ZAFFRE_BINARY, or target/release/zaffre.";

/// What is done unless something else is asked for.
const COUNT: u64 = 200;

/// Runs the command with these words; an error says what was wrong.
pub fn histories(words: &[&str]) -> Result<(), String> {
    match words {
        ["check", file] => again(file),
        ["planted", rest @ ..] => {
            let count = number(rest, "--count")?.unwrap_or(u64::MAX);
            planted::run(count, number(rest, "--seed")?.unwrap_or(1))
        }
        ["-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => {
            let count = number(words, "--count")?.unwrap_or(COUNT);
            let seed = number(words, "--seed")?.unwrap_or(1);
            run(count, seed, value(words, "--only"))
        }
    }
}

fn value<'a>(words: &[&'a str], flag: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == flag)?;
    words.get(at + 1).copied()
}

fn number(words: &[&str], flag: &str) -> Result<Option<u64>, String> {
    let parse = |word: &str| word.parse().map_err(|_| format!("{flag} takes a number\n{USAGE}"));
    value(words, flag).map(parse).transpose()
}

/// What was done in all rounds.
#[derive(Default)]
struct Total {
    by_name: ByName,
    kills: u64,
    pauses: u64,
    turns: u64,
    rounds: u64,
}

fn run(count: u64, first: u64, only: Option<&str>) -> Result<(), String> {
    let begun = Instant::now();
    let mut total = Total::default();
    let mut all = Counts::default();
    let mut seed = first;
    while all.histories < count {
        let round = round::run(seed, only).map_err(|why| format!("round of seed {seed}: {why}"))?;
        for line in &round.said {
            println!("seed {seed}: {line}");
        }
        for (name, counts) in round.counts {
            total.by_name.entry(name).or_default().add(counts);
            all.add(counts);
        }
        println!(
            "round of seed {seed}: {:.1} s, {:.1} s of it to check",
            round.seconds.0, round.seconds.1
        );
        total.kills += round.kills;
        total.pauses += round.pauses;
        total.turns += round.turns;
        total.rounds += 1;
        seed += 1;
    }
    total.show();
    println!(
        "a history is one kind, {CLIENTS} clients x {OPERATIONS} operations over {KEYS} keys, each \
         key checked; {} operations, {} answers lost, {:.1} s",
        all.operations,
        all.lost,
        begun.elapsed().as_secs_f64()
    );
    println!(
        "figure histories: {} histories, seed {first}, {} illegal, {} unknown, {} weak, {} kills, \
         {} pauses, {} turns of the clock",
        all.histories, all.illegal, all.unknown, all.weak, total.kills, total.pauses, total.turns
    );
    total.verdict(&all)
}

impl Total {
    fn show(&self) {
        println!("{:<16} histories operations changed   read refused lost", "kind");
        for (name, c) in &self.by_name {
            println!(
                "{name:<16} {:>9} {:>10} {:>7} {:>6} {:>7} {:>4}",
                c.histories, c.operations, c.changed, c.read, c.refused, c.lost
            );
        }
    }

    /// Fails if anything was wrong, or if too little was tried.
    fn verdict(&self, all: &Counts) -> Result<(), String> {
        if !all.is_good() {
            return Err("histories that are illegal, unknown or too weak; see above".to_owned());
        }
        // Rounds take turns, so that of two in a row one has kills and one turns the clock.
        if self.rounds >= 2 && (self.kills < self.rounds || self.turns < self.rounds) {
            return Err("too few kills, or turns of the clock".to_owned());
        }
        if self.rounds >= 2 && all.lost == 0 {
            return Err("no answer was lost: the kills hit nobody".to_owned());
        }
        Ok(())
    }
}

/// Checks a history that was kept.
fn again(file: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let name = text.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
    match name.as_str() {
        "blob" | "entity" => check_text::<Cell>(&text),
        "blob-lease" => check_text::<LeasedBlob>(&text),
        "container-lease" => check_text::<LeasedContainer>(&text),
        "append" => check_text::<Appended>(&text),
        "queue" => check_text::<Queue>(&text),
        "batch" => check_text::<Partition>(&text),
        "range-lock" => check_text::<LockedFile>(&text),
        "share-mode" => check_text::<SharedFile>(&text),
        other => Err(format!("{file}: no kind of history: {other}")),
    }
}

fn check_text<M: Model>(text: &str) -> Result<(), String> {
    let history = read::<M>(text).map_err(|line| format!("line {line} makes no sense"))?;
    match check(&history, WORK) {
        Verdict::Legal => {
            println!("legal: {} operations", history.len());
            Ok(())
        }
        Verdict::Illegal(_) => Err(explain(&history, WORK)),
        Verdict::Unknown => Err("too much work to check".to_owned()),
    }
}
