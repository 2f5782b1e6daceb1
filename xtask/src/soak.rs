//! Hours of the same tests with ever new seeds.
//!
//! Must never repeat a seed it has passed: each round starts where the last one ended.

use crate::step::Program;
use crate::{Outcome, number_after, root};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Seeds per test and round: a round ends often enough to see progress.
const SEEDS_PER_ROUND: u64 = 20_000;

/// `soak --hours N [--seeds N]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let hours = number_after(words, "--hours")?.ok_or("say how long: soak --hours N")?;
    let seeds = number_after(words, "--seeds")?.unwrap_or(SEEDS_PER_ROUND).max(1);
    let started = Instant::now();
    let length = Duration::from_secs(hours.saturating_mul(3600));
    let mut next = read_next();
    let mut rounds = 0;
    while rounds == 0 || started.elapsed() < length {
        rounds += 1;
        let spent = started.elapsed().as_secs() / 60;
        println!("==> round {rounds}, seeds {next} to {}, minute {spent}", next + seeds - 1);
        let done = Program::new("cargo test --locked --release --workspace --no-fail-fast")
            .env("ZAFFRE_SEED_START", &next.to_string())
            .env("ZAFFRE_SEEDS", &seeds.to_string())
            .limit(Duration::from_hours(24))
            .run()?;
        if done.failed > 0 {
            println!("a test failed; it names its seed above: replay it with ZAFFRE_SEED=<seed>");
            return Ok(false);
        }
        next += seeds;
        // Only a convenience: without it the next soak starts over.
        if let Err(error) = fs::write(next_file(), next.to_string()) {
            println!("note: cannot remember where to go on: {error}");
        }
    }
    let minutes = started.elapsed().as_secs() / 60;
    println!("{rounds} rounds of {seeds} seeds in {minutes} minutes, no failure");
    Ok(true)
}

fn next_file() -> PathBuf {
    root().join("target/soak-next-seed")
}

fn read_next() -> u64 {
    let text = fs::read_to_string(next_file()).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}
