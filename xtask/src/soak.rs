//! Hours of the same figures with ever new seeds.
//!
//! Must never repeat a seed it has passed: each round starts where the last one ended.

use crate::proof::{self, Figure, Shown};
use crate::{Outcome, number_after, root};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Seeds between two runs of a figure: more than any run uses.
const APART: u64 = 1_000_000;

/// `soak --hours N [figure...]`: the long form of each figure, over and over, in its share of the
/// time. Every figure runs at least once.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let hours = number_after(words, "--hours")?.ok_or("say how long: soak --hours N")?;
    let figures = proof::chosen(words)?;
    let started = Instant::now();
    let length = Duration::from_secs(hours.saturating_mul(3600));
    let mut next = read_next();
    let mut table = Vec::new();
    let mut good = true;
    for (index, figure) in figures.iter().enumerate() {
        let left = length.saturating_sub(started.elapsed());
        let among = u32::try_from(figures.len() - index).unwrap_or(u32::MAX);
        let (shown, runs) = repeat(figure, left / among, &mut next);
        good &= shown.good;
        table.push(format!("{}; {runs} runs, {} in all", proof::row(&shown), shown.count));
    }
    println!("\n{}\n", table.join("\n"));
    println!("{} minutes in all", started.elapsed().as_secs() / 60);
    Ok(good)
}

/// Runs a figure until its time is over or it fails; what is shown is the last run, with the count
/// and the time of all.
fn repeat(figure: &Figure, share: Duration, next: &mut u64) -> (Shown, u64) {
    let started = Instant::now();
    let mut runs = 0;
    let mut count = 0;
    loop {
        runs += 1;
        let minute = started.elapsed().as_secs() / 60;
        println!("\n==> {}, run {runs}, seed {next}, minute {minute}", figure.name);
        let mut shown = proof::show(figure, figure.long, *next, figure.floor);
        count += shown.count;
        *next += APART;
        remember(*next);
        if !shown.good || started.elapsed() >= share {
            shown.count = count;
            shown.seconds = started.elapsed().as_secs();
            return (shown, runs);
        }
    }
}

fn next_file() -> PathBuf {
    root().join("target/soak-next-seed")
}

fn read_next() -> u64 {
    let text = fs::read_to_string(next_file()).unwrap_or_default();
    text.trim().parse().unwrap_or(APART)
}

/// Only a convenience: without it the next soak starts over.
fn remember(next: u64) {
    if let Err(error) = fs::write(next_file(), next.to_string()) {
        println!("note: cannot remember where to go on: {error}");
    }
}
