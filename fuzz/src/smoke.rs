//! Every target on its corpus and on a bounded number of generated inputs, the same every time.
//!
//! `smoke [--runs N] [--seed S] [target]`; ends with the line `N passed, M failed`.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use zaffre_fuzz::mutate::{Random, corpus, input};
use zaffre_fuzz::{TARGETS, Target};

/// An input that takes longer is a fault of its own.
const SLOW: Duration = Duration::from_secs(1);

struct Options {
    runs: u64,
    seed: u64,
    target: Option<String>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}; usage: smoke [--runs N] [--seed S] [target]");
            return ExitCode::FAILURE;
        }
    };
    // What a panic says is printed once, by the report below.
    panic::set_hook(Box::new(|_| {}));
    let wanted = |name: &str| options.target.as_deref().is_none_or(|target| target == name);
    let (mut passed, mut failed) = (0, 0);
    let (mut executions, mut slowest) = (0, Duration::ZERO);
    for (name, target) in TARGETS.iter().filter(|(name, _)| wanted(name)) {
        match run(name, *target, options.runs, options.seed) {
            Ok((ran, longest)) => {
                println!("{name}: {ran} inputs, seed {}, slowest {longest:?}", options.seed);
                passed += 1;
                executions += ran;
                slowest = slowest.max(longest);
            }
            Err(fault) => {
                println!("{name}: {fault}");
                failed += 1;
            }
        }
    }
    println!(
        "figure fuzz: {executions} executions, seed {}, {passed} targets, {failed} with faults, \
         slowest input {slowest:?}",
        options.seed
    );
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { runs: 100_000, seed: 1, target: None };
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().unwrap_or_default();
            text.parse().map_err(|_| format!("`{text}` is no number"))
        };
        match word.as_str() {
            "--runs" => options.runs = number()?,
            "--seed" => options.seed = number()?,
            name if TARGETS.iter().any(|(known, _)| *known == name) => {
                options.target = Some(word);
            }
            other => return Err(format!("there is no target `{other}`")),
        }
    }
    Ok(options)
}

/// How many inputs were tried, and how long the slowest took.
fn run(name: &str, target: Target, runs: u64, seed: u64) -> Result<(u64, Duration), String> {
    let seeds = corpus(name);
    if seeds.is_empty() {
        return Err("has no corpus".to_owned());
    }
    let (mut ran, mut longest) = (0, Duration::ZERO);
    for seed in &seeds {
        longest = longest.max(try_one(target, seed)?);
        ran += 1;
    }
    let mut random = Random::new(seed);
    for _ in 0..runs {
        longest = longest.max(try_one(target, &input(&seeds, &mut random))?);
        ran += 1;
    }
    Ok((ran, longest))
}

fn try_one(target: Target, input: &[u8]) -> Result<Duration, String> {
    let started = Instant::now();
    let shown = || input.escape_ascii().to_string();
    let ended = panic::catch_unwind(AssertUnwindSafe(|| target(input)));
    let took = started.elapsed();
    match ended {
        Ok(()) if took < SLOW => Ok(took),
        Ok(()) => Err(format!("took {took:?} for \"{}\"", shown())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            Err(format!("{text} for \"{}\"", shown()))
        }
    }
}
